"""Accessibility of a page that is open in Chromium: names, labels, headings, landmarks, contrast.

``findings(page)`` returns sentences, none if all is well. The rules are those that a program can
decide, as axe-core's serious and critical ones are:

* the document has a language and a title, one ``main``, one ``h1``, and no heading skips a level;
* all text is inside a landmark, and landmarks of the same kind have different names;
* controls, links, frames and drawings have names; a placeholder is not a name;
* whatever scrolls can be reached by keyboard;
* ids are unique, and whatever refers to an id finds it;
* header cells say what they head, and rows of tables are in tables;
* text has a contrast of 4.5 to its background, 3 if it is large; so have words in fields;
* nothing jumps the order of the tab key, nothing makes the page scroll sideways, and no field with
  choices cuts the one that is chosen.
"""

from __future__ import annotations

from playwright.sync_api import Page

_RULES = r"""
() => {
  const found = [];
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const where = (e) => {
    const name = e.tagName.toLowerCase() + (e.id ? `#${e.id}` : "");
    const text = (e.textContent || e.value || e.name || "").trim().slice(0, 40);
    return text ? `${name} (${text})` : name;
  };
  const shown = (e) => {
    const box = e.getBoundingClientRect();
    return e.checkVisibility({ visibilityProperty: true }) && box.width > 0 && box.height > 0;
  };
  const hiddenFromReaders = (e) => e.closest("[aria-hidden=true]") !== null;
  const words = (e) => {
    if (!e) return "";
    if (e.getAttribute?.("aria-hidden") === "true") return "";
    if (e.nodeType === Node.TEXT_NODE) return e.data;
    if (e.tagName === "IMG") return e.alt;
    return e.ariaLabel || [...e.childNodes].map(words).join(" ");
  };
  const nameOf = (e) => {
    const by = (e.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean);
    if (by.length) return by.map((id) => words(document.getElementById(id))).join(" ").trim();
    if (e.ariaLabel?.trim()) return e.ariaLabel.trim();
    if (e.labels?.length) return [...e.labels].map(words).join(" ").trim();
    if (["A", "BUTTON", "SUMMARY"].includes(e.tagName)) return words(e).trim();
    if (e.tagName === "INPUT" && ["submit", "reset", "button"].includes(e.type)) return e.value;
    return (e.title || "").trim();
  };

  // The document.
  if (!document.documentElement.lang) found.push("the document has no language");
  if (!document.title.trim()) found.push("the document has no title");
  if (all("main").length !== 1) found.push(`the document has ${all("main").length} main elements`);
  if (all("h1").filter(shown).length !== 1) found.push(`there are ${all("h1").length} h1 elements`);
  let level = 0;
  for (const h of all("h1,h2,h3,h4,h5,h6").filter(shown)) {
    const own = Number(h.tagName[1]);
    if (own > level + 1) found.push(`${where(h)} skips a level after h${level}`);
    level = own;
    if (!words(h).trim()) found.push(`${where(h)} is an empty heading`);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1)
    found.push(`the page scrolls sideways: ${document.documentElement.scrollWidth} px`);

  // Landmarks.
  const landmarks = "main,header,footer,nav,aside,section[aria-label],section[aria-labelledby],[role=search],[role=region],[role=dialog]";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && shown(e) && !e.closest(`${landmarks},.skip,script,style,noscript`))
      found.push(`${where(e)} is outside of all landmarks`);
  }
  const seen = new Map();
  for (const e of all("nav,aside,[role=search],[role=region]").filter(shown)) {
    const key = `${e.getAttribute("role") || e.tagName}: ${nameOf(e)}`;
    if (seen.has(key)) found.push(`two landmarks are called ${key}`);
    seen.set(key, e);
  }

  // Names.
  const controls = "a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=tab],[role=slider],[tabindex]:not([tabindex='-1'])";
  for (const e of all(controls).filter((each) => shown(each) || each.closest(".skip"))) {
    const isPlain = !e.matches("a,button,input,select,textarea,summary,[role]");
    if (!nameOf(e) && !isPlain) found.push(`${where(e)} has no name`);
    if (Number(e.getAttribute("tabindex")) > 0) found.push(`${where(e)} jumps the order of the tab key`);
    if (hiddenFromReaders(e)) found.push(`${where(e)} can be reached but not be heard`);
    if (e.parentElement.closest("a[href],button")) found.push(`${where(e)} is inside another control`);
  }
  for (const e of all("body *").filter((each) => each.scrollWidth > each.clientWidth + 1 && shown(each))) {
    if (!["auto", "scroll"].includes(getComputedStyle(e).overflowX)) continue;
    if (e.tabIndex < 0 && !all(controls, e).length) found.push(`${where(e)} scrolls, but not by keyboard`);
  }
  for (const e of all("img:not([alt])").filter(shown)) found.push(`${where(e)} has no alternative text`);
  for (const e of all("iframe").filter(shown)) if (!e.title.trim()) found.push(`${where(e)} has no title`);
  for (const e of all("svg").filter(shown)) {
    const isNamed = e.getAttribute("role") === "img" && (e.ariaLabel || e.querySelector(":scope > title"));
    // Of a drawing that only holds links, such as a map, the links have names; they are checked above.
    const isHolder = e.getAttribute("role") === "presentation" && e.querySelector("a[href]");
    if (!isNamed && !isHolder && !hiddenFromReaders(e)) found.push(`${where(e)} is a drawing without a name`);
  }
  for (const e of all("[role=group],fieldset,table,dialog").filter(shown)) {
    if (e.tagName === "TABLE" || e.tagName === "DIALOG") continue;
    if (!nameOf(e) && !words(e.querySelector("legend")).trim()) found.push(`${where(e)} is a group without a name`);
  }

  // Ids.
  const ids = new Set();
  for (const e of all("[id]")) {
    if (ids.has(e.id)) found.push(`the id ${e.id} is there twice`);
    ids.add(e.id);
  }
  for (const [attribute, query] of [["for", "label[for]"], ["aria-labelledby", "[aria-labelledby]"], ["aria-describedby", "[aria-describedby]"], ["aria-controls", "[aria-controls]"]])
    for (const e of all(query))
      for (const id of e.getAttribute(attribute).split(/\s+/).filter(Boolean))
        if (!ids.has(id)) found.push(`${where(e)} refers to ${id}, which is not there`);
  for (const e of all("a[href^='#']")) {
    const id = decodeURIComponent(e.getAttribute("href").slice(1)); // links in drawings have no hash
    if (id && !ids.has(id)) found.push(`${where(e)} leads nowhere`);
  }

  // Tables and lists.
  for (const table of all("table").filter(shown)) {
    if (!table.querySelector("th") && !["presentation", "none"].includes(table.getAttribute("role"))) found.push(`${where(table)} has no header cells`);
    for (const th of all("th", table)) if (!words(th).trim() && !th.querySelector("input")) found.push("a header cell is empty");
  }
  for (const e of all("ul > :not(li,script,template), ol > :not(li,script,template)")) found.push(`${where(e)} is in a list but not an item`);
  for (const e of all("dl > :not(dt,dd,div,script,template)")) found.push(`${where(e)} is in a description list`);

  // Contrast.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const background = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null;
      layers.push(colour(style.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reduceRight((below, layer) => over(layer, below), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const check = (e, style, what) => {
    const below = background(e);
    if (!below || e.closest("[disabled],[aria-disabled=true]")) return;
    let opacity = 1;
    for (let at = e; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    const [r, g, b, a] = colour(style.color);
    const contrast = ratio(over([r, g, b, a * opacity], below), below);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (isLarge ? 3 : 4.5) - 0.005) found.push(`${where(e)}: ${what} has a contrast of ${contrast.toFixed(2)}`);
  };
  const texts = new Set();
  const again = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (again.nextNode()) if (again.currentNode.data.trim()) texts.add(again.currentNode.parentElement);
  for (const e of texts)
    if (shown(e) && !e.closest(".hidden-text,.skip,script,style,option,svg")) check(e, getComputedStyle(e), "the text");
  for (const e of all("input:not([type=hidden],[type=checkbox],[type=radio],[type=range],[type=file]),select,textarea").filter(shown)) {
    check(e, getComputedStyle(e), "the value");
    if (e.tagName === "SELECT" && e.selectedOptions.length && e.size < 2) {
      const style = getComputedStyle(e), pen = document.createElement("canvas").getContext("2d");
      pen.font = style.font;
      const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16; // the arrow
      const needed = pen.measureText(e.selectedOptions[0].label.trim()).width;
      if (needed > room + 1) found.push(`${where(e)} cuts its value: ${Math.round(needed)} pixels in ${Math.round(room)}`);
    }
    if (e.placeholder && !e.value) check(e, getComputedStyle(e, "::placeholder"), "the placeholder");
  }
  return [...new Set(found)];
}
"""


def findings(page: Page) -> list[str]:
    """Return what would keep people from using a page, in sentences."""
    result: list[str] = page.evaluate(_RULES)
    return result

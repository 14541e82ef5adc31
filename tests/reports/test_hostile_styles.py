"""No page hides the marks of its own redline, or the bar, in a real browser.

All redlines are shown in one Chromium, each in a frame of its own, and asked there: is every mark
shown, in colours that can be told apart, and on top when it is scrolled to? The style sheets also ask
a server on this machine for things; it must not be asked.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from html import escape, unescape
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import quire
from tests.conftest import require

OLD = """<body><div id=main class=page><h1>Fees of the harbour</h1>
<p>Fee: <b>10</b> crowns a day.<p>Boats may stay <i>for two weeks</i>, not longer than that.
<p id=away>This whole paragraph is deleted.</p>
<ul><li>Water is free<li>Power costs extra<li>Mooring is included</ul>
<table><tr><td>Berth<td>12<tr><td>Buoy<td>7</table>
<p>First of two that change places, with some more words.<p>Second, short.
<details><summary>Small print</summary><p>Nothing is refunded.</details></div>"""
NEW = """<body><div id=main class=page{attributes}><h1>Fees of the harbour</h1>
<p{attributes}>Fee: <b{attributes}>99</b> crowns a day.<p>Boats may stay <i>for a week</i>, not longer than that.
<p class=fresh{attributes}>A paragraph about personal data is new here.<p><img alt="A new map">
<ul><li>Water is free<li>Mooring is included<li>Guests pay double</ul>
<table><tr><td>Berth<td>13<tr><td>Buoy<td>7</table>
<p>Second, short.<p>First of two that change places, with some more words.
<details><summary>Small print</summary><p>Half of it is refunded.</details></div>"""

EVERYTHING = "*, html, body, div, p, b, i, ins, del, span, li, td, tr, ul, table, img, .page, #main"
MARKS = "ins, del, span, .quire-ins, .quire-del, .quire-moved, [class^=quire], [class*='quire'], .quire-bar"
# What a page could write about its own marks, everything in it, or what is around them.
DECLARATIONS = [
    "display: none !important",
    "visibility: hidden !important",
    "opacity: 0 !important",
    "color: transparent !important; background: none !important; outline: none !important",
    "-webkit-text-fill-color: transparent !important; background: white !important",
    "font-size: 0 !important",
    "font: 0/0 a !important",
    "font-size: 1px; zoom: 0.01",
    "position: absolute !important; left: -9999px !important",
    "position: fixed; top: -500vh",
    "transform: scale(0) !important",
    "translate: -9999px; scale: 0; rotate: 90deg",
    "clip-path: inset(100%) !important",
    "clip: rect(0 0 0 0); position: absolute",
    "height: 0 !important; overflow: hidden !important",
    "max-height: 0; overflow: clip",
    "width: 0; white-space: nowrap; overflow: hidden; display: block",
    "text-indent: -9999px !important",
    "margin-left: -9999px !important",
    "margin: calc(0px - 9999px)",
    "--far: -9999px; margin-top: var(--far)",
    "--gone: none; display: var(--gone)",
    "filter: opacity(0) !important",
    "filter: brightness(0) invert(1)",
    "mask: linear-gradient(transparent, transparent)",
    "mix-blend-mode: difference; isolation: isolate",
    "content-visibility: hidden",
    "contain: strict; content: ''",
    "all: unset !important; display: none !important",
    "all: initial !important; visibility: collapse",
    "letter-spacing: -99em !important; word-spacing: -99em",
    "line-height: 0 !important; color: white",
    "animation: gone 1s forwards !important",
    "transition: all 0s 9999s; opacity: 0",
    "direction: rtl; width: 0; white-space: nowrap; display: inline-block",
    "display: flex; justify-content: flex-end; min-width: 9999px",
    "display: flex; flex-direction: column-reverse; height: 1px",
    "float: left; shape-outside: circle(); width: 0",
    "columns: 1px; column-width: 1px; height: 1px",
    "z-index: -1; position: relative; background: white !important",
    "-webkit-text-security: disc; font-size-adjust: 0",
    "text-decoration: none !important; border: 0; background: #c9f0cf",
    "writing-mode: vertical-rl; inline-size: 0; block-size: 0",
    "padding: 0 9999px; border: 9999px solid white",
    "background: url(SERVER/a.png) !important; cursor: url(SERVER/b), auto",
    r"background: \75 rl(SERVER/c); background-image: image-set('SERVER/d' 1x)",
]
# Whole style sheets.
SHEETS = [
    "body .quire-ins{all:unset!important} body del.quire-del{display:none!important}",
    "html body div.quire-bar.quire-bar, html body div.quire-bar *{display:none!important}",
    "body::before{content:'';position:fixed;inset:0;background:white;z-index:2147483647}",
    "*::before{content:'';position:absolute;inset:0;background:white;z-index:2147483647}",
    "*::after{content:'';position:fixed;top:0;left:0;width:100vw;height:100vh;background:white}",
    ".fresh{position:absolute;top:0;left:0;width:4000px;height:4000px;background:white;z-index:99999}",
    "h1{position:absolute;top:0;left:0;width:100%;height:9000px;background:white;z-index:9999}",
    "h1{box-shadow:0 0 0 9999px white;position:relative;z-index:2147483647}",
    "@layer quire-page, later; @layer later{*{display:none!important}} @layer{*{opacity:0!important}}",
    "}}@layer quire-base{*{display:none!important}} {{",
    "</style><style>*{display:none!important}",
    "@media all{@supports (color:red){*{display:none!important}}}",
    "@media screen{.quire-bar,.quire-bar *{display:none!important}}",
    "p::first-line{font-size:0;color:transparent} p::first-letter{font-size:0}",
    "ins::selection,*::selection{color:transparent} del::marker{content:''}",
    "@keyframes gone{to{opacity:0;transform:scale(0)}} *{animation:gone 1ms forwards}",
    "@import 'SERVER/e.css'; @font-face{font-family:x;src:url(SERVER/f)} *{font-family:x}",
    "html{display:none} :root{visibility:hidden} body{position:fixed;top:-9999px}",
    "p{& *{display:none!important}} div{ins,del{opacity:0}}",
    ":is(ins,del,span):where(:not(x)){display:none!important} :has(ins){display:none!important}",
    "[id^=quire]{display:none!important} [title=moved]{display:none!important}",
    "\\69ns{display:none!important} \\64 el{opacity:0!important}",
    "<!-- ins{display:none!important} --> del{display:none!important}",
    "@scope (body){*{display:none!important}} @container (width>0){*{display:none!important}}",
    "@property --x{syntax:'*';inherits:true;initial-value:none} *{display:var(--x)}",
    "@page{size:0} @counter-style x{} @starting-style{*{opacity:0}} *{transition:opacity 99s}",
]

PROBE = r"""
const colour = (text) => (text.match(/[\d.]+/g) || []).map(Number);
const alpha = (text) => { const c = colour(text); return c.length < 4 ? 1 : c[3]; };
function look(frame) {
  const page = frame.contentDocument, view = frame.contentWindow, wrong = [];
  const marks = [...page.querySelectorAll('quire-html .quire-ins, quire-html .quire-del, quire-html .quire-moved')];
  for (const mark of [...marks, page.querySelector('.quire-bar'), page.querySelector('#quire-count')]) {
    const name = mark.className + ' ' + mark.id + ' ' + mark.textContent.slice(0, 30);
    const style = view.getComputedStyle(mark);
    if (style.visibility !== 'visible' || style.display === 'none') wrong.push(name + ': ' + style.display);
    if (parseFloat(style.fontSize) < 9) wrong.push(name + ': font ' + style.fontSize);
    for (let up = mark; up; up = up.parentElement) {
      const above = view.getComputedStyle(up);
      if (above.opacity < 1 || above.filter !== 'none' || above.display === 'none' || above.maskImage !== 'none')
        wrong.push(name + ': ' + up.tagName + ' hides it');
    }
    if (mark.id !== 'quire-count') {
      if (alpha(style.color) < 1 || alpha(style.backgroundColor) < 1 || style.color === style.backgroundColor)
        wrong.push(name + ': ' + style.color + ' on ' + style.backgroundColor);
    }
    mark.scrollIntoView({ block: 'center', inline: 'center' });
    const box = [...mark.getClientRects()].find((each) => each.width >= 4 && each.height >= 4);
    if (!box) { wrong.push(name + ': no box'); continue; }
    const x = Math.min(box.left + box.width / 2, box.left + 300), y = box.top + Math.min(box.height, 20) / 2;
    const top = page.elementFromPoint(x, y);
    if (!top || !(mark === top || mark.contains(top) || (top.contains(mark) && top.className.includes('quire-moved'))))
      wrong.push(name + ': at ' + [x, y] + ' is ' + (top ? top.tagName + '.' + top.className : 'nothing'));
  }
  return { marks: marks.length, wrong };
}
const frames = [...document.querySelectorAll('iframe')];
addEventListener('load', () => setTimeout(() => {
  const found = Object.fromEntries(frames.map((frame) => [frame.id, look(frame)]));
  document.getElementById('found').textContent = JSON.stringify(found);
}, 500));
"""


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """Listen on this machine, and note what is asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
            pass

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}", asked
    listening.shutdown()
    listening.server_close()
    thread.join()


def hostile_pages(server: str) -> dict[str, str]:
    """The new page with each of the styles, in a sheet or on its elements."""
    pages = {"plain": NEW.format(attributes="")}
    rules = [f"{EVERYTHING} {{ {each} }} {MARKS} {{ {each} }}" for each in DECLARATIONS]
    for number, sheet in enumerate([*rules, *SHEETS]):
        css = sheet.replace("SERVER", server)
        pages[f"sheet {number}: {sheet[:70]}"] = f"<style>{css}</style>{NEW.format(attributes='')}"
    for number, each in enumerate(DECLARATIONS):
        inline = f' hidden style="{escape(each.replace("SERVER", server))}"'
        pages[f"inline {number}: {each[:60]}"] = NEW.format(attributes=inline)
    return pages


def test_hostile_styles_are_many() -> None:
    assert len(DECLARATIONS) + len(SHEETS) >= 40


@pytest.mark.timeout(900)
@pytest.mark.parametrize("policy", ["with policy", "without policy"])
def test_marks_and_bar_stay_visible_whatever_the_page_says(
    tmp_path: Path, server: tuple[str, list[str]], policy: str
) -> None:
    browser = require("chromium", "see that no page hides the marks of its redline")
    address, asked = server
    old = quire.encode(OLD.encode(), kind="html")
    frames = []
    for name, page in hostile_pages(address).items():
        new = quire.encode(page.encode(), kind="html")
        drawn = quire.redline(quire.annotate(old, new))
        if (
            policy == "without policy"
        ):  # then only the sanitiser stands between the page and the network
            drawn = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", drawn)
        frames.append(
            f'<iframe id="{escape(name)}" width=900 height=700 srcdoc="{escape(drawn)}"></iframe>'
        )
    harness = tmp_path / "harness.html"
    harness.write_text(
        f'<!doctype html><meta charset=utf-8><img src="{address}/control">'
        f"{''.join(frames)}<pre id=found></pre><script>{PROBE}</script>",
        "utf-8",
    )
    result = subprocess.run(
        [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1000,800",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=20000",
            "--dump-dom",
            harness.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=250,
    )

    said = re.search(r'<pre id="found">(.+?)</pre>', result.stdout, re.DOTALL)
    assert said, "the page did not come to an end"
    found = json.loads(unescape(said[1]))
    assert len(found) == len(frames)
    wrong = {name: each["wrong"] for name, each in found.items() if each["wrong"]}
    assert not wrong, json.dumps(wrong, indent=1)[:60000]
    assert all(each["marks"] >= 12 for each in found.values())
    assert asked == ["/control"]

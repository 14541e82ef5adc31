/* The list of watches: rows change in place, and the chosen ones are counted. Without this script
   everything works too, by reloading. */

import { listen } from "./live.js";
import { refresh } from "./times.js";

const table = document.getElementById("watches");
const news = document.getElementById("news");
const boxes = () => [...(table?.querySelectorAll("input[name=watch]") ?? [])];

// ------------------------------------------------------------ choosing

const actions = document.getElementById("actions");
const chosen = document.getElementById("chosen");

function count() {
  const all = document.querySelector("input[name=all]")?.checked;
  const number = boxes().filter((box) => box.checked).length;
  actions.hidden = !number && !all;
  const words = all ? "All of this list" : `${number} chosen`;
  if (chosen.textContent !== words) chosen.textContent = words;
  if (whole) {
    whole.checked = number > 0 && number === boxes().length;
    whole.indeterminate = number > 0 && !whole.checked;
  }
}

let whole = null;
if (table && actions) {
  whole = document.createElement("input");
  whole.type = "checkbox";
  whole.setAttribute("aria-label", "Choose all watches of this page");
  table.querySelector("th.choice").append(whole);
  whole.addEventListener("change", () => {
    for (const box of boxes()) box.checked = whole.checked;
    count();
  });
  document.getElementById("bulk").addEventListener("change", count);
  count();
}

// ------------------------------------------------------------ live

function showRow({ id, mark, html }) {
  const row = document.getElementById(`watch-${id}`);
  if (!row) return;
  const holder = document.createElement("template");
  holder.innerHTML = html;
  for (const cell of holder.content.querySelectorAll("[data-cell]")) {
    const old = row.querySelector(`[data-cell="${cell.dataset.cell}"]`);
    if (!old || old.innerHTML === cell.innerHTML) continue;
    const isFocused = old.contains(document.activeElement);
    if (isFocused && old.textContent === cell.textContent) continue;
    old.innerHTML = cell.innerHTML;
    if (isFocused) old.querySelector("a")?.focus();
  }
  row.dataset.mark = mark;
  refresh(row);
}

function tell({ changes }) {
  const names = changes.map(({ name, words }) => `${name}: ${words}`);
  news.textContent = names.length <= 3 ? names.join(" · ") : `${names.length} changes`;
  greet();
  for (const { watch } of changes) {
    const row = document.getElementById(`watch-${watch}`);
    row?.classList.remove("fresh");
    requestAnimationFrame(() => row?.classList.add("fresh"));
  }
}

// The greeting of the demo lists what happened: it is read again after each change.
async function greet() {
  const old = document.querySelector(".greeting .columns");
  if (!old) return;
  const reply = await fetch(location.href).catch(() => null);
  if (!reply?.ok) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  const fresh = page.querySelector(".greeting .columns");
  if (!fresh || fresh.innerHTML === old.innerHTML) return;
  const focused = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
  old.replaceChildren(...fresh.childNodes);
  if (focused) (old.querySelector(`a[href="${CSS.escape(focused)}"]`) ?? old.querySelector("a"))?.focus();
}

function remove({ id }) {
  document.getElementById(`watch-${id}`)?.remove();
  if (actions) count();
}

const shown = () =>
  [...(table?.querySelectorAll("tr[data-watch]") ?? [])]
    .map((row) => `${row.dataset.watch}:${row.dataset.mark}`)
    .join(",");

listen(shown, { row: showRow, gone: remove, news: tell });

/* The pages of one watch: a new change is told in a corner, with a link. The page stays as it is, so
   nothing moves under the hands of the reader. Without this script, reloading shows it too. */

import { listen } from "./live.js";

const news = document.getElementById("news");
const { watch, page } = news.dataset;
let { fired } = news.dataset;
let fresh = 0;

function tell(words, address) {
  const link = document.createElement("a");
  link.href = address;
  link.textContent = words;
  news.replaceChildren(link);
}

function hear({ changes }) {
  const mine = changes.filter((each) => String(each.watch) === watch);
  if (!mine.length) return;
  fresh += mine.length;
  const last = mine.at(-1);
  if (fresh > 1) tell(`${fresh} new events`, page);
  else tell(`New, ${last.kind}: ${last.words}`, `/events/${last.id}`);
}

// Something may have happened while the page was hidden, or before it was connected.
function compare({ mark, html }) {
  news.dataset.mark = mark;
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const time = holder.content.querySelector('[data-cell="fired"] time')?.dateTime ?? "";
  if (time !== fired && !fresh) tell("New since you opened this page", page);
  fired = time;
}

listen(() => `${watch}:${news.dataset.mark}`, { news: hear, row: compare });

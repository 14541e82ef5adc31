/* The list of changes: says when there are new ones, and leaves the list as it is until asked. */

import { listen } from "./live.js";

const news = document.getElementById("news");
let fresh = 0;

function tell({ changes }) {
  fresh += changes.length;
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = fresh === 1 ? "Show 1 new change" : `Show ${fresh} new changes`;
  news.replaceChildren(link);
}

listen(() => "", { news: tell });

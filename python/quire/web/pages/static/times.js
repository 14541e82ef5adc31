/* Keeps "3 min ago" true. The words are those of times.py. */

const STEPS = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"]];
const LONGEST = 14 * 86400;

export function relative(time, now) {
  const seconds = (now - time) / 1000;
  const length = Math.abs(seconds);
  if (length >= LONGEST) return new Date(time).toISOString().slice(0, 10);
  if (length < 1) return "now";
  const [, unit, name] = STEPS.find(([most]) => length < most) ?? [0, 86400, "d"];
  const words = `${Math.floor(length / unit)} ${name}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

export function refresh(root = document) {
  const now = Date.now();
  for (const each of root.querySelectorAll("time[data-ago]")) {
    const time = Date.parse(each.dateTime);
    const words = relative(each.dataset.ago === "due" ? Math.max(time, now) : time, now);
    if (each.textContent !== words) each.textContent = words;
  }
}

setInterval(() => { if (!document.hidden) refresh(); }, 5000);

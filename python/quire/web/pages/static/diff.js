// From change to change by key and by button. Everything here also works without it, by links.
//
// Pages of strangers are in frames without scripts. The frame is led to a change by the fragment of
// its address, which is all that a page may change in a frame of another origin. Keys that are pressed
// while such a frame has the focus never get here, so every jump takes the focus back, and a line in
// the bar says when the frame has it.

const diff = document.getElementById('diff');
const count = Number(diff?.dataset.count ?? 0);
const where = document.getElementById('where');
const frames = [...(diff?.querySelectorAll('iframe') ?? [])];
const partners = new Map();
for (const link of diff?.querySelectorAll('.listing [data-partner]') ?? []) {
  partners.set(Number(link.dataset.change), Number(link.dataset.partner));
}
let current = Number(diff?.dataset.current ?? 0);
let isFresh = frames.length === 0;

const leadTo = (frame, number) => {
  const address = new URL(`${frame.dataset.src}#${diff.dataset.anchor}${number}`, location.href);
  frame.contentWindow.location.replace(address);
};

const keys = document.getElementById('keys');
const inFrame = () => document.activeElement?.tagName === 'IFRAME';

const takeFocus = () => {
  if (inFrame() || document.activeElement === document.body) {
    document.getElementById('next').focus({ preventScroll: true });
  }
};

const sayWhoHasKeys = () => {
  if (!keys) return;
  // The line stays while its own button has the focus, or a click on it would have no end.
  const isAway = document.hasFocus() && (inFrame() || keys.contains(document.activeElement));
  if (keys.hidden === isAway) keys.hidden = !isAway;
  diff.classList.toggle('away', isAway);
};

const show = (number) => {
  current = number;
  isFresh = false;
  const last = frames.length - 1;
  frames.forEach((frame, place) => {
    leadTo(frame, place === last ? number : partners.get(number) ?? number);
  });
  if (!frames.length) location.replace(`#${diff.dataset.anchor}${number}`);
  where.textContent = `${number.toLocaleString('en')} of ${count.toLocaleString('en')} change${count === 1 ? '' : 's'}`;
  let nearest = null;
  for (const link of diff.querySelectorAll('.map [data-change]')) {
    link.removeAttribute('aria-current');
    if (Number(link.dataset.change) <= number) nearest = link;
  }
  nearest?.setAttribute('aria-current', 'true');
  takeFocus();
  sayWhoHasKeys();
};

const step = (by) => {
  if (!count) return;
  // The first "next" on a page of rows leads to the first change.
  const from = isFresh ? (by > 0 ? 0 : 1) : current;
  show(((from - 1 + by + count) % count) + 1);
};

if (count) {
  for (const [name, by] of [['previous', -1], ['next', 1]]) {
    document.getElementById(name).addEventListener('click', (event) => {
      event.preventDefault();
      event.currentTarget.focus({ preventScroll: true }); // some browsers do not focus links
      step(by);
    });
  }
  document.getElementById('take-keys')?.addEventListener('click', () => {
    document.getElementById('next').focus({ preventScroll: true });
    sayWhoHasKeys();
  });
  // The active element is another one only after these events.
  for (const name of ['blur', 'focus']) addEventListener(name, () => setTimeout(sayWhoHasKeys));
  addEventListener('focusin', sayWhoHasKeys);
  diff.addEventListener('click', (event) => {
    const link = event.target.closest?.('[data-change]');
    if (!link) return;
    event.preventDefault();
    show(Number(link.dataset.change));
  });
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.('input, textarea, select')) return;
    const by = { n: 1, j: 1, p: -1, k: -1 }[event.key];
    if (by) {
      event.preventDefault();
      step(by);
    }
  });
}

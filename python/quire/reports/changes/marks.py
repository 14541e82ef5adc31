"""How a redline marks changes: the style of the marks, the bar above the page, and its script.

Marks and bar are out of the reach of the page. Its style sheets are in a cascade layer and have no
``!important``, so the rules here win whatever the page says: they are outside of layers and all
important. What could hide an element with marks in it never gets here: see ``safe_markup``.

Marks are ``ins``, ``del`` and ``span`` elements around texts, or classes of elements without text.
Each sets its own background and text colour, so it is readable on any page. Reading needs no script;
the one script that there is only jumps from change to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.display import escape
from quire.reports.frame import STYLE
from quire.sdiff.views.words import Segment

# Changes in the list of the bar, and characters of each.
_MAX_LISTED = 300
_MAX_SHOWN = 160

#: Begins the id of every change; its number, from 1, follows.
CHANGE = "quire-change-"
#: How many characters a new line counts as, to tell how far down a page something is.
LINE = 60


def _important(rules: str) -> str:
    """Make every declaration of some rules important."""
    return rules.replace(";", " !important;")


# Above everything, whatever the page does. The document itself first: a rule for `*` would hide it.
BAR = _important("""
html, body { all: initial; display: block; }
head, head *, script { display: none; }
.quire-bar, .quire-bar * { all: initial; color: inherit; font: inherit; }
.quire-bar::before, .quire-bar::after, .quire-bar *::before, .quire-bar *::after { content: none; }
.quire-bar { display: flex; flex-wrap: wrap; gap: .3em 1.1em; align-items: baseline;
  position: sticky; top: 0; left: 0; z-index: 2147483647; padding: .5em 1em;
  box-sizing: border-box; font: 14px/1.5 system-ui, "Segoe UI", sans-serif; color: #1d2327;
  background: #fffef6; border-bottom: 1px solid #ccc; }
.quire-bar b { font-weight: 600; }
.quire-bar #quire-count { font-weight: 600; font-variant-numeric: tabular-nums; }
.quire-bar button { padding: 0 .7em; border: 1px solid #a5acb1; border-radius: 4px;
  cursor: pointer; }
.quire-bar button:focus-visible, .quire-bar summary:focus-visible, .quire-bar a:focus-visible,
.quire-bar input:focus-visible { outline: 2px solid #3b78c2; }
.quire-bar details { display: inline-block; }
.quire-bar details[open] { flex-basis: 100%; order: 9; }
.quire-bar summary, .quire-bar a { cursor: pointer; text-decoration: underline; }
.quire-bar ol { display: block; max-height: 45vh; overflow: auto; margin: .3em 0;
  padding-left: 3em; }
.quire-bar li { display: list-item; list-style: decimal; margin: .15em 0; }
.quire-bar li a { text-decoration: none; overflow-wrap: anywhere; }
.quire-bar label { cursor: pointer; }
.quire-bar input { appearance: auto; margin: 0 .4em 0 0; vertical-align: middle; cursor: pointer; }
.quire-bar [hidden] { display: none; }
.quire-bar .quire-key { padding: 0 .35em; border-radius: 2px; }
.quire-bar .quire-key-ins { background: #c9f0cf; color: #0b4a1c; }
.quire-bar .quire-key-del { background: #ffd5d1; color: #8c1d18; }
.quire-bar .quire-key-moved { background: #d9e8fb; color: #14345c; }
""") + (
    "@media (prefers-color-scheme: dark) {"
    + _important(
        ".quire-bar { color: #e4e6e3; background: #1d2226; border-bottom-color: #4a5156; }"
    )
    + "}\n@media print {"
    + _important(".quire-bar { position: static; } .quire-bar button { display: none; }")
    + "}\n"
)

# Texts have their own colours. Sizes and spacing are set too, since a page could make texts vanish by
# them. Marks are above all of the page: it can put something over its own texts only.
MARKS = BAR + _important("""
ins.quire-ins, del.quire-del, span.quire-moved { all: unset; position: relative;
  z-index: 2147483000; visibility: visible; font-size: clamp(9px, 1em, 200px);
  line-height: normal; letter-spacing: normal; word-spacing: normal; text-shadow: none;
  -webkit-text-fill-color: currentcolor; -webkit-text-stroke: 0; -webkit-text-security: none;
  unicode-bidi: normal; border-radius: 2px; padding: 0 .1em; scroll-margin: 8em; }
.quire-ins::before, .quire-ins::after, .quire-del::before, .quire-del::after,
.quire-moved::before, .quire-moved::after { content: none; }
ins.quire-ins { background: #c9f0cf; color: #0b4a1c; }
del.quire-del { background: #ffd5d1; color: #8c1d18; text-decoration: line-through; }
del.quire-del + wbr + ins.quire-ins { margin-left: .15em; }
span.quire-moved { background: #d9e8fb; color: #14345c; border-bottom: 2px dotted #3b78c2; }
.quire-atom { position: relative; z-index: 2147483000; visibility: visible; opacity: 1;
  min-width: 2em; min-height: 1em;
  font-size: clamp(9px, 1em, 200px); outline-offset: -1px; scroll-margin: 8em; }
.quire-atom.quire-ins { outline: 2px solid #4caf62; background: #c9f0cf; color: #0b4a1c; }
.quire-atom.quire-del { outline: 2px dashed #d6635b; background: #ffd5d1; color: #8c1d18; }
.quire-atom.quire-moved { outline: 2px dotted #3b78c2; }
hr.quire-atom { display: block; min-height: 2px; }
.quire-ins:target, .quire-del:target, .quire-moved:target { outline: 3px solid #e08a00;
  outline-offset: 2px; }
.quire-fresh { background: #effbf0; }
.quire-lost { background: #fff3f1; }
.quire-outlined { outline: 2px dashed #8a5a00; outline-offset: 2px; background: #fff3d6;
  color: #3d2a00; }
ins.quire-ins.quire-quiet, del.quire-del.quire-quiet, span.quire-moved.quire-quiet {
  background: #fff3d6; color: #5c4a1e; border-bottom: 1px dashed #8a5a00; }
.quire-atom.quire-quiet { outline: 1px dashed #8a5a00; background: #fff3d6; color: #5c4a1e; }
.quire-around { outline: 1px dotted #8a949c; outline-offset: 2px; }
body:has(#quire-others:checked) .quire-attr { outline: 2px dotted #c2860f; outline-offset: 1px; }
.quire-block { display: block; }
""")

# Below the styles of the page: what browsers do for `html` and `body`.
PAGE_BASE = """
@layer quire-base, quire-page;
@layer quire-base {
  quire-html { background: #fff; color: #000; min-height: 90vh; }
  quire-body { margin: 8px; }
  img { max-width: 100%; }
  img:not([src]) { min-width: 3em; max-height: 8em; outline: 1px solid #ddd; background: #f4f4f4;
    color: #666; font-size: 12px; }
}
"""
# The page is one stacking context below the bar, and begins below it.
PAGE = MARKS + _important("""
quire-html { display: flow-root; position: relative; z-index: 0; isolation: isolate; }
quire-body { display: block; }
quire-html, quire-html * { content: normal; }
.quire-holds { max-width: 100%; }
""")

# The lines of pages that are not HTML. Nothing in them is styled by a page, so that they follow the
# light or dark setting of the reader.
LINES = (
    STYLE
    + MARKS
    + """
.quire-lines { font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; padding: 1em; background: #fff; color: #1d2327; min-height: 100vh; }
.quire-lines > div { min-height: 1.5em; padding: 0 .5em; }
@media (prefers-color-scheme: dark) {
  .quire-lines { background: #14171a; color: #e4e6e3; }
  .quire-lines .quire-ins { background: #16391f !important; color: #b7ecc2 !important; }
  .quire-lines .quire-del { background: #46211f !important; color: #f3b9b4 !important; }
  .quire-lines .quire-moved { background: #1b3350 !important; color: #c4dcf8 !important; }
}
"""
)

# Allowed by its hash, so it must not depend on the page.
SCRIPT = """
(() => {
  const marks = document.querySelectorAll('[id^="quire-change-"]');
  const count = document.getElementById('quire-count');
  let at = -1;
  const said = (number) => number.toLocaleString('en');
  const tell = () => { count.textContent = `${said(at + 1)} of ${said(marks.length)} changes`; };
  const go = (step) => {
    at = at < 0 && step < 0 ? marks.length - 1 : (at + step + marks.length) % marks.length;
    location.replace('#' + marks[at].id);
    marks[at].scrollIntoView({ block: 'center', inline: 'nearest' });
    tell();
  };
  if (!count || !marks.length) return;
  for (const [name, step] of [['quire-previous', -1], ['quire-next', 1]]) {
    const button = document.getElementById(name);
    button.hidden = false;
    button.addEventListener('click', () => go(step));
  }
  const look = () => {
    const found = [...marks].findIndex((mark) => '#' + mark.id === location.hash);
    if (found >= 0) { at = found; tell(); }
  };
  addEventListener('hashchange', look);
  look();
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { n: 1, j: 1, p: -1, k: -1 }[event.key];
    if (step) { event.preventDefault(); go(step); }
  });
})();
"""


MarkKind: TypeAlias = Literal["deleted", "inserted", "moved"]

# The element and the class of each mark.
_TAGS: dict[MarkKind, tuple[str, str]] = {
    "deleted": ("del", "quire-del"),
    "inserted": ("ins", "quire-ins"),
    "moved": ("span", "quire-moved"),
}


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nodes whose changes are noise. They are marked quietly, and are not counted as changes.

    Attributes:
        old: nodes of the old page.
        new: nodes of the new page.
        old_moved: nodes of the old page that are quiet only if they moved.
        new_moved: nodes of the new page that are quiet only if they moved.
        old_tags: elements of the old page whose attributes differ only in noise.
        new_tags: elements of the new page whose attributes differ only in noise.
    """

    old: frozenset[int] = frozenset()
    new: frozenset[int] = frozenset()
    old_moved: frozenset[int] = frozenset()
    new_moved: frozenset[int] = frozenset()
    old_tags: frozenset[int] = frozenset()
    new_tags: frozenset[int] = frozenset()

    def turned(self) -> Quiet:
        """Return this for the comparison the other way round."""
        return Quiet(
            self.new, self.old, self.new_moved, self.old_moved, self.new_tags, self.old_tags
        )


#: Nothing is noise.
LOUD = Quiet()


class Changes:
    """Numbers changes as they are drawn. Marks with nothing but white space between are one.

    Args:
        hides_deleted: write only the places of deleted texts, not the texts.

    Attributes:
        count: the number of changes in the visible page.
        listed: the marks of the first changes.
        others: the number of elements with other changes, such as of attributes.
        places: how much of the page comes before each change; ``length`` is all of it.
        kinds: the kinds of marks of each change.
        length: the length of the page so far, in characters; a new line counts as ``LINE``.
        is_quiet: marks that are written now are noise: they get no number.
        quiet: the number of such marks.
    """

    def __init__(self, *, hides_deleted: bool = False) -> None:
        self.hides_deleted: bool = hides_deleted
        self.listed: list[list[tuple[MarkKind, str]]] = []
        self.count: int = 0
        self.others = 0
        self.places: list[int] = []
        self.kinds: list[set[MarkKind]] = []
        self.length: int = 0
        self.has_moved: bool = False
        self.is_quiet: bool = False
        self.quiet: int = 0
        self._is_open = False

    def plain(self, text: str) -> str:
        """Write text that is not marked."""
        if not text.isspace() and text:
            self._is_open = False
            self.length += len(text)
        return escape(text)

    def end_line(self) -> None:
        """Note that an element begins a new line."""
        self.length += LINE

    def spot(self, text: str) -> str:
        """Write the place of a deleted text that is not shown."""
        anchor = self.anchor("deleted", text)
        return "" if self.is_quiet else f'<span{anchor} class="quire-spot"></span>'

    def marked(self, segment: Segment) -> str:
        """Write an inserted or deleted text."""
        # Browsers would move a mark around white space in a table to the front of the table.
        if segment.kind == "same" or not segment.text or segment.text.isspace():
            return escape(segment.text) if segment.kind != "deleted" else ""
        if segment.kind == "deleted" and self.hides_deleted:
            return self.spot(segment.text)
        tag, name = _TAGS[segment.kind]
        anchor = self.anchor(segment.kind, segment.text)
        return f'<{tag}{anchor} class="{name}{self._quietly()}>{escape(segment.text)}</{tag}>'

    def moved(self, text: str, words: Sequence[Segment]) -> str:
        """Write a text that moved; its words say how it was edited."""
        anchor = self.anchor("moved", text)
        inside = "".join(map(self.marked, words)) if words else escape(text)
        quietly = self._quietly() if self.is_quiet else '" title="moved"'
        return f'<span{anchor} class="quire-moved{quietly}>{inside}</span>'

    def _quietly(self) -> str:
        return ' quire-quiet" title="noise"' if self.is_quiet else '"'

    def segments(self, segments: Sequence[Segment]) -> str:
        """Write texts of all kinds."""
        out: list[str] = []
        last = "same"
        for part in segments:
            if (last, part.kind) == ("deleted", "inserted"):
                out.append("<wbr>")  # two figures beside each other may need two lines
            out.append(self.plain(part.text) if part.kind == "same" else self.marked(part))
            last = part.kind
        return "".join(out)

    def anchor(self, kind: MarkKind, text: str) -> str:
        """Return the attribute with the number of a change; empty inside the same change."""
        if self.is_quiet:
            self.quiet += 1
            self._is_open = False
            self.length += len(text)
            return ""
        is_new = not self._is_open
        self._is_open = True
        self.has_moved |= kind == "moved"
        if is_new:
            self.count += 1
            self.places.append(self.length)
            self.kinds.append(set())
            if self.count <= _MAX_LISTED:
                self.listed.append([])
        self.kinds[-1].add(kind)
        self.length += len(text)
        if self.count <= _MAX_LISTED:
            self.listed[-1].append((kind, text))
        return f' id="{CHANGE}{self.count}"' if is_new else ""


def summary_bar(changes: Changes, title_change: Sequence[Segment]) -> str:
    """Draw the bar: the number of changes, the way from one to the next, and a list of them.

    Args:
        changes: the changes that were drawn.
        title_change: the changed title; empty if it did not change.
    """
    said = "1 change" if changes.count == 1 else f"{changes.count:,} changes"
    parts = [
        f'<span id="quire-count" role="status">{said if changes.count else "no change in the text"}</span>'
    ]
    if changes.count:
        parts.append(
            '<span><button id="quire-previous" hidden title="key p or k">previous</button> '
            '<button id="quire-next" hidden title="key n or j">next</button></span>'
        )
        parts.append(_listing(changes))
        parts.append(
            '<span><span class="quire-key quire-key-ins">inserted</span> '
            '<span class="quire-key quire-key-del">deleted</span>'
            + (' <span class="quire-key quire-key-moved">moved</span>' if changes.has_moved else "")
            + "</span>"
        )
    if changes.others:
        said = "element" if changes.others == 1 else "elements"
        parts.append(
            '<label><input type="checkbox" id="quire-others">'
            f"show {changes.others:,} {said} with other changes</label>"
        )
    if title_change:
        parts.append(f"<span>Title: {Changes().segments(title_change)}</span>")
    text = "".join(parts).replace(f'id="{CHANGE}', 'data-id="')  # the title has no number
    return f'<div class="quire-bar">{text}</div>\n'


def _listing(changes: Changes) -> str:
    """List the changes, out of the reach of the page."""
    rows = []
    for number, found in enumerate(changes.listed, 1):
        left, shown = _MAX_SHOWN, []
        for kind, said in found:
            if left > 0:
                text = " ".join(said.split())
                tag, name = _TAGS[kind]
                end = "…" if len(text) > left else ""
                shown.append(f'<{tag} class="{name}">{escape(text[:left])}{end}</{tag}>')
                left -= len(text)
        rows.append(f'<li><a href="#{CHANGE}{number}">{" ".join(shown)}</a></li>')
    more = changes.count - len(changes.listed)
    if more > 0:
        rows.append(f"<li>and {more:,} more</li>")
    return f"<details><summary>list</summary><ol>{''.join(rows)}</ol></details>"

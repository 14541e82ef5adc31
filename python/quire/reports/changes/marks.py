"""How a redline marks changes: the style of the marks, and the bar that explains them."""

from __future__ import annotations

from quire.reports.frame import BAR_STYLE, STYLE, bar
from quire.sdiff.annotation import Summary

# Plain colours with `!important`, after the styles of the page, so that the page cannot hide marks.
# Each mark sets its own background and text colour, so it is readable on any page.
MARKS = (
    BAR_STYLE
    + """
.quire-ins { background: #d3f4d8 !important; color: #0b4a1c !important;
  outline: 2px solid #58b56a !important; outline-offset: 1px !important; }
.quire-del { background: #ffdfdc !important; outline: 2px dashed #d6635b !important;
  outline-offset: 1px !important; }
.quire-del, .quire-del * { color: #8c1d18 !important; text-decoration: line-through !important; }
ins.quire-ins, del.quire-del { outline: none !important; border-radius: 2px !important;
  padding: 0 .1em !important; }
ins.quire-ins { text-decoration: none !important; }
del.quire-del + ins.quire-ins { margin-left: .15em !important; }
.quire-moved { outline: 2px dotted #3b78c2 !important; outline-offset: 1px !important;
  background: #e3eefc !important; color: #14345c !important; }
.quire-attr { outline: 1px dotted #c99a2e !important; outline-offset: 1px !important; }
.quire-bar > .quire-moved { background: none !important; color: inherit !important; }
img { max-width: 100% !important; }
img:not([src]) { min-width: 3em; min-height: 1em; max-height: 16em; outline: 1px solid #ddd;
  background: #f4f4f4; color: #666; font-size: 12px; }
"""
)

# The lines of pages that are not HTML. Nothing in them is styled by a page, so that they follow the
# light or dark setting of the reader.
LINES = (
    STYLE
    + MARKS
    + """
.quire-lines { font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; padding: 1em; }
.quire-lines > div { min-height: 1.5em; padding: 0 .5em; outline: none !important; }
@media (prefers-color-scheme: dark) {
  .quire-lines .quire-ins { background: #16391f !important; color: #b7ecc2 !important; }
  .quire-lines .quire-del { background: #46211f !important; color: #f3b9b4 !important; }
  .quire-lines .quire-moved { background: #1b3350 !important; color: #c4dcf8 !important; }
}
"""
)


def summary_bar(summary: Summary, title_change: str) -> str:
    """Draw the bar with the number of changes, each beside its mark.

    Args:
        summary: the number of changes of each kind.
        title_change: safe markup of the changed title; empty if it did not change.
    """
    parts = [
        ("quire-ins", summary.insertions, "inserted"),
        ("quire-del", summary.deletions, "deleted"),
        ("", summary.content, "edited"),
        ("quire-moved", summary.moved, "moved"),
        ("quire-attr", summary.attributes, "with changed attributes"),
        ("quire-attr", summary.renamed, "with a new tag"),
    ]
    marks = "".join(
        f'<span class="{name}">{count:,} {said}</span>' for name, count, said in parts if count
    )
    title = f"<span>Title: {title_change}</span>" if title_change else ""
    return bar("Changes", f"{marks or '<span>none</span>'}{title}")

"""The frame of a redline: its head, its policy, the bar that explains the marks."""

from __future__ import annotations

from collections.abc import Sequence

from quire.display import escape
from quire.sdiff.annotation import Summary

# Marks come last and insist: a page must not be able to style them away.
STYLE = """
body { padding-top: 3em !important; }
.quire-ins { background: #d3f4d8 !important; color: #0b4a1c !important; outline: 2px solid #58b56a !important; outline-offset: 1px !important; }
.quire-del { background: #ffdfdc !important; outline: 2px dashed #d6635b !important; outline-offset: 1px !important; }
.quire-del, .quire-del * { color: #8c1d18 !important; text-decoration: line-through !important; }
ins.quire-ins, del.quire-del { outline: none !important; border-radius: 2px !important; padding: 0 .1em !important; }
ins.quire-ins { text-decoration: none !important; }
del.quire-del + ins.quire-ins { margin-left: .15em !important; }
.quire-moved { outline: 2px dotted #3b78c2 !important; outline-offset: 1px !important; background: #e3eefc !important; }
.quire-attr { outline: 1px dotted #c99a2e !important; outline-offset: 1px !important; }
img { max-width: 100% !important; }
img:not([src]) { min-width: 3em; min-height: 1em; max-height: 16em; outline: 1px solid #ddd; background: #f4f4f4; color: #666; font-size: 12px; }
.quire-lines { font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; padding: 1em; }
.quire-lines > div { min-height: 1.5em; padding: 0 .5em; outline: none !important; }
.quire-bar { all: initial !important; display: flex !important; flex-wrap: wrap !important; gap: .3em 1.2em !important; align-items: baseline !important;
  position: fixed !important; top: 0 !important; left: 0 !important; right: 0 !important; z-index: 2147483647 !important;
  padding: .5em 1em !important; box-sizing: border-box !important; font: 14px/1.5 system-ui, sans-serif !important;
  color: #222 !important; background: #fffef6 !important; border-bottom: 1px solid #ccc !important; }
.quire-bar > span { padding: 0 .35em; }
.quire-bar > .quire-moved { background: none !important; }
"""


def document(
    body: Sequence[str],
    *,
    title: str,
    styles: Sequence[str],
    summary: Summary,
    title_change: str,
    images: bool,
) -> str:
    """Put a body that is already safe into a document.

    >>> none = Summary(*[0] * 11)
    >>> drawn = document([], title="", styles=[], summary=none, title_change="", images=False)
    >>> "Content-Security-Policy" in drawn
    True

    Args:
        body: safe markup.
        title: the title of the page, as text.
        styles: style sheets of the page, made safe.
        summary: how much changed.
        title_change: safe markup of what became of the title; empty for nothing.
        images: whether the policy lets images of other sites be loaded.
    """
    sources = "data: https: http:" if images else "data:"
    policy = (
        f"default-src 'none'; img-src {sources}; style-src 'unsafe-inline'; "
        "form-action 'none'; base-uri 'none'"
    )
    sheets = "".join(f"<style>{sheet}</style>\n" for sheet in styles if sheet.strip())
    return "".join(
        [
            "<!doctype html>\n<html>\n<head>\n",
            '<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n',
            '<meta name="referrer" content="no-referrer">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(f'Changes: {title}' if title else 'Changes')}</title>\n",
            f"{sheets}<style>{STYLE}</style>\n</head>\n<body>\n",
            _bar(summary, title_change),
            *body,
            "\n</body>\n</html>\n",
        ]
    )


def _bar(summary: Summary, title_change: str) -> str:
    parts = [
        ("quire-ins", summary.insertions, "inserted"),
        ("quire-del", summary.deletions, "deleted"),
        ("", summary.content, "edited"),
        ("quire-moved", summary.moved, "moved"),
        ("quire-attr", summary.attributes, "other attributes"),
        ("quire-attr", summary.renamed, "other tag"),
    ]
    marks = "".join(
        f'<span class="{name}">{count:,} {said}</span>' for name, count, said in parts if count
    )
    title = f"<span>Title: {title_change}</span>" if title_change else ""
    return f'<div class="quire-bar"><b>Changes</b>{marks or "<span>none</span>"}{title}</div>\n'

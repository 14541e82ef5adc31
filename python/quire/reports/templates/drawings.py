"""SVG drawings for reports: a page, a template and a crawl at a glance.

Numbers go in, markup comes out. Every drawing has a limited number of shapes, for pages of any
size. Colours are classes; the style sheet of ``quire.reports.frame`` defines them for light and
dark screens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest

# The size of a thumbnail, and how far a child is indented from the left and right of its parent.
WIDTH, HEIGHT = 150, 260
_LEFT, _RIGHT = 4.5, 2.0
_LEVELS = 20
# Maximum number of lines and of boxes around them, and the minimum height of a box.
_LINES = 100
_MOST_BOXES = 200
_LEAST_BOX = 3.0
# An image or a form field counts as much as a few words.
_ELEMENT_WEIGHT = 12

# The purpose of elements, shown by their colour; all other elements are plain boxes.
KINDS: dict[str, tuple[str, frozenset[str]]] = {
    "landmark": (
        "parts of the page",
        frozenset(["header", "footer", "nav", "main", "article", "aside", "section"]),
    ),
    "heading": ("headings", frozenset(["h1", "h2", "h3", "h4", "h5", "h6", "hgroup", "title"])),
    "text": (
        "text",
        frozenset(
            [
                "#text",
                "p",
                "blockquote",
                "pre",
                "code",
                "b",
                "i",
                "em",
                "strong",
                "small",
                "time",
                "q",
                "cite",
                "abbr",
                "sub",
                "sup",
                "u",
            ]
        ),
    ),
    "link": ("links", frozenset({"a"})),
    "list": ("lists", frozenset(["ul", "ol", "li", "dl", "dt", "dd", "menu"])),
    "table": (
        "tables",
        frozenset(["table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"]),
    ),
    "form": (
        "forms",
        frozenset(["form", "input", "button", "select", "textarea", "label", "fieldset", "option"]),
    ),
    "media": (
        "images",
        frozenset(
            [
                "img",
                "svg",
                "picture",
                "figure",
                "video",
                "audio",
                "canvas",
                "iframe",
                "object",
                "source",
            ]
        ),
    ),
    "code": (
        "scripts",
        frozenset(
            ["script", "style", "link", "meta", "noscript", "template", "#comment", "#doctype"]
        ),
    ),
}
_NAMES = ("box", *KINDS)
_KIND_OF = {tag: number for number, (_, tags) in enumerate(KINDS.values(), 1) for tag in tags}
_TEXT, _CODE = _NAMES.index("text"), _NAMES.index("code")
_BOXED = [_NAMES.index(name) for name in ("landmark", "list", "table", "form")]
_DRAWN = frozenset(
    [
        "img",
        "svg",
        "picture",
        "video",
        "canvas",
        "iframe",
        "object",
        "input",
        "button",
        "select",
        "textarea",
        "hr",
    ]
)

#: Number of colours for templates; they repeat after the last.
HUES = 8

_BINS = 20


def thumbnail(page: Digest) -> str:
    """Draw the tree of a page from top to bottom, like a page of text seen from afar.

    Nodes are placed on lines in document order. The indentation of a line shows the depth of its
    nodes, its length how much text they have, and its colour their most frequent kind. Boxes behind
    the lines show lists, tables, forms and parts of the page.

    >>> import quire
    >>> drawn = thumbnail(quire.encode(b"<h1>Fish</h1><ul><li>Cod<li>Eel</ul>"))
    >>> [name in drawn for name in ("heading", "list", "table")]
    [True, True, False]
    """
    start = _body(page)
    n = int(page.size[start])
    nodes = slice(start, start + n)
    depth = (page.depth[nodes].astype(np.int64) - int(page.depth[start])).clip(max=_LEVELS)
    kinds = np.array([_KIND_OF.get(name, 0) for name in page.tag_names], np.int64)
    kind = kinds[page.tag[nodes]]
    boxes = _boxes(kind, depth, page.size[nodes], HEIGHT / n)
    lines = _lines(kind, depth, _weights(page, nodes), page.parent[nodes] - start)
    return (
        f'<svg class="thumbnail" viewBox="-4 -4 {WIDTH + 8} {HEIGHT + 8}" role="img" '
        f'aria-label="The tree of the representative"><g class="boxes">{boxes}</g>{lines}</svg>'
    )


def _body(page: Digest) -> int:
    """Find the node to draw: the visible part of a page, or all of it."""
    found = page.select(":root > body, :root > frameset").tolist() if page.kind == "html" else []
    return int(found[0]) if found else 0


def _boxes(kind: NDArray[Any], depth: NDArray[Any], size: NDArray[Any], scale: float) -> str:
    height = size * scale
    kept = np.flatnonzero((height >= _LEAST_BOX) & np.isin(kind, _BOXED))
    if len(kept) > _MOST_BOXES:
        largest = np.argsort(-height[kept], kind="stable")[:_MOST_BOXES]
        kept = np.sort(kept[largest])
    drawn = []
    for node in kept.tolist():  # outer boxes first
        left = int(depth[node]) * _LEFT
        width = WIDTH - int(depth[node]) * (_LEFT + _RIGHT)
        drawn.append(
            f'<rect class="{_NAMES[kind[node]]}" x="{left:g}" y="{node * scale:.1f}" '
            f'width="{width:g}" height="{height[node]:.1f}"/>'
        )
    return "".join(drawn)


def _weights(page: Digest, nodes: slice) -> NDArray[np.int64]:
    """Return how much of each node is visible: characters of text, or a constant for an image."""
    lengths = np.array([*(len(raw.strip()) for raw in page.contents), 0], np.int64)
    drawn = np.array([name in _DRAWN for name in page.tag_names], np.int64) * _ELEMENT_WEIGHT
    # A node without content has -1, which is the last of the lengths.
    return lengths[page.content[nodes]] + drawn[page.tag[nodes]]


def _lines(
    kind: NDArray[Any], depth: NDArray[Any], weight: NDArray[np.int64], parent: NDArray[Any]
) -> str:
    # A text has the kind of its parent; in a plain box, it is text.
    is_text = kind == _TEXT
    around = kind[parent.clip(min=0)]
    kind = np.where(is_text & (around != 0), around, kind)
    seen = np.flatnonzero((weight > 0) & (kind != _CODE))
    if not len(seen):
        return ""
    n = len(kind)
    lines = min(_LINES, n)
    line = seen * lines // n
    by_kind = np.zeros((lines, len(_NAMES)), np.int64)
    np.add.at(by_kind, (line, kind[seen]), weight[seen])
    first = np.full(lines, _LEVELS)
    np.minimum.at(first, line, depth[seen])
    step = HEIGHT / lines
    high = min(step * 0.62, 6.0)
    paths: dict[int, list[str]] = {}
    for at in np.unique(line).tolist():
        left = float(first[at]) * _LEFT
        room = WIDTH - float(first[at]) * (_LEFT + _RIGHT)
        long = min(room, 6 + 11 * float(np.log2(1 + by_kind[at].sum())))
        top = at * step + (step - high) / 2
        shape = f"M{left:g} {top:.1f}h{long:.0f}v{high:.1f}h-{long:.0f}z"
        paths.setdefault(int(by_kind[at].argmax()), []).append(shape)
    return "".join(
        f'<path class="{_NAMES[number]}" d="{"".join(shapes)}"/>'
        for number, shapes in sorted(paths.items())
    )


def histogram(fits: NDArray[np.float64], middle: float) -> str:
    """Draw the distribution of the fits from 0 to 1, with a mark at the median.

    >>> histogram(np.array([1.0, 0.9, 0.2]), 0.9).count("<rect")
    3
    """
    counts, _ = np.histogram(fits.clip(0, 1), bins=_BINS, range=(0, 1))
    most = max(1, int(counts.max()))
    bars = "".join(
        # Even the smallest bar stays visible.
        f'<rect x="{10 * at + 1}" y="{40 - high:.1f}" width="8" height="{high:.1f}"/>'
        for at, count in enumerate(counts.tolist())
        if count and (high := max(2.0, 38 * count / most))
    )
    mark = 200 * min(max(middle, 0.0), 1.0)
    return (
        '<svg class="histogram" viewBox="-4 0 208 48" role="img" '
        'aria-label="How well its pages fit, from 0 to 1">'
        f'<path class="axis" d="M0 40.5h200"/>{bars}'
        f'<path class="mark" d="M{mark:.1f} 42l4 6h-8z"/></svg>'
    )


def sizes_bar(segments: Sequence[tuple[str, int, str]], total: int) -> str:
    """Draw shares of a whole as one bar.

    >>> sizes_bar([("hue0", 3, '<title>Template 1</title>'), ("alone", 1, "")], 4).count("<rect")
    2

    Args:
        segments: class, number of pages, and safe markup inside the shape, for each segment.
        total: number of all pages.
    """
    left = 0.0
    drawn: list[str] = []
    for name, size, inside in segments:
        width = 1000 * size / max(1, total)
        # Leave a gap if there is room for one.
        seen = max(width - 1.5, width * 0.8)
        drawn.append(
            f'<rect class="{name}" x="{left:.2f}" width="{seen:.2f}" height="40">{inside}</rect>'
        )
        left += width
    return (
        '<svg class="sizes" viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" '
        f'aria-label="Shares of the templates">{"".join(drawn)}</svg>'
    )


def key(name: str) -> str:
    """Draw a square in the colour of a class, for a legend."""
    return (
        f'<svg class="key" viewBox="0 0 10 10"><rect class="{name}" width="10" height="10"/></svg>'
    )


def legend(names: Iterable[tuple[str, str]]) -> str:
    """Draw a legend from classes and their labels."""
    return "".join(f"<span>{key(name)}{words}</span>" for name, words in names)

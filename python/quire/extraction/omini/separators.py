"""Separator heuristics: which tag divides the children of a subtree into objects.

Each heuristic takes an outline and the node that holds the objects, and ranks the names of the
node's children, the best first. Candidates are names that at least two children have. A heuristic
leaves out candidates about which it has nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from quire.extraction.outline import Ints, Outline

# Paths longer than this are not told apart: a page may be deeper than any list.
MAX_PATH = 32

#: Names of separators by the name of their parent, the likeliest first.
IDENTIFIABLE: dict[str, tuple[str, ...]] = {
    "table": ("tr", "tbody", "table"),
    "tbody": ("tr",),
    "thead": ("tr",),
    "tr": ("td", "th"),
    "ul": ("li",),
    "ol": ("li", "div"),
    "menu": ("li",),
    "dir": ("li",),
    "dl": ("dt", "div", "dd"),
    "select": ("option",),
    "body": ("article", "table", "div", "section", "h2", "h3", "p", "hr", "ul", "a"),
    "form": ("table", "div", "p"),
    "td": ("table", "p", "div", "hr", "dl", "ul", "a"),
    "center": ("table", "p", "hr", "div"),
    "blockquote": ("p", "table", "hr"),
    "p": ("b", "a", "br"),
}
#: For all other parents. `article`, `section`, `div` and custom elements are of today's web.
IDENTIFIABLE_ELSEWHERE = (
    "article",
    "section",
    "li",
    "div",
    "table",
    "a",
    "dt",
    "h3",
    "h2",
    "p",
    "hr",
)


class Separator(Enum):
    """The separator heuristics, by their names in the literature."""

    SD = "SD"
    RP = "RP"
    IPS = "IPS"
    SB = "SB"
    PP = "PP"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate and its score; whether high or low is good depends on the heuristic."""

    tag: str
    score: float


def standard_deviation(view: Outline, node: int) -> list[Ranked]:
    """SD: how evenly a name is spaced; low is good.

    The distances between neighbouring children of one name are measured in bytes of text. A name
    needs three children: with two there is one distance, which is always even.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<div><hr>abc<b>d</b><hr><b>abc</b>d<hr>ab<b>cd</b></div>")
    >>> [one.tag for one in standard_deviation(outline(page), page.select_one("div"))]
    ['hr', 'b']
    """
    children = view.children(node)
    ranked = []
    for tag in _candidates(view, children):
        starts = children[view.page.tag[children] == tag]
        if len(starts) > 2:  # noqa: PLR2004 - see above
            gaps = np.diff(view.text_before[starts])
            ranked.append(Ranked(view.page.tags[tag], float(gaps.std())))
    return sorted(ranked, key=lambda one: one.score)


def repeating_pattern(view: Outline, node: int) -> list[Ranked]:
    """RP: whether a name is always followed by the same name at once; low is good.

    For every two start tags without text between them, the difference between the number of such
    pairs and the number of nodes with the first name; each candidate has its smallest difference.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<ul><li><b>x</b><li><b>y</b><li><b>z</b></ul>")
    >>> repeating_pattern(outline(page), page.select_one("ul"))
    [Ranked(tag='li', score=0.0)]
    """
    inside = np.arange(node + 1, view.end[node])
    shown = inside[view.elements[inside]]
    if len(shown) < 2:  # noqa: PLR2004 - a pair
        return []
    first, second = shown[:-1], shown[1:]
    close = view.text_before[first] == view.text_before[second]
    tag = np.asarray(view.page.tag, np.int64)
    names = len(view.page.tags)
    keys, counts = np.unique(tag[first[close]] * names + tag[second[close]], return_counts=True)
    of_name = np.bincount(tag[shown], minlength=names)
    differences = np.abs(counts - of_name[keys // names])
    smallest = np.full(names, np.inf)
    np.minimum.at(smallest, keys // names, differences.astype(np.float64))
    candidates = _candidates(view, view.children(node))
    ranked = [
        Ranked(view.page.tags[each], float(smallest[each]))
        for each in candidates
        if np.isfinite(smallest[each])
    ]
    return sorted(ranked, key=lambda one: one.score)


def identifiable_path(view: Outline, node: int) -> list[Ranked]:
    """IPS: the usual separators of the parent's name, in order; the score is the place.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<dl><dt>a<dd>b<dt>c<dd>d</dl>")
    >>> [one.tag for one in identifiable_path(outline(page), page.select_one("dl"))]
    ['dt', 'dd']
    """
    parent = view.page.tag_names[int(view.page.tag[node])]
    usual = IDENTIFIABLE.get(parent, ()) + IDENTIFIABLE_ELSEWHERE
    places = {name: place for place, name in reversed(list(enumerate(usual)))}
    found = [view.page.tags[tag] for tag in _candidates(view, view.children(node))]
    ranked = [Ranked(tag, float(places[tag])) for tag in found if tag in places]
    # A custom element is named for the thing it shows.
    ranked += [Ranked(tag, -1.0) for tag in found if "-" in tag and tag not in places]
    return sorted(ranked, key=lambda one: one.score)


def sibling_pairs(view: Outline, node: int) -> list[Ranked]:
    """SB: the first name of the most frequent two neighbours; high is good.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<dl><dt>a<dd>b<dt>c<dd>d</dl>")
    >>> sibling_pairs(outline(page), page.select_one("dl"))
    [Ranked(tag='dt', score=2.0), Ranked(tag='dd', score=1.0)]
    """
    children = view.children(node)
    candidates = _candidates(view, children)
    if not len(candidates):
        return []
    tag = np.asarray(view.page.tag, np.int64)[children]
    names = len(view.page.tags)
    keys, counts = np.unique(tag[:-1] * names + tag[1:], return_counts=True)
    most = np.zeros(names, np.int64)
    np.maximum.at(most, keys // names, counts)
    ranked = [Ranked(view.page.tags[each], float(most[each])) for each in candidates if most[each]]
    return sorted(ranked, key=lambda one: -one.score)


def partial_path(view: Outline, node: int) -> list[Ranked]:
    """PP: the first name of the most frequent path below the node; high is good.

    A path is the names from a child of the node down to some descendant. Of paths that are equally
    frequent the longer one wins.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<div><p>x<hr><p><a>y</a><hr><p><a>z</a></div>")
    >>> [one.tag for one in partial_path(outline(page), page.select_one("div"))]
    ['p', 'hr']
    """
    children = view.children(node)
    candidates = _candidates(view, children)
    tag = np.asarray(view.page.tag, np.int64)
    best: dict[int, tuple[int, int]] = {}
    # The number of each node's path, one level after the other: equal paths have equal numbers.
    level, path = children, tag[children]
    first = path
    length = 1
    while len(level) and length <= MAX_PATH:
        numbers, inverse, counts = np.unique(path, return_inverse=True, return_counts=True)
        starts = np.empty(len(numbers), np.int64)
        starts[inverse] = first
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
            best[start] = max(best.get(start, (0, 0)), (count, length))
        level, above = _next_level(view, level)
        path = inverse[above] * len(view.page.tags) + tag[level]
        first = first[above]
        length += 1
    ranked = sorted(
        ((best[int(each)], view.page.tags[each]) for each in candidates),
        key=lambda one: (-one[0][0], -one[0][1]),
    )
    return [Ranked(name, float(count)) for (count, _), name in ranked]


SEPARATORS: dict[Separator, Callable[[Outline, int], list[Ranked]]] = {
    Separator.SD: standard_deviation,
    Separator.RP: repeating_pattern,
    Separator.IPS: identifiable_path,
    Separator.SB: sibling_pairs,
    Separator.PP: partial_path,
}


def _candidates(view: Outline, children: Ints) -> list[int]:
    """The names of at least two children, the most frequent first."""
    tags, counts = np.unique(view.page.tag[children], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [int(tag) for tag, count in zip(tags[order], counts[order], strict=True) if count > 1]


def _next_level(view: Outline, level: Ints) -> tuple[Ints, NDArray[np.intp]]:
    """The visible elements one level below some nodes, and for each the place of its parent."""
    low, high = int(level[0]), int(view.end[level[-1]])
    inside = np.arange(low, high)
    at = np.searchsorted(level, view.parent[low:high])
    at = np.minimum(at, len(level) - 1)
    kept = view.elements[inside] & (level[at] == view.parent[inside])
    return inside[kept], at[kept]

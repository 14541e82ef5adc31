"""Following: find a watched part again after a redesign.

A selector dies when a site changes its templates; worse, it can start to match something else. So
the part itself is remembered, as a small ``Fingerprint``: how its text begins and looks, the words
and the heading before it, its id, classes and other names, the elements around it. On a new version:

1. If the annotation pairs the old part with what the selector finds now, nothing happened. The same
   holds if the selector means the first or last item of a list, and finds another item there: a new
   headline is a change, not a redesign.
2. If the selector finds nothing, or something other than the old part's partner, all visible
   elements are compared with the fingerprint. The best one is proposed if it is like the part, has
   some of its own words or names, and is clearly more like it than any element beside it.

Nothing is decided in silence: a part that was found again is a proposal for the user.

Cost: linear in the page. Words are listed once, and an element's words are a slice of the list, of
which at most ``MOST_WORDS`` are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest

#: Words of a part, and words before it, that are remembered.
MOST_WORDS = 48
LABEL_WORDS = 6
#: Ancestors whose names are remembered.
MOST_ABOVE = 6
#: A proposal must be at least this much like the part, and this much more than any other element.
LIKE_ENOUGH = 0.5
CLEARLY = 0.08
#: A match of the selector that is less like the part than this is doubted.
DOUBTFUL = 0.35
#: Elements are compared if they have at most this many times as many words as the part, or as few.
SIZE_FACTOR = 8
#: Elements that are compared; beyond, only every second, third, ... one with the same tag.
MOST_COMPARED = 20_000

#: Attributes that name a part. Their values are compared as words.
NAMES = ("itemprop", "data-testid", "data-test", "aria-label", "name", "role", "property")
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
#: Elements that are items of lists.
ITEMS = HEADINGS | {"li", "tr", "dt", "dd", "article", "option"}

# A selector of the first or last one of some elements, as people write it. Tools write paths with
# numbers, and mean one element.
_AT_AN_END = re.compile(r"(?!/html\b).*(?::(?:first|last)-|\[\s*(?:1|last\(\))\s*\])", re.DOTALL)
_WORD = re.compile(r"\w+(?:[.,]\w+)*|[^\w\s]")
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")

#: What was found. ``same``: the selector still finds the part. ``moved``: the part is somewhere
#: else. ``lost``: nothing is like it.
WhereNow: TypeAlias = Literal["same", "moved", "lost"]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is remembered of a part.

    Attributes:
        tag: its element.
        ident: its id.
        classes: its classes.
        names: words of other attributes that name it.
        words: how its text begins.
        shape: how its text looks: letters as ``a``, digits as ``0``.
        label: the words before it.
        heading: the words of the heading before it.
        above: the elements around it, from the nearest on.
        size: the number of its words.
    """

    tag: str
    ident: str
    classes: tuple[str, ...]
    names: tuple[str, ...]
    words: tuple[str, ...]
    shape: str
    label: tuple[str, ...]
    heading: tuple[str, ...]
    above: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Followed:
    """Where a part is on a new version.

    Attributes:
        where: what was found.
        node: the element to propose; None if nothing is proposed.
        score: how much it is like the part, from 0 to 1.
        path: a selector for it.
    """

    where: WhereNow
    node: int | None = None
    score: float = 0.0
    path: str = ""


class PartFinder:
    """Finds parts on one page by their fingerprints."""

    def __init__(self, page: Digest) -> None:
        self.page: Digest = page
        self._names: list[str] = [str(name) for name in page.tags]
        self._words, self._word_nodes = _words_of(page)
        self._headings = self._find_headings()

    def fingerprint(self, node: int) -> Fingerprint:
        """Return the fingerprint of an element.

        >>> import quire
        >>> page = quire.encode(b"<h2>Fish</h2>Price: <b id=p class=price>$9.50</b>")
        >>> PartFinder(page).fingerprint(7).shape
        '$ 0.0'
        """
        page = self.page
        attributes = page.attributes(node) if page.attr[node] >= 0 else {}
        start, end = self._range(node)
        words = self._words[start : min(end, start + MOST_WORDS)]
        return Fingerprint(
            tag=self._name(node),
            ident=attributes.get("id", ""),
            classes=tuple(attributes.get("class", "").split()),
            names=tuple(
                word
                for name in NAMES
                for word in attributes.get(name, "").lower().split()[:MOST_WORDS]
            ),
            words=tuple(words),
            shape=_shape(words),
            label=tuple(self._words[max(0, start - LABEL_WORDS) : start]),
            heading=self._heading_before(node),
            above=tuple(self._above(node)),
            size=end - start,
        )

    def find(self, wanted: Fingerprint) -> tuple[int, float, float] | None:
        """Return the element that is most like a part, its score, and the best score beside it.

        Elements around and inside the best one are not beside it.
        """
        candidates = self._candidates(wanted)
        if not len(candidates):
            return None
        scores = np.array([score(wanted, self.fingerprint(node)) for node in candidates.tolist()])
        best = int(np.argmax(scores))
        node = int(candidates[best])
        end = node + int(self.page.size[node])
        ends = candidates + self.page.size[candidates]
        is_beside = (ends <= node) | (candidates >= end)
        beside = scores[is_beside]
        return node, float(scores[best]), float(beside.max()) if len(beside) else 0.0

    def follow(
        self,
        wanted: Fingerprint,
        now: NDArray[np.integer],
        partner: int,
        selectors: tuple[str, ...] = (),
    ) -> Followed:
        """Say where a part is.

        Args:
            wanted: the fingerprint of the part on the old version.
            now: what the selector finds on this version.
            partner: the partner of the part in the annotation; -1 for none.
            selectors: the selectors.
        """
        if partner >= 0 and partner in now:
            return Followed("same", partner, 1.0)
        if partner > 0 and self._is_other_item(now, partner, selectors):
            return Followed("same", int(now[0]), 1.0)
        matched = max((score(wanted, self.fingerprint(node)) for node in now.tolist()), default=0.0)
        known = score(wanted, self.fingerprint(partner)) if partner > 0 else 0.0
        if len(now) and matched >= max(DOUBTFUL, known):
            return Followed("same", int(now[0]), matched)
        found = self.find(wanted)
        is_like = found is not None and found[1] >= max(LIKE_ENOUGH, matched)
        if found is None or not is_like or (found[1] - found[2] < CLEARLY and found[0] != partner):
            return Followed("same" if len(now) else "lost", None, matched)
        node, best, _ = found
        if node in now:
            return Followed("same", node, best)
        return Followed("moved", node, best, self.page.path(node))

    def _is_other_item(
        self, now: NDArray[np.integer], partner: int, selectors: tuple[str, ...]
    ) -> bool:
        """Tell whether a selector of the first or last item of a list finds another item."""
        is_at_end = any(_AT_AN_END.match(selector) for selector in selectors)
        return is_at_end and len(now) == 1 and self._are_items(int(now[0]), partner)

    def _are_items(self, one: int, other: int) -> bool:
        """Tell whether two elements are at the same place in two items of one list."""
        parent = self.page.parent
        while self._name(one) == self._name(other) and one > 0 and other > 0:
            if parent[one] == parent[other]:
                return self._is_item(one) and self._is_item(other) and self._is_at_end(one)
            one, other = int(parent[one]), int(parent[other])
        return False

    def _is_at_end(self, node: int) -> bool:
        """Tell whether an element is the first or last one with its tag in its parent."""
        page = self.page
        above = int(page.parent[node])
        child, end = above + 1, above + int(page.size[above])
        alike = []
        while child < end:
            if page.tag[child] == page.tag[node]:
                alike.append(child)
            child += int(page.size[child])
        return node in (alike[0], alike[-1])

    def _is_item(self, node: int) -> bool:
        if self._name(node) in ITEMS:
            return True
        page = self.page
        attributes = page.attributes(node) if page.attr[node] >= 0 else {}
        names = attributes.get("class", "")
        return bool(names) and names in self._classes_beside(node)

    def _classes_beside(self, node: int) -> Iterator[str]:
        page = self.page
        above = int(page.parent[node])
        child, end = above + 1, above + int(page.size[above])
        while child < end:
            if child != node and page.attr[child] >= 0 and page.tag[child] == page.tag[node]:
                yield page.attributes(child).get("class", "")
            child += int(page.size[child])

    # ------------------------------------------------------------ the page

    def _name(self, node: int) -> str:
        return self._names[int(self.page.tag[node])]

    def _range(self, node: int) -> tuple[int, int]:
        ends = (node, node + int(self.page.size[node]))
        start, end = np.searchsorted(self._word_nodes, ends)
        return int(start), int(end)

    def _above(self, node: int) -> Iterator[str]:
        for _ in range(MOST_ABOVE):
            node = int(self.page.parent[node])
            if node <= 0:
                return
            yield self._name(node)

    def _find_headings(self) -> NDArray[np.int64]:
        tags = [place for place, name in enumerate(self._names) if name in HEADINGS]
        return np.flatnonzero(np.isin(self.page.tag, tags))

    def _heading_before(self, node: int) -> tuple[str, ...]:
        place = int(np.searchsorted(self._headings, node)) - 1
        if place < 0:
            return ()
        start, end = self._range(int(self._headings[place]))
        return tuple(self._words[start : min(end, start + MOST_WORDS)])

    def _candidates(self, wanted: Fingerprint) -> NDArray[np.int64]:
        page = self.page
        is_element = np.array([not name.startswith("#") for name in self._names], np.bool_)
        nodes = np.flatnonzero(is_element[page.tag] & page.visible)
        starts = np.searchsorted(self._word_nodes, nodes)
        sizes = np.searchsorted(self._word_nodes, nodes + page.size[nodes]) - starts
        least, most = wanted.size / SIZE_FACTOR, max(wanted.size, 1) * SIZE_FACTOR
        found = nodes[(sizes >= least) & (sizes <= most)]
        if len(found) > MOST_COMPARED:
            found = found[:: len(found) // MOST_COMPARED + 1]
        return found


def score(wanted: Fingerprint, found: Fingerprint) -> float:
    """Return how much an element is like a part, from 0 to 1.

    Only what the part has counts: an id that it never had says nothing. An element without any of
    its words and names is not like it, whatever is around it.
    """
    if not _shares_something(wanted, found):
        return 0.0
    total = weight = 0.0
    for each, value in (
        (3.0 if len(wanted.words) > 2 else 1.0, _overlap(wanted.words, found.words)),  # noqa: PLR2004
        (1.5, _overlap(tuple(wanted.shape.split()), tuple(found.shape.split()))),
        (2.0 if wanted.label else 0.0, _overlap(wanted.label, found.label)),
        (1.5 if wanted.heading else 0.0, _overlap(wanted.heading, found.heading)),
        (2.0 if wanted.ident else 0.0, float(wanted.ident == found.ident)),
        (1.5 if wanted.classes else 0.0, _overlap(wanted.classes, found.classes)),
        (1.5 if wanted.names else 0.0, _overlap(wanted.names, found.names)),
        (0.5, _overlap(wanted.above, found.above)),
        (0.5, float(wanted.tag == found.tag)),
        (1.0, min(wanted.size + 1, found.size + 1) / max(wanted.size + 1, found.size + 1)),
    ):
        total += each * value
        weight += each
    return total / weight


def _shares_something(wanted: Fingerprint, found: Fingerprint) -> bool:
    return (
        not set(wanted.words).isdisjoint(found.words)
        or wanted.shape == found.shape
        or (bool(wanted.ident) and wanted.ident == found.ident)
        or not set(wanted.classes).isdisjoint(found.classes)
        or not set(wanted.names).isdisjoint(found.names)
    )


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return the share of items that two lists have in common, with repetitions counted once."""
    mine, others = set(one), set(other)
    return len(mine & others) / len(mine | others) if mine or others else 1.0


def _shape(words: list[str]) -> str:
    return " ".join(_LETTERS.sub("a", _DIGITS.sub("0", word)) for word in words[:MOST_WORDS])


def _words_of(page: Digest) -> tuple[list[str], NDArray[np.int64]]:
    """List the visible words of a page in document order, with their nodes."""
    is_text = np.array([str(name) == "#text" for name in page.tags], np.bool_)
    nodes = np.flatnonzero(is_text[page.tag] & page.visible & (page.content >= 0))
    words: list[str] = []
    owners: list[int] = []
    for node in nodes.tolist():
        found = _WORD.findall(page.text(node).lower())
        words += found
        owners += [node] * len(found)
    return words, np.array(owners, np.int64)

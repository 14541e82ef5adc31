"""Pacing: parts of a page that change at another pace than the rest are cut out of it.

A cache fetches a file again when its bytes change. A front page changes at every capture, but most
of its bytes do not: if the parts that stay are files of their own, only the others are fetched
again. That is what L-P fragments are for (paper 004, section 4), whether or not other pages have
the same part.

Captures show in which versions each node of the newest page changed: its own source, or that of a
node inside it. Fetching a file of L bytes again costs ``L + REQUEST_BYTES``. A part that changed e
times, in a page whose rest changed t times, saves as a file of its own::

    t (L - include) - e (L + REQUEST_BYTES) - (L + REQUEST_BYTES)

The last term is the fetch of the new file. A part that was a file before does not pay it, so that
cuts do not wander from one composition to the next. Parts do not nest. Given t, the best parts are
found in one pass from the innermost nodes outwards. Cutting parts out may make t smaller, so the
choice is made again with the new t, a few times, and the cheapest one is taken.

Cost: a few passes over the nodes of the newest version. Sets of versions are bits of integers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.fragments.caching.plan import Continued
from quire.fragments.cuts.candidates import Span
from quire.fragments.cuts.site_cuts import CutPage, SiteCuts
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.site.collection import Collection

#: What a request costs beside the body: the headers of request and response.
REQUEST_BYTES = 500
#: Most parts that are cut out of one page for their pace: a cache looks up each for every request.
MOST_PARTS = 100
# Rounds of choosing; how often the rest changes is settled after two or three.
_ROUNDS = 4


def paced_parts(
    site: Collection, cuts: SiteCuts, lives: Mapping[int, Lifetimes], continued: Continued
) -> dict[int, list[Span]]:
    """Find the parts of pages to cut out for their pace, next to the cuts that are made already.

    A page without versions shows no pace: its parts that were files before stay files.

    Args:
        site: the pages.
        cuts: the cuts so far.
        lives: the lifetimes of pages, by place.
        continued: parts that were files before.

    Returns:
        The parts, by the number of the page's bytes.
    """
    found: dict[int, list[Span]] = {}
    for place in {**lives, **continued}:
        body = site.pages[place].body
        page = cuts.pages[body]
        known = continued.get(place, {}).keys()
        if body in found or page.is_refused:
            continue
        holes = [(one.start, one.end) for one in page.cuts]
        if place in lives and len(lives[place].times) > 1:
            nodes = PacedNodes.of(lives[place], site.body(body), holes, cuts.rules.min_bytes)
            spans = nodes.choose(cuts.rules.include_bytes, known)
        else:
            spans = _still_free(page, known, cuts.rules.min_bytes)
        if spans:
            found[body] = spans
    return found


def _still_free(page: CutPage, known: AbstractSet[Span], min_bytes: int) -> list[Span]:
    """Return the parts that no cut and no other part overlaps."""
    found: list[Span] = []
    cuts = page.cuts
    ends = [one.end for one in cuts]
    taken = 0
    for start, end in sorted(known, key=lambda one: (one[0], -one[1])):
        # Cuts are in page order: only the first one that ends after the start can overlap.
        after = bisect_right(ends, start)
        is_free = start >= taken and (after == len(cuts) or cuts[after].start >= end)
        if is_free and end - start >= min_bytes:
            found.append((start, end))
            taken = end
    return found[:MOST_PARTS]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Nodes to cut out, how often the rest changed, and what all files of the page cost."""

    nodes: tuple[int, ...]
    rest_changes: int
    cost: int


class PacedNodes:
    """The nodes of the newest version of a page, and the versions in which each changed."""

    def __init__(
        self,
        *,
        parent: Sequence[int],
        span: Sequence[Span],
        own: Sequence[int],
        place: Sequence[int],
        status: Sequence[bool | None],
        rest_bytes: int,
    ) -> None:
        """Take columns; parents come before their children.

        Args:
            parent: the parent of each node; that of node 0 does not matter.
            span: its first byte and the end after its last one.
            own: versions in which its own source changed, as bits.
            place: versions in which its place changed before it was there.
            status: whether it may be cut out; None if it is in a part that is cut out already.
            rest_bytes: bytes of the page without such parts.
        """
        self._parent, self._span, self._own, self._status = parent, span, own, status
        self._rest_bytes = rest_bytes
        self._changes = list(own)
        for node in range(len(own) - 1, 0, -1):
            self._changes[parent[node]] |= self._changes[node]
        for node, before in enumerate(place):
            self._changes[node] |= before

    @classmethod
    def of(
        cls, lives: Lifetimes, source: bytes, holes: Sequence[Span], min_bytes: int
    ) -> PacedNodes:
        """Take the nodes of a page.

        Args:
            lives: its lifetimes.
            source: the bytes of its newest version.
            holes: parts that are cut out already.
            min_bytes: the shortest part to cut out.
        """
        own = _own_changes(lives)
        span: list[Span] = [(start, end) for start, end in lives.latest_span.tolist()]
        return cls(
            parent=lives.latest_parent.tolist(),
            span=span,
            own=own,
            place=_changes_of_place(lives, own),
            status=_statuses(lives.latest_span, source, holes, min_bytes),
            rest_bytes=len(source) - sum(end - start for start, end in holes),
        )

    def choose(self, include_bytes: int, continued: AbstractSet[Span] = frozenset()) -> list[Span]:
        """Choose the parts with which the least is fetched again.

        Args:
            include_bytes: the length of an include.
            continued: parts that are files already.
        """
        best = self._judged((), include_bytes, continued)
        changes = best.rest_changes
        for _ in range(_ROUNDS):
            nodes = self.most_saved(changes, include_bytes, continued)
            choice = self._judged(nodes, include_bytes, continued)
            if choice.cost < best.cost:
                best = choice
            if choice.rest_changes == changes:
                break
            changes = choice.rest_changes
        return [self._span[node] for node in best.nodes]

    def most_saved(
        self, rest_changes: int, include_bytes: int, continued: AbstractSet[Span]
    ) -> tuple[int, ...]:
        """Return the nodes that save the most if the rest of the page changes this often."""
        count = len(self._own)
        inside = [0] * count  # the most that is saved right inside each node
        saved = [0] * count
        for node in range(count - 1, 0, -1):
            if self._status[node]:
                mine = self._saved(node, rest_changes, include_bytes, continued)
                # In doubt the inner parts: an element that browsers add has the bytes of its child.
                saved[node] = mine if mine > inside[node] else 0
            inside[self._parent[node]] += max(saved[node], inside[node])
        chosen: list[int] = []
        is_covered = [False] * count
        end = 0
        for node in range(1, count):
            is_covered[node] = is_covered[self._parent[node]]
            # Browsers move some parts out of tables: nodes may be elsewhere than their parents.
            if saved[node] and not is_covered[node] and self._span[node][0] >= end:
                is_covered[node] = True
                chosen.append(node)
                end = self._span[node][1]
        chosen.sort(key=lambda node: (-saved[node], node))
        return tuple(sorted(chosen[:MOST_PARTS]))

    def _saved(
        self, node: int, rest_changes: int, include_bytes: int, continued: AbstractSet[Span]
    ) -> int:
        start, end = self._span[node]
        return rest_changes * (end - start - include_bytes) - self._cost(node, continued)

    def _cost(self, node: int, continued: AbstractSet[Span]) -> int:
        """What a node costs as a file of its own: a new one is fetched once more."""
        start, end = self._span[node]
        fetches = self._changes[node].bit_count() + ((start, end) not in continued)
        return fetches * (end - start + REQUEST_BYTES)

    def _judged(
        self, nodes: tuple[int, ...], include_bytes: int, continued: AbstractSet[Span]
    ) -> _Choice:
        """Work out what a choice costs."""
        chosen = set(nodes)
        is_out = [status is None for status in self._status]
        rest = 0
        for node, own in enumerate(self._own):
            is_out[node] |= node in chosen or (node > 0 and is_out[self._parent[node]])
            rest |= 0 if is_out[node] else own
        taken = sum(self._span[node][1] - self._span[node][0] - include_bytes for node in nodes)
        cost = rest.bit_count() * (self._rest_bytes - taken + REQUEST_BYTES)
        cost += sum(self._cost(node, continued) for node in nodes)
        return _Choice(nodes, rest.bit_count(), cost)


def _statuses(
    span: NDArray[np.int64], source: bytes, holes: Sequence[Span], min_bytes: int
) -> list[bool | None]:
    """Return whether each node may be cut out: a long enough element that no hole overlaps."""
    start, end = span[:, 0], span[:, 1]
    free = end - start >= min_bytes
    free[0] = False
    gone = np.zeros(len(span), np.bool_)
    for first, last in holes:
        gone |= (start >= first) & (end <= last)
        free &= (end <= first) | (start >= last)
    return [
        None if is_gone else is_free and _is_tag(source, at)
        for at, is_free, is_gone in zip(start.tolist(), free.tolist(), gone.tolist(), strict=True)
    ]


def _is_tag(source: bytes, at: int) -> bool:
    return source[at : at + 1] == b"<" and source[at + 1 : at + 2].isalpha()


def _own_changes(lives: Lifetimes) -> list[int]:
    """Return the versions in which each node's own source changed, as bits."""
    mine = {version for version, kind in enumerate(lives.kinds) if kind == lives.kinds[-1]}
    found = [0] * len(lives.latest_parent)
    for node, version in lives.source_changes.tolist():
        if version in mine:
            found[node] |= 1 << version
    return found


def _changes_of_place(lives: Lifetimes, own: Sequence[int]) -> list[int]:
    """Return the versions in which the place of each node changed before the node was there.

    To a cache, a part that replaces another is the same file with other bytes.
    """
    begun = lives.kinds.index(lives.kinds[-1])
    found = [0] * len(own)
    parent, first = lives.latest_parent.tolist(), lives.latest_first.tolist()
    for node in range(1, len(own)):
        if first[node] > begun:
            before = own[parent[node]] | found[parent[node]] | 1 << first[node]
            found[node] = before & ((2 << first[node]) - 1)
    return found

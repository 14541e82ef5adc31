"""Selection: which of the shared elements to cut out of a page, and which to leave in place.

Cutting an element of L bytes out of all u places costs an include in each place and its own bytes
once. So in one place it saves ``L - include - L / u``. Cutting an element out may prevent the
cutting of those inside it, which more pages may have. Let ``V(i, d)`` be the most that can be saved
in element i when includes nest d deep, and ``S(i, d)`` the sum of it over the elements right
inside::

    V(i, 0) = 0
    V(i, d) = max(S(i, d),  L - include - (L - S(i, d - 1)) / u)

That is one pass from the innermost elements outwards for each depth. Inside a fragment, u counts
the copies of the fragment as one. The file of a fragment is cut once, where quire meets it first:
its bytes are the same everywhere, even where a browser would see another tree in them.

The choice changes u: an element is not cut out inside one that is. So quire counts uses, drops the
elements that no longer pay, and cuts the pages again, a few times. Of all depths up to the one
asked for, it takes the one that stores least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quire.fragments.cuts.candidates import Cut, Elements, SharedElements

# Each round drops cuts that no longer pay. Real crawls settle in three rounds.
_ROUNDS = 8


@dataclass(slots=True)
class Choice:
    """The cuts of all pages, while they are chosen.

    Attributes:
        pages: for every page its cuts, in page order.
        inside: for every fragment that is cut itself, its cuts.
        height: how deep includes nest in each fragment; 0 if it has none.
    """

    pages: list[list[Cut]] = field(default_factory=list)
    inside: dict[int, list[Cut]] = field(default_factory=dict)
    height: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Uses:
    """How often each fragment is used.

    Attributes:
        count: includes of each, in pages and in fragments.
        spread: pages and fragments that include each.
        length: bytes of each, includes filled in.
    """

    count: Counter[int]
    spread: Counter[int]
    length: dict[int, int]

    @classmethod
    def of(cls, *, pages: Sequence[Sequence[Cut]], inside: Mapping[int, Sequence[Cut]]) -> Uses:
        """Count shared fragments; isolated parts are left out."""
        found = cls(Counter(), Counter(), {})
        for cuts in [*pages, *inside.values()]:
            lengths = {cut.key: cut.end - cut.start for cut in cuts if cut.key is not None}
            found.count.update(cut.key for cut in cuts if cut.key is not None)
            found.spread.update(lengths.keys())
            found.length.update(lengths)
        return found

    def lost(self, include_bytes: int, inside: Mapping[int, Sequence[Cut]]) -> set[int]:
        """Return the fragments that do not pay: used by one page alone, or too short."""
        return {
            key
            for key, count in self.count.items()
            if self.spread[key] < 2  # noqa: PLR2004 - shared
            or _saved(self.length[key], count, include_bytes, inside.get(key, ())) <= 0
        }

    def saved(self, include_bytes: int) -> int:
        """Return how many bytes less are stored than with whole pages."""
        return sum(
            count * (self.length[key] - include_bytes) - self.length[key]
            for key, count in self.count.items()
        )


def choose(
    pages: Sequence[Elements], *, min_pages: int, include_bytes: int, max_depth: int
) -> Choice:
    """Choose the cuts with which the least is stored.

    Args:
        pages: the elements of each page; no two pages are equal.
        min_pages: number of pages an element must be on.
        include_bytes: the length of an include.
        max_depth: how deep includes may nest; with 1, fragments have none.
    """
    shared = SharedElements.of(pages, min_pages)
    elements = [shared.among(page) for page in pages]
    uses = dict(zip(shared.key.tolist(), shared.places.tolist(), strict=True))
    # Deeper isn't always better: the choice was weighed by uses that are only known afterwards.
    found = [
        _settled(elements, dict(uses), include_bytes, depth) for depth in range(1, max_depth + 1)
    ]
    return max(
        found, key=lambda one: Uses.of(pages=one.pages, inside=one.inside).saved(include_bytes)
    )


def _settled(
    pages: Sequence[Elements], uses: dict[int, int], include_bytes: int, max_depth: int
) -> Choice:
    """Cut, drop the cuts that do not pay, and cut again."""
    choice = _cut_all(pages, uses, include_bytes, max_depth)
    for _ in range(_ROUNDS):
        lost = Uses.of(pages=choice.pages, inside=choice.inside).lost(include_bytes, choice.inside)
        if not lost:
            break
        for key in lost:
            del uses[key]
        choice = _cut_all(pages, uses, include_bytes, max_depth)
    return choice


def _saved(length: int, count: int, include_bytes: int, inside: Sequence[Cut]) -> int:
    own = length - sum(cut.end - cut.start - include_bytes for cut in inside)
    return count * (own - include_bytes) - own


def _cut_all(
    pages: Sequence[Elements], uses: Mapping[int, int], include_bytes: int, max_depth: int
) -> Choice:
    choice = Choice()
    for page in pages:
        choice.pages.append(_Forest(page, uses, include_bytes, max_depth).cut(choice))
    return choice


class _Forest:
    """The shared elements of one page, with the saving possible in each."""

    def __init__(
        self, page: Elements, uses: Mapping[int, int], include_bytes: int, max_depth: int
    ) -> None:
        self.rows: list[tuple[int, int, int]] = []
        self.parents: list[int] = []
        self.after: list[int] = []
        self.max_depth = max_depth
        self._nest(page, uses)
        self.taken: list[list[bool]] = [[False] * len(self.rows) for _ in range(max_depth + 1)]
        self._weigh(uses, include_bytes)

    def _nest(self, page: Elements, uses: Mapping[int, int]) -> None:
        """Find for each element the one around it, and the first one after it that isn't inside."""
        opened: list[int] = []
        for start, end, key in zip(
            page.start.tolist(), page.end.tolist(), page.key.tolist(), strict=True
        ):
            while opened and self.rows[opened[-1]][1] <= start:
                self.after[opened.pop()] = len(self.rows)
            # An element that crosses the end of another cannot be cut out together with it.
            if key not in uses or (opened and self.rows[opened[-1]][1] < end):
                continue
            self.parents.append(opened[-1] if opened else -1)
            opened.append(len(self.rows))
            self.after.append(-1)
            self.rows.append((start, end, key))
        for number in opened:
            self.after[number] = len(self.rows)

    def _weigh(self, uses: Mapping[int, int], include_bytes: int) -> None:
        count = len(self.rows)
        everywhere = [uses[key] for _, _, key in self.rows]
        # In a fragment's file, the places in all copies of the element around count as one.
        in_files = [
            here if around < 0 else max(1, here - everywhere[around] + 1)
            for here, around in zip(everywhere, self.parents, strict=True)
        ]
        below = [0.0] * count  # S at the depth before
        for depth in range(1, self.max_depth + 1):
            places = everywhere if depth == self.max_depth else in_files
            inside = [0.0] * count
            for number in range(count - 1, -1, -1):
                start, end, _ = self.rows[number]
                length = end - start
                cut = length - include_bytes - (length - below[number]) / places[number]
                self.taken[depth][number] = cut > max(inside[number], 0.0)
                if self.parents[number] >= 0:
                    inside[self.parents[number]] += max(cut, inside[number])
            below = inside

    def cut(self, choice: Choice) -> list[Cut]:
        """Return the cuts of the page; add those inside new fragments to ``choice``."""
        return self._cut_range(0, len(self.rows), 0, self.max_depth, choice)[0]

    def _cut_range(
        self, first: int, end: int, base: int, depth: int, choice: Choice
    ) -> tuple[list[Cut], int]:
        """Return the cuts between two elements, and how deep they nest: 5 at most."""
        cuts: list[Cut] = []
        height = 0
        number = first
        while depth and number < end:
            if not self.taken[depth][number]:
                number += 1
                continue
            start, stop, key = self.rows[number]
            if key not in choice.height:
                within, below = self._cut_range(
                    number + 1, self.after[number], start, depth - 1, choice
                )
                choice.height[key] = below
                if within:
                    choice.inside[key] = within
            if choice.height[key] < depth:
                cuts.append(Cut(start - base, stop - base, key))
                height = max(height, choice.height[key] + 1)
                number = self.after[number]
            else:  # it was cut where it could nest deeper than it can here
                number += 1
        return cuts, height

"""Choosing: which of the shared elements are cut out of a page, and which stay where they are.

An element of L bytes that is in u places, cut out of all of them, costs an include each time and its own bytes once. So in one
place it saves ``L - include - L / u``. Cutting an element out may stop the cutting of those inside it, which more pages may have.
With ``V(i, d)`` for the most that can be saved in element i when includes nest d deep, and ``S(i, d)`` for the sum of it over the
elements right inside::

    V(i, 0) = 0
    V(i, d) = max(S(i, d),  L - include - (L - S(i, d - 1)) / u)

which is one pass from the innermost outwards for each depth. Inside a fragment, u counts the copies of the fragment as one. A fragment's own file is cut once, where it is met first: its bytes are the
same everywhere, even where a browser would see another tree in them.

What was chosen changes u: an element is not cut out where one around it is. So uses are counted, those that no longer pay are dropped,
and pages are cut anew, a few times. The depth that stores least is taken, up to the one that is asked for (``choose``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quire.fragments.cuts.candidates import Elements, Sharing

# Each round drops what no longer pays. Real crawls settle in three; what is left then pays a little less than it could.
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a page, or of a fragment, that becomes an include.

    Attributes:
        start: its first byte, counted from where the page or the fragment begins.
        end: after its last byte.
        key: what is there.
    """

    start: int
    end: int
    key: int


@dataclass(slots=True)
class Choice:
    """What is cut out.

    Attributes:
        pages: for every page its cuts, in the order of the page.
        inside: for every fragment that is cut itself, its cuts.
        height: how deep includes nest in each fragment; 0 where it has none.
    """

    pages: list[list[Cut]] = field(default_factory=list)
    inside: dict[int, list[Cut]] = field(default_factory=dict)
    height: dict[int, int] = field(default_factory=dict)

    def uses(self) -> Counter[int]:
        """How many includes of each fragment there are, in pages and in fragments."""
        found = Counter(cut.key for cuts in self.pages for cut in cuts)
        found.update(cut.key for cuts in self.inside.values() for cut in cuts)
        return found

    def spread(self) -> Counter[int]:
        """How many pages and fragments include each fragment."""
        found = Counter(key for cuts in self.pages for key in {cut.key for cut in cuts})
        found.update(key for cuts in self.inside.values() for key in {cut.key for cut in cuts})
        return found

    def lengths(self) -> dict[int, int]:
        """How long each fragment is, includes filled in."""
        every = [*self.pages, *self.inside.values()]
        return {cut.key: cut.end - cut.start for cuts in every for cut in cuts}

    def saved(self, include_bytes: int) -> int:
        """Bytes that are stored less than with whole pages."""
        lengths, uses = self.lengths(), self.uses()
        return sum(
            count * (lengths[key] - include_bytes) - lengths[key] for key, count in uses.items()
        )


def choose(
    pages: Sequence[Elements], *, min_pages: int, include_bytes: int, max_depth: int
) -> Choice:
    """Choose what is cut out of pages, so that the least is stored.

    Args:
        pages: the elements of each page, no two of the pages equal.
        min_pages: pages that have an element, at least.
        include_bytes: the length of an include.
        max_depth: how deep includes may nest; 1 is that fragments have none.
    """
    sharing = Sharing.of(pages, min_pages)
    shared = [sharing.among(page) for page in pages]
    uses = dict(zip(sharing.key.tolist(), sharing.places.tolist(), strict=True))
    # Deeper is not always less: what is worth it was weighed by uses that are only known afterwards.
    found = [
        _settled(shared, dict(uses), include_bytes, depth) for depth in range(1, max_depth + 1)
    ]
    return max(found, key=lambda choice: choice.saved(include_bytes))


def _settled(
    pages: Sequence[Elements], uses: dict[int, int], include_bytes: int, max_depth: int
) -> Choice:
    """Cut, drop what does not pay, and cut again."""
    choice = _cut_all(pages, uses, include_bytes, max_depth)
    for _ in range(_ROUNDS):
        counted, spread, lengths = choice.uses(), choice.spread(), choice.lengths()
        lost = {
            key
            for key, count in counted.items()
            if spread[key] < 2  # noqa: PLR2004 - shared
            or _saved(lengths[key], count, include_bytes, choice.inside.get(key, [])) <= 0
        }
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
    """The shared elements of one page, with what can be saved in each."""

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
        """Find for each element the one around it, and the first one after it that is not inside it."""
        opened: list[int] = []
        for start, end, key in zip(
            page.start.tolist(), page.end.tolist(), page.key.tolist(), strict=True
        ):
            while opened and self.rows[opened[-1]][1] <= start:
                self.after[opened.pop()] = len(self.rows)
            # What crosses the end of another cannot be cut out together with it.
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
        # In a fragment's file the places in copies of the element around are one.
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
        """The cuts of the page; those inside of fragments go to ``choice``, where they are new."""
        return self._cut_range(0, len(self.rows), 0, self.max_depth, choice)[0]

    def _cut_range(
        self, first: int, end: int, base: int, depth: int, choice: Choice
    ) -> tuple[list[Cut], int]:
        """The cuts between two elements and how deep they nest; recursion ends with the depth, 5 at most."""
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

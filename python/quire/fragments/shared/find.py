"""Shared fragments: the parts that several pages have (paper 004, section 4).

The parts of all pages, as their AF trees have them, are grouped by their text: by the paper's rule, said without an
order of visiting. Values (different texts) have a total order, longer first, then by hash. Each is a *leader*, or
belongs to the first leader that takes it; a leader takes what is as long as ``size_ratio`` of it and overlaps with it by
``min_match``. Values shorter than two windows are alike only when equal. Of a group that is on ``min_pages`` pages the
paper's rule about ancestors decides: when all members lie inside the same larger fragments, it is no fragment of its own.

Equal texts are found by hash first; the others meet under the rarest of their shingles, as many as no match can avoid. So the
answer is that of ``algorithm_1``, which compares all with all, at a cost that grows with the pages and not with their square.

Two tiers: ``exact`` fragments have the same bytes on every page, and may be composed. All others are advice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest
from quire.fragments.shared.rules import MIN_BYTES, MIN_MATCH, MIN_PAGES, SharingRules
from quire.fragments.trees.af_tree import FORMATTING
from quire.fragments.trees.shingles import Estimate, Shingling


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Members of fragments, as columns: by fragment, then by page, then by place on the page.

    Attributes:
        page: the page, by its place in the collection.
        part: the node of its AF tree.
        node: the first node of the page that it stands for.
        node_end: after the last one.
        value_bytes: length of its text (SubtreeSize).
        value_hash: 64 bits for its text.
        byte_start: first byte in the source; -1 where that is not known.
        byte_end: after the last byte; -1 too.
        source_hash: 64 bits for its bytes; 0 where they are not known.
    """

    page: NDArray[np.int64]
    part: NDArray[np.int64]
    node: NDArray[np.int64]
    node_end: NDArray[np.int64]
    value_bytes: NDArray[np.int64]
    value_hash: NDArray[np.uint64]
    byte_start: NDArray[np.int64]
    byte_end: NDArray[np.int64]
    source_hash: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.page)

    def __getitem__(self, chosen: slice) -> Members:
        return Members(*(getattr(self, name)[chosen] for name in Members.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class SharedFragment:
    """A part that several pages share.

    Attributes:
        number: its number; fragments with longer texts come first.
        members: where it is.
        pages: the pages that have it, each once, ascending.
    """

    number: int
    members: Members
    pages: NDArray[np.int64]

    @property
    def value_bytes(self) -> int:
        """Length of its longest text."""
        return int(self.members.value_bytes.max())

    @property
    def same_text(self) -> bool:
        """Whether all members have the same text."""
        return bool((self.members.value_hash == self.members.value_hash[0]).all())

    @property
    def exact(self) -> bool:
        """Whether all members have the same bytes in their sources: what may be composed."""
        known = (self.members.byte_start >= 0).all()
        same = (self.members.source_hash == self.members.source_hash[0]).all()
        return bool(known and same)

    def __repr__(self) -> str:
        tier = "exact" if self.exact else "same text" if self.same_text else "approximate"
        return f"<SharedFragment {self.number}: {self.value_bytes:,} bytes of text on {len(self.pages):,} pages, {tier}>"


@dataclass(frozen=True, slots=True, eq=False)
class SharedFragments:
    """The fragments that pages share; a sequence of ``SharedFragment``.

    Attributes:
        rules: what made them fragments.
        pages: how many pages were looked at.
        starts: where the members of each fragment begin in ``members``; one more than there are fragments.
        members: all of them.
    """

    rules: SharingRules
    pages: int
    starts: NDArray[np.int64]
    members: Members

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[SharedFragment]:
        return (self[number] for number in range(len(self)))

    @overload
    def __getitem__(self, number: int) -> SharedFragment: ...
    @overload
    def __getitem__(self, number: slice) -> list[SharedFragment]: ...
    def __getitem__(self, number: int | slice) -> SharedFragment | list[SharedFragment]:
        """One fragment, or some."""
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        number = range(len(self))[number]
        members = self.members[slice(self.starts[number], self.starts[number + 1])]
        return SharedFragment(number, members, np.unique(members.page))

    @property
    def fragment(self) -> NDArray[np.int64]:
        """The fragment of every member."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def renumbered(self, number_of: NDArray[np.int64]) -> SharedFragments:
        """Give the same fragments with other numbers for the pages, and their members in the order of these.

        Args:
            number_of: the new number of each page.
        """
        if (number_of == np.arange(len(number_of))).all():
            return self  # as engines of one machine give it; and members are many
        members = replace(self.members, page=number_of[self.members.page])
        order = np.lexsort((members.part, members.page, self.fragment))
        columns = [getattr(members, name)[order] for name in Members.__slots__]
        return replace(self, members=Members(*columns))

    def __repr__(self) -> str:
        return f"<SharedFragments of {self.pages:,} pages: {len(self):,} fragments, {len(self.members):,} members>"


def shared_fragments(
    pages: Iterable[Digest],
    *,
    min_match: float = MIN_MATCH,
    min_bytes: int = MIN_BYTES,
    min_pages: int = MIN_PAGES,
    size_ratio: float | None = None,
    estimate: Estimate = "paper",
    shingling: Shingling | None = None,
    formatting: Iterable[str] = FORMATTING,
) -> SharedFragments:
    """Find the parts that pages share.

    >>> import quire
    >>> menu = "<nav><a href=/>Start</a> <a href=/fish>Fish</a> <a href=/chips>Chips</a></nav>"
    >>> news = [f"{menu}<h1>Day {day}</h1><p>On day {day} it rained {day * 7} mm." for day in range(5)]
    >>> found = shared_fragments((quire.encode(page.encode()) for page in news), min_bytes=15)
    >>> found[0]
    <SharedFragment 0: 17 bytes of text on 5 pages, exact>
    >>> found[0].members.byte_start.tolist(), found[0].members.byte_end.tolist() == [len(menu)] * 5
    ([0, 0, 0, 0, 0], True)

    Args:
        pages: the pages; each may go when the next one comes.
        min_match: overlap of shingles, from which parts are one fragment (MinMatchFactor).
        min_bytes: bytes of text that a fragment has at least (MinFragSize).
        min_pages: pages that share a fragment, at least (ShareFactor).
        size_ratio: length of a part, at least, as a share of the longest one of the fragment (P); by default 0.9,
            or ``min_match`` where that is less.
        estimate: how overlaps are estimated; see ``overlap``.
        shingling: how shingles are made.
        formatting: names of the HTML tags that are removed; see ``AfTree``.

    Raises:
        ValueError: a rule or a setting is out of range.
    """
    rules = SharingRules.checked(
        min_bytes=min_bytes,
        min_pages=min_pages,
        min_match=min_match,
        size_ratio=size_ratio,
        estimate=estimate,
    )
    how = shingling or Shingling()
    pool = _core.FragmentPool(min_bytes, how.window, how.sample, how.bits, sorted(formatting))
    for page in pages:
        pool.push(page._native)
    return fragments_of(pool, rules)


def fragments_of(pool: _core.FragmentPool, rules: SharingRules) -> SharedFragments:
    """Find what the pages of a pool share."""
    starts, found = pool.fragments(
        rules.min_match, rules.size_ratio, rules.min_pages, rules.estimate == "unbiased"
    )
    rows: NDArray[np.uint32] = np.frombuffer(found, "<u4")

    def column(name: str, dtype: str) -> NDArray[Any]:
        return np.frombuffer(pool.column(name, rows), dtype)

    members = Members(
        page=column("page", "<u4").astype(np.int64),
        part=column("part", "<u4").astype(np.int64),
        node=column("node", "<u4").astype(np.int64),
        node_end=column("node_end", "<u4").astype(np.int64),
        value_bytes=column("value_bytes", "<u4").astype(np.int64),
        value_hash=column("value_hash", "<u8"),
        # Sources have 2 GiB at most, so that "not known" is -1 to those who read signed numbers.
        byte_start=column("byte_start", "<i4").astype(np.int64),
        byte_end=column("byte_end", "<i4").astype(np.int64),
        source_hash=column("source_hash", "<u8"),
    )
    return SharedFragments(
        rules, pool.pages, np.frombuffer(starts, "<u4").astype(np.int64), members
    )

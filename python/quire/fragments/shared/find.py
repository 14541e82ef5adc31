"""Shared fragments: the parts that several pages have in common (paper 004, section 4).

The parts are the nodes of the AF trees of all pages. They are grouped by text, with the paper's
rule restated so that it does not depend on the order of pages:

* Distinct texts (*values*) are ordered: longer first, then by hash. Each one is a *leader*, or
  joins the first leader that accepts it.
* A leader accepts a value if its length is at least ``size_ratio`` of the leader's and the two
  overlap by at least ``min_match``. Values shorter than two windows must be equal.
* A group on at least ``min_pages`` pages is a fragment, unless all of its members lie inside the
  same larger fragments (the paper's rule about ancestors).

Equal texts are found by hash. The others are compared only if they share one of their rarest
shingles; enough of these are looked up that no match can be missed. So the result equals that of
``algorithm_1``, which compares every pair, but the cost is linear in the number of pages instead of
quadratic.

There are two tiers: ``exact`` fragments have the same bytes on every page and may be composed. All
others are advice only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.arguments import check_page
from quire.digest.page import Digest
from quire.fragments.shared.rules import (
    MIN_BYTES,
    MIN_MATCH,
    MIN_PAGES,
    SIZE_RATIO,
    SharingRules,
)
from quire.fragments.trees.af_tree import FORMATTING
from quire.fragments.trees.shingles import Estimate, Shingling


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The places of fragments, as columns: by fragment, then page, then position on the page.

    Attributes:
        page: number of the page in the collection.
        part: node of its AF tree.
        node: first node of the page that the part covers.
        node_end: one past the last node.
        value_bytes: length of its text (SubtreeSize).
        value_hash: 64-bit hash of its text.
        byte_start: offset of its first byte in the source; -1 if unknown.
        byte_end: offset after its last byte; -1 if unknown.
        source_hash: 64-bit hash of its bytes; 0 if unknown.
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

    def __getitem__(self, chosen: slice | NDArray[np.int64]) -> Members:
        return Members(*(getattr(self, name)[chosen] for name in Members.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class SharedFragment:
    """A part that several pages have in common.

    Attributes:
        number: its number; fragments with longer texts come first.
        members: all places where it occurs.
        pages: the pages that contain it, without duplicates, in ascending order.
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
        """Whether all members have the same source bytes, so that they may be composed."""
        known = (self.members.byte_start >= 0).all()
        same = (self.members.source_hash == self.members.source_hash[0]).all()
        return bool(known and same)

    def __repr__(self) -> str:
        tier = "exact" if self.exact else "same text" if self.same_text else "approximate"
        text, pages = f"{self.value_bytes:,} bytes of text", f"{len(self.pages):,} pages"
        return f"<SharedFragment {self.number}: {text} on {pages}, {tier}>"


@dataclass(frozen=True, slots=True, eq=False)
class SharedFragments:
    """The shared fragments of some pages; a sequence of ``SharedFragment``.

    Attributes:
        rules: the rules by which they were found.
        pages: number of pages that were searched.
        starts: index in ``members`` of the first member of each fragment, and the total at the end.
        members: the members of all fragments.
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
        """Return one fragment, or the fragments of a slice."""
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        number = range(len(self))[number]
        members = self.members[slice(self.starts[number], self.starts[number + 1])]
        return SharedFragment(number, members, np.unique(members.page))

    @property
    def fragment(self) -> NDArray[np.int64]:
        """The fragment number of every member."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def renumbered(self, number_of: NDArray[np.int64]) -> SharedFragments:
        """Return the same fragments with new page numbers, and members in the new order.

        Args:
            number_of: the new number of each page.
        """
        if (number_of == np.arange(len(number_of))).all():
            return self  # the usual case on one machine; saves sorting many members
        members = replace(self.members, page=number_of[self.members.page])
        order = np.lexsort((members.part, members.page, self.fragment))
        return replace(self, members=members[order])

    def __repr__(self) -> str:
        found = f"{len(self):,} fragments, {len(self.members):,} members"
        return f"<SharedFragments of {self.pages:,} pages: {found}>"


def shared_fragments(
    pages: Iterable[Digest],
    *,
    min_match: float = MIN_MATCH,
    min_bytes: int = MIN_BYTES,
    min_pages: int = MIN_PAGES,
    size_ratio: float = SIZE_RATIO,
    estimate: Estimate = "paper",
    shingling: Shingling | None = None,
    formatting: Iterable[str] = FORMATTING,
) -> SharedFragments:
    """Find the parts that pages have in common.

    >>> import quire
    >>> menu = "<nav><a href=/>Start</a> <a href=/fish>Fish</a> <a href=/chips>Chips</a></nav>"
    >>> news = [f"{menu}<h1>Day {day}</h1><p>{day * 7} mm of rain." for day in range(5)]
    >>> found = shared_fragments((quire.encode(page.encode()) for page in news), min_bytes=15)
    >>> found[0]
    <SharedFragment 0: 17 bytes of text on 5 pages, exact>
    >>> found[0].members.byte_start.tolist(), found[0].members.byte_end.tolist() == [len(menu)] * 5
    ([0, 0, 0, 0, 0], True)

    Args:
        pages: the pages; only one is held in memory at a time.
        min_match: minimum overlap of shingles for two parts to be the same fragment
            (MinMatchFactor).
        min_bytes: minimum bytes of text of a fragment (MinFragSize).
        min_pages: minimum number of pages that share a fragment (ShareFactor).
        size_ratio: minimum length of a part, as a share of the longest part of the fragment (P);
            0.9 is the paper's value.
        estimate: how to estimate overlaps; see ``overlap``.
        shingling: settings for shingles.
        formatting: names of the HTML tags to remove; see ``AfTree``.

    Raises:
        ValueError: a rule or a setting is out of range.
    """
    rules = SharingRules.checked(min_bytes, min_pages, min_match, size_ratio, estimate)
    how = shingling or Shingling()
    pool = _core.FragmentPool(min_bytes, how.window, how.sample, how.bits, sorted(formatting))
    for page in pages:
        pool.push(check_page("page", page)._native)
    return fragments_of(pool, rules)


def fragments_of(pool: _core.FragmentPool, rules: SharingRules) -> SharedFragments:
    """Find the shared fragments of the pages in a pool."""
    starts, found = pool.fragments(
        rules.min_match, rules.size_ratio, rules.min_pages, rules.estimate == "unbiased"
    )
    rows: NDArray[np.uint32] = np.frombuffer(found, "<u4")

    def column(name: str) -> NDArray[Any]:
        data = pool.column(name, rows)
        if name.endswith("_hash"):
            return np.frombuffer(data, "<u8")
        # A source has at most 2 GiB, so "unknown" reads as -1 in signed numbers.
        return np.frombuffer(data, "<i4" if name.startswith("byte_") else "<u4").astype(np.int64)

    members = Members(*map(column, Members.__slots__))
    first = np.frombuffer(starts, "<u4").astype(np.int64)
    return SharedFragments(rules, pool.pages, first, members)

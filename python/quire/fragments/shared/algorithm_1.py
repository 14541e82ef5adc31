"""Algorithm 1 of paper 004, step by step: the definition of shared fragments.

This is the paper's loop in plain Python, with the paper's buckets (``buckets``). It compares every
pair of parts, so use it for samples; ``shared_fragments`` gives the same result for whole sites.

The paper leaves four points open. They are settled as in ``find``: parts of equal length are
ordered by hash; pages are counted, not parts; if members are nested, the outermost counts; parts
shorter than two windows must have equal text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.fragments.shared.buckets import BucketRules, NodeBuckets
from quire.fragments.shared.find import Members, SharedFragments
from quire.fragments.shared.rules import (
    MIN_BYTES,
    MIN_MATCH,
    MIN_PAGES,
    SIZE_RATIO,
    SharingRules,
)
from quire.fragments.trees.af_tree import FORMATTING, AfTree
from quire.fragments.trees.shingles import Estimate, Shingling


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A node of an AF tree in the pool."""

    page: int
    node: int
    end: int  # after the last node of its subtree
    value_bytes: int
    value_hash: int
    shingles: frozenset[int]

    @property
    def order(self) -> tuple[int, ...]:
        """Of parts of equal length, the one with the smallest hash comes first in the loop."""
        return (-self.value_hash, -self.page, -self.node)

    def holds(self, other: _Part) -> bool:
        return self.page == other.page and self.node < other.node < self.end


def algorithm_1(
    pages: Iterable[Digest],
    *,
    min_match: float = MIN_MATCH,
    min_bytes: int = MIN_BYTES,
    min_pages: int = MIN_PAGES,
    size_ratio: float = SIZE_RATIO,
    estimate: Estimate = "paper",
    shingling: Shingling | None = None,
    formatting: Iterable[str] = FORMATTING,
    buckets: BucketRules | None = None,
) -> SharedFragments:
    """Find shared fragments by the paper's own loop.

    Takes the same arguments as ``shared_fragments`` and returns the same result. ``buckets`` are the
    parameters of the paper's node buckets; they do not change the result.

    >>> import quire
    >>> footer = "<footer>Written by the people who fish here</footer>"
    >>> pages = [quire.encode(f"<p>Page {i}</p>{footer}".encode()) for i in range(3)]
    >>> algorithm_1(pages, min_bytes=30)[0]
    <SharedFragment 0: 36 bytes of text on 3 pages, exact>

    Raises:
        ValueError: a rule or a setting is out of range.
    """
    rules = SharingRules.checked(min_bytes, min_pages, min_match, size_ratio, estimate)
    how = shingling or Shingling()
    trees = [AfTree.of(page, formatting=formatting) for page in pages]
    pool = _pool(trees, rules, how, buckets or BucketRules())
    fragments: list[list[_Part]] = []
    parts = list(pool.at_least(0))
    ancestors: dict[_Part, set[int]] = {part: set() for part in parts}  # AncestorFragmentArray
    by_page: dict[int, list[_Part]] = {}
    for part in parts:
        by_page.setdefault(part.page, []).append(part)
    while (largest := pool.largest()) is not None:
        compared = pool.at_least(rules.size_ratio * largest.value_bytes)  # CSet
        group = [part for part in compared if _overlap(largest, part, rules, how) >= min_match]
        outermost = _outermost(group)
        if len({part.page for part in outermost}) >= min_pages:
            around = [ancestors[part] for part in outermost]
            if any(not found or found != around[0] for found in around):
                for part in outermost:
                    for other in by_page[part.page]:
                        if part.holds(other):
                            ancestors[other].add(len(fragments))
                fragments.append(outermost)
        pool.remove(group)
    return _arranged(fragments, trees, rules)


def _pool(
    trees: list[AfTree], rules: SharingRules, how: Shingling, buckets: BucketRules
) -> NodeBuckets[_Part]:
    """Step 1: put all nodes that are large enough into buckets."""
    pool: NodeBuckets[_Part] = NodeBuckets(buckets, rules.min_bytes)
    for page, tree in enumerate(trees):
        shingles = tree.shingles(how)
        for node in np.flatnonzero(tree.value_bytes >= rules.min_bytes).tolist():
            part = _Part(
                page=page,
                node=node,
                end=node + int(tree.size[node]),
                value_bytes=int(tree.value_bytes[node]),
                value_hash=int(tree.value_hash[node]),
                shingles=frozenset(shingles.of(node).tolist()),
            )
            pool.put(part)
    pool.sort_and_merge()
    return pool


def _overlap(one: _Part, other: _Part, rules: SharingRules, how: Shingling) -> float:
    """Return the share of shingles that two parts have in common."""
    if (one.value_bytes, one.value_hash) == (other.value_bytes, other.value_hash):
        return 1.0
    if min(one.value_bytes, other.value_bytes) < 2 * how.window:
        return 0.0
    if rules.estimate == "unbiased":
        smallest = sorted(one.shingles | other.shingles)[: how.sample]
        shared = sum(value in one.shingles and value in other.shingles for value in smallest)
        return shared / len(smallest)
    both = len(one.shingles & other.shingles)
    return both / (len(one.shingles) + len(other.shingles) - both)


def _outermost(group: list[_Part]) -> list[_Part]:
    """Return the members that are not inside another member, by page and position."""
    kept: list[_Part] = []
    for part in sorted(group, key=lambda part: (part.page, part.node)):
        if not (kept and kept[-1].holds(part)):
            kept.append(part)
    return kept


def _arranged(
    fragments: list[list[_Part]], trees: list[AfTree], rules: SharingRules
) -> SharedFragments:
    """Turn the fragments into columns."""
    places = [(part.page, part.node) for members in fragments for part in members]

    def column(name: str) -> NDArray[Any]:
        dtype = np.uint64 if name.endswith("_hash") else np.int64
        return np.array([getattr(trees[page], name)[node] for page, node in places], dtype)

    page, part = np.array(places, np.int64).reshape(-1, 2).T
    members = Members(page, part, *map(column, Members.__slots__[2:]))
    starts = np.cumsum([0, *map(len, fragments)], dtype=np.int64)
    return SharedFragments(rules, len(trees), starts, members)

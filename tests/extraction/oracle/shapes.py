"""Shapes: how alike two subtrees are, for all nodes of a page at once.

The shape of a node is a bag of parts from the first levels below it: for every node there the names
on the path down to it, and for every element its class and its depth. Two bags are compared as
``quire.similar`` compares pages: the sum of the smaller counts divided by that of the larger ones.

Everything is one sorted array of (node, part) pairs with counts, so comparing any number of pairs of
nodes is a few passes over arrays. Only ``LEVELS`` levels are looked at, so the arrays stay within
that multiple of the page, however deep it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.extraction.oracle.outline import Ints, Outline

#: Levels of a subtree that belong to its shape, the root included.
LEVELS = 6
# A part that is there more often counts as often as this: lists inside records differ in length.
_MOST = 3
_DIGIT = re.compile(r"\d")
# `odd`, `odd-row` and `row_even`, but not `oddity`.
_ODD = re.compile(r"(?:^|[-_])(?:odd|even)$|^(?:odd|even)[-_]|(?<=[-_])(?:odd|even)[-_]")
# Classes are compared in the upper levels only; below, the names on the path say enough.
_CLASS_LEVELS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The shapes of all nodes.

    Attributes:
        keys: node times parts plus part, sorted.
        counts: how often the part is in the shape.
        starts: where the entries of each node begin; one entry more than nodes.
        totals: the sum of the counts of each node.
        parts: the number of different parts.
        classes: a number for the class attribute of each node; 0 without one.
        class_names: the names of the class that each number stands for.
    """

    keys: Ints
    counts: Ints
    starts: Ints
    totals: Ints
    parts: int
    classes: Ints
    class_names: list[frozenset[str]]

    def are_variants(self, one: int, other: int) -> bool:
        """Whether two classes are equal, or one is the other with more names."""
        a, b = self.class_names[one], self.class_names[other]
        return one == other or (bool(a and b) and (a <= b or b <= a))

    def likeness(self, a: Ints, b: Ints) -> NDArray[np.float64]:
        """How alike the nodes ``a[i]`` and ``b[i]`` are, from 0 to 1."""
        lengths = self.starts[a + 1] - self.starts[a]
        pair = np.repeat(np.arange(len(a)), lengths)
        offset = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entry = self.starts[a][pair] + offset
        wanted = b[pair] * self.parts + self.keys[entry] % self.parts
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        shared = np.where(
            self.keys[at] == wanted, np.minimum(self.counts[entry], self.counts[at]), 0
        )
        smaller = np.bincount(pair, weights=shared, minlength=len(a))
        larger = self.totals[a] + self.totals[b] - smaller
        return np.asarray(np.where(larger > 0, smaller / np.maximum(larger, 1), 0.0))


def shapes(view: Outline) -> Shapes:
    """Measure the shapes of all nodes."""
    nodes = np.flatnonzero(view.elements | view.leaves)
    classes, class_names = _classes(view)
    code = np.asarray(view.page.tag, np.uint64) + np.uint64(1)
    spread = np.uint64(0x9E3779B97F4A7C15)
    owners: list[Ints] = []
    parts: list[NDArray[np.uint64]] = []
    above = nodes
    path = code[nodes] * spread
    of = nodes
    with np.errstate(over="ignore"):
        for level in range(LEVELS):
            shown = view.elements[above]
            owners.append(above[shown])
            parts.append(path[shown])
            if level < _CLASS_LEVELS:
                named = shown & (classes[of] > 0)
                owners.append(above[named])
                labels = (classes[of[named]].astype(np.uint64) << np.uint64(20)) + code[of[named]]
                parts.append((labels * np.uint64(64) + np.uint64(level)) * spread + np.uint64(7))
            above = view.parent[above]
            kept = above >= 0
            above, path, of = above[kept], path[kept], of[kept]
            path = (path ^ (path >> np.uint64(29))) * spread + code[above]
    owner = np.concatenate(owners)
    different, part = np.unique(np.concatenate(parts), return_inverse=True)
    keys, counts = np.unique(owner * len(different) + part, return_counts=True)
    counts = np.minimum(counts, _MOST).astype(np.int64)
    of_node = keys // max(len(different), 1)
    starts = np.searchsorted(of_node, np.arange(view.page.n + 1)).astype(np.int64)
    totals = np.bincount(of_node, weights=counts, minlength=view.page.n).astype(np.int64)
    return Shapes(keys, counts, starts, totals, max(len(different), 1), classes, class_names)


def class_name(written: str) -> str:
    """A class attribute as it is compared: without that which only tells neighbours apart.

    Rows are ``odd`` and ``even``, and items are numbered, although they are of one kind. Names with
    digits count if there are no others, as in ``col-4``.

    >>> class_name("row even-row item-3"), class_name("row odd-row item-4"), class_name("col-4")
    ('row row', 'row row', 'col-4')
    """
    names = written.split()
    kept = [name for name in names if not _DIGIT.search(name)] or names
    return " ".join(filter(None, (_ODD.sub("", name) for name in kept)))


def _classes(view: Outline) -> tuple[Ints, list[frozenset[str]]]:
    """A number for the class attribute of each element, and the names that it stands for."""
    page = view.page
    runs = np.asarray(page.attr, np.int64)
    with_runs = np.flatnonzero(view.elements & (runs >= 0))
    found = np.zeros(page.n, np.int64)
    if not len(with_runs):
        return found, [frozenset()]
    used, first, inverse = np.unique(runs[with_runs], return_index=True, return_inverse=True)
    numbers: dict[str, int] = {"": 0}
    of_run = np.empty(len(used), np.int64)
    for place, node in enumerate(with_runs[first].tolist()):
        name = class_name(page.attributes(node).get("class", ""))
        of_run[place] = numbers.setdefault(name, len(numbers))
    found[with_runs] = of_run[inverse]
    return found, [frozenset(name.split()) for name in numbers]

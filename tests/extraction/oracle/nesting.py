"""Nesting: a list, or the lists inside its records.

Three cases look alike from outside: records that hold a short list each (a job and its perks), rows
or sections that hold the records (a grid), and records that hold answers of their own kind (a
thread). This module tells them apart and leaves every part of the page in one list at most.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from itertools import pairwise

import numpy as np

from tests.extraction.oracle.candidates import Candidate, likeness
from tests.extraction.oracle.outline import Ints, Outline
from tests.extraction.oracle.shapes import Shapes

# The lists inside hold nearly all of the outer list, in most of its records.
_HOLDS = 0.7
_HAVE_ONE = 0.6
# Records have several fields; cells of a table mostly have one.
_RICH_LEAVES = 2.0
# Records of lists next to each other that are one list.
_ALIKE = 0.55
# Records at the start of each list that are compared with those of the list before it.
_COMPARED = 3
# If nearly all elements named like a record inside others are answers, the rest are, too.
_NEARLY_ALL = 0.8
# Answers inside a record, compared with the record.
_ANSWER = 0.45
# Labels of facts (`Maker`, `Weight`) are the same in every record.
_SAME_LABELS = 0.5


class Nested(Enum):
    """The meaning of lists inside the records of a list."""

    FIELDS = "fields of the records"
    JOINED = "parts of one list"
    APART = "lists of several kinds"


def resolve(view: Outline, shapes: Shapes, found: list[Candidate]) -> list[Candidate]:
    """Choose lists that do not overlap, in the order of the page."""
    # Those that were decided so far; the one with the smallest node is the last.
    kept: list[Candidate] = []
    # From the innermost to the outermost: lists inside a list have been decided before it.
    for outer in sorted(found, key=lambda one: -one.node):
        below: list[Candidate] = []
        while kept and kept[-1].node < view.end[outer.node]:
            below.append(kept.pop())
        inside = _inside(view, outer, below)
        nested = _nested(view, shapes, outer, inside)
        if nested is Nested.APART:
            kept += reversed(below)
            continue
        beside = [one for one in reversed(below) if one not in inside]
        if nested is Nested.JOINED:
            kept += [*beside, _joined(view, shapes, outer, inside)]
            continue
        whole = _thread(view, shapes, outer)
        # A thread may have grown over lists that were beside its records.
        tops = [one[0] for one in whole.records if view.parent[one[0]] == whole.node]
        covered = [range(top, int(view.end[top])) for top in tops]
        kept += [one for one in beside if not any(one.node in each for each in covered)]
        kept.append(whole)
    kept = _neighbours(view, shapes, kept)
    return sorted(kept, key=lambda one: one.node)


def _inside(view: Outline, outer: Candidate, below: list[Candidate]) -> list[Candidate]:
    """The lists inside the records of a list, of those below its node."""
    roots = np.array(outer.roots, np.int64)
    at = np.searchsorted(roots, [one.node for one in below], side="right") - 1
    return [
        one
        for one, place in zip(below, at.tolist(), strict=True)
        if place >= 0 and one.node < view.end[roots[place]]
    ]


def _nested(view: Outline, shapes: Shapes, outer: Candidate, inside: list[Candidate]) -> Nested:
    """Decide between a list and those inside its records."""
    if not inside:
        return Nested.FIELDS
    leaves = view.leaf_count(np.array(outer.roots, np.int64)).sum()
    records = [record for one in sorted(inside, key=lambda one: one.node) for record in one.records]
    roots = np.array([node for record in records for node in record], np.int64)
    held = int(view.leaf_count(roots).sum())
    starts = [record[0] for record in outer.records]
    having = len({int(np.searchsorted(starts, one.node, side="right")) for one in inside})
    if held < _HOLDS * leaves or having < _HAVE_ONE * len(outer.records):
        return Nested.FIELDS
    if held < _RICH_LEAVES * len(records) or _is_cells(view, roots):
        return Nested.FIELDS
    if _have_same_labels(view, inside):
        return Nested.FIELDS
    return Nested.JOINED if _are_alike(shapes, inside) else Nested.APART


def _joined(view: Outline, shapes: Shapes, outer: Candidate, inside: list[Candidate]) -> Candidate:
    """One list of all records inside an outer list, which is only rows or sections."""
    records = [record for one in sorted(inside, key=lambda one: one.node) for record in one.records]
    # A last row may have fewer records than a list needs; they belong to the whole.
    records += _short_rows(view, shapes, outer, inside)
    records.sort()
    return Candidate(outer.node, tuple(records), likeness(shapes, records))


def _is_cells(view: Outline, roots: Ints) -> bool:
    """Whether most nodes are cells of table rows that have one field each or a heading."""
    names = Counter(view.page.tag_names[int(tag)] for tag in view.page.tag[roots])
    if names["th"] > 0:
        return True
    return 2 * names["td"] > len(roots) and view.leaf_count(roots).mean() < _RICH_LEAVES


def _are_alike(shapes: Shapes, inside: list[Candidate]) -> bool:
    """Whether each list has a record like one of the list before it."""
    starts = [[record[0] for record in one.records[:_COMPARED]] for one in inside]
    for before, after in pairwise(starts):
        pairs = np.array([(one, other) for one in before for other in after], np.int64)
        if shapes.likeness(pairs[:, 0], pairs[:, 1]).max() < _ALIKE:
            return False
    return True


def _have_same_labels(view: Outline, inside: list[Candidate]) -> bool:
    """Whether the records at the same place of each list start with the same text."""
    if len(inside) == 1:
        return False
    texts: list[tuple[int, str]] = []
    for one in inside:
        for place, record in enumerate(one.records):
            leaf = _first_text(view, record[0])
            if leaf is not None:
                texts.append((place, view.page.text(leaf).strip()))
    again = Counter(texts)
    repeated = sum(count for count in again.values() if count > 1)
    return repeated >= _SAME_LABELS * max(len(texts), 1)


def _first_text(view: Outline, node: int) -> int | None:
    inside = np.flatnonzero(view.leaves[node : int(view.end[node])])
    for leaf in inside.tolist():
        if view.page.tag_names[int(view.page.tag[node + leaf])] == "#text":
            return int(node + leaf)
    return None


def _short_rows(
    view: Outline, shapes: Shapes, outer: Candidate, inside: list[Candidate]
) -> list[tuple[int, ...]]:
    covered = {node for one in inside for node in one.roots}
    leader = inside[0].records[0][0]
    name, label = view.page.tag[leader], shapes.classes[leader]
    depth = int(view.page.depth[leader])
    found: list[tuple[int, ...]] = []
    for root in outer.roots:
        low, high = root, int(view.end[root])
        same = np.flatnonzero(
            (view.page.tag[low:high] == name)
            & (shapes.classes[low:high] == label)
            & (view.page.depth[low:high] == depth)
            & view.elements[low:high]
        )
        nodes = [int(node) + low for node in same if int(node) + low not in covered]
        if nodes and not any(low <= node < high for node in covered):
            at = np.array(nodes, np.int64)
            alike = shapes.likeness(at, np.full(len(at), leader))
            found += [(node,) for node, share in zip(nodes, alike, strict=True) if share >= _ALIKE]
    return found


def _thread(view: Outline, shapes: Shapes, outer: Candidate) -> Candidate:
    """The list with the answers inside its records, if they are of the same kind."""
    if any(len(record) > 1 for record in outer.records):
        return outer
    roots = np.array(outer.roots, np.int64)
    name, label = view.page.tag[roots[0]], int(shapes.classes[roots[0]])
    low, high = outer.node + 1, int(view.end[outer.node])
    same = (view.page.tag[low:high] == name) & (shapes.classes[low:high] == label)
    nodes = np.flatnonzero(same & view.elements[low:high]) + low
    nodes = nodes[view.leaf_count(nodes) > 1]
    is_beside = view.parent[nodes] == outer.node
    # A comment with many answers may be unlike the others.
    tops = np.union1d(roots, nodes[is_beside]) if label else roots
    nodes = nodes[~is_beside]
    at = np.searchsorted(tops, nodes, side="right") - 1
    nodes, at = nodes[at >= 0], at[at >= 0]
    is_below = nodes < view.end[tops[at]]
    nodes, at = nodes[is_below], at[is_below]
    if not len(nodes):
        return outer
    # An answer looks like a comment without answers.
    plain = roots[np.argmin(shapes.totals[roots])]
    alike = shapes.likeness(nodes, np.full(len(nodes), plain)) >= _ANSWER
    alike |= shapes.likeness(nodes, tops[at]) >= _ANSWER
    if not label and alike.mean() < 1:
        return outer
    if 2 * alike.sum() < len(nodes):
        return outer
    if label and alike.sum() >= _NEARLY_ALL * len(nodes):
        found = [*tops, *nodes]
    else:
        found = [*roots, *nodes[alike & np.isin(tops[at], roots)]]
    records = sorted((int(node),) for node in found)
    return Candidate(outer.node, tuple(records), outer.likeness)


def _neighbours(view: Outline, shapes: Shapes, kept: list[Candidate]) -> list[Candidate]:
    """Join lists in two columns: siblings of one name and class, without anything between them."""
    found = sorted(kept, key=lambda one: one.node)
    joined: list[Candidate] = []
    for one in found:
        before = joined[-1] if joined else None
        if before is not None and _are_columns(view, shapes, before, one):
            records = [*before.records, *one.records]
            around = int(view.parent[one.node])
            joined[-1] = Candidate(around, tuple(records), likeness(shapes, records))
        else:
            joined.append(one)
    return joined


def _are_columns(view: Outline, shapes: Shapes, one: Candidate, other: Candidate) -> bool:
    names = view.page.tag_names
    if names[int(view.page.tag[other.node])] in {"tbody", "table", "tr", "thead"}:
        return False  # each table is a list of its own
    around = int(view.parent[other.node])
    last = one.node if view.parent[one.node] == around else None
    if one.node == around:  # joined before
        last = int(view.parent[one.records[-1][0]])
        if view.parent[last] != around:
            return False
    if last is None or view.page.tag[last] != view.page.tag[other.node]:
        return False
    if shapes.classes[last] != shapes.classes[other.node]:
        return False
    between = view.leaves_before[other.node] - view.leaves_before[view.end[last]]
    a, b = np.array([one.records[-1][0]]), np.array([other.records[0][0]])
    return int(between) == 0 and float(shapes.likeness(a, b)[0]) >= _ALIKE

"""Candidates: every node of a page whose children could be records.

A pass over the neighbours of all nodes finds the few whose children resemble each other; only those
are looked at one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.extraction.oracle.kinds import OTHER_CLASS, SAME_CLASS, kinds, turns
from tests.extraction.oracle.outline import Ints, Outline
from tests.extraction.oracle.runs import LEAST_RECORDS, runs
from tests.extraction.oracle.shapes import Shapes

# Of a hostile page with very many small lists, only those with the most leaves are looked at.
MOST_PARENTS = 2000
# Text, code and controls: what repeats in them is not a record.
_NOT_LISTS = frozenset(
    [
        "a",
        "b",
        "button",
        "cite",
        "code",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "i",
        "label",
        "option",
        "p",
        "pre",
        "picture",
        "select",
        "small",
        "strong",
        "sub",
        "sup",
        "textarea",
        "video",
        "audio",
    ]
)
_NOT_RECORDS = frozenset(
    ["b", "br", "code", "em", "i", "option", "small", "source", "strong", "sub", "sup", "u", "wbr"]
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Children of a node that repeat, each record as a run of nodes.

    Attributes:
        node: the node around all records.
        records: the nodes of each record.
        likeness: how alike neighbouring records are, from 0 to 1.
    """

    node: int
    records: tuple[tuple[int, ...], ...]
    likeness: float

    @property
    def roots(self) -> list[int]:
        """The nodes of all records."""
        return [node for record in self.records for node in record]


def candidates(view: Outline, shapes: Shapes) -> list[Candidate]:
    """All lists of a page, the outer ones before those inside them."""
    by_parent, starts = _shown_children(view)
    found = []
    for parent in _parents(view, shapes, by_parent):
        children = by_parent[starts[parent] : starts[parent + 1]]
        records = _divided(view, shapes, children, SAME_CLASS, OTHER_CLASS)
        if records and all(len(record) == 1 for record in records):
            rows = np.array([record[0] for record in records], np.int64)
            least = turns(view, shapes, rows, likeness(shapes, records))
            if least is not None:
                found_runs = _divided(view, shapes, children, least, max(least, OTHER_CLASS))
                if any(len(record) > 1 for record in found_runs):
                    records = found_runs
        if len(records) >= LEAST_RECORDS:
            found.append(Candidate(int(parent), tuple(records), likeness(shapes, records)))
    return found


def _divided(
    view: Outline, shapes: Shapes, children: Ints, same_class: float, other_class: float
) -> list[tuple[int, ...]]:
    of = kinds(view, shapes, children, same_class, other_class)
    tags = np.asarray(view.page.tag, np.int64)[children]
    names = [view.page.tag_names[int(tag)] for tag in tags]
    return runs(children, of, tags, view.leaf_count(children), names)


def likeness(shapes: Shapes, records: list[tuple[int, ...]]) -> float:
    """How alike neighbouring records are, on average; of runs, their first nodes count."""
    first = np.array([record[0] for record in records], np.int64)
    return float(shapes.likeness(first[:-1], first[1:]).mean()) if len(first) > 1 else 0.0


def _shown_children(view: Outline) -> tuple[Ints, Ints]:
    """The visible elements that show something, by parent, and where each parent's begin."""
    nodes = np.flatnonzero(view.elements & (view.parent >= 0))
    nodes = nodes[view.leaf_count(nodes) > 0]
    names = view.page.tag_names
    spaces = view.page.tag_namespaces
    in_text = np.array(
        [name in _NOT_RECORDS or space == "svg" for name, space in zip(names, spaces, strict=True)]
    )
    nodes = nodes[~in_text[view.page.tag[nodes]]]
    order = np.argsort(view.parent[nodes], kind="stable")
    by_parent = nodes[order].astype(np.int64)
    starts = np.searchsorted(view.parent[by_parent], np.arange(view.page.n + 1)).astype(np.int64)
    return by_parent, starts


def _parents(view: Outline, shapes: Shapes, by_parent: Ints) -> Ints:
    """The nodes that have at least three children of one name, each like another one near it."""
    tag = np.asarray(view.page.tag, np.int64)
    alike = np.zeros(len(by_parent), bool)
    for distance in (1, 2, 3):
        one, other = by_parent[:-distance], by_parent[distance:]
        pairs = np.flatnonzero((view.parent[one] == view.parent[other]) & (tag[one] == tag[other]))
        if len(pairs):
            near = shapes.likeness(one[pairs], other[pairs]) >= SAME_CLASS
            alike[pairs[near]] = alike[pairs[near] + distance] = True
    counts = np.bincount(view.parent[by_parent[alike]], minlength=view.page.n)
    parents = np.flatnonzero(counts >= LEAST_RECORDS)
    not_lists = np.array([name in _NOT_LISTS for name in view.page.tag_names], bool)
    parents = parents[~not_lists[view.page.tag[parents]]]
    if len(parents) > MOST_PARENTS:
        heavy = np.argsort(-view.leaf_count(parents), kind="stable")[:MOST_PARENTS]
        parents = np.sort(parents[heavy])
    return parents.astype(np.int64)

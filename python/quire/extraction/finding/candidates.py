"""Candidates: everything on a page that repeats, before it is clear whether it is a list of records.

A kernel in Rust finds them: it compares the shapes of neighbouring nodes, divides the children of
those that resemble each other into records, and decides between a list and the lists inside it. See
``crates/quire-core/src/extraction``.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.extraction.outline import Outline

#: A list has at least so many records; the kernel has the same number.
LEAST_RECORDS = 3


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


def candidates(view: Outline) -> list[Candidate]:
    """All lists of a page that do not overlap, in the order of the page."""
    return [Candidate(*found) for found in view.native.lists()]

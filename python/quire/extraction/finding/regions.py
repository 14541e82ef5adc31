"""Regions: all lists of records on a page, with a confidence for each."""

from __future__ import annotations

from dataclasses import dataclass

from quire.extraction.finding.candidates import candidates
from quire.extraction.finding.confidence import Signs, confidence, signs, sums
from quire.extraction.finding.nesting import resolve
from quire.extraction.finding.shapes import shapes
from quire.extraction.outline import Outline


@dataclass(frozen=True, slots=True)
class Found:
    """One list: where it is, its records as runs of nodes, and how sure that is."""

    node: int
    records: tuple[tuple[int, ...], ...]
    confidence: float
    signs: Signs


def find(view: Outline) -> list[Found]:
    """Find the lists of a page, in the order of the page, also those that are hardly records."""
    if not view.elements.any() or not view.leaves.any():
        return []
    measured = shapes(view)
    counts = sums(view)
    found = []
    for one in resolve(view, measured, candidates(view, measured)):
        seen = signs(view, one, counts)
        found.append(Found(one.node, one.records, confidence(seen), seen))
    return found

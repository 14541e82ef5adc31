"""Regions: all lists of records on a page, with a confidence for each."""

from __future__ import annotations

from dataclasses import dataclass

from quire.extraction.finding.candidates import candidates
from quire.extraction.finding.confidence import Signs, confidence, signs
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
    found = []
    for one in candidates(view):
        seen = signs(view, one)
        found.append(Found(one.node, one.records, confidence(seen), seen))
    return found

"""How right found regions and records are, compared with the labels of a page.

A region or record is the set of its visible leaves. A found record is right if it shares at least
nine tenths of its leaves with a labelled one; a found region if it shares at least seven tenths with
a labelled region. Each label can be found once. What lies in a part labelled ``maybe`` counts
neither way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quire.digest import Digest
from tests.extraction.labelled import Labelled, leaves_of

RECORD_SHARE = 0.9
REGION_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of right answers, answers, and labels."""

    right: int = 0
    found: int = 0
    labelled: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(
            self.right + other.right, self.found + other.found, self.labelled + other.labelled
        )

    @property
    def precision(self) -> float:
        """The share of answers that are right."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of labels that were found."""
        return self.right / self.labelled if self.labelled else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 2 * self.right / (self.found + self.labelled) if self.found + self.labelled else 1.0


Found = Sequence[Sequence[frozenset[int]]]


def judge(page: Labelled, found: Found) -> tuple[Score, Score]:
    """Score the regions and the records found on a page."""
    counted = [
        [record - page.maybe for record in region if record - page.maybe] for region in found
    ]
    counted = [
        region
        for region, whole in zip(counted, found, strict=True)
        if 2 * len(frozenset().union(*region)) > len(frozenset().union(*whole))
    ]
    regions = _matched(
        [frozenset().union(*region) for region in counted],
        [region.leaves for region in page.regions],
        REGION_SHARE,
    )
    records = _matched(
        [record for region in counted for record in region],
        [record for region in page.regions for record in region.records],
        RECORD_SHARE,
    )
    return regions, records


def leaves_of_runs(page: Digest, runs: Iterable[Sequence[int]]) -> list[frozenset[int]]:
    """The leaves of records given as nodes; an inner record keeps its leaves for itself."""
    leaves = leaves_of(page)
    owner: dict[int, int] = {}
    runs = list(runs)
    inside: list[set[int]] = [set() for _ in runs]
    order = sorted((node, place) for place, run in enumerate(runs) for node in run)
    for node, place in order:
        start, end = np.searchsorted(leaves, [node, node + int(page.size[node])])
        for leaf in leaves[start:end].tolist():
            if leaf in owner:
                inside[owner[leaf]].discard(leaf)
            owner[leaf] = place
            inside[place].add(leaf)
    return [frozenset(each) for each in inside if each]


def _matched(found: list[frozenset[int]], labelled: list[frozenset[int]], least: float) -> Score:
    at: dict[int, list[int]] = {}
    for place, label in enumerate(labelled):
        for leaf in label:
            at.setdefault(leaf, []).append(place)
    pairs = []
    for place, one in enumerate(found):
        for other in {label for leaf in one for label in at.get(leaf, ())}:
            share = len(one & labelled[other]) / len(one | labelled[other])
            if share >= least:
                pairs.append((-share, place, other))
    used: tuple[set[int], set[int]] = (set(), set())
    for _, place, other in sorted(pairs):
        if place not in used[0] and other not in used[1]:
            used[0].add(place)
            used[1].add(other)
    return Score(len(used[0]), len(found), len(labelled))

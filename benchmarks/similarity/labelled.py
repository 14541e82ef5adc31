"""Pages whose template is known, and how well scores tell templates apart."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import quire
from benchmarks.context import Context
from benchmarks.corpora import Page, html_pages

#: Five page types of one site, and forty sites: the folder of a page is its template.
TYPES = "templates-types"
SITES = "templates-swde-sites"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page, its digest and its template."""

    page: Page
    digest: quire.Digest
    template: str


Pair = tuple[Labelled, Labelled]


def read(corpus: str) -> list[Labelled]:
    """All pages of a corpus, encoded."""
    return [
        Labelled(page, quire.encode(page.read()), str(PurePosixPath(page.name).parent))
        for page in html_pages((corpus,))
    ]


def pairs(pages: Sequence[Labelled], context: Context, most: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs of one template and pairs of two, at most ``most`` of each, drawn with the run's seed."""
    same, other = [], []
    for pair in itertools.combinations(pages, 2):
        (same if pair[0].template == pair[1].template else other).append(pair)
    draw = random.Random(context.seed)
    return tuple(  # type: ignore[return-value]
        found if len(found) <= most else draw.sample(found, most) for found in (same, other)
    )


def auc(same: Sequence[float], other: Sequence[float]) -> float:
    """The chance that a pair of one template scores higher than a pair of two; ties count half.

    By ranks, so that it is exact and quick.
    """
    ordered = sorted([(score, True) for score in same] + [(score, False) for score in other])
    ranks = 0.0
    below = 0
    for _, tied in itertools.groupby(ordered, key=lambda entry: entry[0]):
        group = list(tied)
        middle = below + (len(group) + 1) / 2
        ranks += middle * sum(is_same for _, is_same in group)
        below += len(group)
    return (ranks - len(same) * (len(same) + 1) / 2) / (len(same) * len(other))

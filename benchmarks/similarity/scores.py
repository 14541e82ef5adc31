"""Scores of all pairs of some pages, by every measure of ours and by rivals.

Rivals get what their documentation asks for: html-similarity the two pages, datasketch and rensa the paths of each page
(features they do not have of their own). Each has the threshold its users would begin with.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import datasketch
import html_similarity
import numpy as np
import rensa
from numpy.typing import NDArray

import quire
from benchmarks.similarity.labelled import Labelled
from quire import _core
from quire.similar import BAG_MEASURES, Bag, Sketch, kang_normalised
from quire.similar.groups import LEAST_SHARED, MEASURE, THRESHOLD, likenesses
from tests.similar import oracles

Vector = NDArray[np.float64]

#: The name of what ``quire.templates`` goes by.
DEFAULT = f"{MEASURE}, contained (default)"
SLOW = ("html-similarity, structural", "html-similarity, style")


@dataclass(frozen=True, slots=True)
class Measure:
    """Scores of all pairs, in the order of ``numpy.triu_indices``, and the usual threshold."""

    threshold: float
    scores: Callable[[Sequence[Labelled]], Vector]


def measures() -> dict[str, Measure]:
    """All but html-similarity, which takes too long for as many pages."""
    found = {DEFAULT: Measure(THRESHOLD, contained)}
    for on in BAG_MEASURES:
        threshold = 0.45 if on == "structure" else 0.5
        found[on] = Measure(threshold, _kept(lambda page, on=on: Bag.of(page.digest, on), _similar))
    found["kang"] = Measure(0.8, _kept(_digest, quire.kang))
    found["kang_normalised"] = Measure(0.8, _kept(_digest, kang_normalised))
    for m in (100, 400):
        found[f"structure, sketch of {m}"] = Measure(
            0.45, _kept(lambda page, m=m: Sketch.of(page.digest, m=m), _resemblance)
        )
    found["datasketch, 100 of paths"] = Measure(0.5, _kept(_with_datasketch, _jaccard))
    found["rensa, 100 of paths"] = Measure(0.5, _kept(_with_rensa, _jaccard))
    return found


def slow_measures() -> dict[str, Measure]:
    """html-similarity, which reads both pages anew for each pair."""
    ways = (html_similarity.structural_similarity, html_similarity.style_similarity)
    return {name: Measure(0.5, _kept(_text, way)) for name, way in zip(SLOW, ways, strict=True)}


def contained(pages: Sequence[Labelled]) -> Vector:
    """How much of the smaller page is in the larger one; 0 where they share too little to hold together."""
    bags = _core.Bags.of_pages([page.digest._native for page in pages], MEASURE)  # noqa: SLF001
    one, two = (side.astype(np.uint32) for side in np.triu_indices(len(pages), 1))
    inside, resemblance = likenesses(one, bags, two, bags)
    return np.where(resemblance >= LEAST_SHARED, inside, 0.0)


def _kept(
    make: Callable[[Labelled], Any], compare: Callable[[Any, Any], float]
) -> Callable[[Sequence[Labelled]], Vector]:
    """Make something of each page once, and compare that."""

    def scores(pages: Sequence[Labelled]) -> Vector:
        def each() -> Iterator[float]:
            for one, two in itertools.combinations([make(page) for page in pages], 2):
                yield compare(one, two)

        return np.fromiter(each(), np.float64)

    return scores


def _digest(page: Labelled) -> quire.Digest:
    return page.digest


def _text(page: Labelled) -> str:
    # Without bytes 0, where lxml ends, and without a declaration, which it does not take in a text.
    text = page.page.read().decode("utf-8", "replace").replace("\0", "")
    return re.sub(r"\A\s*<\?xml[^>]*>", "", text.removeprefix("\ufeff"))


def _similar(one: Bag, two: Bag) -> float:
    return one.similarity(two)


def _resemblance(one: Sketch, two: Sketch) -> float:
    return one.resemblance(two).value


def _jaccard(one: Any, two: Any) -> float:
    found: float = one.jaccard(two)
    return found


def _paths(page: Labelled) -> list[str]:
    return [str(path) for path in oracles.bag(page.digest, "paths")]


def _with_datasketch(page: Labelled) -> datasketch.MinHash:
    sketch = datasketch.MinHash(num_perm=100)
    sketch.update_batch([path.encode() for path in _paths(page)])
    return sketch


def _with_rensa(page: Labelled) -> rensa.RMinHash:
    sketch = rensa.RMinHash(num_perm=100, seed=42)
    sketch.update(_paths(page))
    return sketch

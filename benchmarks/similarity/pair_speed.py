"""Pairs a second: two digests, two bags, two sketches, and html-similarity on the same pages."""

import itertools
import math
from collections.abc import Callable

import html_similarity
import numpy as np

import quire
from benchmarks.context import Context
from benchmarks.corpora import describe, html_pages
from benchmarks.measure import interleaved
from benchmarks.report import Report, Right, Table, at_least
from benchmarks.similarity.labelled import SITES
from quire import _core
from quire.similar import Bag, Sketch, resemblance_matrix, resemblances, sketches_to_matrix
from tests.similar import oracles

ROUNDS = 7
#: Passes over all pages, for the case without the caches of the processor full of other work.
PASSES = 10
#: Rows of the matrix of sketches: as large as a crawl of a site.
ROWS = 4000


def run(context: Context) -> Report:
    """Time pairs of neighbouring pages, and all pairs of a matrix."""
    chosen = html_pages(context.corpora or (SITES,), context.pick(200, 30))
    digests = [quire.encode(page.read()) for page in chosen]
    stored = [digest.to_bytes() for digest in digests]
    sources = [page.read().decode("utf-8", "replace").replace("\0", "") for page in chosen]
    bags = [Bag.of(digest) for digest in digests]
    rows = sketches_to_matrix(map(Sketch.of, digests))
    matrix = np.tile(rows, (math.ceil(context.pick(ROWS, 500) / len(rows)), 1))
    sketch = Sketch.of(digests[0])
    few = context.pick(20, 5)
    pairs = len(digests) - 1
    for a, b in [*itertools.pairwise(digests)] * 2:
        quire.similarity(a, b)  # a page that is compared for the second time keeps its parts
    cases: dict[str, tuple[Callable[[], object], float]] = {
        "html-similarity, from HTML": (
            lambda: [
                html_similarity.structural_similarity(a, b)
                for a, b in itertools.pairwise(sources[:: len(sources) // few][: few + 1])
            ],
            len(sources[:: len(sources) // few][: few + 1]) - 1,
        ),
        "quire, from stored digests": (
            lambda: [
                quire.similarity(
                    quire.from_bytes(a, verify="columns"), quire.from_bytes(b, verify="columns")
                )
                for a, b in itertools.pairwise(stored)
            ],
            pairs,
        ),
        "quire, from digests, first time": (
            lambda: [
                _core.similarity(a._native, b._native, "structure", None)  # noqa: SLF001
                for a, b in itertools.pairwise(digests)
            ],
            pairs,
        ),
        f"quire, from digests, first time, {PASSES} passes": (
            lambda: [
                _core.similarity(a._native, b._native, "structure", None)  # noqa: SLF001
                for _ in range(PASSES)
                for a, b in itertools.pairwise(digests)
            ],
            PASSES * pairs,
        ),
        "quire, from digests, later": (
            lambda: [quire.similarity(a, b) for a, b in itertools.pairwise(digests)],
            pairs,
        ),
        "quire, kang from digests": (
            lambda: [quire.kang(a, b) for a, b in itertools.pairwise(digests)],
            pairs,
        ),
        "quire, from bags": (
            lambda: [a.similarity(b) for a in bags for b in bags],
            len(bags) ** 2,
        ),
        "quire, a sketch with a matrix": (
            lambda: resemblances(sketch, matrix),
            len(matrix),
        ),
        "quire, all pairs of a matrix": (
            lambda: resemblance_matrix(matrix),
            len(matrix) * (len(matrix) - 1) / 2,
        ),
    }
    context.say(f"{len(digests)} pages, a matrix of {len(matrix):,} sketches")
    measured = interleaved(
        {name: case for name, (case, _) in cases.items()}, context.pick(ROUNDS, 3)
    )
    rates = {name: cases[name][1] / samples.median for name, samples in measured.items()}
    theirs = rates["html-similarity, from HTML"]
    report = Report(
        title="Pairs a second, on structure",
        inputs=describe(chosen),
        method="CPU time, cases in turn; median",
    )
    report.tables.append(
        Table(
            ["who", "µs a pair", "pairs/s", "times html-similarity"],
            [
                [name, f"{1e6 / rate:,.3f}", f"{rate:,.0f}", f"{rate / theirs:,.0f}"]
                for name, rate in rates.items()
            ],
        )
    )
    right = sum(
        math.isclose(
            quire.similarity(a, b),
            oracles.jaccard(oracles.bag(a, "structure"), oracles.bag(b, "structure")),
        )
        for a, b in itertools.pairwise(digests[:40])
    )
    report.right = [Right("quire", right, len(digests[:40]) - 1, "the definition, in Python")]
    report.goals = [
        at_least(
            f"{name}: speed relative to html-similarity", rates[f"quire, {name}"] / theirs, 1000
        )
        for name in (
            "from digests, first time",
            f"from digests, first time, {PASSES} passes",
            "from digests, later",
        )
    ] + [
        at_least(
            "sketches, million pairs/s", rates["quire, all pairs of a matrix"] / 1e6, 5.0, " M"
        ),
    ]
    report.notes = [
        "first time: quire finds the parts of both pages for each pair. Later: a page that is compared again keeps its parts, so each page pays once, just as it is parsed once; all pages were compared twice before",
        f"one pass over the pages takes about a millisecond, right after other cases that used the caches of the processor; with {PASSES} passes most of the pages are in them, as when many pages are compared",
    ]
    report.data = {"pairs_per_s": rates}
    return report

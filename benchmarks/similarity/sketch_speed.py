"""Sketches of m = 100 from stored digests, beside libraries that make nothing else.

Rivals have no features of their own. In the rows "from stored digests" everyone starts at the bytes of stored digests: rivals
get the parts from `Bag`, as 64-bit numbers in numpy, the quickest way there is. In the other rows rivals are given the
features of every page ready-made (four tags in a row, with the number of the occurrence), and only sketching is timed.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence

import datasketch
import numpy as np
import rensa
from numpy.typing import NDArray

import quire
from benchmarks.context import Context
from benchmarks.corpora import describe, html_pages
from benchmarks.measure import interleaved, round_ratio
from benchmarks.report import Report, Table, at_least
from benchmarks.similarity.labelled import SITES
from quire.similar import Bag, Sketch
from tests.similar import oracles

M = 100
ROUNDS = 9

Sketches = Sequence[object]


def run(context: Context) -> Report:
    """Sketch all pages with everyone, and check the estimates."""
    chosen = html_pages(context.corpora or (SITES,), context.pick(300, 40))
    digests = [quire.encode(page.read()) for page in chosen]
    stored = [digest.to_bytes() for digest in digests]
    bags = [oracles.bag(digest, "structure") for digest in digests]
    features = [
        [f"{part} {k}" for part, count in bag.items() for k in range(count)] for bag in bags
    ]
    encoded = [[feature.encode() for feature in page] for page in features]
    hashed = rensa.RMinHash.hash_token_sets(features)
    cases: dict[str, Callable[[], Sketches]] = {
        "quire, from stored digests": lambda: [
            Sketch.of(quire.from_bytes(page, verify="columns"), m=M) for page in stored
        ],
        "quire, from digests in memory": lambda: [Sketch.of(page, m=M) for page in digests],
        "rensa, from stored digests": lambda: _rensa_stored(stored),
        "datasketch, from stored digests": lambda: [_datasketch_stored(page) for page in stored],
        "rensa RMinHash": lambda: [_rensa(page) for page in features],
        "rensa RMinHash, all at once": lambda: rensa.RMinHash.from_token_sets(features, M, 42),
        "rensa rho, all at once, hashes given": lambda: _matrix(hashed),
        "rensa CMinHash": lambda: [_rensa_c(page) for page in features],
        "datasketch": lambda: [_datasketch(page) for page in encoded],
    }
    context.say(f"{len(digests)} pages, {sum(map(len, features)):,} features")
    measured = interleaved(cases, context.pick(ROUNDS, 3))
    report = Report(
        title=f"Sketches of m = {M}",
        inputs=describe(chosen),
        method="CPU time of all threads, cases in turn; unless a row says otherwise, features of rivals are made beforehand and not timed",
    )
    ours = measured["quire, from stored digests"]
    rows = []
    for name, samples in measured.items():
        pages = len(digests)
        rows.append(
            [
                name,
                samples.spread(1e6 / pages, 1),
                f"{pages / samples.median:,.0f}",
                f"{round_ratio(samples, ours):.2f}",
                _off(cases[name](), bags),
            ]
        )
    report.tables.append(
        Table(
            ["who", "µs a page", "pages/s", "times our time", "typical error"],
            rows,
        )
    )
    report.goals = [
        at_least(f"quire against {rival}", round_ratio(measured[rival], ours), floor)
        for rival, floor in (
            ("rensa, from stored digests", 1.0),
            ("rensa RMinHash", 1.0),
            ("datasketch, from stored digests", 20.0),
            ("datasketch", 20.0),
        )
    ]
    report.notes = [
        "two ways to compare: rivals that start from the same input, and rivals whose features are computed beforehand",
        f"typical error: root mean square of estimate minus true value over neighbouring pages; {1 / math.sqrt(4 * M):.3f} is the expected maximum",
        "rensa cannot compare two rows of its matrix, so no error is shown for it",
    ]
    report.data = {name: samples.seconds for name, samples in measured.items()}
    return report


def _numbers(page: bytes) -> NDArray[np.uint64]:
    """The features of a stored digest, one number for each occurrence."""
    bag = Bag.of(quire.from_bytes(page, verify="columns"))
    counts = bag.counts
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    kth = (np.arange(bag.total) - starts).astype(np.uint64)
    return np.repeat(bag.hashes, counts) + kth * np.uint64(0x9E3779B97F4A7C15)


def _rensa_stored(stored: Sequence[bytes]) -> list[object]:
    pages = [_numbers(page) for page in stored]
    ends = np.cumsum([0, *map(len, pages)]).astype(np.uint64)
    flat = np.concatenate(pages)
    return [rensa.RMinHash.digest_matrix_from_flat_token_hashes(flat, ends, M, 42)]


def _datasketch_stored(page: bytes) -> datasketch.MinHash:
    sketch = datasketch.MinHash(num_perm=M, hashfunc=int)
    sketch.update_batch((_numbers(page) & np.uint64(0xFFFFFFFF)).tolist())
    return sketch


def _rensa(features: list[str]) -> rensa.RMinHash:
    sketch = rensa.RMinHash(M, 42)
    sketch.update(features)
    return sketch


def _rensa_c(features: list[str]) -> rensa.CMinHash:
    sketch = rensa.CMinHash(M, 42)
    sketch.update(features)
    return sketch


def _matrix(hashed: list[list[int]]) -> list[object]:
    return [rensa.RMinHash.digest_matrix_from_token_hash_sets_rho(hashed, M, 42)]


def _datasketch(features: list[bytes]) -> datasketch.MinHash:
    sketch = datasketch.MinHash(num_perm=M)
    sketch.update_batch(features)
    return sketch


def _off(sketches: Sketches, bags: Sequence[object]) -> str:
    """How far estimates are from the truth, for pages that stand beside each other."""
    if len(sketches) != len(bags):
        return "-"
    squares = []
    for (a, one), (b, two) in itertools.pairwise(zip(sketches, bags, strict=True)):
        estimate = a.resemblance(b).value if isinstance(a, Sketch) else a.jaccard(b)
        squares.append((estimate - oracles.jaccard(one, two)) ** 2)
    return f"{math.sqrt(statistics.fmean(squares)):.3f}"

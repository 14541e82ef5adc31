"""Does the index find what the paper's Algorithm 1 finds? Samples of 40 to 75 real pages, at every factor.

The same fragments with the same members, in the same order, and every column of every member equal.
"""

import random
import time

import quire
from benchmarks.context import Context
from benchmarks.corpora import html_pages
from benchmarks.report import Report, Right, Table, every
from quire.fragments import Members, SharedFragments, algorithm_1, shared_fragments
from quire.fragments.shared.rules import SIZE_RATIO

#: Samples of each corpus; few of the last one, for which the loop takes half a minute each. Pages of news take it many minutes.
SAMPLES = {
    "templates-helsingborg": 20,
    "templates-docs": 14,
    "templates-swde": 12,
    "templates-types": 4,
}
LEAST, MOST = 40, 75
MATCHES = (0.7, 0.9, 1.0)
BYTES = (30, 50, 200)


def run(context: Context) -> Report:
    """Compare the two."""
    report = Report(
        title="Shared fragments: the index against Algorithm 1",
        inputs=", ".join(f"{corpus} ({count} samples)" for corpus, count in SAMPLES.items()),
        method=f"{LEAST} to {MOST} pages a sample, seed {context.seed}; ShareFactor 2, P {SIZE_RATIO}, W = 20, S = 25, K = 32, chains merged; seconds are of the processor, AF trees included",
    )
    draw = random.Random(context.seed)
    cells: dict[tuple[float, int], list[tuple[bool, int, int, float, float]]] = {
        (match, least): [] for match in MATCHES for least in BYTES
    }
    for corpus, count in SAMPLES.items():
        files = html_pages((corpus,))
        for _ in range(context.pick(count, 1)):
            chosen = draw.sample(files, min(draw.randint(LEAST, MOST), len(files)))
            pages = [quire.encode(page.read(), kind="html") for page in chosen]
            for (match, least), found in cells.items():
                found.append(_compared(pages, match, least))
            so_far = [one[0] for found in cells.values() for one in found]
            context.say(f"{corpus}: {sum(so_far)} of {len(so_far)} answers equal")
    rows = []
    for (match, least), found in cells.items():
        rows.append(
            [
                f"{match:.2f}",
                f"{least}",
                f"{sum(one[0] for one in found)} / {len(found)}",
                f"{sum(one[1] for one in found) / len(found):,.1f}",
                f"{sum(one[2] for one in found) / len(found):,.1f}",
                f"{sum(one[3] for one in found) / len(found):.2f}",
                f"{sum(one[4] for one in found) / len(found):.3f}",
            ]
        )
    headings = [
        *("MinMatchFactor", "MinFragSize", "samples equal", "fragments", "exact"),
        *("Algorithm 1, s", "index, s"),
    ]
    report.tables.append(Table(headings, rows, "means over samples"))
    every_one = [one[0] for found in cells.values() for one in found]
    report.right = [Right("index", sum(every_one), len(every_one), "answers of Algorithm 1")]
    report.goals = [every("answers of Algorithm 1", sum(every_one), len(every_one))]
    return report


def _compared(
    pages: list[quire.Digest], match: float, least: int
) -> tuple[bool, int, int, float, float]:
    start = time.process_time()
    slow = algorithm_1(pages, min_match=match, min_bytes=least)
    between = time.process_time()
    quick = shared_fragments(pages, min_match=match, min_bytes=least)
    end = time.process_time()
    exact = sum(fragment.exact for fragment in quick)
    return _same(slow, quick), len(quick), exact, between - start, end - between


def _same(one: SharedFragments, other: SharedFragments) -> bool:
    return one.starts.tolist() == other.starts.tolist() and all(
        getattr(one.members, name).tolist() == getattr(other.members, name).tolist()
        for name in Members.__slots__
    )

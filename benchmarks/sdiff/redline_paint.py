"""Redlines of real pairs: how many paint something that did not change.

Every pair of neighbouring versions is drawn, and the finished document is judged by
``tests/reports/painted.py``, which knows nothing of how it was drawn. A redline is wrong if it loses
words of either page, shows a deletion out of its place, strikes and inserts the same text, or says
that a text moved to where it was before.
"""

import time
from collections import Counter
from itertools import pairwise
from pathlib import PurePosixPath

import quire
from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.corpora import Page, describe
from benchmarks.report import Goal, Report, Table
from benchmarks.sdiff.pairs import encoded
from tests.reports.painted import faults

PAIRS = "diff-pairs"
CORPORA = (*corpora.VERSIONS, PAIRS)


def run(context: Context) -> Report:
    """Draw and judge all pairs."""
    rows, notes = [], []
    wrong = drawn = 0
    pages: list[Page] = []
    for name in [each for each in CORPORA if not context.corpora or each in context.corpora]:
        found = corpora.pages((name,), None, (".html", ".xml"))
        pages += found
        pairs = _pairs(name, found)[:: context.pick(1, 40)]
        kinds: Counter[str] = Counter()
        bad, took = 0, 0.0
        context.say(f"{name}: {len(pairs)} pairs")
        for before, after in pairs:
            old, new = encoded(before.read()), encoded(after.read())
            annotation = quire.annotate(old, new)
            start = time.perf_counter()
            redline = quire.redline(annotation)
            took += time.perf_counter() - start
            if old.kind != "html" or new.kind != "html":
                continue  # drawn as lines
            said = faults(old, new, redline)
            kinds.update(fault.kind for fault in said)
            bad += bool(said)
            notes += [f"{after.name}: {said[0].kind}: {said[0].text[:60]}"] if said else []
        rows.append(
            [
                name,
                str(len(pairs)),
                str(bad),
                str(kinds.total()),
                f"{1000 * took / max(1, len(pairs)):.0f}",
            ]
        )
        wrong += bad
        drawn += len(pairs)
    report = Report(
        title="Redlines that paint what did not change",
        inputs=describe(pages),
        method="neighbouring versions, compared at the default granularity; the finished HTML is judged",
    )
    report.tables.append(Table(["corpus", "pairs", "wrong", "faults", "ms per redline"], rows))
    report.notes = notes[:20]
    report.goals = [Goal("redlines with wrong paint", "0", f"{wrong} of {drawn}", met=wrong == 0)]
    report.data = {"wrong": wrong, "pairs": drawn}
    return report


def _pairs(name: str, pages: list[Page]) -> list[tuple[Page, Page]]:
    if name == PAIRS:
        named = {page.name: page for page in pages}
        return [
            (page, named[page.name.replace("left", "right")])
            for page in pages
            if "left" in page.name and page.name.replace("left", "right") in named
        ]
    return [
        (old, new)
        for old, new in pairwise(pages)
        if PurePosixPath(old.name).parent == PurePosixPath(new.name).parent
    ]

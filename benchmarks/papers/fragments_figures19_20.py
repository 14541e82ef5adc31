"""Figures 19 and 20 of paper 004: hashes computed and time taken, HiSh against shingling node by node, as documents grow.

The x axis is the paper's: characters in a document's content string. Documents up to some hundred kilobytes are real pages, those whose text is
nearest to the length; longer ones are real pages one after another in one body. The paper's trees have chains, so those
are compared with its figures; trees without chains have fewer nodes, which both ways profit from.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import quire
from benchmarks.context import Context
from benchmarks.corpora import html_pages
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table, at_least, every
from quire.fragments import AfTree, Shingles

CORPORA = ("pages-trafilatura", "pages-readability", "templates-types", "templates-docs")
LENGTHS = (1_700, 5_000, 10_000, 19_000, 50_000, 100_000, 300_000, 1_000_000)
#: Documents of each length.
DOCUMENTS = 9
ROUNDS = 15
#: The paper's ratios: hashes and time, at 1.7 K and at 19 K characters.
PAPERS = {1_700: (2.6, 1.9), 19_000: (8.5, 5.8)}
#: No real page of these corpora has more text.
LONGEST_REAL = 200_000


@dataclass(frozen=True, slots=True)
class Point:
    """One document: length of its text, nodes, and what both ways cost."""

    text: int
    nodes: int
    hashes: tuple[int, int]
    seconds: tuple[float, float]
    right: bool


def run(context: Context) -> Report:
    """Fill figures 19 and 20."""
    sources = [
        page.read() for page in html_pages(context.corpora or CORPORA, context.pick(2_000, 200))
    ]
    pages = [quire.encode(source, kind="html") for source in sources]
    rounds = context.pick(ROUNDS, 3)
    report = Report(
        title="Paper 004, figures 19 and 20: HiSh against shingling node by node",
        inputs=f"{len(pages):,} pages of {', '.join(context.corpora or CORPORA)}; {DOCUMENTS} for each length, longer ones joined",
        method=f"W = 20, S = 25, K = 32; time of the kernel, best of {rounds} rounds in turn; medians over documents of one length",
    )
    for chains in (True, False):
        points = {
            length: [
                _point(page, chains=chains, rounds=rounds)
                for page in _documents(pages, sources, length)
            ]
            for length in context.pick(LENGTHS, LENGTHS[:4])
        }
        _add(report, points, "chains kept, as in the paper" if chains else "chains collapsed")
        if chains:
            _judge(report, points)
    report.notes += [
        "the paper: 2.6 times fewer hashes and 1.9 times less time at 1.7 K characters, 8.5 and 5.8 at 19 K, more for larger documents",
        "fewer hashes come from depth: every byte is hashed once for each node around it, or once. How deep text lies is the pages' own, so ratios do not go on growing with length",
        "both roll one hash over the text, at about 2 ns a window, and choose samples in the same way. HiSh spends a third of its time hashing and the rest choosing and merging samples of short texts, which does not shrink with the number of hashes. With a slower hash, the ratio of times would come closer to that of hashes",
    ]
    return report


def _documents(pages: list[quire.Digest], sources: list[bytes], length: int) -> list[quire.Digest]:
    """Documents with a text of about this length."""
    lengths = [len(AfTree.of(page).text) for page in pages]
    if length <= LONGEST_REAL:
        nearest = sorted(range(len(pages)), key=lambda place: abs(lengths[place] - length))
        return [pages[place] for place in nearest[:DOCUMENTS]]
    made = []
    for first in range(DOCUMENTS):
        parts, total, at = [], 0, first
        while total < length:
            parts.append(sources[at % len(sources)])
            total += lengths[at % len(sources)]
            at += DOCUMENTS
        made.append(quire.encode(b"".join(parts), kind="html"))
    return made


def _point(page: quire.Digest, *, chains: bool, rounds: int) -> Point:
    folded: list[Shingles] = []
    direct: list[Shingles] = []
    tree = AfTree.of(page, chains=chains)
    for _ in range(rounds):
        # A new tree for each: what is in the processor's caches is the same for both.
        folded.append(AfTree.of(page, chains=chains).shingles())
        direct.append(AfTree.of(page, chains=chains).direct_shingles())
    right = all(
        folded[0].of(node).tolist() == direct[0].of(node).tolist() for node in range(tree.n)
    )
    return Point(
        text=len(tree.text),
        nodes=tree.n,
        hashes=(folded[0].hashes, direct[0].hashes),
        seconds=(min(one.seconds for one in folded), min(one.seconds for one in direct)),
        right=right,
    )


def _fewer(points: list[Point]) -> float:
    return statistics.median(point.hashes[1] / point.hashes[0] for point in points)


def _quicker(points: list[Point]) -> float:
    return statistics.median(point.seconds[1] / point.seconds[0] for point in points)


def _add(report: Report, points: dict[int, list[Point]], caption: str) -> None:
    rows = []
    for length, found in points.items():
        median = statistics.median
        rows.append(
            [
                f"{length:,}",
                f"{median(point.text for point in found):,.0f}",
                f"{median(point.nodes for point in found):,.0f}",
                f"{median(point.hashes[0] for point in found):,.0f}",
                f"{median(point.hashes[1] for point in found):,.0f}",
                f"{_fewer(found):.1f}x",
                f"{median(point.seconds[0] for point in found) * 1e6:,.0f}",
                f"{median(point.seconds[1] for point in found) * 1e6:,.0f}",
                f"{_quicker(found):.1f}x",
            ]
        )
    headings = [
        *("characters", "text, bytes", "nodes", "hashes, HiSh", "hashes, direct", "fewer"),
        *("HiSh, us", "direct, us", "quicker"),
    ]
    report.tables.append(Table(headings, rows, caption))
    key = "chains" if "kept" in caption else "collapsed"
    lengths = list(points)
    for figure, label, what in (
        ("figure19", "hashes computed", "hashes"),
        ("figure20", "seconds", "seconds"),
    ):
        series = [
            Series(
                name,
                lengths,
                [
                    statistics.median(getattr(point, what)[which] for point in points[n])
                    for n in lengths
                ],
            )
            for which, name in enumerate(("HiSh", "direct"))
        ]
        report.figures[f"{figure}-{key}"] = line_chart(
            f"Paper 004, {figure}: {caption}",
            series,
            "characters in the content string",
            label,
            log_x=True,
            log_y=True,
        )
    report.data[key] = {
        str(length): [
            {
                "text": point.text,
                "nodes": point.nodes,
                "hashes": point.hashes,
                "seconds": point.seconds,
            }
            for point in found
        ]
        for length, found in points.items()
    }


def _growing(
    what: str, points: dict[int, list[Point]], ratio: Callable[[list[Point]], float]
) -> Goal:
    """Whether a ratio grows with every step of length; the figures at the ends and at the greatest."""
    found = {length: ratio(some) for length, some in points.items()}
    steps = [after > before for before, after in pairwise(found.values())]
    shown = sorted({min(found), max(found, key=lambda one: found[one]), max(found)})
    return Goal(
        what,
        "with every length",
        f"at {sum(steps)} of {len(steps)} steps; "
        + ", ".join(f"{found[length]:.1f}x at {length:,}" for length in shown),
        met=all(steps),
    )


def _judge(report: Report, points: dict[int, list[Point]]) -> None:
    for length, (fewer, quicker) in PAPERS.items():
        found = points[length]
        report.goals += [
            at_least(f"fewer hashes at {length:,} characters", _fewer(found), fewer),
            at_least(f"faster at {length:,} characters", _quicker(found), quicker),
        ]
    report.goals += [
        _growing("fewer hashes the longer a document is", points, _fewer),
        _growing("faster the longer a document is", points, _quicker),
    ]
    right = [point.right for found in points.values() for point in found]
    report.right.append(
        Right("HiSh", sum(right), len(right), "documents with the shingles of the direct way")
    )
    report.goals.append(every("HiSh = direct", sum(right), len(right)))

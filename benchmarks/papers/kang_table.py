"""Kang's table 1 and figure 3 on our pages, his program against the kernel, and a verdict on D = 8, Q = 0.8.

The paper compares "100 search results pages" of eight search engines and does not say in which pairs; those pages are
gone. So this is his table made anew: the mean S of all pairs of pages of one site, for D = 1 to 15.

His table has only pages of one site, so it cannot show which D and Q tell pages apart. The verdict needs pairs of
different templates too: as many of each, drawn from pages whose template is known.
"""

import itertools
import random
import statistics

import numpy as np
from numpy.typing import NDArray

import quire
from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Right, Table, every
from benchmarks.similarity.labelled import CHOSEN_ON, SITES, TRUTHS, Labelled, read
from quire.similar import kang_similar
from tests.similar.kang_program import layers, program

DEPTHS = range(1, 16)
SITE_COUNT = 8
PAIRS = 1000
#: Pairs of one template, and as many of two, for the verdict on each collection.
PAIRS_TO_TELL = 2000
PAPERS_D, PAPERS_Q = 8, 0.8
THRESHOLDS = np.round(np.arange(0.4, 1.0, 0.01), 2)

#: Table 1 as printed: S for D = 1 to 15.
PAPERS_TABLE = {
    "www.baidu.com": "1 1 1 1 1 0.99 0.98 0.97 0.97 0.97 0.97 0.97 0.97 0.97 0.97",
    "www.yahoo.com.cn": "1 1 1 0.99 0.96 0.95 0.94 0.92 0.91 0.91 0.9 0.89 0.88 0.87 0.85",
    "www.google.com": "1 0.92 0.9 0.89 0.88 0.85 0.84 0.82 0.8 0.79 0.77 0.77 0.76 0.77 0.77",
    "www.live.com": "0.75 0.88 0.92 0.94 0.95 0.95 0.95 0.94 0.94 0.93 0.92 0.91 0.9 0.89 0.88",
    "www.xinhuanet.com": "1 1 1 1 0.99 0.97 0.95 0.93 0.92 0.92 0.91 0.91 0.91 0.91 0.91",
    "www.alibaba.com": "1 1 1 1 1 0.99 0.99 0.99 0.98 0.97 0.95 0.94 0.93 0.93 0.92",
    "www.youdao.com": "1 1 1 1 1 1 0.98 0.96 0.94 0.92 0.91 0.89 0.88 0.87 0.86",
    "www.youku.com": "1 1 1 1 0.98 0.96 0.95 0.94 0.93 0.93 0.93 0.93 0.93 0.94 0.94",
}


def run(context: Context) -> Report:
    """Compare the kernel with the program, and make the table."""
    pages = read(SITES)
    report = Report(
        title="Kang's table 1: S for D = 1 to 15",
        inputs=(
            f"{SITES} ({len(pages)} pages); for D and Q also "
            + ", ".join(f"{name} ({TRUTHS[name].what})" for name in CHOSEN_ON if name != SITES)
        ),
        method="mean S over all pairs of 15 pages of a site; every fifth of 40 sites. The program of the paper, in Python, line by line, is the judge",
    )
    sites: dict[str, list[Labelled]] = {}
    for page in pages:
        sites.setdefault(page.template, []).append(page)
    shown = list(sites)[:: len(sites) // SITE_COUNT][:SITE_COUNT]
    series = []
    for site in shown:
        pairs = list(itertools.combinations(sites[site], 2))[: context.pick(None, 20)]
        means = [
            statistics.fmean(quire.kang(a.digest, b.digest, depth=depth) for a, b in pairs)
            for depth in DEPTHS
        ]
        series.append(Series(site, list(DEPTHS), means))
        context.say(site)
    papers = {site: [float(s) for s in row.split()] for site, row in PAPERS_TABLE.items()}
    report.tables = [
        _sites("the paper's table 1, as printed", papers),
        _sites(
            "the same on our pages", dict(zip(shown, (line.ys for line in series), strict=True))
        ),
    ]
    report.figures["figure3"] = line_chart("Mean S of pages of one site", series, "D", "S")
    report.figures["figure3-paper"] = line_chart(
        "Figure 3 of the paper, drawn from its table",
        [Series(site, list(DEPTHS), row) for site, row in papers.items()],
        "D",
        "S",
    )
    right, similar, of = _judged(context, pages)
    report.right = [Right("quire", right, of, "the program of the paper, to the last bit, D drawn")]
    report.goals = [every("S equal to that of the paper's program", right, of)]
    report.notes = [f"similar by Q = 0.8 among these pairs: {similar:,} of {of:,}"]
    _judge_parameters(report, context)
    report.data = {"sites": {line.name: line.ys for line in series}}
    return report


def _judged(context: Context, pages: list[Labelled]) -> tuple[int, int, int]:
    """How many pairs score as in the program, how many are similar, and how many there are."""
    draw = random.Random(context.seed)
    known: dict[str, list[list[str]]] = {}
    of = context.pick(PAIRS, 100)
    right = similar = 0
    for _ in range(of):
        # Half of one site, half of any: equal layers and different ones.
        a = draw.choice(pages)
        others = [page for page in pages if page is not a]
        fellows = [page for page in others if page.template == a.template]
        b = draw.choice(fellows if draw.random() < 0.5 else others)
        depth = draw.choice([8, 8, *DEPTHS])
        for page in (a, b):
            if page.page.name not in known:
                known[page.page.name] = layers(page.digest)
        one, two = known[a.page.name], known[b.page.name]
        right += quire.kang(a.digest, b.digest, depth=depth) == program(one, two, depth)
        similar += kang_similar(a.digest, b.digest)
    return right, similar, of


def _sites(caption: str, sites: dict[str, list[float]]) -> Table:
    rows = [[site, *(f"{score:.2f}" for score in row)] for site, row in sites.items()]
    for what, of_all in (("mean", statistics.fmean), ("lowest", min)):
        columns = zip(*sites.values(), strict=True)
        rows.append([what, *(f"{of_all(column):.2f}" for column in columns)])
    return Table(["site", *map(str, DEPTHS)], rows, caption)


def _judge_parameters(report: Report, context: Context) -> None:
    """How well every D and Q tell pages of one template from pages of two."""
    verdicts, areas = [], []
    ranks: list[NDArray[np.float64]] = []
    for name in CHOSEN_ON:
        context.say(f"{name}: which D and Q")
        same, other = _scores(read(name), context)
        right = (_above(same) + 1 - _above(other)) / 2  # for every D and Q
        ranks.append(right)
        d, q = PAPERS_D - DEPTHS[0], int(np.searchsorted(THRESHOLDS, PAPERS_Q - 1e-9))
        best_d, best_q = np.unravel_index(right.argmax(), right.shape)
        verdicts.append(
            [
                TRUTHS[name].what,
                f"{_above(same)[d, q]:.1%}",
                f"{_above(other)[d, q]:.1%}",
                f"{right[d, q]:.3f}",
                f"{right[d].max():.3f} at {THRESHOLDS[right[d].argmax()]:.2f}",
                f"{right[:, q].max():.3f} at {DEPTHS[right[:, q].argmax()]}",
                f"{right.max():.3f} at {DEPTHS[best_d]}, {THRESHOLDS[best_q]:.2f}",
            ]
        )
        areas.append(
            [TRUTHS[name].what, *(f"{_area(a, b):.3f}" for a, b in zip(same, other, strict=True))]
        )
    headings = [
        "pages",
        "of one template, similar",
        "of two, similar",
        f"right at {PAPERS_D}, {PAPERS_Q}",
    ]
    headings += [f"best Q at D = {PAPERS_D}", f"best D at Q = {PAPERS_Q}", "best D, Q"]
    pairs = context.pick(PAIRS_TO_TELL, 200)
    caption = f"verdict: {pairs:,} pairs of one template and {pairs:,} of two; right is the mean of both shares"
    report.tables.append(Table(headings, verdicts, caption))
    caption = (
        "AUC by D: how often a pair of one template scores higher than a pair of two, whatever Q"
    )
    report.tables.append(Table(["pages", *map(str, DEPTHS)], areas, caption))
    mean = np.mean(ranks, axis=0)
    best_d, best_q = np.unravel_index(mean.argmax(), mean.shape)
    report.notes += [
        (
            f"over the four collections D = {PAPERS_D}, Q = {PAPERS_Q} is right on {mean[d, q]:.1%} of pairs; the best Q"
            f" for D = {PAPERS_D} is {THRESHOLDS[mean[d].argmax()]:.2f} ({mean[d].max():.1%}), the best pair D ="
            f" {DEPTHS[best_d]}, Q = {THRESHOLDS[best_q]:.2f} ({mean.max():.1%})"
        ),
        f"with its own best Q, D = {PAPERS_D} is within {mean.max() - mean[d].max():.3f} of the best D",
        (
            "the paper chose Q as the value below all S at D = 8 of pages of one site (its lowest is 0.82); it has"
            " no pairs of two sites, so its table cannot show how many of those Q lets through"
        ),
    ]
    report.data["right"] = {"mean": mean[d, q], "best": mean.max()}


def _scores(pages: list[Labelled], context: Context) -> tuple[list[NDArray[np.float64]], ...]:
    """S of pairs of one template and of pairs of two, one array for each D."""
    draw = random.Random(context.seed)
    fellows: dict[str, list[Labelled]] = {}
    for page in pages:
        fellows.setdefault(page.template, []).append(page)
    crowds = [crowd for crowd in fellows.values() if len(crowd) > 1]
    wanted = context.pick(PAIRS_TO_TELL, 200)
    # Every template counts the same, however many pages it has.
    same = [tuple(draw.sample(draw.choice(crowds), 2)) for _ in range(wanted)]
    names = list(fellows)
    two = [draw.sample(names, 2) for _ in range(wanted)]
    other = [(draw.choice(fellows[a]), draw.choice(fellows[b])) for a, b in two]
    return tuple(
        [
            np.array([quire.kang(a.digest, b.digest, depth=depth) for a, b in pairs])
            for depth in DEPTHS
        ]
        for pairs in (same, other)
    )


def _above(scores: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The share of pairs with S > Q: a row for each D, a column for each Q."""
    return np.array([(row[:, None] > THRESHOLDS).mean(axis=0) for row in scores])


def _area(same: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    ordered = np.sort(other)
    below = np.searchsorted(ordered, same, "left") + np.searchsorted(ordered, same, "right")
    return float(below.mean() / 2 / len(ordered))

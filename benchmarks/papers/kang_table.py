"""Kang's table 1 and figure 3 on our pages, and his program against the kernel.

The paper compares "100 search results pages" of eight search engines and does not say in which pairs; those pages are
gone. So this is his table made anew: the mean S of all pairs of pages of one site, for D = 1 to 15.
"""

import itertools
import random
import statistics

import quire
from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Right, Table, every
from benchmarks.similarity.labelled import SITES, Labelled, read
from quire.similar import kang_similar
from tests.similar.kang_program import layers, program

DEPTHS = range(1, 16)
SITE_COUNT = 8
PAIRS = 1000


def run(context: Context) -> Report:
    """Compare the kernel with the program, and make the table."""
    pages = read(SITES)
    report = Report(
        title="Kang's table 1: S for D = 1 to 15",
        inputs=f"{SITES} ({len(pages)} pages)",
        method="mean S over all pairs of 15 pages of a site; every fifth of 40 sites. The program of the paper, in Python, line by line, is the judge",
    )
    sites: dict[str, list[Labelled]] = {}
    for page in pages:
        sites.setdefault(page.template, []).append(page)
    shown = list(sites)[:: len(sites) // SITE_COUNT][:SITE_COUNT]
    rows, series = [], []
    for site in shown:
        pairs = list(itertools.combinations(sites[site], 2))[: context.pick(None, 20)]
        means = [
            statistics.fmean(quire.kang(a.digest, b.digest, depth=depth) for a, b in pairs)
            for depth in DEPTHS
        ]
        rows.append([site, *(f"{mean:.2f}" for mean in means)])
        series.append(Series(site, list(DEPTHS), means))
        context.say(site)
    report.tables.append(Table(["site", *map(str, DEPTHS)], rows))
    report.figures["figure3"] = line_chart("Mean S of pages of one site", series, "D", "S")
    right, similar, of = _judged(context, pages)
    report.right = [Right("quire", right, of, "the program of the paper, to the last bit, D drawn")]
    report.goals = [every("S equal to that of the paper's program", right, of)]
    report.notes = [f"similar by Q = 0.8 among these pairs: {similar:,} of {of:,}"]
    report.data = {"sites": {row[0]: line.ys for row, line in zip(rows, series, strict=True)}}
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

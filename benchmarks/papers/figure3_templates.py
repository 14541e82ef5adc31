"""Figure 3 of paper 003: number of templates and coverage rate as the threshold of similarity rises from 0 to 1.

The paper's clustering (``random_sampling``: tokens, w = 3, m = 100, k = 30) on our corpora, since the 10,000 pages of
auto.sina.com.cn are gone; the default grouping beside it, whose threshold is of what is contained, not of what is shared.
"""

import statistics
from collections.abc import Sequence

import quire
from benchmarks.context import Context
from benchmarks.corpora import TEMPLATES, html_pages
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Table
from quire.similar import Sketch, random_sampling, sketches_to_matrix

THRESHOLDS = [step / 20 for step in range(21)]
#: Where the paper sees coverage bend.
BEND = 0.6
SEEDS = 5
TOGETHER = "all together"

#: At each threshold the number of templates, and the share of pages that have one.
Curve = list[tuple[float, float]]


def run(context: Context) -> Report:
    """Cluster every corpus at every threshold, by both ways."""
    report = Report(
        title="Paper 003, figure 3: templates and coverage against the threshold",
        inputs=", ".join(TEMPLATES),
        method=f"random_sampling with the paper's parameters (tokens, w = 3, m = 100, k = 30), median of {SEEDS} seeds; quire.templates (default) on the same pages",
    )
    corpora = {
        name: [quire.encode(page.read()) for page in html_pages((name,), context.pick(None, 60))]
        for name in TEMPLATES
    }
    corpora[TOGETHER] = [page for pages in corpora.values() for page in pages]
    paper: dict[str, Curve] = {}
    default: dict[str, Curve] = {}
    for name, pages in corpora.items():
        paper[name] = _paper(pages)
        default[name] = _default(pages)
        context.say(f"{name}: {len(pages):,} pages")
    sizes = {name: len(pages) for name, pages in corpora.items()}
    for title, curves in (("paper 003", paper), ("default", default)):
        for place, what in enumerate(("number of templates", "coverage rate")):
            report.tables.append(_table(f"{title}: {what}", curves, place, sizes))
            report.figures[f"{title.replace(' ', '-')}-{what.split()[0]}"] = line_chart(
                f"{title}: {what}",
                [
                    Series(name, THRESHOLDS, [point[place] for point in curve])
                    for name, curve in curves.items()
                ],
                "threshold",
                what,
            )
    report.notes = [
        *(_words(name, curve) for name, curve in paper.items()),
        "the paper: coverage falls smoothly up to 0.6, then rapidly; the number of templates rises, and falls where the threshold is too high",
        "a page joins a template if they are more alike than the threshold, so at 1 none joins; the default compares how much is contained, which can reach 1",
    ]
    report.data = {"thresholds": THRESHOLDS, "paper": paper, "default": default}
    return report


def _paper(pages: Sequence[quire.Digest]) -> Curve:
    matrix = sketches_to_matrix(Sketch.of(page, "tokens", m=100) for page in pages)
    curve = []
    for threshold in THRESHOLDS:
        found = [random_sampling(matrix, k=30, sim=threshold, seed=seed) for seed in range(SEEDS)]
        curve.append(
            (
                statistics.median(clusters.count for clusters in found),
                statistics.median(clusters.coverage for clusters in found),
            )
        )
    return curve


def _default(pages: Sequence[quire.Digest]) -> Curve:
    found = (quire.templates(pages, threshold=threshold) for threshold in THRESHOLDS)
    return [(len(templates.groups), templates.coverage) for templates in found]


def _table(caption: str, curves: dict[str, Curve], place: int, sizes: dict[str, int]) -> Table:
    shown = slice(None, None, 2)
    form = "{:.0f}" if place == 0 else "{:.2f}"
    return Table(
        ["corpus", "pages", *(f"{threshold:g}" for threshold in THRESHOLDS[shown])],
        [
            [name, f"{sizes[name]:,}", *(form.format(point[place]) for point in curve[shown])]
            for name, curve in curves.items()
        ],
        caption,
    )


def _words(name: str, curve: Curve) -> str:
    """What the curve does, as the paper tells its own."""
    bend = THRESHOLDS.index(BEND)
    first, middle, last = (curve[place][1] for place in (0, bend, -1))
    slow, fast = (first - middle) / BEND, (middle - last) / (1 - BEND)
    peak = max(range(len(curve)), key=lambda place: curve[place][0])
    falls = "as in the paper" if fast > slow > 0 else "unlike the paper"
    # At 1 nothing is left by definition, so the step before it is what tells.
    turns = peak > 0 and curve[-2][0] < curve[peak][0]
    return (
        f"{name}: coverage {first:.2f} at 0, {middle:.2f} at {BEND}, {last:.2f} at 1: it falls by {slow * 0.1:.3f} for each 0.1, "
        f"then by {fast * 0.1:.3f} ({falls}); templates {curve[0][0]:.0f} at 0, at most {curve[peak][0]:.0f} at {THRESHOLDS[peak]:g}, "
        f"{curve[-2][0]:.0f} at {THRESHOLDS[-2]:g} ({'rises, then falls, as in the paper' if turns else 'does not fall, unlike the paper'})"
    )

"""Experiment 5, figures 6(a) and 6(b): comparing trees by size, all of them and structure alone.

6(a): full Sdiff (``annotate``) and another tool for trees, in three shapes, both axes logarithmic. The paper had
IBM's XML TreeDiff, which is gone; xmldiff has its place. 6(b): the same with structure
alone (``structure_changed``, the paper's Algorithm 3), which reads one column of each digest.
"""

import tempfile
from functools import partial
from pathlib import Path

import quire
from benchmarks import measure
from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table
from benchmarks.sdiff.rivals import Answer, Documents, ask
from quire.testing import SHAPES, EditKind, Shape, edit, generate

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
QUICK_SIZES = (100, 1_000, 5_000)
LIMIT_S = 60
FULL, STRUCTURE, RIVAL = "Sdiff", "Sdiff, structure only", "xmldiff"
#: One that structure alone can see, and one that it cannot and so must read all of both columns for.
KINDS: tuple[EditKind, ...] = ("insert", "text")


def run(context: Context) -> Report:
    """Fill both halves of figure 6."""
    sizes = context.pick(SIZES, QUICK_SIZES)
    limit_s = context.pick(LIMIT_S, 5)
    report = Report(
        title="Paper, experiment 5: comparing trees (figures 6a, 6b)",
        inputs=f"generated XML, three shapes, one element inserted or one text changed, seed {context.seed}",
        method=(
            f"CPU time, quire's rounds interleaved, medians; xmldiff once in a process of its own, at most {limit_s} s; "
            "digests and trees are there already"
        ),
        notes=[
            "the paper: Sdiff is faster than IBM XML TreeDiff at any size and indifferent to shape; structure alone is much faster still",
            "after xmldiff reached its limit on a shape, it is not run on larger documents",
        ],
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            _compare(report, context, Path(folder), kind, sizes=sizes, limit_s=limit_s)
    return report


def _compare(
    report: Report,
    context: Context,
    folder: Path,
    kind: EditKind,
    *,
    sizes: tuple[int, ...],
    limit_s: float,
) -> None:
    ours: dict[tuple[Shape, int], dict[str, measure.Samples]] = {}
    rivals: dict[tuple[Shape, int], Answer] = {}
    right = 0
    for shape in SHAPES:
        is_over = False
        for nodes in sizes:
            context.say(f"{kind}, {shape}, {nodes:,} elements")
            old = generate(shape, nodes, context.seed)
            pages = Documents.write(folder, old, edit(old, kind, context.seed))
            right += bool(quire.annotate(pages.old, pages.new)) and (
                quire.structure_changed(pages.old, pages.new) == (kind == "insert")
            )
            ours[shape, nodes] = measure.interleaved(
                {
                    FULL: partial(quire.annotate, pages.old, pages.new),
                    STRUCTURE: partial(quire.structure_changed, pages.old, pages.new),
                },
                context.pick(11, 3),
            )
            rival = (
                Answer(problem="not asked")
                if is_over
                else ask("xmldiff", *pages.sources, kind="xml", limit_s=limit_s)
            )
            is_over = not rival.is_done
            rivals[shape, nodes] = rival
    what = "one element inserted" if kind == "insert" else "one text changed"
    report.right.append(
        Right("quire", right, len(ours), f"{what}: both verdicts right, at all sizes")
    )
    _add_table(report, what, ours, rivals)
    _add_claims(report, what, ours, rivals)
    _add_figures(report, kind, ours, rivals)
    report.data[kind] = {
        f"{shape} {nodes}": {
            FULL: turns[FULL].median,
            STRUCTURE: turns[STRUCTURE].median,
            RIVAL: rivals[shape, nodes].seconds if rivals[shape, nodes].is_done else None,
        }
        for (shape, nodes), turns in ours.items()
    }


def _add_claims(
    report: Report,
    what: str,
    ours: dict[tuple[Shape, int], dict[str, measure.Samples]],
    rivals: dict[tuple[Shape, int], Answer],
) -> None:
    """The paper's claims: faster than the other tool, structure faster still, whatever the shape."""
    against = [
        rivals[place].seconds / turns[FULL].median
        for place, turns in ours.items()
        if rivals[place].is_done
    ]
    alone = [measure.round_ratio(turns[FULL], turns[STRUCTURE]) for turns in ours.values()]
    for claim, ratios in (
        ("faster than xmldiff at every size", against),
        ("structure alone is faster than Sdiff", alone),
    ):
        report.goals.append(
            Goal(
                f"claim: {claim}, {what}",
                "> 1x",
                f"{min(ratios):,.0f}x to {max(ratios):,.0f}x",
                met=min(ratios) > 1,
            )
        )
    exponents = [_exponent(shape, ours) for shape in SHAPES]
    report.goals.append(
        Goal(
            f"claim: Sdiff takes linear time, {what}",
            "exponent <= 1.1",
            f"exponents {min(exponents):.2f} to {max(exponents):.2f}",
            met=max(exponents) <= 1.1,
        )
    )
    spreads = []
    for nodes in {nodes for _, nodes in ours}:
        medians = [turns[FULL].median for (_, size), turns in ours.items() if size == nodes]
        spreads.append(max(medians) / min(medians))
    report.notes.append(
        f"Sdiff, {what}, the slowest shape to the fastest: {min(spreads):.1f}x to {max(spreads):.1f}x"
    )


def _exponent(shape: Shape, ours: dict[tuple[Shape, int], dict[str, measure.Samples]]) -> float:
    """How the time of Sdiff grows with the elements; the start of a call hides it in small documents."""
    points = {nodes: turns[FULL].median for (one, nodes), turns in ours.items() if one == shape}
    large = {nodes: seconds for nodes, seconds in points.items() if nodes >= 1_000}
    chosen = large if len(large) > 1 else points
    return measure.growth_exponent(list(chosen), list(chosen.values()))


def _add_table(
    report: Report,
    what: str,
    ours: dict[tuple[Shape, int], dict[str, measure.Samples]],
    rivals: dict[tuple[Shape, int], Answer],
) -> None:
    rows = []
    for (shape, nodes), turns in ours.items():
        rival = rivals[shape, nodes]
        rows.append(
            [
                shape,
                f"{nodes:,}",
                turns[STRUCTURE].spread(1e3, 4),
                turns[FULL].spread(1e3, 3),
                rival.milliseconds(),
                f"{rival.seconds / turns[FULL].median:,.0f}x" if rival.is_done else "",
                f"{measure.round_ratio(turns[FULL], turns[STRUCTURE]):,.0f}x",
            ]
        )
    headings = ["shape", "elements", "structure only, ms", "Sdiff, ms", "xmldiff, ms"]
    headings += ["xmldiff / Sdiff", "Sdiff / structure"]
    report.tables.append(Table(headings, rows, f"{what}; median ± IQR"))


def _add_figures(
    report: Report,
    kind: EditKind,
    ours: dict[tuple[Shape, int], dict[str, measure.Samples]],
    rivals: dict[tuple[Shape, int], Answer],
) -> None:
    def line(name: str, shape: Shape) -> Series:
        points = {
            nodes: rivals[where, nodes].seconds if name == RIVAL else turns[name].median
            for (where, nodes), turns in ours.items()
            if where == shape and (name != RIVAL or rivals[where, nodes].is_done)
        }
        return Series(
            f"{name}, {shape}", list(points), [seconds * 1e3 for seconds in points.values()]
        )

    both = [line(name, shape) for name in (RIVAL, FULL) for shape in SHAPES]
    # As in the paper, one shape is enough here: the lines of the others lie upon it.
    three = [line(name, "mixed") for name in (RIVAL, FULL, STRUCTURE)]
    for figure, title, series in (
        ("figure6a", "Comparing trees", both),
        ("figure6b", "Comparing trees, and structure alone", three),
    ):
        report.figures[f"{figure}-{kind}"] = line_chart(
            f"{title}: one {kind}", series, "elements", "milliseconds", log_x=True, log_y=True
        )

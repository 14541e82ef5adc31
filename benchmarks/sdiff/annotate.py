"""Full annotation: what became of every node, beside GNU diff on the sources and xmldiff on trees.

Six edits in three shapes. Growth is fitted from an eighth of the size to twice the size. GNU diff gets sources with an element
a line, without which it could say nothing. quire has three columns: digests that are there already, the
same loaded from files first, and digests of the very bytes that GNU diff reads, which have a blank text between any
two tags and so twice the nodes. xmldiff has a limit; where it met it, the ratio is that of the limit: a floor.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import quire
from benchmarks import measure
from benchmarks.context import Context
from benchmarks.report import Goal, Report, Right, Table, at_least, at_most
from benchmarks.sdiff.rivals import Documents, ask, gnu_diff, gnu_diff_version
from quire.testing import EDITS, SHAPES, EditKind, Shape, edit, generate

ANNOTATE, LOADED, LINED, DIFF = (
    "annotate",
    "load both, annotate",
    "annotate, one element a line",
    "diff",
)
#: What each may take, relative to GNU diff. One element a line has twice the nodes.
MOST_TIMES_DIFF = {ANNOTATE: 2, LOADED: 5, LINED: 5}
SIZE, QUICK_SIZE = 100_000, 8_000
#: Parts of the size that growth is fitted over.
STEPS = (0.125, 0.25, 0.5, 1, 2)
#: Elements that xmldiff is asked about; the promise is for the last.
RIVAL_SIZES: tuple[int, ...] = (1_000, 10_000, SIZE)
QUICK_RIVAL_SIZES: tuple[int, ...] = (1_000, QUICK_SIZE)
RIVAL_LIMIT_S = 60

Runs = dict[tuple[Shape, EditKind], dict[str, measure.Samples]]


def run(context: Context) -> Report:
    """Time annotations of single edits."""
    elements, rounds = context.pick(SIZE, QUICK_SIZE), context.pick(11, 3)
    limit_s = context.pick(RIVAL_LIMIT_S, 5)
    report = Report(
        title=f"Full annotation, {elements:,} elements",
        inputs=f"generated XML, one edit of {len(EDITS)} kinds in {len(SHAPES)} shapes, seed {context.seed}",
        method=(
            f"CPU time, {rounds} rounds interleaved; {gnu_diff_version()}: CPU time of its process, start included; "
            f"xmldiff once in a process of its own, at most {limit_s} s"
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        runs = _against_diff(report, context, Path(folder), elements, rounds)
        _add_growth(report, context, elements, runs)
        _against_xmldiff(report, context, Path(folder), limit_s)
    return report


def _pair(shape: Shape, elements: int, kind: EditKind, seed: int) -> tuple[bytes, bytes]:
    old = generate(shape, elements, seed)
    return old, edit(old, kind, seed)


def _is_right(old: quire.Digest, new: quire.Digest, kind: EditKind) -> bool:
    """Whether the annotation reports the edit and nothing else."""
    said = quire.annotate(old, new).summary()
    counts = {
        "text": said.content,
        "attribute": said.attributes,
        "insert": said.insertions,
        "delete": said.deletions,
        "rename": said.renamed,
        "move": said.moved,
    }
    return counts.pop(kind) == 1 and not any(counts.values())


def _against_diff(
    report: Report, context: Context, folder: Path, elements: int, rounds: int
) -> Runs:
    runs: Runs = {}
    counts: dict[Shape, tuple[int, int]] = {}
    right = 0
    for shape in SHAPES:
        for kind in EDITS:
            context.say(f"{shape}, {kind}")
            pages = Documents.write(folder, *_pair(shape, elements, kind, context.seed))
            right += _is_right(pages.old, pages.new, kind)
            old, new = pages.stored
            lined = pages.encode_lined()
            counts[shape] = pages.old.n, lined[0].n
            cases: dict[str, Callable[[], object]] = {
                ANNOTATE: partial(quire.annotate, pages.old, pages.new),
                LOADED: lambda old=old, new=new: quire.annotate(quire.load(old), quire.load(new)),  # type: ignore[misc]
                LINED: partial(quire.annotate, *lined),
                DIFF: partial(gnu_diff, *pages.lined),
            }
            runs[shape, kind] = measure.interleaved(
                cases, rounds, clocks={DIFF: measure.children_time}
            )
    names = [ANNOTATE, LOADED, LINED, DIFF]
    rows = [
        [
            shape,
            kind,
            *(turns[name].spread(1e3, 2) for name in names),
            *(_times_diff(turns, name) for name in names[:3]),
        ]
        for (shape, kind), turns in runs.items()
    ]
    headings = ["shape", "edit", *(f"{name}, ms" for name in names)]
    headings += [f"{name} / diff" for name in names[:3]]
    report.tables.append(Table(headings, rows, "median ± IQR; ratios inside rounds"))
    report.notes += [
        f"{shape}: {plain:,} nodes with texts, {lined:,} with an element a line"
        for shape, (plain, lined) in counts.items()
    ]
    report.right.append(
        Right("quire", right, len(runs), "the annotation reports the edit and nothing else")
    )
    for name in names[:3]:
        report.goals.append(_worst_against_diff(runs, name))
    report.data["seconds"] = {
        f"{shape} {kind}": {name: samples.seconds for name, samples in turns.items()}
        for (shape, kind), turns in runs.items()
    }
    return runs


def _ratio_to_diff(turns: dict[str, measure.Samples], name: str) -> float:
    return measure.round_ratio(turns[name], turns[DIFF])


def _times_diff(turns: dict[str, measure.Samples], name: str) -> str:
    return f"{_ratio_to_diff(turns, name):.2f}x"


def _worst_against_diff(runs: Runs, name: str) -> Goal:
    worst = max(runs, key=lambda case: _ratio_to_diff(runs[case], name))
    return at_most(
        f"{name}: time relative to GNU diff, worst case ({', '.join(worst)})",
        _ratio_to_diff(runs[worst], name),
        MOST_TIMES_DIFF[name],
    )


def _add_growth(report: Report, context: Context, elements: int, runs: Runs) -> None:
    """Fit the exponent of each shape and edit over five sizes."""
    rounds = context.pick(7, 3)
    rows = []
    exponents: dict[str, float] = {}
    sizes = [round(elements * step) for step in STEPS]
    for shape, kind in runs:
        context.say(f"growth, {shape}, {kind}")
        cases: dict[str, Callable[[], object]] = {}
        for nodes in sizes:
            old, new = (
                quire.encode(source, kind="xml")
                for source in _pair(shape, nodes, kind, context.seed)
            )
            cases[str(nodes)] = partial(quire.annotate, old, new)
        turns = measure.interleaved(cases, rounds)
        best = [turns[str(nodes)].best for nodes in sizes]
        exponent = measure.growth_exponent(sizes, best)
        exponents[f"{shape}, {kind}"] = exponent
        rows.append([shape, kind, *(f"{seconds * 1e3:.2f}" for seconds in best), f"{exponent:.2f}"])
    report.tables.append(
        Table(
            ["shape", "edit", *(f"{nodes:,}" for nodes in sizes), "exponent"],
            rows,
            f"growth: annotate by elements, milliseconds, best of {rounds}",
        )
    )
    worst = max(exponents, key=lambda name: exponents[name])
    report.goals.append(
        at_most(f"growth exponent, worst case ({worst})", exponents[worst], 1.2, "")
    )
    report.data["exponents"] = exponents


def _against_xmldiff(report: Report, context: Context, folder: Path, limit_s: float) -> None:
    """The same comparison by xmldiff, within its limit."""
    rows = []
    ratios: dict[int, dict[str, float]] = {}
    sizes = context.pick(RIVAL_SIZES, QUICK_RIVAL_SIZES)
    finished = 0
    for nodes, shape, kind in product(sizes, SHAPES, EDITS):
        context.say(f"xmldiff, {nodes:,} elements, {shape}, {kind}")
        pages = Documents.write(folder, *_pair(shape, nodes, kind, context.seed))
        ours = measure.best_of(partial(quire.annotate, pages.old, pages.new), 5)
        rival = ask("xmldiff", *pages.sources, kind="xml", limit_s=limit_s)
        finished += rival.is_done
        ratio = (rival.seconds if rival.is_done else limit_s) / ours
        ratios.setdefault(nodes, {})[f"{shape}, {kind}"] = ratio
        rows.append(
            [
                f"{nodes:,}",
                shape,
                kind,
                f"{ours * 1e3:.2f}",
                rival.milliseconds(),
                f"{ratio:,.0f}x" if rival.is_done else f"over {ratio:,.0f}x",
                str(rival.actions) if rival.is_done else "",
            ]
        )
    headings = ["elements", "shape", "edit", "annotate, ms", "xmldiff, ms", "ratio"]
    report.tables.append(
        Table(
            [*headings, "xmldiff's actions"], rows, "annotate and xmldiff, trees and digests made"
        )
    )
    report.right.append(
        Right("xmldiff", finished, len(rows), f"finished within {limit_s:g} s; answers not judged")
    )
    promised = ratios[sizes[-1]]
    worst = min(promised, key=lambda name: promised[name])
    what = f"xmldiff / annotate at {sizes[-1]:,} elements, least ({worst})"
    report.goals.append(at_least(what, promised[worst], 100))
    report.data["xmldiff ratios"] = ratios

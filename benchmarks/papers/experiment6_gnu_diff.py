"""Experiment 6, figure 7: full Sdiff and structure alone beside a tool for lines.

The paper had GNU diff in Java, in the process of Sdiff, to leave the language and the start out of
it; here it is the command itself, in C. Figure 7 has it twice: as it is, and without the time that
it takes to compare two empty files, which is its start. ``lxml.html.diff`` is beside it, a tool
for words. Both get sources with an element a line; quire compares digests of the same bytes, and
of the documents as they were generated.
"""

import tempfile
from functools import partial
from pathlib import Path

import quire
from benchmarks import measure
from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Right, Table, every
from benchmarks.sdiff.rivals import Answer, Documents, ask, gnu_diff, gnu_diff_version
from quire.testing import EditKind, edit, generate

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
QUICK_SIZES = (100, 1_000, 5_000)
LIMIT_S = 60
FULL, LINED, STRUCTURE = "Sdiff", "Sdiff, same bytes", "Sdiff, structure only"
DIFF, START, RIVAL = "GNU diff", "GNU diff, empty files", "lxml.html.diff"
STARTED = "GNU diff, without its start"
KINDS: tuple[EditKind, ...] = ("insert", "text")


def run(context: Context) -> Report:
    """Fill figure 7."""
    limit_s = context.pick(LIMIT_S, 5)
    report = Report(
        title="Paper, experiment 6: comparison with GNU diff (figure 7)",
        inputs=f"generated XML, mixed shape, one element inserted or one text changed, seed {context.seed}",
        method=(
            f"CPU time, rounds interleaved, medians; {gnu_diff_version()}: CPU time of its process; "
            f"lxml.html.diff once in a process of its own, at most {limit_s} s"
        ),
        notes=[
            "the paper: GNU diff is faster than full Sdiff and slower than structure alone",
        ],
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            _compare(report, context, Path(folder), kind, limit_s)
    return report


def _compare(
    report: Report, context: Context, folder: Path, kind: EditKind, limit_s: float
) -> None:
    runs: dict[int, dict[str, measure.Samples]] = {}
    rivals: dict[int, Answer] = {}
    empty = folder / "empty"
    empty.write_bytes(b"")
    is_over = False
    right = 0
    for nodes in context.pick(SIZES, QUICK_SIZES):
        context.say(f"{kind}, {nodes:,} elements")
        old = generate("mixed", nodes, context.seed)
        pages = Documents.write(folder, old, edit(old, kind, context.seed))
        right += (
            bool(quire.annotate(*pages.encode_lined()))
            and gnu_diff(*pages.lined) == 1
            and quire.structure_changed(pages.old, pages.new) == (kind == "insert")
        )
        runs[nodes] = measure.interleaved(
            {
                FULL: partial(quire.annotate, pages.old, pages.new),
                LINED: partial(quire.annotate, *pages.encode_lined()),
                STRUCTURE: partial(quire.structure_changed, pages.old, pages.new),
                DIFF: partial(gnu_diff, *pages.lined),
                START: partial(gnu_diff, empty, empty),
            },
            context.pick(11, 3),
            clocks=dict.fromkeys((DIFF, START), measure.children_time),
        )
        runs[nodes][STARTED] = _less(runs[nodes][DIFF], runs[nodes][START])
        rivals[nodes] = (
            Answer(problem="not asked")
            if is_over
            else ask("htmldiff", *pages.lined, kind="xml", limit_s=limit_s)
        )
        is_over = not rivals[nodes].is_done
    what = "one element inserted" if kind == "insert" else "one text changed"
    report.right.append(Right("quire and GNU diff", right, len(runs), f"{what}: verdicts right"))
    _fill(report, kind, what, runs, rivals)


def _less(whole: measure.Samples, start: measure.Samples) -> measure.Samples:
    """The rounds without the median start; below the clock's 0.01 ms nothing can be said."""
    return measure.Samples(tuple(max(one - start.median, 1e-5) for one in whole.seconds))


def _fill(
    report: Report,
    kind: EditKind,
    what: str,
    runs: dict[int, dict[str, measure.Samples]],
    rivals: dict[int, Answer],
) -> None:
    names = [STRUCTURE, FULL, LINED, DIFF, START, STARTED]
    rows = []
    for nodes, turns in runs.items():
        row = [f"{nodes:,}", *(turns[name].spread(1e3, 3) for name in names)]
        row.append(rivals[nodes].milliseconds())
        row += [
            f"{measure.round_ratio(turns[DIFF], turns[STRUCTURE]):,.0f}x",
            f"{measure.round_ratio(turns[FULL], turns[DIFF]):.2f}x",
            f"{measure.round_ratio(turns[LINED], turns[DIFF]):.2f}x",
            f"{turns[STARTED].median / turns[STRUCTURE].median:,.1f}x",
            f"{turns[FULL].median / turns[STARTED].median:.2f}x",
            f"{turns[LINED].median / turns[STARTED].median:.2f}x",
        ]
        rows.append(row)
    headings = ["elements", *(f"{name}, ms" for name in names), f"{RIVAL}, ms"]
    headings += ["diff / structure", "Sdiff / diff", "same bytes / diff"]
    headings += [f"{ratio}, no start" for ratio in headings[-3:]]
    report.tables.append(Table(headings, rows, f"{what}; median ± IQR"))
    series = [
        Series(name, list(runs), [turns[name].median * 1e3 for turns in runs.values()])
        for name in (FULL, LINED, STRUCTURE, DIFF, STARTED)
    ]
    done = {nodes: rival.seconds * 1e3 for nodes, rival in rivals.items() if rival.is_done}
    series.append(Series(RIVAL, list(done), list(done.values())))
    report.figures[f"figure7-{kind}"] = line_chart(
        f"Beside GNU diff: one {kind}", series, "elements", "milliseconds", log_x=True, log_y=True
    )
    report.notes.append(_verdict(what, runs))
    slower = sum(turns[STARTED].median > turns[STRUCTURE].median for turns in runs.values())
    report.goals.append(
        every(f"claim: GNU diff slower than structure alone, {what}", slower, len(runs))
    )
    report.data[kind] = {
        nodes: {
            **{name: turns[name].median for name in names},
            RIVAL: rivals[nodes].seconds if rivals[nodes].is_done else None,
        }
        for nodes, turns in runs.items()
    }


def _verdict(what: str, runs: dict[int, dict[str, measure.Samples]]) -> str:
    """Say where the paper's order of the three lines holds."""
    said = []
    for diff, words in ((DIFF, "with its start"), (STARTED, "without its start")):
        quicker = [f"{n:,}" for n, turns in runs.items() if turns[diff].median < turns[FULL].median]
        slower = sum(turns[diff].median > turns[STRUCTURE].median for turns in runs.values())
        said.append(
            f"{words} it is faster than full Sdiff at {len(quicker)} of {len(runs)} sizes"
            + (f" ({'; '.join(quicker)} elements)" if 0 < len(quicker) < len(runs) else "")
            + f" and slower than structure alone at {slower}"
        )
    return f"GNU diff, {what}: " + "; ".join(said)

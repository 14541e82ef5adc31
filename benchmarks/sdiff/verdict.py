"""Changed or not, from stored digests of 100,000 elements, beside GNU diff on the two sources.

``quire.changed`` on paths reads two headers. The second case loads both digests first, with all
checks, as a program does that needs the pages afterwards. GNU diff reads sources with an element a line; ``-q``
stops at the first difference, and reads nothing at all of files whose lengths differ. So the one text becomes
longer, or keeps its length near the start or near the end.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import quire
from benchmarks import measure
from benchmarks.context import Context
from benchmarks.report import Goal, Report, Right, Table
from benchmarks.sdiff.rivals import Documents, gnu_diff, gnu_diff_version
from quire.testing import SHAPES, Shape, generate

HEADERS, LOADED = "changed, headers", "load both, changed"
QUIET, PLAIN, START = "diff -q", "diff", "diff, empty files"
#: What changes: after which share of the bytes, and whether the text becomes longer.
CHANGES: dict[str, tuple[float, bool] | None] = {
    "nothing": None,
    "text, longer": (0.5, True),
    "text, near start": (0.02, False),
    "text, near end": (0.98, False),
}


def run(context: Context) -> Report:
    """Time the verdict on equal pages, and on pages with one text changed."""
    elements, rounds = context.pick(100_000, 10_000), context.pick(21, 5)
    report = Report(
        title=f"Verdict on stored digests of {elements:,} elements",
        inputs=f"generated XML, three shapes, seed {context.seed}; nothing or one text changed",
        method=(
            f"CPU time, {rounds} rounds interleaved; {gnu_diff_version()}: CPU time of its process, start included "
            "and given apart; files opened each time, page cache warm"
        ),
    )
    rows = []
    right: dict[str, int] = {}
    slowest: dict[str, tuple[float, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            for place, change in CHANGES.items():
                context.say(f"{shape}, {place}")
                documents = _documents(Path(folder), shape, elements, change, context.seed)
                for name in _right(documents, is_changed=change is not None):
                    right[name] = right.get(name, 0) + 1
                turns = _time(documents, rounds, Path(folder))
                rows.append(_row(shape, place, turns))
                report.data[f"{shape}, {place}"] = {n: s.seconds for n, s in turns.items()}
                for name in (HEADERS, LOADED):
                    ratio = 1 / measure.round_ratio(turns[QUIET], turns[name])
                    slowest[name] = max(slowest.get(name, (0.0, "")), (ratio, f"{shape}, {place}"))
    names = [HEADERS, LOADED, QUIET, PLAIN, START]
    headings = ["shape", "changed", *(f"{name}, ms" for name in names)]
    headings += ["diff -q / headers", "diff -q / loaded", "diff / loaded"]
    report.tables.append(Table(headings, rows, "median ± IQR; ratios inside rounds"))
    asked = len(SHAPES) * len(CHANGES)
    report.right = [Right(name, count, asked, "verdict") for name, count in right.items()]
    report.goals = [
        Goal(
            f"{name} against diff -q, worst case",
            "faster",
            f"{ratio:.3f} of its time ({where})",
            met=ratio < 1,
        )
        for name, (ratio, where) in slowest.items()
    ]
    return report


def _documents(
    folder: Path, shape: Shape, elements: int, change: tuple[float, bool] | None, seed: int
) -> Documents:
    old = generate(shape, elements, seed)
    return Documents.write(folder, old, old if change is None else _with_text_changed(old, *change))


def _with_text_changed(source: bytes, share: float, is_longer: bool) -> bytes:  # noqa: FBT001  unpacked
    """Change the first text after this share of the bytes: some words more, or another last letter."""
    end = source.index(b"</", int(len(source) * share))
    while source[end - 1 : end] == b">":  # the end of an element that holds elements
        end = source.index(b"</", end + 1)
    before = source[:end] + b" amended" if is_longer else source[: end - 1] + b"z"
    return before + source[end:]


def _cases(documents: Documents) -> dict[str, Callable[[], object]]:
    (old, new), lined = documents.stored, documents.lined
    return {
        HEADERS: partial(quire.changed, old, new),
        LOADED: lambda: quire.changed(quire.load(old, verify="all"), quire.load(new, verify="all")),
        QUIET: partial(gnu_diff, *lined, "-q"),
        PLAIN: partial(gnu_diff, *lined),
    }


def _right(documents: Documents, *, is_changed: bool) -> list[str]:
    return [name for name, case in _cases(documents).items() if bool(case()) == is_changed]


def _time(documents: Documents, rounds: int, folder: Path) -> dict[str, measure.Samples]:
    empty = folder / "empty"
    empty.write_bytes(b"")
    cases = _cases(documents)
    cases[START] = partial(gnu_diff, empty, empty)
    clocks = dict.fromkeys((QUIET, PLAIN, START), measure.children_time)
    return measure.interleaved(cases, rounds, clocks=clocks)


def _row(shape: str, place: str, turns: dict[str, measure.Samples]) -> list[str]:
    return [
        shape,
        place,
        *(samples.spread(1e3, 3) for samples in turns.values()),
        f"{measure.round_ratio(turns[QUIET], turns[HEADERS]):.1f}x",
        f"{measure.round_ratio(turns[QUIET], turns[LOADED]):.2f}x",
        f"{measure.round_ratio(turns[PLAIN], turns[LOADED]):.2f}x",
    ]

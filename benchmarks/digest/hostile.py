"""Hostile pages: does time grow with the size of the page, and with nothing else?

Each library meets each shape in a process of its own, from small to large, under a time
limit. The growth exponent is fitted by least squares on the logarithms of the best times
over n = 5,000 … 80,000; 1 is linear, 2 quadratic. The smallest of several runs counts,
because page faults of a first run look like growth.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.context import Context
from benchmarks.digest.shapes import SHAPES, Kind
from benchmarks.measure import growth_exponent
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Goal, Report, Right, Table, at_most

SIZES = (5_000, 10_000, 20_000, 40_000, 80_000)
QUICK_SIZES = (1_250, 2_500, 5_000)
#: Below this a clock tick and a cold cache weigh more than the page.
SHORTEST_S = 20e-6
RIVALS: dict[Kind, tuple[str, ...]] = {
    "html": ("selectolax", "lxml.html"),
    "xml": ("lxml.etree",),
    "json": ("json",),
    "text": (),
}
#: Single pages that were promised by name: shape, n, and the seconds allowed, if any were promised.
BY_NAME = (
    ("nested div", 1_000_000, 2.0),
    ("ul li", 64_000, None),
    ("n x <b i>, same attribute", 10_000, None),
    ("b, attribute of its own", 10_000, None),
    ("i, attribute of its own", 10_000, None),
    ("x</b> after n <b>", 10_000, None),
    ("attributes, one tag", 1_000_000, None),
)


@dataclass(slots=True)
class Run:
    """What one library did on one shape."""

    seconds: dict[int, float] = field(default_factory=dict)
    elements: dict[int, int] = field(default_factory=dict)
    right: int = 0
    refused: str = ""
    stopped: bool = False

    def at(self, n: int) -> str:
        """Milliseconds at n, or why there are none."""
        if n in self.seconds:
            return f"{self.seconds[n] * 1e3:.2f}"
        return "refused" if self.refused else "over limit" if self.stopped else "died"

    def exponent(self) -> float | None:
        """The growth exponent, if at least three sizes took long enough to mean something."""
        points = [(n, s) for n, s in self.seconds.items() if s >= SHORTEST_S]
        return (
            growth_exponent([n for n, _ in points], [s for _, s in points])
            if len(points) >= 3
            else None
        )


def run(context: Context) -> Report:
    """Meet every shape with quire, and with the rivals that read its kind."""
    sizes = context.pick(SIZES, QUICK_SIZES)
    limit_s = context.pick(10.0, 1.0)
    rounds = context.pick(7, 2)
    shapes = SHAPES[:: context.pick(1, 4)]
    middle = sizes[1]
    report = Report(
        title=f"Hostile pages: {len(shapes)} shapes",
        inputs=f"generated, n = {sizes[0]:,} … {sizes[-1]:,}",
        method=f"a process for each library and shape; CPU time, best of {rounds}; rivals limited to {limit_s:g} s a shape",
        notes=[
            f"growth is fitted over the sizes that took at least {SHORTEST_S * 1e6:g} us; n/a: fewer than three did",
            "`lost`: the tree holds fewer than half of the elements in quire's, so its time does not count",
        ],
    )
    rows, exponents = [], {}
    right = asked = 0
    for shape in shapes:
        context.say(shape.name)
        ours = _meet("quire", shape.name, rounds, sizes, limit_s * 6)
        rivals = [
            _meet(rival, shape.name, min(rounds, 2), sizes, limit_s) for rival in RIVALS[shape.kind]
        ]
        right, asked = right + ours.right, asked + len(sizes)
        exponents[shape.name] = ours.exponent()
        row = [
            shape.name,
            shape.kind,
            ours.at(sizes[0]),
            ours.at(middle),
            ours.at(sizes[-1]),
            _growth(ours),
        ]
        for rival in [*rivals, None, None][:2]:
            row += [_beside(rival, ours, middle), _growth(rival)] if rival else ["", ""]
        rows.append(row)
        report.data[shape.name] = {
            "quire": ours.seconds,
            **dict(zip(RIVALS[shape.kind], [r.seconds for r in rivals], strict=True)),
        }
        if ours.refused:
            report.notes.append(f"{shape.name}: refused by quire: {ours.refused}")
    headings = ["shape", "kind", f"n={sizes[0]:,}", f"n={middle:,}", f"n={sizes[-1]:,}", "growth"]
    headings += [f"first rival, n={middle:,}", "growth", f"second rival, n={middle:,}", "growth"]
    caption = "milliseconds; first rival: selectolax (html), lxml.etree (xml), json (json); second rival: lxml.html (html)"
    report.tables.append(Table(headings, rows, caption))
    report.right = [Right("quire", right, asked, "the page comes back")]
    report.goals = _growth_goals(exponents)
    _add_named(report, context, limit_s)
    return report


def _beside(rival: Run, ours: Run, n: int) -> str:
    """The rival's time, marked when its tree holds less than half of the elements: it gave up on the rest."""
    gave_up = (
        n in rival.elements and n in ours.elements and rival.elements[n] * 2 < ours.elements[n]
    )
    return rival.at(n) + (" lost" if gave_up else "")


def _growth(one: Run) -> str:
    exponent = one.exponent()
    return "n/a" if exponent is None else f"{exponent:.2f}"


def _growth_goals(exponents: dict[str, float | None]) -> list[Goal]:
    known = {name: value for name, value in exponents.items() if value is not None}
    worst = max(known, key=lambda name: known[name], default="none measured")
    over = sum(value > 1.2 for value in known.values())
    measured = f"{over} of {len(known)} above; worst {known.get(worst, float('nan')):.2f} ({worst}); {len(exponents) - len(known)} too short to fit"
    return [
        Goal(
            "growth exponent on every hostile shape",
            "<= 1.2",
            measured,
            met=bool(known) and over == 0,
        )
    ]


def _add_named(report: Report, context: Context, limit_s: float) -> None:
    """The single pages that were promised by name."""
    rows = []
    right = 0
    pages = [(name, n // context.pick(1, 20), allowed) for name, n, allowed in BY_NAME]
    for name, n, allowed in pages:
        context.say(f"{name}, n = {n:,}")
        ours = _meet("quire", name, context.pick(3, 1), (n,), limit_s * 6)
        rivals = [_meet(rival, name, 1, (n,), limit_s) for rival in RIVALS["html"]]
        right += ours.right
        rows.append([name, f"{n:,}", ours.at(n), *(_beside(rival, ours, n) for rival in rivals)])
        if allowed is not None:
            seconds = ours.seconds.get(n, float("nan"))
            report.goals.append(at_most(f"{n:,} x {name}", seconds, allowed, " s"))
    report.tables.append(
        Table(["page", "n", "quire", *RIVALS["html"]], rows, "single pages, milliseconds")
    )
    report.right.append(Right("quire", right, len(pages), "the single pages come back"))


def _meet(library: str, shape: str, rounds: int, sizes: Sequence[int], limit_s: float) -> Run:
    """Run one process until it ends or its time is up; keep what it said until then."""
    command = [sys.executable, "-m", "benchmarks.digest.hostile_child", library, shape, str(rounds)]
    outcome = Run()
    try:
        done = subprocess.run(
            [*command, *(str(n) for n in sizes)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limit_s,
            check=False,
        )
        said = done.stdout
    except subprocess.TimeoutExpired as late:
        outcome.stopped = True
        said = late.stdout or b""
    for line in said.splitlines():
        answer = json.loads(line)
        if "refused" in answer:
            outcome.refused = answer["refused"]
        elif "elements" in answer:
            outcome.elements[answer["n"]] = answer["elements"]
        else:
            outcome.seconds[answer["n"]] = answer["seconds"]
            outcome.right += answer["right"]
    return outcome

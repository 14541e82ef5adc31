"""Hostile pairs: does comparing end in time, is it right, and does it say where it was coarse?

Each pair runs in a process of its own, from small to large, under a time limit. The best of several times counts, because
page faults of a first run look like growth. The growth exponent is over all sizes of a pair: a quarter, a half and
all of the nodes asked for, and 100,000 rows of those pairs that were promised by rows.
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks.context import Context
from benchmarks.measure import growth_exponent
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Goal, Report, Right, Table, every
from benchmarks.sdiff.hostile_pairs import PAIRS, HostilePair

SIZE, QUICK_SIZE = 100_000, 10_000
STEPS = (0.25, 0.5, 1)
LIMIT_S = 120
MOST_S = 2.0
#: Pairs that are also asked about at a number of rows.
ROWS = 100_000
BY_ROWS = ("identical rows reversed", "distinct rows reversed", "distinct rows shuffled")


def run(context: Context) -> Report:
    """Compare every hostile pair."""
    nodes, rounds = context.pick(SIZE, QUICK_SIZE), context.pick(3, 1)
    report = Report(
        title=f"Hostile pairs: {len(PAIRS)} kinds, {nodes:,} nodes",
        inputs="generated; `n` is chosen so that the larger page has about that many nodes",
        method=f"a process for each pair, at most {LIMIT_S} s; CPU time, best of {rounds}",
        notes=[
            "fewest: a number of actions known to be enough; a longer script must be flagged coarse",
        ],
    )
    rows = []
    found: dict[str, list[dict[str, Any]]] = {}
    problems = []
    for pair in PAIRS:
        context.say(pair.name)
        sizes = [max(1, round(nodes * step / pair.nodes)) for step in STEPS]
        if pair.name in BY_ROWS and not context.quick:
            sizes.append(ROWS)
        answers, problem = _meet(pair, rounds, sizes)
        if problem:
            problems.append(f"{pair.name}: {problem}")
        found[pair.name] = answers
        if answers:
            rows.append(_row(pair, answers))
    headings = ["pair", "n", "nodes", "annotate, ms", "growth", "script, ms", "growth"]
    headings += ["actions", "fewest", "coarse", "patched", "exact"]
    report.tables.append(Table(headings, rows))
    report.notes += [f"failed: {problem}" for problem in problems]
    _add_goals(report, found)
    report.data = {**found}
    return report


def _row(pair: HostilePair, answers: list[dict[str, Any]]) -> list[str]:
    last = answers[-1]
    return [
        pair.name,
        f"{last['n']:,}",
        f"{last['nodes']:,}",
        f"{last['annotate_s'] * 1e3:.1f}",
        _growth(answers, "annotate_s"),
        f"{last['script_s'] * 1e3:.1f}",
        _growth(answers, "script_s"),
        f"{last['actions']:,}",
        f"{pair.fewest(last['n']):,}" if pair.fewest else "",
        _flagged(last),
        "yes" if last["patched"] else "",
        "yes" if last["exact"] else "NO",
    ]


def _flagged(answer: dict[str, Any]) -> str:
    if answer["coarse"] != answer["annotation_coarse"]:
        return "script only" if answer["coarse"] else "annotation only"
    return "yes" if answer["coarse"] else ""


def _growth(answers: list[dict[str, Any]], what: str) -> str:
    if len(answers) < 3:
        return "n/a"
    sizes = [answer["nodes"] for answer in answers]
    if len(set(sizes)) < 3:
        return "n/a"
    return f"{growth_exponent(sizes, [answer[what] for answer in answers]):.2f}"


def _add_goals(report: Report, found: dict[str, list[dict[str, Any]]]) -> None:
    answers = [(pair, answer) for pair in PAIRS for answer in found[pair.name]]
    asked = sum(len(STEPS) for _ in PAIRS) + sum(len(a) > len(STEPS) for a in found.values())
    exact = sum(answer["exact"] for _, answer in answers)
    report.right = [Right("quire", exact, asked, "apply and inverse give the sources")]
    slow = [
        f"{pair.name} {answer['annotate_s']:.2f} / {answer['script_s']:.2f} s"
        for pair, answer in answers
        if max(answer["annotate_s"], answer["script_s"]) > MOST_S
    ]
    silent = [
        f"{pair.name} (n = {answer['n']:,}: {answer['actions']:,})"
        for pair, answer in answers
        if pair.fewest and answer["actions"] > pair.fewest(answer["n"]) and not answer["coarse"]
    ]
    report.goals = [
        every("hostile pairs finished, bytes exact both ways", exact, asked),
        Goal(
            f"annotate and script each under {MOST_S:g} s",
            "all",
            "all" if not slow else "; ".join(slow),
            met=bool(answers) and not slow,
        ),
        Goal(
            "scripts longer than necessary and not marked coarse",
            "none",
            "none" if not silent else "; ".join(silent),
            met=bool(answers) and not silent,
        ),
    ]


def _meet(pair: HostilePair, rounds: int, sizes: list[int]) -> tuple[list[dict[str, Any]], str]:
    """Run one process until it ends or its time is up; keep what it said until then."""
    command = [sys.executable, "-m", "benchmarks.sdiff.hostile_child", pair.name, str(rounds)]
    try:
        done = subprocess.run(
            [*command, *map(str, sizes)],
            cwd=REPOSITORY,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
        said = done.stdout
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        problem = (lines or [f"exit {done.returncode}"])[-1] if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        said, problem = late.stdout or b"", f"over {LIMIT_S} s"
    return [json.loads(line) for line in said.splitlines()], problem

"""What shared fragments cost as pages grow: 75 pages, a whole real site, and up to 20,000 pages that were made.

From bytes in memory to fragments, encoding included, in a fresh process and on one thread.
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks.context import Context
from benchmarks.measure import growth_exponent
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Table, at_most
from quire.fragments.shared.rules import MIN_BYTES, MIN_MATCH, MIN_PAGES, SIZE_RATIO

REAL = "templates-helsingborg"
REAL_COUNTS = (75, 500, 1_856)
MADE_COUNTS = (1_000, 5_000, 20_000)
ROUNDS = 3


def run(context: Context) -> Report:
    """Find fragments in more and more pages."""
    rounds = context.pick(ROUNDS, 1)
    report = Report(
        title="Shared fragments as pages grow",
        inputs=f"{REAL}, evenly spaced pages; made pages of 20 templates, seed {context.seed}: menus, footers, teasers that ten pages have, texts of their own",
        method=f"quire.shared_fragments with its defaults (MinMatchFactor {MIN_MATCH}, MinFragSize {MIN_BYTES}, ShareFactor {MIN_PAGES}, P {SIZE_RATIO}), encoding included, one thread; wall time, the fastest of {rounds} runs; memory beyond the sources at its peak",
    )
    real = [
        _line(["corpus", REAL, str(count)], rounds, context)
        for count in context.pick(REAL_COUNTS, REAL_COUNTS[:1])
    ]
    grown = [
        _line(["made", str(count), str(context.seed)], rounds, context)
        for count in context.pick(MADE_COUNTS, (200, 1_000))
    ]
    report.tables = [_table(REAL, real), _table("made", grown)]
    exponent = growth_exponent([line["pages"] for line in grown], [line["cpu"] for line in grown])
    report.goals = [at_most("75 pages", real[0]["wall"], 2, " s")]
    if len(real) == len(REAL_COUNTS):
        report.goals.append(at_most("1,856 pages of Helsingborg", real[-1]["wall"], 60, " s"))
    report.notes = [f"CPU time grows as pages to the power of {exponent:.2f}"]
    report.data = {"real": real, "made": grown}
    return report


def _line(arguments: list[str], rounds: int, context: Context) -> dict[str, Any]:
    found = [_child(arguments) for _ in range(rounds)]
    best = min(found, key=lambda line: line["wall"])
    context.say(json.dumps(best))
    return best


def _child(arguments: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fragments.growth_child", *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _table(caption: str, lines: list[dict[str, Any]]) -> Table:
    return Table(
        [
            *("pages", "MB", "s", "CPU s", "ms a page", "MB/s", "peak MB"),
            *("fragments", "exact", "members"),
        ],
        [
            [
                f"{line['pages']:,}",
                f"{line['bytes'] / 1e6:,.1f}",
                f"{line['wall']:.2f}",
                f"{line['cpu']:.2f}",
                f"{line['wall'] / line['pages'] * 1e3:.2f}",
                f"{line['bytes'] / 1e6 / line['wall']:.0f}",
                f"{line['peak'] / 1e6:,.0f}",
                f"{line['fragments']:,}",
                f"{line['exact']:,}",
                f"{line['members']:,}",
            ]
            for line in lines
        ],
        caption,
    )

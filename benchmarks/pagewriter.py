"""``docs/benchmarks.md``: every kept result on one page, the promises first."""

import json
from pathlib import Path
from typing import Any

HEAD = """\
# Benchmarks

Written by `python benchmarks/run.py`; do not edit. Every rival runs on the same inputs in the
same run, answers are checked before anything is timed, and each block ends with the command
that makes it again. Times are CPU time of the process unless a block says otherwise.

"""


def write(results: Path, page: Path, order: list[str]) -> None:
    """Write the page from the results that exist, in this order."""
    kept = [name for name in order if (results / f"{name}.json").is_file()]
    reports: dict[str, dict[str, Any]] = {
        name: json.loads((results / f"{name}.json").read_text()) for name in kept
    }
    parts = [HEAD, *_promises(reports)]
    for name, report in reports.items():
        parts.append(
            f"\n## {report['title']}\n\n```text\n{(results / f'{name}.txt').read_text().rstrip()}\n```\n"
        )
        parts += [
            f"\n![{figure}](../benchmarks/results/{name}-{figure}.svg)\n"
            for figure in report["figures"]
        ]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("".join(parts))


def _promises(reports: dict[str, dict[str, Any]]) -> list[str]:
    lines = [
        "## Promised and measured\n\n| what | promised | measured | |\n| --- | --- | --- | --- |\n"
    ]
    for name, report in reports.items():
        for goal in report["goals"]:
            verdict = "met" if goal["met"] else "**missed**"
            lines.append(
                f"| {goal['what']} (`{name}`) | {goal['promised']} | {goal['measured']} | {verdict} |\n"
            )
    return lines

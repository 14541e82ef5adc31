"""How much memory held pages take: growth of a fresh process for each library.

The process reads one page at a time and keeps only the tree or digest, so whatever a
library needs of the source is counted as its own. ``nbytes``, what a digest says of itself, stands
beside.
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks import peers
from benchmarks.context import Context
from benchmarks.corpora import Page, describe
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, at_most

LIBRARIES = ("quire", "selectolax", "lxml.html", "turbohtml", "resiliparse")


def run(context: Context) -> Report:
    """Hold the same pages in one fresh process per library."""
    sample = context.pages(full=300, quick=60)
    source_bytes = sum(page.path.stat().st_size for page in sample)
    found, notes = peers.installed(LIBRARIES)
    report = Report(
        title=f"Memory of {len(sample)} held pages",
        inputs=describe(sample),
        method="growth of resident memory in a fresh process per library, free memory handed back first (malloc_trim)",
        notes=notes,
    )
    rows = []
    for peer in found:
        context.say(peer.name)
        held = _held(peer.name, sample)
        own = f"{held['nbytes'] / source_bytes:.2f}x" if held["nbytes"] else "n/a"
        rows.append(
            [peer.name, f"{held['grown'] / 1e6:.1f}", f"{held['grown'] / source_bytes:.2f}x", own]
        )
        report.data[peer.name] = {**held, "source_bytes": source_bytes}
        report.right.append(Right(peer.name, held["right"], len(sample), held["check"]))
    report.tables.append(
        Table(["library", "MB resident", "x source", "x source by its own count"], rows)
    )
    ours = report.data["quire"]["grown"] / source_bytes
    report.goals = [at_most("memory of held digests against their source", ours, 1.5)]
    return report


def _held(library: str, sample: list[Page]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.digest.memory_child", library],
        cwd=REPOSITORY,
        input="\n".join(str(page.path) for page in sample),
        stdout=subprocess.PIPE,  # what it says on standard error is for the person watching
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer

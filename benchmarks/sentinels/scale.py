"""Scale: very many sentinels in one process, with a synthetic fetcher and real pages.

Memory of a sentinel, sentinels evaluated in a second when nothing, 1 % or everything changed, and
the time to claim the pages that are due. Each size runs in a process of its own, so that memory is
measured from nothing.
"""

import json
import subprocess
import sys

from benchmarks.context import Context
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Report, Right, Table, at_most, every
from benchmarks.sentinels.scale_child import DUE, SHARES

SIZES = ((1_000, 10_000), (10_000, 100_000), (100_000, 1_000_000))
QUICK_SIZES = ((500, 5_000), (1_000, 10_000))


def run(context: Context) -> Report:
    """Run every size."""
    found = {}
    for pages, sentinels in context.pick(SIZES, QUICK_SIZES):
        context.say(f"{sentinels:,} sentinels on {pages:,} pages")
        command = [sys.executable, "-m", "benchmarks.sentinels.scale_child"]
        command += [str(pages), str(sentinels), str(context.seed)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY)
        found[pages, sentinels] = json.loads(done.stdout)
    last = found[max(found)]
    report = Report(
        title="Many sentinels in one process",
        inputs=f"{last['web']}; sentinels spread by Zipf's law, one at least on each page, 10 locations, seed {context.seed}",
        method="CPU time; memory is resident memory, from before the first sentinel; synthetic fetcher",
    )
    rows = []
    for (pages, sentinels), of in found.items():
        rows.append(
            [
                f"{sentinels:,}",
                f"{pages:,}",
                f"{of['bytes a sentinel, in groups']:,.0f}",
                f"{of['bytes a sentinel, as a worker keeps it']:,.0f}",
                *(
                    f"{of[f'pass {share}']['evaluated'] / of[f'pass {share}']['seconds']:,.0f}"
                    for share in SHARES
                ),
                f"{of['wake seconds'] * 1e3:.1f}",
            ]
        )
    headings = ["sentinels", "pages", "bytes, groups", "bytes, worker"]
    headings += [f"a second, {share:.0%} changed" for share in SHARES]
    headings += [f"wake {DUE:,} pages, ms"]
    report.tables.append(Table(headings, rows, "one process"))
    passes = [of[f"pass {share}"] for of in found.values() for share in SHARES]
    judged = sum(each["judged"] for each in passes)
    right = judged - sum(each["wrong"] for each in passes)
    report.right.append(
        Right("quire", right, judged, "sentinels of sampled pages, as the plain definition")
    )
    report.goals.append(every("answers of sampled sentinels", right, judged))
    report.goals.append(
        at_most(
            "memory of a sentinel as a worker keeps it",
            last["bytes a sentinel, as a worker keeps it"],
            2_000,
            " bytes",
        )
    )
    report.data["sizes"] = {
        f"{sentinels} on {pages}": of for (pages, sentinels), of in found.items()
    }
    return report

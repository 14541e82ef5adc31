"""Experiment 1: the whole system against a monitor that checks every sentinel by itself.

The paper compares with WebCQ and gives neither pages nor axes. Here: processing time of a pass over
the number of sentinels, which are spread over real pages by Zipf's law. There are two lines for each
system, since much depends on how many pages changed. The rival also runs with a checksum of
the bytes in front, which WebCQ did not have.
"""

from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table, at_least, every
from benchmarks.sentinels.systems import Monitor, OnTheirOwn, Ours, Race, race
from benchmarks.sentinels.workload import describe, page_pairs, spread
from quire.sentinels.groups import NO_SHORTCUTS

SIZES = (10, 100, 1_000, 10_000)
QUICK_SIZES = (10, 100, 1_000)
SHARES = (0.2, 1.0)
OURS, PLAIN, ALONE, CHECKSUM = "quire", "quire, no shortcut", "WebCQ-style", "with a checksum"
#: Monitors without shortcuts are not asked about more sentinels than this.
MOST_PLAIN = 100
#: The rival checks a random sample of this many sentinels; its times are multiplied.
MOST_ALONE = 200


def run(context: Context) -> Report:
    """Time a pass of every system for each number of sentinels."""
    pages = page_pairs(context, context.pick(20, 20))
    report = Report(
        title="Paper 002, experiment 1: whole system against a monitor of single sentinels",
        inputs=f"{describe(context, pages)}; 18 kinds of sentinels, Zipf 1.0 over the pages, seed {context.seed}",
        method=(
            "CPU time of a pass, from bytes in memory to answers; systems in turn, median of the passes; changed "
            "pages go to and fro between two real versions; of more than 200 sentinels the rival checks 200, and its time is multiplied"
        ),
    )
    races: dict[tuple[float, int], Race] = {}
    for share in SHARES:
        for size in context.pick(SIZES, QUICK_SIZES):
            context.say(f"{share:.0%} of the pages changed, {size:,} sentinels")
            workload = spread(context, pages, size, changing=share)
            monitors: dict[str, Monitor] = {
                OURS: Ours(workload),
                ALONE: OnTheirOwn(workload, most=MOST_ALONE),
                CHECKSUM: OnTheirOwn(workload, checksum=True, most=MOST_ALONE),
            }
            if size <= MOST_PLAIN:
                monitors[PLAIN] = Ours(workload, shortcuts=NO_SHORTCUTS)
            passes = context.pick(5, 2) if size <= MOST_PLAIN else context.pick(3, 2)
            races[share, size] = race(workload, monitors, passes)
    _add_tables(report, races)
    _add_answers(report, races)
    _add_verdict(report, races)
    return report


def _add_tables(report: Report, races: dict[tuple[float, int], Race]) -> None:
    for share in SHARES:
        rows = []
        for (of, size), run in races.items():
            if of == share:
                rows.append(
                    [
                        f"{size:,}",
                        *(
                            run.samples[name].spread(1e3) if name in run.samples else ""
                            for name in (OURS, PLAIN, ALONE, CHECKSUM)
                        ),
                        f"{run.ratio(ALONE, OURS):.1f}x",
                        f"{run.ratio(CHECKSUM, OURS):.1f}x",
                    ]
                )
        headings = ["sentinels", *(f"{name}, ms" for name in (OURS, PLAIN, ALONE, CHECKSUM))]
        headings += [f"{ALONE} / {OURS}", f"{CHECKSUM} / {OURS}"]
        report.tables.append(
            Table(headings, rows, f"{share:.0%} of the pages changed; median ± IQR of a pass")
        )
        sizes = [size for of, size in races if of == share]
        lines = [
            Series(
                name,
                [size for size in sizes if name in races[share, size].samples],
                [
                    races[share, size].samples[name].median * 1e3
                    for size in sizes
                    if name in races[share, size].samples
                ],
            )
            for name in (OURS, ALONE, CHECKSUM, PLAIN)
        ]
        report.figures[f"changed-{share:.0%}".rstrip("%")] = line_chart(
            f"Processing time, {share:.0%} of the pages changed",
            lines,
            "sentinels",
            "milliseconds a pass",
            log_x=True,
            log_y=True,
        )


def _add_answers(report: Report, races: dict[tuple[float, int], Race]) -> None:
    for name in (OURS, PLAIN, ALONE, CHECKSUM):
        of = [run for run in races.values() if name in run.wrong]
        asked = sum(run.asked[name] for run in of)
        right = asked - sum(run.wrong[name] for run in of)
        report.right.append(Right(name, right, asked, "as the plain definition, in every pass"))
        report.goals.append(every(f"answers of {name}", right, asked))


def _add_verdict(report: Report, races: dict[tuple[float, int], Race]) -> None:
    ratios = {key: run.ratio(ALONE, OURS) for key, run in races.items()}
    largest = max(size for _, size in races)
    for share in SHARES:
        report.goals.append(
            at_least(
                f"times faster than WebCQ-style, {largest:,} sentinels, {share:.0%} changed",
                ratios[share, largest],
                10,
            )
        )
    low, high = min(ratios.values()), max(ratios.values())
    reached = sum(ratio >= 10 for ratio in ratios.values())
    where = [
        f"{size:,} sentinels with {share:.0%} changed"
        for (share, size), ratio in ratios.items()
        if ratio < 10
    ]
    report.goals.append(
        Goal(
            "claim: one to two orders of magnitude",
            "10x to 100x or more",
            f"{low:.1f}x to {high:.1f}x",
            met=reached == len(ratios),
        )
    )
    report.notes.append(
        f"the paper claims one to two orders of magnitude: {low:.1f}x to {high:.1f}x here; the claim "
        + (
            "holds at every point"
            if not where
            else f"holds at {reached} of {len(ratios)} points, and not for {', '.join(where)}"
        )
    )
    gain = {key: run.ratio(PLAIN, OURS) for key, run in races.items() if PLAIN in run.samples}
    report.notes.append(
        f"without any shortcut quire takes {min(gain.values()):.1f} to {max(gain.values()):.1f} times as long"
    )
    report.data["ratios"] = {f"{share} {size}": ratio for (share, size), ratio in ratios.items()}
    report.data["seconds"] = {
        f"{share} {size}": {name: each.median for name, each in run.samples.items()}
        for (share, size), run in races.items()
    }

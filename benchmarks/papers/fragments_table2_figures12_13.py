"""Table 2 and figures 12 and 13 of paper 004: L-P fragments of a front page, and how long they live.

The paper's page is Slashdot's of 2002, which is gone. Ours are front pages of German newspapers, captured every hour or two for some days: the days when
captures are no more than six hours apart.
"""

import time

import numpy as np

from benchmarks.context import Context
from benchmarks.fragments.histories import encoded, front_pages
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Table
from quire import Lifetimes, lifetimes

CORPUS = "versions-news"
THRESHOLDS = (0.5, 0.7)
HOUR = 3600
#: The paper's table: fragments, average size, depth, sum of sizes.
PAPERS = {0.5: (79, 822, 3, 64_938), 0.7: (285, 219, 3, 62_415)}
#: At depths 1, 2 and 3, which the paper tells for 0.5 alone.
PAPER_DEPTHS = {0.5: "10, 7, 62 (from 1)", 0.7: "-"}
#: Figure 13 as far as the text tells it: 8 % within 5 minutes and 17 % more within the hour; 6 % above a day.
PAPER_SHARES = {1: 0.25, 24: 0.94}
#: Ends of the classes of figure 12, in hours.
CLASSES = (1, 2, 4, 8, 24, 48)


def run(context: Context) -> Report:
    """Fill table 2, draw figures 12 and 13."""
    found = front_pages(CORPUS)
    found = dict(list(found.items())[: context.pick(len(found), 2)])
    report = Report(
        title="Paper 004, table 2 and figures 12, 13: L-P fragments and their lifetimes",
        inputs=", ".join(f"{name} ({len(captures)} versions)" for name, captures in found.items()),
        method="MinFragSize 30, OvlpThrshld 0.5; sizes count text, in the last version with the fragment; Kaplan-Meier over lives whose start was observed",
    )
    lives: dict[tuple[str, float], Lifetimes] = {}
    rows = []
    for name, captures in found.items():
        versions = encoded(captures)
        for threshold in THRESHOLDS:
            start = time.perf_counter()
            one = lives[name, threshold] = lifetimes(versions, child_change=threshold)
            rows.append(_row(name, threshold, one, time.perf_counter() - start))
        context.say(name)
    for threshold, paper in PAPERS.items():
        rows.append(
            [
                "Slashdot (the paper)",
                f"{threshold:.2f}",
                *(f"{figure:,}" for figure in paper),
                PAPER_DEPTHS[threshold],
                *("-",) * 5,
            ]
        )
    headings = [
        *("page", "ChildChangeThreshold", "fragments", "average size", "depth", "sum of sizes"),
        *("at depths 2, 3, ...", "versions", "bases", "lives begun", "ended", "seconds"),
    ]
    report.tables.append(Table(headings, rows, "table 2"))
    report.tables += [_classes(lives), _cumulative(lives)]
    for threshold in THRESHOLDS:
        series = []
        for name in found:
            curve = lives[name, threshold].curve()
            if len(curve.seconds):
                series.append(
                    Series(name, (curve.seconds / HOUR).tolist(), curve.cumulative.tolist())
                )
        if series:
            report.figures[f"figure13-{threshold:g}"] = line_chart(
                f"Paper 004, figure 13: share of lives that are no longer, threshold {threshold:g}",
                series,
                "hours",
                "cumulative share",
                log_x=True,
            )
    report.figures["figure12"] = _figure12(lives, list(found))
    more = sum(len(lives[name, 0.7].parts) >= len(lives[name, 0.5].parts) for name in found)
    report.goals = [
        Goal(
            "no fewer fragments at 0.7 than at 0.5, as in the paper",
            "every page",
            f"{more} of {len(found)}",
            met=more == len(found),
        )
    ]
    report.notes = [
        "table 2: the paper finds 3.6 times as many fragments at 0.7, a quarter as large. We find a seventh more on average, also smaller. The thresholds only differ for nodes of which 50 to 70 % of the children changed at once, and these pages have few. Depths are greater because pages nest deeper today",
        "welt.de is one fragment at both: a script of 140 kB in its body changes at every capture, so less than half of the body resembles the one before (OvlpThrshld), and all of it counts as new",
        "figures 12, 13: as in the paper the thresholds differ little. Within an hour 39 to 67 % of lives are over (the paper: 25 % of fragments), within a day 97 % and more (94 %): our captures are an hour or two apart, so shorter lives cannot be seen; the paper's were minutes apart",
        "a fifth to a third of the fragments never changed in the two days; the paper has 6 % above a day. These are fragments because they were inserted, moved or deleted, or contain others that were",
        "lives that began before the first capture are left out of the curves; lives that continue after the last one count as censored",
    ]
    return report


def _row(name: str, threshold: float, one: Lifetimes, seconds: float) -> list[str]:
    sizes = [part.value_bytes for part in one.parts]
    depths = np.bincount([part.depth for part in one.parts], minlength=3)[2:] if sizes else []
    curve = one.curve()
    return [
        *(name, f"{threshold:.2f}", f"{len(sizes):,}", f"{np.mean(sizes) if sizes else 0:,.0f}"),
        *(f"{one.depth}", f"{sum(sizes):,}", ", ".join(str(count) for count in depths)),
        *(f"{len(one.times)}", f"{sum(one.bases)}", f"{curve.lives:,}", f"{curve.ended:,}"),
        f"{seconds:.1f}",
    ]


def _classes(lives: dict[tuple[str, float], Lifetimes]) -> Table:
    """Figure 12 as a table: fragments by their mean lifetime."""
    rows = []
    for (name, threshold), one in lives.items():
        counts, never = _histogram(one)
        total = max(sum(counts) + never, 1)
        shares = [f"{count / total:.0%}" for count in (*counts, never)]
        rows.append([name, f"{threshold:.2f}", *shares])
    headings = [
        "page",
        "ChildChangeThreshold",
        *(f"up to {end} h" for end in CLASSES),
        "more",
        "never changed",
    ]
    return Table(
        headings, rows, "figure 12: fragments by mean lifetime (observed time divided by changes)"
    )


def _cumulative(lives: dict[tuple[str, float], Lifetimes]) -> Table:
    """Figure 13 as a table: the share of lives that are over after so many hours."""
    rows = []
    for (name, threshold), one in lives.items():
        curve = one.curve()
        after = np.searchsorted(curve.seconds, np.array(CLASSES) * HOUR, side="right")
        shares = np.concatenate([[0.0], curve.cumulative])[after]
        rows.append([name, f"{threshold:.2f}", *(f"{share:.0%}" for share in shares)])
    told = [f"{PAPER_SHARES[end]:.0%}" if end in PAPER_SHARES else "-" for end in CLASSES]
    rows.append(["Slashdot (the paper)", "0.70", *told])
    headings = ["page", "ChildChangeThreshold", *(f"{end} h" for end in CLASSES)]
    return Table(headings, rows, "figure 13: share of lives up to this length, cumulative")


def _histogram(one: Lifetimes) -> tuple[list[int], int]:
    rates = np.array([part.change_rate for part in one.parts])
    means = 1 / rates[rates > 0] / HOUR
    edges = [0, *CLASSES, np.inf]
    return np.histogram(means, edges)[0].tolist(), int((rates == 0).sum())


def _figure12(lives: dict[tuple[str, float], Lifetimes], names: list[str]) -> str:
    series = []
    for threshold in THRESHOLDS:
        counts = np.sum([_histogram(lives[name, threshold])[0] for name in names], axis=0)
        series.append(
            Series(f"threshold {threshold:g}", [*CLASSES, 2 * CLASSES[-1]], counts.tolist())
        )
    return line_chart(
        "Paper 004, figure 12: fragments by mean lifetime, all pages",
        series,
        "up to so many hours",
        "fragments",
        log_x=True,
    )

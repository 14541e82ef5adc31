"""Noise of real pages: nodes that change at every capture, found without being told, and what is left when they are left out.

Terms of service, 40 captures each: the newest 25 in a row, 12 hours apart, are judged. Every one has other bytes than the one before, and few have another
visible text (``Digest.text``). A judge that looks at text, links and images calls many of the others changed, because links and images carry tokens.
"""

import time

from benchmarks.context import Context
from benchmarks.fragments.histories import encoded, histories
from benchmarks.report import Report, Right, Table, at_least, every
from quire import lifetimes

CORPUS = "versions-terms"
#: Captures that follow each other; those before are months apart.
IN_A_ROW = 25


def run(context: Context) -> Report:
    """Judge neighbours with and without volatile nodes."""
    report = Report(
        title="Lifetimes, without parts that change at every capture",
        inputs=f"{CORPUS}, 22 pages, 40 versions each; judged are the newest {IN_A_ROW} in a row",
        method="verdicts of quire.lifetimes on all 40 versions; 'every capture' is 9 of 10 and 3 at least; seconds of the wall, with reading",
    )
    rows = []
    totals = dict.fromkeys(("differ", "visible", "plain", "left", "quiet", "hidden"), 0)
    found = histories(CORPUS)
    for name, captures in list(found.items())[:: context.pick(1, 5)]:
        start = time.perf_counter()
        versions = encoded(captures)
        lives = lifetimes(versions)
        seconds = time.perf_counter() - start
        counted = dict.fromkeys(totals, 0)
        for at in range(len(versions) - IN_A_ROW + 1, len(versions)):
            if lives.verdicts[at - 1] == "same":
                continue
            counted["differ"] += 1
            unchanged = lives.verdicts[at - 1] == "unchanged"
            if versions[at][1].text() != versions[at - 1][1].text():
                counted["visible"] += 1
                counted["hidden"] += unchanged
            else:
                counted["plain"] += lives.plain_verdicts[at - 1] == "unchanged"
                counted["left"] += unchanged
                counted["quiet"] += lives.quiet[at - 1]
        for key, count in counted.items():
            totals[key] += count
        seen = sum(one.seen for one in lives.volatile)
        rows.append(_row(name, counted, f"{len(lives.volatile)}", f"{seen}", f"{seconds:.1f}"))
        context.say(name)
    rows.append(_row("all", totals, "", "", ""))
    headings = [
        *(
            "page",
            "bytes differ",
            "text differs",
            "text equal",
            "judged unchanged",
            "volatile left out",
        ),
        *(
            "bytes, volatile left out",
            "text differs, hidden",
            "volatile nodes",
            "of these seen",
            "seconds",
        ),
    ]
    report.tables.append(Table(headings, rows))
    equal = totals["differ"] - totals["visible"]
    report.right = [
        Right("nothing left out", totals["plain"], equal, "equal text, judged unchanged"),
        Right("volatile nodes left out", totals["left"], equal, "equal text, judged unchanged"),
    ]
    report.goals = [
        at_least(
            "equal text judged unchanged, volatile nodes left out",
            100 * totals["left"] / max(equal, 1),
            95,
            " %",
        ),
        every("visible changes reported", totals["visible"] - totals["hidden"], totals["visible"]),
    ]
    report.notes = [
        "pages still judged changed have links or images that changed at only a few captures: images of another build (Buffer, UptimeRobot), links of menus (npm)",
        "visible text is always compared completely; the text of Microsoft's page changes at nearly every capture, so it never counts as unchanged",
        "'bytes' counts everything, including scripts and attributes; new releases of scripts change those at some captures, which is not regular",
    ]
    report.data = dict(totals)
    return report


def _row(name: str, counted: dict[str, int], *rest: str) -> list[str]:
    equal = counted["differ"] - counted["visible"]
    told = [f"{counted[key]}" for key in ("differ", "visible")]
    judged = [f"{counted[key]}" for key in ("plain", "left", "quiet", "hidden")]
    return [name, *told, f"{equal}", *judged, *rest]

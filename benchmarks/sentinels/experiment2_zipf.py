"""Experiment 2: sentinels in groups and alone, spread over pages by Zipf's law.

Both are quire with every shortcut. Alone means that each sentinel fetches, encodes and compares for
itself. The paper gives neither the exponent nor how many sentinels there are for each page; both are
varied here.
"""

from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table, every
from benchmarks.sentinels.systems import Ours, Race, race
from benchmarks.sentinels.workload import describe, page_pairs, spread

EXPONENTS = (0.0, 0.5, 1.0, 1.5)
SENTINELS_A_PAGE = (1, 3, 10)
SHARES = (0.2, 1.0)
GROUPED, ALONE = "grouped", "alone"


def run(context: Context) -> Report:
    """Time a pass with and without groups."""
    pages = page_pairs(context, context.pick(40, 16))
    report = Report(
        title="Paper 002, experiment 2: groups, sentinels spread by Zipf's law",
        inputs=f"{describe(context, pages)}; 18 kinds of sentinels, seed {context.seed}",
        method="CPU time of a pass, from bytes in memory to answers; both in turn, median of the passes",
    )
    races: dict[tuple[float, int, float], Race] = {}
    for share in SHARES:
        for a_page in SENTINELS_A_PAGE:
            for exponent in EXPONENTS:
                context.say(f"{share:.0%} changed, {a_page} a page, exponent {exponent}")
                workload = spread(
                    context, pages, a_page * len(pages), exponent=exponent, changing=share
                )
                monitors = {GROUPED: Ours(workload), ALONE: Ours(workload, grouped=False)}
                races[share, a_page, exponent] = race(workload, monitors, context.pick(5, 3))
    _add_tables(report, races)
    for name in (GROUPED, ALONE):
        asked = sum(run.asked[name] for run in races.values())
        right = asked - sum(run.wrong[name] for run in races.values())
        report.right.append(Right(name, right, asked, "as the plain definition, in every pass"))
        report.goals.append(every(f"answers, {name}", right, asked))
    _add_verdict(report, {key: saved(run) for key, run in races.items()})
    return report


def saved(run: Race) -> float:
    """The share of the time that groups save."""
    return 1 - 1 / run.ratio(ALONE, GROUPED)


def _add_tables(report: Report, races: dict[tuple[float, int, float], Race]) -> None:
    for share in SHARES:
        rows = []
        for (of, a_page, exponent), run in races.items():
            if of == share:
                rows.append(
                    [
                        str(a_page),
                        f"{exponent}",
                        run.samples[ALONE].spread(1e3),
                        run.samples[GROUPED].spread(1e3),
                        f"{saved(run):.0%}",
                    ]
                )
        headings = ["sentinels a page", "exponent", "alone, ms", "grouped, ms", "saved"]
        report.tables.append(
            Table(headings, rows, f"{share:.0%} of the pages changed; median ± IQR of a pass")
        )
        lines = [
            Series(
                f"{a_page} a page",
                EXPONENTS,
                [saved(races[share, a_page, exponent]) * 100 for exponent in EXPONENTS],
            )
            for a_page in SENTINELS_A_PAGE
        ]
        report.figures[f"saved-{share * 100:.0f}"] = line_chart(
            f"Time saved by groups, {share:.0%} of the pages changed",
            lines,
            "exponent of Zipf's law",
            "per cent saved",
        )


def _add_verdict(report: Report, found: dict[tuple[float, int, float], float]) -> None:
    low, high = min(found.values()), max(found.values())
    zipf = {key: value for key, value in found.items() if key[2] >= 1}
    least = min(zipf.values())
    report.goals.append(
        Goal(
            "claim: groups save 50 to 70 % with a Zipf distribution (exponents 1 and 1.5)",
            ">= 50 %",
            f"{least * 100:.0f} to {max(zipf.values()) * 100:.0f} %",
            met=least >= 0.5,
        )
    )
    inside = [key for key, value in found.items() if 0.5 <= value <= 0.7]
    above = sum(value > 0.7 for value in found.values())
    below = sum(value < 0.5 for value in found.values())
    report.notes.append(
        f"the paper claims 50 to 70 %: {low * 100:.0f} to {high * 100:.0f} % here; of {len(found)} points "
        f"{len(inside)} lie in that range, {above} above and {below} below it"
    )
    holds = [
        a_page
        for a_page in SENTINELS_A_PAGE
        if min(value for key, value in found.items() if key[1] == a_page) >= 0.5
    ]
    report.notes.append(
        f"at least 50 % at every point: with {' and '.join(map(str, holds))} sentinels a page"
        if holds
        else "at least 50 % at every point: with no number of sentinels a page"
    )
    for a_page in SENTINELS_A_PAGE:
        of = [value for key, value in found.items() if key[1] == a_page]
        word = "sentinel" if a_page == 1 else "sentinels"
        report.notes.append(
            f"{a_page} {word} a page: {min(of) * 100:.0f} to {max(of) * 100:.0f} % saved"
        )
    report.data["saved"] = {" ".join(map(str, key)): value for key, value in found.items()}

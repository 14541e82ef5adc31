"""Table 1 and figures 9, 10 and 11 of paper 004: how many fragments pages share, how large, and by how many pages each.

The paper has 75 pages of one site, the BBC of 14 July 2002: 31 that list articles and 44 articles. They are gone. Ours is Stack Overflow with 74 pages: lists
of questions, tags, users and jobs, and questions. The other sites of the corpora, 75 pages of each, stand beside it. Figure 11 is a pie in the paper; bars
stand for it, so that sites can stand side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import quire
from benchmarks.bars import bar_chart
from benchmarks.context import Context
from benchmarks.corpora import Page
from benchmarks.fragments.collections import CORPORA, SAMPLE, by_site, spaced
from benchmarks.report import Goal, Report, Table, every
from quire.fragments import SharedFragments, shared_fragments
from quire.fragments.shared.rules import SIZE_RATIO

MATCHES = (0.7, 0.9, 1.0)
SIZES = (30, 50)
#: The paper does not say which settings figures 10 and 11 have: the first of its sizes, and of its factors.
SIZE, MATCH = SIZES[0], MATCHES[0]
BBC = "BBC (the paper)"
#: In the place of the BBC: a site with several kinds of page, lists and what they list.
MAIN = "stackoverflow.com"
#: Drawn beside it in figures 10 and 11.
DRAWN = ("helsingborg.se", "openjdk-17-doc")
#: Figure 9 as far as the text tells it, and table 1, in bytes.
PAPER_NUMBERS = {(30, 0.7): 350, (30, 0.9): 358, (30, 1.0): 359}
PAPER_SUMS = {
    (30, 0.7): 136_000,
    (30, 0.9): 122_000,
    (30, 1.0): 121_000,
    (50, 0.7): 130_000,
    (50, 0.9): 115_000,
    (50, 1.0): 115_000,
}
PAPER_LARGEST = {0.7: 5_633, 0.9: 797}
#: Figure 11: shares that the text tells, and its mean.
PAPER_SHARING = ("over 50%", "13%", "-", "11%", "1", "4", "13.8", "-")
CLASSES = ("2 pages", "3", "4 to 9", "10 or more")


@dataclass(frozen=True, slots=True)
class Found:
    """The fragments of a data set: how large each is, and how many pages have it."""

    sizes: NDArray[np.int64]
    pages: NDArray[np.int64]

    @classmethod
    def of(cls, shared: SharedFragments) -> "Found":
        """The same from the members of fragments; a fragment is as large as its longest text."""
        if not len(shared):
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        sizes = np.maximum.reduceat(shared.members.value_bytes, shared.starts[:-1])
        both = np.unique(shared.fragment * shared.pages + shared.members.page)
        return cls(sizes, np.bincount(both // shared.pages, minlength=len(shared)))

    @property
    def largest(self) -> int:
        """The longest text; 0 without fragments."""
        return int(self.sizes.max(initial=0))

    def shares(self) -> list[float]:
        """Fragments on 2, 3, 4 to 9, 10 or more pages, as shares of all."""
        counts = np.histogram(self.pages, [2, 3, 4, 10, np.inf])[0]
        return (counts / max(counts.sum(), 1)).tolist()

    def means(self) -> tuple[float, float]:
        """Pages that share a fragment: over fragments, and over the places that pages have them in."""
        total = self.pages.sum()
        if not total:
            return 0.0, 0.0
        return float(total / len(self.pages)), float((self.pages**2).sum() / total)


Answers = dict[tuple[int, float], Found]


def run(context: Context) -> Report:
    """Fill table 1, draw figures 9 to 11."""
    sites = _sites(context)
    report = Report(
        title="Paper 004, table 1 and figures 9 to 11: shared fragments",
        inputs=f"{MAIN} ({len(sites[MAIN])} pages), and {len(sites) - 1} other sites, {SAMPLE} pages of each, evenly spaced",
        method=f"P {SIZE_RATIO}, ShareFactor 2, W = 20, S = 25, K = 32; chains merged, which the paper keeps; sizes are of text, the longest of a fragment's members; figures 10, 11 at MinFragSize {SIZE}, figure 11 at MinMatchFactor {MATCH}",
    )
    pages = {name: len(files) for name, files in sites.items()}
    answers: dict[str, Answers] = {}
    for name, files in sites.items():
        answers[name] = _answers(files)
        context.say(name)
    trends = _trends(answers)
    report.tables = [
        _figure9(answers, pages),
        _table1(answers[MAIN]),
        _figure10(answers, pages),
        _figure11(answers, pages),
        trends,
    ]
    _draw(report, answers)
    report.goals = [*_goals(answers[MAIN]), *_every_site(answers)]
    main = answers[MAIN]
    low, middle, high = (main[SIZE, match] for match in MATCHES)
    report.notes = [
        f"figure 9, {MAIN}: {len(low.sizes)}, {len(middle.sizes)} and {len(high.sizes)} fragments; the paper's BBC has 350, 358 and 359. A higher factor splits groups: that gives more fragments if each half is still on two pages, fewer if it is on one",
        f"figure 10, {MAIN}: the largest fragment has {low.largest:,} bytes at 0.7 and {middle.largest:,} at 0.9; the paper's 5,633 and 797. On sites with a large menu or head, the largest hardly shrinks: today these are full of styles and scripts that are nearly identical on all pages",
        f"table 1, {MAIN}: {low.sizes.sum() / 1e3:,.0f}, {middle.sizes.sum() / 1e3:,.0f} and {high.sizes.sum() / 1e3:,.0f} kB; the paper's 136, 122 and 121. On some sites of the municipality it rises: a head of 100 kB, similar on all pages, is one fragment at 0.7 and several at 1.0, each counted in full",
        f"figure 11, {MAIN}: {low.shares()[0]:.0%} of the fragments are on 2 pages and {low.shares()[3]:.0%} on 10 or more; the paper has over 50 % and 11 %.",
        "the paper's mean of 13.8 pages per fragment contradicts its own shares: half at 2, 13 % at 3, 11 % at 10 to 75 and the rest at no more than 9 give at most 12.0. The paper may have averaged over places instead of fragments; both means are here",
    ]
    java = answers.get("openjdk-17-doc")
    if java is not None:
        shares = java[SIZE, MATCH].shares()
        report.notes.append(
            f"figure 11: nearest to the paper is the documentation of Java, with {shares[0]:.0%} on 2 pages, {shares[1]:.0%} on 3 and {shares[3]:.0%} on 10 or more: pages of many kinds, and a small menu"
        )
    report.data = {
        name: {
            f"{size}, {match:g}": {
                "sizes": int(one.sizes.sum()),
                "fragments": len(one.sizes),
                "largest": one.largest,
                "shares": one.shares(),
            }
            for (size, match), one in mine.items()
        }
        for name, mine in answers.items()
    }
    return report


def _sites(context: Context) -> dict[str, list[Page]]:
    """The pages of each site, the main one first."""
    found = {site: spaced(files) for corpus in CORPORA for site, files in by_site(corpus).items()}
    others = context.pick(list(found), ["openjdk-17-doc"])
    return {MAIN: found[MAIN], **{name: found[name] for name in others if name != MAIN}}


def _answers(files: Sequence[Page]) -> Answers:
    pages = [quire.encode(page.read(), kind="html") for page in files]
    return {
        (size, match): Found.of(
            shared_fragments(pages, min_bytes=size, min_match=match, size_ratio=SIZE_RATIO)
        )
        for size in SIZES
        for match in MATCHES
    }


def _settings(heading: str) -> list[str]:
    return [f"{heading} {size}, {match:g}".strip() for size in SIZES for match in MATCHES]


def _figure9(answers: dict[str, Answers], pages: dict[str, int]) -> Table:
    rows = [
        [name, f"{pages[name]:,}", *(f"{len(one.sizes):,}" for one in mine.values())]
        for name, mine in answers.items()
    ]
    keys = [(size, match) for size in SIZES for match in MATCHES]
    rows.append([BBC, "75", *(str(PAPER_NUMBERS.get(key, "-")) for key in keys)])
    return Table(
        ["site", "pages", *_settings("")],
        rows,
        "figure 9: fragments, by MinFragSize and MinMatchFactor",
    )


def _table1(main: Answers) -> Table:
    rows = []
    for name, sums in (
        (MAIN, {key: int(one.sizes.sum()) for key, one in main.items()}),
        (BBC, PAPER_SUMS),
    ):
        for match in MATCHES:
            cells = [f"{sums[size, match] / 1e3:,.0f}" for size in SIZES if (size, match) in sums]
            rows.append([name, f"{match:.2f}", *cells, *["-"] * (len(SIZES) - len(cells))])
    return Table(
        ["site", "MinMatchFactor", *(f"MinFragSize {size}, kB" for size in SIZES)],
        rows,
        "table 1: sum of sizes of shared fragments",
    )


def _figure10(answers: dict[str, Answers], pages: dict[str, int]) -> Table:
    rows = [
        [name, f"{pages[name]}", *(f"{mine[SIZE, match].largest:,}" for match in MATCHES)]
        for name, mine in answers.items()
    ]
    rows.append([BBC, "75", *(f"{one:,}" for one in PAPER_LARGEST.values()), "-"])
    return Table(
        ["site", "pages", *(f"largest at {match:g}" for match in MATCHES)],
        rows,
        f"figure 10: maximum size of fragments, bytes of text, MinFragSize {SIZE}",
    )


def _figure11(answers: dict[str, Answers], pages: dict[str, int]) -> Table:
    rows = []
    for name, mine in answers.items():
        found = mine[SIZE, MATCH]
        by_fragment, by_place = found.means()
        rows.append(
            [
                name,
                f"{pages[name]:,}",
                *(f"{share:.0%}" for share in found.shares()),
                f"{int((found.pages == pages[name]).sum()):,}",
                f"{int((found.pages >= 0.9 * pages[name]).sum()):,}",
                f"{by_fragment:.1f}",
                f"{by_place:.1f}",
            ]
        )
    rows.append([BBC, "75", *PAPER_SHARING])
    headings = [
        *("site", "pages", *CLASSES, "fragments on all", "on nine tenths"),
        *("mean pages, of fragments", "of places"),
    ]
    return Table(headings, rows, "figure 11: fragments by the number of pages that share them")


def _draw(report: Report, answers: dict[str, Answers]) -> None:
    main = answers[MAIN]
    report.figures["figure9"] = bar_chart(
        f"Paper 004, figure 9: number of fragments, {MAIN}",
        [f"{match:g}" for match in MATCHES],
        {
            f"MinFragSize {size}": [float(len(main[size, match].sizes)) for match in MATCHES]
            for size in SIZES
        }
        | {f"{BBC}, 30": [float(PAPER_NUMBERS[30, match]) for match in MATCHES]},
        "MinMatchFactor",
        "fragments",
    )
    drawn = [MAIN, *(name for name in DRAWN if name in answers)]
    report.figures["figure10"] = bar_chart(
        "Paper 004, figure 10: maximum size of fragments",
        [*(name.split(".")[0].split("-")[0] for name in drawn), "BBC"],
        {
            f"MinMatchFactor {match:g}": [
                *(max(answers[name][SIZE, match].largest, 1) for name in drawn),
                paper,
            ]
            for match, paper in PAPER_LARGEST.items()
        },
        "site",
        "bytes of text",
        log_y=True,
    )
    report.figures["figure11"] = bar_chart(
        "Paper 004, figure 11: fragments by pages that share them (a pie in the paper)",
        list(CLASSES),
        {
            name: [round(100 * share, 1) for share in answers[name][SIZE, MATCH].shares()]
            for name in drawn
        },
        "pages that share a fragment",
        "% of fragments",
    )


def _steps(mine: Answers) -> list[tuple[Found, Found]]:
    """The results at each factor and at the next one."""
    return [
        (mine[size, low], mine[size, high]) for size in SIZES for low, high in pairwise(MATCHES)
    ]


def _trends(answers: dict[str, Answers]) -> Table:
    """What the paper saw rise and fall with the factor: in how many of our steps it does too."""
    rows = []
    for name, mine in answers.items():
        steps = _steps(mine)
        counts = (
            sum(len(low.sizes) <= len(high.sizes) for low, high in steps),
            sum(int(low.sizes.sum()) >= int(high.sizes.sum()) for low, high in steps),
        )
        rows.append([name, *(f"{count} of {len(steps)}" for count in counts)])
    headings = ["site", "fragments as many or more", "sum no larger"]
    return Table(headings, rows, "steps to the next MinMatchFactor that go as in the paper")


def _every_site(answers: dict[str, Answers]) -> list[Goal]:
    """The same two trends, on all sites."""
    found = [_steps(mine) for mine in answers.values()]
    more = sum(all(len(low.sizes) <= len(high.sizes) for low, high in steps) for steps in found)
    less = sum(all(low.sizes.sum() >= high.sizes.sum() for low, high in steps) for steps in found)
    return [
        every("sites with as many fragments or more at each step (figure 9)", more, len(found)),
        every("sites with a sum of sizes no larger at each step (table 1)", less, len(found)),
    ]


def _goals(main: Answers) -> list[Goal]:
    steps = _steps(main)
    shares = main[SIZE, MATCH].shares()
    return [
        every(
            f"steps to a higher MinMatchFactor with as many fragments or more (figure 9), {MAIN}",
            sum(len(low.sizes) <= len(high.sizes) for low, high in steps),
            len(steps),
        ),
        every(
            f"steps to a higher MinMatchFactor with a sum of sizes that is no larger (table 1), {MAIN}",
            sum(int(low.sizes.sum()) >= int(high.sizes.sum()) for low, high in steps),
            len(steps),
        ),
        Goal(
            f"fragments on exactly 2 pages (figure 11), {MAIN}",
            ">= 50%",
            f"{shares[0]:.0%}",
            met=shares[0] >= 0.5,
        ),
    ]

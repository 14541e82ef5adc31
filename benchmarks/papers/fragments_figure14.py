"""Figure 14 of paper 004: bytes to store pages whole, and with the parts that they share once, against the number of pages.

The paper's 75 pages of the BBC are gone. Ours are 74 of Stack Overflow, and 75 of each of the other sites. The paper stores approximately shared parts once,
and no page can be composed from these. So the parts with the same bytes on all pages, from which pages can be composed, stand beside them.
"""

import quire
from benchmarks.context import Context
from benchmarks.corpora import Page
from benchmarks.fragments.collections import CORPORA, SAMPLE, by_site, spaced
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Table
from quire import Digest, shared_fragments
from quire.fragments import site_of_shared
from quire.fragments.shared.rules import SIZE_RATIO

MAIN = "stackoverflow.com"
COUNTS = (15, 30, 45, 60, 75)
MATCHES = (0.7, 0.9, 1.0)
MIN_BYTES = 30
#: The paper: 22 to 31 % less.
PAPER = (0.22, 0.31)


def run(context: Context) -> Report:
    """Fill figure 14."""
    sites = {site: spaced(files) for corpus in CORPORA for site, files in by_site(corpus).items()}
    report = Report(
        title="Paper 004, figure 14: total storage requirement",
        inputs=f"{MAIN} ({len(sites[MAIN])} pages), and {len(sites) - 1} other sites, {SAMPLE} pages of each, evenly spaced",
        method=f"P {SIZE_RATIO}, MinFragSize {MIN_BYTES}, ShareFactor 2, W = 20, S = 25, K = 32; chains merged, which the paper keeps; bytes of sources; composable: only fragments that are the same bytes on all pages",
    )
    counts = context.pick(COUNTS, (15, 75))
    rows, lines = _main(sites[MAIN], counts)
    report.figures["storage"] = line_chart(
        f"Paper 004, figure 14: storage, {MAIN}",
        [Series(name, counts, ys) for name, ys in lines.items()],
        "pages",
        "MB",
    )
    cells = [name for match in MATCHES for name in (f"saved at {match:g}", "composable")]
    report.tables.append(
        Table(["pages", "page cache, MB", *cells], [_cells(row) for row in rows], MAIN)
    )
    others, theirs = [], {}
    for site in context.pick(list(sites), ["openjdk-17-doc"]):
        if site != MAIN:
            sources = [page.read() for page in sites[site]]
            pages = [quire.encode(source, kind="html") for source in sources]
            row = _saved(sources, pages)
            others.append([site, *_cells(row)])
            theirs[site] = row[2][0][0]
            context.say(site)
    report.tables.append(Table(["site", "pages", "page cache, MB", *cells], others, "other sites"))
    _, _, saved = rows[-1]
    whole, composable = saved[0]
    ordered = sum(low[0] >= middle[0] >= high[0] for _, _, (low, middle, high) in rows)
    report.goals = [
        Goal(
            f"stored once at MinMatchFactor 0.7, {MAIN}: saved (and with pages that can be composed)",
            f">= {PAPER[0]:.0%}",
            f"{whole:.0%} ({composable:.0%})",
            met=whole >= PAPER[0],
        ),
        Goal(
            "claim: 22 % less storage at MinMatchFactor 0.7, on every other site",
            f">= {PAPER[0]:.0%}",
            f"{min(theirs.values()):.1%} to {max(theirs.values()):.1%}, "
            f"{sum(share >= PAPER[0] for share in theirs.values())} of {len(theirs)} sites reach it",
            met=min(theirs.values()) >= PAPER[0],
        ),
        Goal(
            "numbers of pages at which a lower MinMatchFactor saves more, as in the paper",
            "all",
            f"{ordered} of {len(rows)}",
            met=ordered == len(rows),
        ),
    ]
    report.notes = [
        f"the paper saves {PAPER[0]:.0%} to {PAPER[1]:.0%}, more at lower factors. {MAIN} saves {saved[-1][0]:.0%} to {whole:.0%}, more at lower factors too",
        f"composable is less, {composable:.0%} at 0.7 and {saved[-1][1]:.0%} at 1.0: approximate fragments are stored as their first member, so pages cannot be composed from them. Texts that are equal often differ in markup",
        "a higher factor can make more composable: a group of similar parts is not composable, its equal members alone are",
        "the saving depends on the site: pages of the municipality are mostly a common head and menu, pages of manuals share little",
    ]
    report.data = {"main": [{"pages": count, "saved": some} for count, _, some in rows]}
    return report


#: Pages, their bytes, and the shares saved at each factor: of everything, and composable.
Row = tuple[int, int, list[tuple[float, float]]]


def _main(files: list[Page], counts: tuple[int, ...]) -> tuple[list[Row], dict[str, list[float]]]:
    sources = [page.read() for page in files]
    pages = [quire.encode(source, kind="html") for source in sources]
    rows = []
    lines: dict[str, list[float]] = {"page cache": []}
    for count in counts:
        # Every k-th page, so that a smaller collection is of the same kinds of page.
        chosen = [at * len(pages) // count for at in range(min(count, len(pages)))]
        row = _saved([sources[at] for at in chosen], [pages[at] for at in chosen])
        _, whole, saved = row
        lines["page cache"].append(whole / 1e6)
        for match, shares in zip(MATCHES, saved, strict=True):
            for name, share in zip((f"{match:g}", f"{match:g}, composable"), shares, strict=True):
                lines.setdefault(name, []).append(whole * (1 - share) / 1e6)
        rows.append(row)
    return rows, lines


def _saved(sources: list[bytes], pages: list[Digest]) -> Row:
    sizes = [len(source) for source in sources]
    whole = sum(sizes)
    saved = []
    for match in MATCHES:
        shared = shared_fragments(
            pages, min_match=match, min_bytes=MIN_BYTES, size_ratio=SIZE_RATIO
        )
        stored = [
            site_of_shared(sizes, shared, exact=exact).fragment_storage for exact in (False, True)
        ]
        saved.append((1 - stored[0] / whole, 1 - stored[1] / whole))
    return len(sources), whole, saved


def _cells(row: Row) -> list[str]:
    count, whole, saved = row
    return [
        *(f"{count}", f"{whole / 1e6:.2f}"),
        *(f"{share:.1%}" for shares in saved for share in shares),
    ]

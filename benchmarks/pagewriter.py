"""Write ``docs/benchmarks.md`` and the pages below ``docs/benchmarks`` from stored results.

In: the JSON files in ``benchmarks/results``. Out: one short page with headline figures and every
goal that was missed, and one page for each paper and each comparison with all tables. The figures
in ``docs/papers.md`` are filled in too. Nothing is measured here, so the pages can be written again
at any time:

    python benchmarks/run.py --pages-only

Pages of a short run have the same form and say so at the top. They are written beside its results,
never to ``docs``.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from benchmarks import paper_figures
from benchmarks.report import Report

#: A benchmark's name, and its result as read from JSON.
Results = Mapping[str, Mapping[str, Any]]


class Mode(Enum):
    """How a run was made, and what its pages say about it."""

    FULL = "Full run."
    SHORT = (
        "**Short run**: small samples and few rounds, to see that everything works. Do not quote its"
        " figures; those of the full run are in `docs/benchmarks`."
    )


@dataclass(frozen=True, slots=True)
class Page:
    """One page below ``docs/benchmarks``."""

    name: str
    title: str
    question: str
    benchmarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a stored table: the row that starts with these cells, under this heading."""

    benchmark: str
    table: int
    row: tuple[str, ...]
    heading: str

    def read(self, results: Results) -> str:
        """The cell as it was printed; empty if the benchmark has not been run."""
        if self.benchmark not in results:
            return ""
        table = results[self.benchmark]["tables"][self.table]
        column = table["headings"].index(self.heading)
        for row in table["rows"]:
            if tuple(row[: len(self.row)]) == self.row:
                return str(row[column])
        message = f"{self.benchmark}: table {self.table} has no row that starts with {self.row}"
        raise LookupError(message)


@dataclass(frozen=True, slots=True)
class Headline:
    """One row of the headline table: a figure of quire beside one of a rival."""

    what: str
    quire: Cell
    rival: Cell
    rival_name: str
    page: str


PAGES = (
    Page(
        "parsers",
        "quire and HTML parsers",
        "How fast is a page encoded, loaded, searched and decoded, and how much memory does it need,"
        " compared with selectolax, lxml, turbohtml, resiliparse and html5lib?",
        ("tree", "encode", "load", "tag-count", "decode", "memory", "size", "threads"),
    ),
    Page(
        "diff-tools",
        "quire and diff tools",
        "How long does it take to compare two documents, and how long is the edit script, compared"
        " with GNU diff and xmldiff?",
        ("verdict", "annotate", "one-edit", "script-length"),
    ),
    Page(
        "similarity",
        "quire and similarity libraries",
        "How well are templates told apart, and how fast are pages compared and grouped, compared"
        " with html-similarity, rensa and datasketch?",
        ("similar-auc", "sketch-speed", "pair-speed", "grouping-growth", "spark-templates"),
    ),
    Page(
        "records",
        "Records of list pages",
        "How many regions and records of labelled pages are found, compared with the heuristics of"
        " Omini?",
        ("records-accuracy", "records-details", "records-phases", "records-crawl"),
    ),
    Page(
        "archives",
        "quire archives and other ways to store pages",
        "How many bytes does a stored crawl need, and how fast is one page read back, compared with"
        " gzip, zstd and xz?",
        (
            "archive-ratios",
            "archive-speed",
            "archive-growth",
            "archive-labels",
            "archive-small-histories",
            "archive-exact",
            "archive-hostile",
        ),
    ),
    Page(
        "fragments",
        "Shared fragments and their composition",
        "Are all shared parts found, does every composed page equal the original, and how much does"
        " a cache save?",
        (
            "shared-equality",
            "shared-growth",
            "shared-crawls",
            "shared-large",
            "composition",
            "lifetimes-terms",
            "overlap-threshold",
            "detector-growth",
            "invalidation",
        ),
    ),
    Page(
        "monitoring",
        "Monitoring at scale, and other monitors",
        "How much memory does a sentinel need, how many are evaluated in a second, and how does"
        " a pass compare with urlwatch and changedetection.io?",
        ("monitor-scale", "monitor-workers", "monitor-rivals"),
    ),
    Page(
        "alarms",
        "False alarms, and parts that move",
        "Is noise left out without missing a change, and is a watched part found again after a"
        " redesign?",
        ("noise-sites", "noise-terms", "following-news"),
    ),
    Page(
        "web",
        "The web pages",
        "Does the list of watches stay fast with thousands of them, and how long do redlines and"
        " replays of long pages take?",
        ("web-lists", "web-pages"),
    ),
    Page(
        "correctness",
        "Exactness and hostile input",
        "Does every page come back byte for byte, are edit scripts exact, and does time stay"
        " proportional to size on input made to be slow?",
        (
            "roundtrip",
            "script-exact",
            "minimality",
            "identity",
            "hostile",
            "sdiff-hostile",
            "redline-paint",
        ),
    ),
    Page(
        "paper-000",
        "Paper 000: Page Digest for large-scale web services",
        "The paper's experiments 1 and 3 to 6, run again with quire and today's libraries.",
        ("experiment1", "experiment3", "experiment4", "experiment5", "experiment6"),
    ),
    Page(
        "paper-001",
        "Paper 001: structural similarity of pages (Kang)",
        "The paper's table 1, on pages of our own.",
        ("kang",),
    ),
    Page(
        "paper-002",
        "Paper 002: efficient web change monitoring with Page Digest",
        "The paper's experiments 1 to 4 on real pages, a wide range of parameters, and every"
        " optimisation switched off in turn. Does each claim hold?",
        (
            "monitor-systems",
            "monitor-zipf",
            "monitor-grouping",
            "monitor-dom",
            "monitor-parameters",
            "monitor-shortcuts",
        ),
    ),
    Page(
        "paper-003",
        "Paper 003: template-based delta compression",
        "The paper's figures 3 to 5 and table 1, on pages of our own; VCDIFF beside its delta step, and a"
        " large crawl on threads and on Spark.",
        ("figure3", "figure4", "figure5", "table1", "tbc-delta", "tbc-crawl"),
    ),
    Page(
        "paper-004",
        "Paper 004: automatic fragment detection",
        "The paper's tables 1 and 2 and figures 9 to 21, on pages of our own.",
        ("figure9", "figure12", "figure14", "figure15", "figure19", "figure21"),
    ),
)


def _pair(what: str, quire: Cell, rival_row: str, rival_name: str) -> Headline:
    """A headline whose two figures are in one column of one table."""
    page = next(page.name for page in PAGES if quire.benchmark in page.benchmarks)
    rival = dataclasses.replace(quire, row=(rival_row,))
    return Headline(what, quire, rival, rival_name, page)


_US = "us a page, median ± IQR"
_MIXED = ("100,000", "mixed", "insert")
HEADLINES = (
    _pair(
        "parse real pages, one thread, signatures on demand, MB/s",
        Cell("encode", 2, ("quire",), "MB/s, best"),
        "selectolax",
        "selectolax",
    ),
    _pair(
        "load a stored page, all checksums verified, µs",
        Cell("load", 0, ("every checksum",), _US),
        "selectolax re-parse",
        "parsing it again with selectolax",
    ),
    _pair(
        "count the nodes of a page by tag, µs",
        Cell("tag-count", 0, ("quire, to a dict",), _US),
        "selectolax, walk",
        "selectolax",
    ),
    _pair(
        "memory of a loaded page, compared with its source",
        Cell("memory", 0, ("quire",), "x source"),
        "lxml.html",
        "lxml",
    ),
    Headline(
        "decide whether two stored documents of 100,000 elements differ, ms",
        Cell("verdict", 0, ("mixed", "text, near end"), "changed, headers, ms"),
        Cell("verdict", 0, ("mixed", "text, near end"), "diff -q, ms"),
        rival_name="`diff -q`",
        page="diff-tools",
    ),
    Headline(
        "find out what happened to each of their nodes, ms",
        Cell("annotate", 2, _MIXED, "annotate, ms"),
        Cell("annotate", 2, _MIXED, "xmldiff, ms"),
        rival_name="xmldiff",
        page="diff-tools",
    ),
    Headline(
        "actions in the edit scripts of the pairs of real pages that xmldiff finishes",
        Cell("script-length", 0, ("all",), "actions, quire"),
        Cell("script-length", 0, ("all",), "xmldiff"),
        rival_name="xmldiff",
        page="diff-tools",
    ),
    _pair(
        "compare the structure of two stored pages, µs",
        Cell("pair-speed", 0, ("quire, from stored digests",), "µs a pair"),
        "html-similarity, from HTML",
        "html-similarity",
    ),
    _pair(
        "stored size of one site with 1,856 pages, as % of the pages",
        Cell("archive-ratios", 0, ("quire",), "helsingborg"),
        "gzip -9",
        "gzip",
    ),
    _pair(
        "stored size of 40 sites, 15 pages each, as % of the pages",
        Cell("archive-ratios", 0, ("quire",), "swde-sites"),
        "gzip -9",
        "gzip",
    ),
    _pair(
        "the same, dense codec",
        Cell("archive-ratios", 0, ("quire dense",), "swde-sites"),
        "solid xz -9",
        "one xz stream of all pages",
    ),
    _pair(
        "read one page of these 40 sites, µs",
        Cell("archive-ratios", 5, ("quire",), "read us"),
        "gzip -9",
        "gzip",
    ),
)

#: Where the figures are, seen from a page.
_FIGURES = {Mode.FULL: "../../benchmarks/results", Mode.SHORT: "../.."}

_HEAD = """\
# Benchmarks

The headline figures, and every goal that was missed. All tables are on the pages linked below.

Every rival runs on the same inputs in the same run. Answers are checked before anything is timed.
Times are CPU time of the process unless a table says otherwise. Each result ends with the command
that repeats it and names the commit it was measured at.

This page and the pages it links to are generated: `python benchmarks/run.py --pages-only` writes
them from `benchmarks/results`, and `make bench` measures everything again. Do not edit them.
`make bench-short` runs all experiments of the papers on small samples in less than 20 minutes. Its
results and pages go to `benchmarks/results/quick`, and nothing here changes.
"""


def pages(results_folder: Path, order: Iterable[str], mode: Mode = Mode.FULL) -> dict[str, str]:
    """Make every page from the stored results: its path below ``docs``, and its text."""
    results = stored(results_folder, order)
    made = {"benchmarks.md": _overview(results, mode)}
    for page in PAGES:
        made[f"benchmarks/{page.name}.md"] = _page(page, results, mode)
    return made


def stored(results_folder: Path, order: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Read the stored results of the named benchmarks; one that has not been run is left out."""
    paths = {name: results_folder / f"{name}.json" for name in order}
    return {
        name: json.loads(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if path.is_file()
    }


def write(
    results_folder: Path,
    docs: Path,
    order: Iterable[str],
    mode: Mode = Mode.FULL,
) -> None:
    """Write every page below the folder ``docs``, and fill the figures in ``docs/papers.md``."""
    order = list(order)
    made = pages(results_folder, order, mode)
    papers = docs / "papers.md"
    if papers.is_file():
        text = papers.read_text(encoding="utf-8")
        made["papers.md"] = paper_figures.fill(text, stored(results_folder, order))
    for name, text in made.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _overview(results: Results, mode: Mode) -> str:
    parts = [_HEAD, f"\n{mode.value}\n", "\n## Headline figures\n\n"]
    parts.append("| | quire | rival | |\n| --- | --: | --: | --- |\n")
    for line in HEADLINES:
        quire, rival = _both(line, results, mode)
        if quire and rival:
            link = f"[{line.page}](benchmarks/{line.page}.md)"
            parts.append(f"| {line.what} | {quire} | {rival} ({line.rival_name}) | {link} |\n")
    parts.append("\n## Pages\n\n| page | question | goals met |\n| --- | --- | --: |\n")
    for page in PAGES:
        goals = _goals(page.benchmarks, results)
        met = sum(goal["met"] for _, goal in goals)
        score = f"{met} of {len(goals)}" if goals else ""
        parts.append(f"| [{page.title}](benchmarks/{page.name}.md) | {page.question} | {score} |\n")
    parts.append("\n## Goals missed\n\n")
    missed = [
        (page, name, goal)
        for page in PAGES
        for name, goal in _goals(page.benchmarks, results)
        if not goal["met"]
    ]
    parts.append("| goal | target | measured | page |\n| --- | --- | --- | --- |\n")
    parts += [
        f"| {goal['what']} (`{name}`) | {goal['promised']} | {goal['measured']}"
        f" | [{page.name}](benchmarks/{page.name}.md) |\n"
        for page, name, goal in missed
    ]
    return "".join(parts)


def _both(line: Headline, results: Results, mode: Mode) -> tuple[str, str]:
    try:
        return line.quire.read(results), line.rival.read(results)
    except LookupError:
        if mode is Mode.SHORT:  # its sizes are smaller, so a row may not be there
            return "", ""
        raise


def _page(page: Page, results: Results, mode: Mode) -> str:
    parts = [f"# {page.title}\n\n{page.question}\n\n"]
    parts.append(
        f"{mode.value} Generated from stored results; do not edit. [All benchmarks](../benchmarks.md)\n"
    )
    if goals := _goals(page.benchmarks, results):
        parts.append("\n## Goals\n\n| goal | target | measured | |\n| --- | --- | --- | --- |\n")
        parts += [
            f"| {goal['what']} (`{name}`) | {goal['promised']} | {goal['measured']}"
            f" | {'met' if goal['met'] else '**missed**'} |\n"
            for name, goal in goals
        ]
    for name in page.benchmarks:
        if name in results:
            text = Report.stored_text(results[name]).rstrip()
            parts.append(f"\n## {results[name]['title']}\n\n```text\n{text}\n```\n")
            parts += [
                f"\n![{figure}]({_FIGURES[mode]}/{name}-{figure}.svg)\n"
                for figure in results[name]["figures"]
            ]
    return "".join(parts)


def _goals(names: Sequence[str], results: Results) -> list[tuple[str, dict[str, Any]]]:
    return [(name, goal) for name in names if name in results for goal in results[name]["goals"]]

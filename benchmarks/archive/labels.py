"""The same pages under different addresses: the size of the archive, and what compaction takes.

A host each: the folder of a page is its host. One host: all pages are below one address. Folder: paths of files, as
``quire archive add FOLDER`` stores them. Versions: all files of a folder are captures of one address. Mixed up: the
address is a hash of the path, so that neither hosts nor order say anything. Built: the addresses of folder, by ``build``
instead of ``add`` and ``compact``.
"""

import hashlib
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from benchmarks import corpora
from benchmarks.archive import rivals
from benchmarks.archive.captures import Capture, Collection, collection
from benchmarks.archive.ours import BESIDE
from benchmarks.context import Context
from benchmarks.corpora import html_pages
from benchmarks.report import Report, Right, Table, at_least, at_most
from quire import sources
from quire.archive import Archive
from quire.archive.build.build import build_archive
from quire.archive.compact.tiers import TierName

#: The corpora that constants were chosen on; all others are only judged on. The pages of many sites decided nothing
#: about clusters, but from which share on a base is searched less.
FITTED = (*corpora.PAGES, "templates-docs", "templates-helsingborg", "versions-terms")
#: Share of the pages with a host each, whole folder, before clusters came from content (commit 52ced6b).
BEFORE = {
    "pages-articlebench": 0.137030,
    "pages-readability": 0.131122,
    "pages-trafilatura": 0.158955,
    "templates-docs": 0.085062,
    "templates-helsingborg": 0.018294,
    "templates-swde": 0.044972,
    "templates-swde-sites": 0.046122,
    "templates-types": 0.052398,
    "versions-fund": 0.002554,
    "versions-news": 0.053246,
    "versions-terms": 0.022383,
}
ROUNDS = 3
#: Longer corpora are stored once: their times vary less.
LONG_BYTES = 100_000_000
MOST_SPREAD = 1.1
MOST_BUILT = 1.05
LEAST_RATE = 25
EACH, ONE, FOLDER, VERSIONS, MIXED = "a host each", "one host", "folder", "versions", "mixed up"


def _each(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"https://{folder.replace('/', '.') or 'x'}/{name}"


#: Addresses by label, from the path of a page.
LABELS: dict[str, Callable[[str], str]] = {
    EACH: lambda path: f"https://{path}",
    ONE: lambda path: f"https://x.example/{path}",
    FOLDER: lambda path: f"crawl/{path}",
    VERSIONS: lambda path: f"https://{path.rpartition('/')[0] or path}",
    MIXED: lambda path: f"https://x.example/{hashlib.sha256(path.encode()).hexdigest()[:16]}",
}


def run(context: Context) -> Report:
    """Store every corpus under every label, and compare."""
    names = context.corpora or (*corpora.TEMPLATES, *corpora.VERSIONS, *corpora.PAGES)
    built: dict[str, int] = {}
    sizes: dict[str, dict[str, int]] = {}
    rates: dict[str, list[float]] = {}
    dense: dict[str, tuple[int, int, int]] = {}
    words, right, of, totals = [], 0, 0, {}
    for name in names:
        found = collection(name, context)
        pages = html_pages((name,), context.pick(None, len(found.captures)))
        paths = [page.name for page in pages]
        rounds = ROUNDS if found.size < LONG_BYTES and not context.quick else 1
        words.append(found.words())
        totals[name] = found.size
        sizes[name], rates[name] = {}, []
        for label in LABELS:
            captures = _labelled(name, found, paths, label)
            size, _, spent, sound = _stored(captures, "zstd", rounds)
            sizes[name][label] = size
            rates[name].append(found.size / 1e6 / spent)
            right, of = right + sound, of + len(captures)
            context.say(f"{name}: {label}: {size / found.size:.3%}, {spent:.1f} s")
        files = [str(page.path) for page in pages]
        captures = _labelled(name, found, paths, FOLDER)
        built[name], sound = _built(files, captures)
        right, of = right + sound, of + len(captures)
        context.say(f"{name}: built: {built[name] / found.size:.3%}")
        if name in corpora.TEMPLATES:
            folder, size, _, sound = _stored(_labelled(name, found, paths, ONE), "dense", 1)
            right, of = right + sound, of + len(found.captures)
            joined = b"".join(capture.body for capture in found.captures)
            dense[name] = size, len(rivals.xz(rivals.XZ_BYTES)(joined)), folder
    report = Report(
        title="Archive: the same pages under different addresses",
        inputs=", ".join(words),
        method=(
            f"add, commit and compact; whole folder as % of the pages; CPU time of compact alone, the least of {ROUNDS} runs (one for corpora above {LONG_BYTES / 1e6:.0f} MB); every page is read back. "
            f"Constants were chosen on {', '.join(FITTED)}; the other corpora only judge them"
        ),
    )
    report.tables = [_table(names, sizes, built, totals, rates)]
    if dense:
        report.tables.append(
            Table(
                ["dense, one host", "quire dense", "solid xz -9", "of xz", "whole folder"],
                [
                    [
                        name,
                        _percent(one, totals[name]),
                        _percent(xz, totals[name]),
                        f"{one / xz:.2f}",
                        _percent(folder, totals[name]),
                    ]
                    for name, (one, xz, folder) in dense.items()
                ],
                "without addresses, heads and indexes, which xz does not store; 'whole folder' has them",
            )
        )
    for name in names:
        spread = max(sizes[name].values()) / min(sizes[name].values())
        report.goals.append(at_most(f"{name}: largest to smallest size", spread, MOST_SPREAD, "x"))
        share = built[name] / sizes[name][FOLDER]
        report.goals.append(
            at_most(f"{name}: build relative to add and compact", share, MOST_BUILT, "x")
        )
        if name in BEFORE and not context.quick:
            share = sizes[name][EACH] / totals[name] / BEFORE[name]
            report.goals.append(at_most(f"{name}: a host each, relative to before", share, 1, "x"))
        rate = min(rates[name])
        report.goals.append(at_least(f"{name}: compact, per core", rate, LEAST_RATE, " MB/s"))
    for name, (one, xz, _) in dense.items():
        report.goals.append(
            at_most(f"{name}: dense relative to solid xz -9, one host", one / xz, 1, "x")
        )
    report.right = [Right("quire", right, of, "pages back byte for byte")]
    report.data = {"sizes": sizes, "built": built, "rates": rates, "dense": dense}
    return report


def _labelled(name: str, found: Collection, paths: Sequence[str], label: str) -> list[Capture]:
    """The captures of a corpus with other addresses; their times stay."""
    if label == EACH and name not in corpora.VERSIONS:
        return found.captures
    made: Callable[[str], str] = _each if label == EACH else LABELS[label]
    pairs = zip(found.captures, paths, strict=True)
    return [Capture(made(path), capture.time, capture.body) for capture, path in pairs]


def _stored(
    captures: Sequence[Capture], codec: TierName, rounds: int
) -> tuple[int, int, float, int]:
    """Bytes of the folder, those without addresses and indexes, the least CPU seconds of compaction, and how many pages were right."""
    spent, size, bare, right = [], 0, 0, 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="quire-labels-") as folder:
            place = Path(folder) / "a.quire"
            with Archive.create(place) as archive:
                for capture in captures:
                    archive.add(capture.url, capture.time, capture.body)
                archive.commit()
                start = time.process_time()
                archive.compact(codec=codec)
                spent.append(time.process_time() - start)
            size = sum(path.stat().st_size for path in place.iterdir())
            with Archive.open(place) as archive:
                bare = sum(n for part, n in archive.stats().parts.items() if part not in BESIDE)
            right = _right(place, captures)
    return size, bare, min(spent), right


def _built(files: Sequence[str], captures: Sequence[Capture]) -> tuple[int, int]:
    """Bytes of the folder after a build with the addresses of captures, and how many pages were right."""
    known = dict(zip(files, captures, strict=True))

    def rename(page: sources.Capture) -> sources.Capture:
        return replace(page, url=known[page.name].url, time=known[page.name].time)

    with tempfile.TemporaryDirectory(prefix="quire-labels-") as folder:
        place = Path(folder) / "a.quire"
        build_archive(files, place, rename=rename)
        return sum(path.stat().st_size for path in place.iterdir()), _right(place, captures)


def _right(place: Path, captures: Sequence[Capture]) -> int:
    known: dict[tuple[str, datetime], list[bytes]] = {}
    for capture in captures:
        known.setdefault((capture.url, capture.time), []).append(capture.body)
    with Archive.open(place) as archive:
        return sum(page.body in known[page.url, page.time] for page in archive.read())


def _table(
    names: Sequence[str],
    sizes: dict[str, dict[str, int]],
    built: dict[str, int],
    totals: dict[str, int],
    rates: dict[str, list[float]],
) -> Table:
    rows = []
    for name in names:
        cells = [_percent(size, totals[name]) for size in (*sizes[name].values(), built[name])]
        before = f"{BEFORE[name] * 100:.3f} %" if name in BEFORE else ""
        spread = max(sizes[name].values()) / min(sizes[name].values())
        use = "chosen on" if name in FITTED else "judged on"
        rate = f"{min(rates[name]):.0f} to {max(rates[name]):.0f}"
        rows.append([name, use, *cells, f"{spread:.2f}", before, rate])
    headings = ["", "constants", *LABELS, "built", "spread", "a host each, before", "compact MB/s"]
    return Table(headings, rows)


def _percent(part: int, of: int) -> str:
    return f"{part / of * 100:.3f} %"

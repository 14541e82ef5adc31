"""Whether all comes back: every file of every corpus in, every byte out; and out as WARC, as another reader reads it.

Files go in as pages; WARC and ARC files go in by ``ingest`` too. Everything is read as it was added, as it is after compaction,
and as warcio finds it in an export. Of records that came in as WARC their heads are compared to the byte as well.
"""

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import corpora
from benchmarks.archive.warc_records import Records, by_quire, by_warcio, told_apart
from benchmarks.context import Context
from benchmarks.report import Report, Right, Table, every
from quire.archive import Archive, export, ingest
from quire.archive.warc.export import address
from quire.errors import QuireError
from quire.sources import find

#: Templates and histories are read from a dense archive by `archive-ratios`; here are the others.
DENSE = tuple(
    name for name in corpora.EVERYTHING if name not in {*corpora.TEMPLATES, *corpora.VERSIONS}
)
_QUICK_PAGES = 30
_TIME = datetime(2026, 1, 1, tzinfo=UTC)

#: Checksums of bodies by the addresses of their pages.
Known = dict[str, bytes]


def run(context: Context) -> Report:
    """Store everything, and count what comes back."""
    names = context.corpora or corpora.EVERYTHING
    report = Report(
        title="Archive: every page comes back",
        inputs=f"every file of {len(names)} corpora as a page, and the files of `warc` by ingest",
        method="bodies by their BLAKE2 after each step; warcio reads the exported file",
    )
    rows = []
    with tempfile.TemporaryDirectory(prefix="quire-exact-") as folder:
        rows += list(_files(Path(folder) / "all", names, context))
        others = [name for name in names if name in DENSE]
        if others:
            rows += list(_dense(Path(folder) / "dense", others, context))
        if "warc" in names:
            rows += list(_records(Path(folder) / "warc", report))
    report.tables = [
        Table(
            ["", "equal", "of", "MB"],
            [
                [what, f"{right:,}", f"{of:,}", f"{size / 1e6:,.1f}"]
                for what, right, of, size in rows
            ],
        )
    ]
    report.goals = [every(what, right, of) for what, right, of, _ in rows]
    report.right = [Right("quire", sum(row[1] for row in rows), sum(row[2] for row in rows))]
    report.data = {what: [right, of, size] for what, right, of, size in rows}
    return report


Row = tuple[str, int, int, int]


def _files(folder: Path, names: tuple[str, ...], context: Context) -> Iterator[Row]:
    with Archive.create(folder) as archive:
        known, size = _add(archive, names, context)
        context.say(f"{len(known):,} files, {size / 1e6:.0f} MB")
        yield "pages, as they were added", _equal(archive, known), len(known), size
        archive.compact()
        yield "pages, compacted", _equal(archive, known), len(known), size
    with Archive.open(folder) as archive:
        yield (
            "pages, one by one",
            sum(_is(archive, *one) for one in known.items()),
            len(known),
            size,
        )
        context.say("export")
        done = export(archive, folder.with_suffix(".warc.gz"))
    right = _exported(done.warc, known)
    done.warc.unlink()
    yield "pages, exported and read by warcio", right, len(known), size


def _dense(folder: Path, names: list[str], context: Context) -> Iterator[Row]:
    context.say("dense")
    with Archive.create(folder) as archive:
        known, size = _add(archive, tuple(names), context)
        archive.compact(codec="dense")
        yield f"pages of {len(names)} corpora, dense", _equal(archive, known), len(known), size


def _records(folder: Path, report: Report) -> Iterator[Row]:
    """WARC and ARC files in, WARC out."""
    sources = find([str(corpora.unpacked("warc"))])
    arc, quire, warcio = Records(), Records(), Records()
    for source in sources:
        if ".arc" in source:  # becomes WARC on the way: the heads of its records are others
            arc.add(by_quire(source, with_heads=False))
        else:
            sound = list(by_quire(source))
            quire.add(sound)
            whole, rest = told_apart(by_warcio(source), sound)
            warcio.add(whole)
            report.notes += [
                f"left out because it is damaged: {one.words()}, in {Path(source).name}"
                for one in rest
            ]
    with Archive.create(folder) as archive:
        done = ingest(archive, sources)
        archive.compact()
        out = export(archive, folder.with_suffix(".warc.gz"))
    report.notes += [
        f"{len(sources)} files gave {done.pages:,} pages, {done.trouble_count} troubles, and other records: "
        + ", ".join(f"{count} {kind}" for kind, count in done.companions.items()),
        *(f"trouble: {Path(one.name).name}: {one.reason}" for one in done.troubles),
    ]
    yield "pages ingested, in the export", out.pages, done.pages, done.body_bytes
    for who, before, after in (
        ("WARC, as quire reads them", quire, list(by_quire(str(out.warc)))),
        ("WARC, as warcio reads them", warcio, list(by_warcio(str(out.warc)))),
        ("ARC, without their own heads", arc, list(by_quire(str(out.warc), with_heads=False))),
    ):
        yield f"records of {who}, in the export", before.found_in(after), len(before), before.size
        report.notes += before.missing(after, who)


def _add(archive: Archive, names: tuple[str, ...], context: Context) -> tuple[Known, int]:
    known: Known = {}
    size = 0
    for name in names:
        for page in corpora.pages((name,), context.pick(None, _QUICK_PAGES)):
            body = page.read()
            url = f"https://{name}/{page.name}"
            archive.add(url, _TIME, body)
            known[url] = _sum(body)
            size += len(body)
        archive.commit()
    return known, size


def _equal(archive: Archive, known: Known) -> int:
    """How many pages are there once and equal, reading all as they are stored."""
    seen = Counter(page.url for page in archive.read() if known.get(page.url) == _sum(page.body))
    return sum(seen[url] == 1 for url in known)


def _is(archive: Archive, url: str, digest: bytes) -> bool:
    try:
        page = archive.get(url, _TIME)
    except QuireError:
        return False
    return page.url == url and page.time == _TIME and _sum(page.body) == digest


def _exported(warc: Path, known: Known) -> int:
    """How many pages another reader finds equal, at their address and time."""
    expected = {address(url): digest for url, digest in known.items()}
    date = f"{_TIME:%Y-%m-%dT%H:%M:%S}Z"
    seen = Counter(
        one.url
        for one in by_warcio(str(warc))
        if one.date == date and expected.get(one.url) == _sum(one.payload)
    )
    return sum(seen[url] == 1 for url in expected)


def _sum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()

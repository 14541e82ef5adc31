"""Every record of a WARC file comes out again, whatever its type, and is never taken for a page."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped] # warcio has no types
from warcio.exceptions import ArchiveLoadFailed  # type: ignore[import-untyped] # same

from quire.archive import Archive, Ingested, export, ingest
from quire.archive.build import build_archive
from quire.archive.repair import repair
from quire.archive.warc.export import payload_digest
from quire.errors import PageNotFound
from quire.sources import find
from quire.sources.warc import Record as Read
from quire.sources.warc import read_records
from tests.archive.crash.ingest import QUICK
from tests.sources.crawls import coded, record, response, write

Stored = Counter[tuple[bytes, bytes]]
PAGE = b"<title>Fish</title>" + b"<p>Cod 8.40" * 40
HOW = ["journal", "segment", "dense", "twice", "build"]


def records_in(path: Path | str) -> Stored:
    """Every record of a file: its head and its block, to the byte, and how often it is there."""
    found: Stored = Counter()
    for one in read_records(str(path), kinds=None, faulty=True):
        if isinstance(one, Read):
            found[one.warc_head, one.block] += 1
    return found


def by_warcio(path: Path) -> Counter[tuple[str, str, bytes]]:
    """Every record as another reader finds it: type, id and block."""
    found: Counter[tuple[str, str, bytes]] = Counter()
    with path.open("rb") as stream:
        for one in ArchiveIterator(stream, no_record_parse=True):
            number = one.rec_headers.get_header("WARC-Record-ID")
            found[str(one.rec_type), str(number), one.raw_stream.read()] += 1
    return found


def added(folder: Path, paths: list[str], how: str) -> Ingested:
    """Fill an archive in one of several ways."""
    if how == "build":
        return build_archive(paths, folder)
    with Archive.create(folder, disk=QUICK) as archive:
        done = ingest(archive, paths)
        if how != "journal":
            archive.compact(codec="dense" if how == "dense" else "zstd")
        if how == "twice":
            archive.compact()
    return done


def through(folder: Path, paths: list[str], how: str) -> tuple[Ingested, Path]:
    """Fill an archive, check it, and export it."""
    done = added(folder / f"{how}.quire", paths, how)
    out = folder / f"{how}.warc.gz"
    with Archive.open(folder / f"{how}.quire") as archive:
        assert archive.verify() == []
        written = export(archive, out)
        assert written.damaged == ()
        assert written.pages == done.pages == len(archive)
        assert written.records == done.pages + sum(done.companions.values())
    return done, out


def head(kind: str, block: bytes, *fields: str, version: str = "1.0") -> bytes:
    """Write a record with these fields and no others, in this order and spelling."""
    lines = [f"WARC/{version}", *([f"WARC-Type: {kind}"] if kind else []), *fields]
    return (
        "\r\n".join([*lines, f"Content-Length: {len(block)}", "", ""]).encode()
        + block
        + b"\r\n\r\n"
    )


def identity(number: int) -> str:
    return f"<urn:uuid:00000000-0000-4000-8000-{number:012}>"


WHEN = "WARC-Date: 2026-05-17T11:02:33Z"
HERE = "WARC-Target-URI: https://a.example/"
DIGEST = f"WARC-Payload-Digest: {payload_digest(PAGE)}"
PROFILE = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit"


def kinds() -> dict[str, bytes]:
    """One record of every kind, under a name that says why it is here."""
    get = b"GET / HTTP/1.1\r\nHost: a.example\r\nCookie: a=1\r\n\r\n"
    post = b"POST /form HTTP/1.1\r\nHost: a.example\r\n\r\nname=Cod&price=8.40"
    sha1 = hashlib.sha1(get, usedforsecurity=False).hexdigest()
    ids = [f"WARC-Record-ID: {identity(i)}" for i in range(40)]
    to_first = f"WARC-Concurrent-To: {identity(2)}"
    again = f"{PROFILE}/identical-payload-digest"
    return {
        "about the crawl": head(
            "warcinfo", b"software: x\r\n", ids[0], WHEN, "WARC-Filename: a.warc"
        ),
        "request": head(
            "request", get, ids[1], WHEN, HERE, to_first, f"WARC-Block-Digest: sha1:{sha1}"
        ),
        "page": head("response", response(PAGE), ids[2], WHEN, HERE, DIGEST),
        "request with a body": head("request", post, ids[3], WHEN, HERE, to_first),
        "metadata": head(
            "metadata",
            b"via: https://b.example/\r\nfetchTimeMs: 12\r\n",
            ids[4],
            WHEN,
            HERE,
            to_first,
        ),
        "metadata without an address": head("metadata", b"{}", ids[5], WHEN),
        "long metadata": head(
            "metadata", b"outlink: https://a.example/x E a/@href\r\n" * 400, ids[6], WHEN, HERE
        ),
        "conversion": head(
            "conversion",
            b"Fish. Cod 8.40",
            ids[7],
            WHEN,
            HERE,
            f"WARC-Refers-To: {identity(2)}",
            "Content-Type: text/plain",
        ),
        "resource": head("resource", b"A file", ids[8], WHEN, "WARC-Target-URI: file:///a.txt"),
        "first segment": head(
            "response",
            response(b"<p>On"),
            ids[9],
            WHEN,
            "WARC-Target-URI: https://a.example/long",
            "WARC-Segment-Number: 1",
        ),
        "last segment": head(
            "continuation",
            b"ward",
            ids[10],
            WHEN,
            "WARC-Target-URI: https://a.example/long",
            "WARC-Segment-Number: 2",
            f"WARC-Segment-Origin-ID: {identity(9)}",
            "WARC-Segment-Total-Length: 9",
        ),
        "revisit": head(
            "revisit",
            response(b""),
            ids[11],
            WHEN,
            "WARC-Target-URI: https://b.example/",
            DIGEST,
            again,
            "WARC-Refers-To-Target-URI: https://a.example/",
        ),
        "revisit without a page": head(
            "revisit",
            response(b""),
            ids[12],
            WHEN,
            HERE,
            f"WARC-Payload-Digest: {payload_digest(b'gone')}",
            again,
        ),
        "revisit without a digest": head("revisit", response(b""), ids[13], WHEN, HERE, again),
        "not modified": head(
            "revisit",
            b"HTTP/1.1 304 Not Modified\r\n\r\n",
            ids[14],
            WHEN,
            HERE,
            f"{PROFILE}/server-not-modified",
        ),
        "revisit without a block": head(
            "revisit", b"", ids[15], WHEN, "WARC-Target-URI: https://b.example/2", DIGEST, again
        ),
        "unknown type": head("x-screenshot", bytes(range(256)), ids[16], WHEN, HERE),
        "no type": head("", b"?", ids[17], WHEN),
        "no type, no date, no id": head("", b""),
        "empty page": head("response", b"", ids[18], WHEN, "WARC-Target-URI: https://a.example/0"),
        "empty request": head("request", b"", ids[19], WHEN, HERE),
        "cut off": head(
            "response",
            response(b"<p>Half"),
            ids[20],
            WHEN,
            "WARC-Target-URI: https://a.example/cut",
            "WARC-Truncated: length",
        ),
        "id used twice": head("request", get, ids[1], WHEN, HERE, to_first),
        "version 0.18": head("request", get, ids[21], WHEN, HERE, version="0.18"),
        "version 1.1": head(
            "metadata",
            b"x: y\r\n",
            ids[22],
            "WARC-Date: 2026-05-17T11:02:33.123456789Z",
            HERE,
            version="1.1",
        ),
        "odd head": b"WARC/1.0\nwarc-type:  REQUEST \nWARC-Odd:no space\n folded\nWARC-Odd: again\ncontent-length: 2\n\nx\n\r\n\r\n",
        "wrong digest": head(
            "response",
            response(b"<p>Altered"),
            ids[23],
            WHEN,
            "WARC-Target-URI: https://a.example/altered",
            f"WARC-Block-Digest: {payload_digest(b'')}",
        ),
        "digest in base 64": head(
            "response",
            b"",
            ids[24],
            WHEN,
            HERE,
            "WARC-Block-Digest: sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
        ),
        "marks in the head": head(
            "metadata", b"x", ids[25], WHEN, HERE, "X-Mark: \x01u sha1:\x01b"
        ),
    }


def crawl(folder: Path, suffix: str) -> Path:
    path = folder / f"crawl.warc{suffix}"
    records = list(kinds().values())
    if suffix == ".one.gz":  # all records in one gzip member
        path = folder / "one.warc.gz"
        path.write_bytes(gzip.compress(b"".join(records)))
    else:
        write(path, records)
    return path


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("suffix", ["", ".gz", ".one.gz", ".zst"])
def test_records_of_every_kind_come_out_as_they_went_in(
    tmp_path: Path, suffix: str, how: str
) -> None:
    source = crawl(tmp_path, suffix)
    before = records_in(source)
    assert before.total() == len(kinds())

    done, out = through(tmp_path, [str(source)], how)

    assert records_in(out) == before
    assert by_warcio(out) == by_warcio(crawl(tmp_path, ""))
    assert (done.pages, done.troubles) == (8, ())
    assert done.companions == {
        "continuation": 1,
        "conversion": 1,
        "metadata": 5,
        "request": 6,
        "response": 1,
        "revisit": 3,
        "unknown": 2,
        "warcinfo": 1,
        "x-screenshot": 1,
    }
    reasons = sorted(warning.reason.partition(":")[0] for warning in done.warnings)
    assert reasons == [
        "damaged",
        "one segment of a record that is split into several; these are not joined",
        "one segment of a record that is split into several; these are not joined",
        "unresolved revisit",
    ]


def test_a_crawl_in_a_wacz_comes_out_as_it_went_in(tmp_path: Path) -> None:
    plain = crawl(tmp_path, "")
    with zipfile.ZipFile(tmp_path / "c.wacz", "w") as file:
        file.writestr("archive/a.warc.gz", coded(plain.read_bytes(), ".gz"))
        file.writestr("datapackage.json", "{}")
    for how in ("segment", "build"):
        _, out = through(tmp_path, find([str(tmp_path / "c.wacz")]), how)
        assert records_in(out) == records_in(plain)


def test_records_of_other_projects_come_out_as_they_went_in(
    tmp_path: Path, corpus_files: Callable[[str], list[Path]]
) -> None:
    """Before companions were stored, 528 of 1,323 records of real files came out again."""
    count = by_others = 0
    for number, source in enumerate(corpus_files("warc")):
        before = records_in(source)
        for how in ("journal", "segment", "build"):
            folder = tmp_path / f"{number}-{how}"
            folder.mkdir()
            if not before:  # one file is cut off in its only record
                continue
            done, out = through(folder, [str(source)], how)
            if ".arc" in source.name:
                continue  # its records have other heads; see the next test
            assert records_in(out) == before, source.name
            assert done.pages + sum(done.companions.values()) == before.total()
            ours = by_warcio(out)
            assert ours.total() == before.total()
            if not done.trouble_count and source.suffix != ".lz4":
                with suppress(ArchiveLoadFailed):  # it does not read files of one gzip member
                    assert ours == by_warcio(source), source.name
                    by_others += 1
            count += before.total()
    assert by_others == 3 * 20
    assert count == 3 * 253


def test_records_of_an_arc_file_come_out_as_warc(
    tmp_path: Path, corpus_files: Callable[[str], list[Path]]
) -> None:
    (source,) = (path for path in corpus_files("warc") if path.name == "example.arc.gz")
    for how in ("journal", "segment", "build"):
        folder = tmp_path / how
        folder.mkdir()
        _, out = through(folder, [str(source)], how)
        before, after = (
            [
                (one.kind, one.block, one.time)
                for one in read_records(str(path), kinds=None)
                if isinstance(one, Read) and b"software: quire/" not in one.block
            ]
            for path in (source, out)
        )
        assert sorted(before) == sorted(after)
        assert [kind for kind, _, _ in before] == ["warcinfo", "response"]


def test_companions_are_no_pages(tmp_path: Path) -> None:
    get = b"GET / HTTP/1.1\r\n\r\n"
    records = [
        record(get, kind="request", url="https://a.example/only"),
        record(get, kind="request"),
        record(response(PAGE)),
    ]
    write(tmp_path / "a.warc", records)
    for how in HOW:
        added(tmp_path / how, [str(tmp_path / "a.warc")], how)
        with Archive.open(tmp_path / how) as archive:
            assert (len(archive), archive.companion_count()) == (1, 2)
            assert [page.url for page in archive] == ["https://a.example/"]
            assert [page.url for page in archive.pages()] == ["https://a.example/"]
            assert [page.record_type for page in archive.versions("https://a.example/")] == [
                "response"
            ]
            with pytest.raises(PageNotFound):
                archive.get("https://a.example/only")
            found = list(archive.companions("request", "https://a.example/o"))
            assert [(one.kind, one.url, one.block) for one in found] == [
                ("request", "https://a.example/only", get)
            ]
            assert found[0].time == datetime(2026, 5, 17, 11, 2, 33, tzinfo=UTC)
            assert list(archive.companions("metadata")) == []
            stats = archive.stats()
            assert (stats.pages, stats.companions) == (1, 2)
            folder = tmp_path / how
            assert stats.stored_bytes == sum(path.stat().st_size for path in folder.iterdir())


def test_a_request_follows_its_page_in_the_export(tmp_path: Path) -> None:
    records = []
    for i in range(5):
        url = f"https://a.example/{i}"
        records.append(record(b"GET /%d HTTP/1.1\r\n\r\n" % i, kind="request", url=url))
        records.append(record(response(PAGE + b"%d" % i), url=url))
    records.append(record(b"software: x", kind="warcinfo"))
    write(tmp_path / "a.warc", records)
    _, out = through(tmp_path, [str(tmp_path / "a.warc")], "segment")

    found = [one for one in read_records(str(out), kinds=None) if isinstance(one, Read)]
    assert [one.kind for one in found] == ["warcinfo", *(["response", "request"] * 5)]
    assert all(a.url == b.url for a, b in zip(found[1::2], found[2::2], strict=True))


def test_what_is_known_is_added_once_and_copies_are_kept(tmp_path: Path) -> None:
    source = str(crawl(tmp_path, ""))
    page, request = kinds()["page"], kinds()["request"]
    write(tmp_path / "more.warc", [page, page, page, request, request, request])
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        first = ingest(archive, [source])
        for _ in range(2):
            again = ingest(archive, [source], skip_known=True)
            assert (again.pages, again.companions) == (0, {})
            assert again.known == first.pages
            assert again.known_companions == sum(first.companions.values())
            archive.compact()
        # One page and one request of these are known.
        more = ingest(archive, [str(tmp_path / "more.warc")], skip_known=True)
        assert (more.pages, more.companions, more.known) == (2, {"request": 2}, 1)
    built = tmp_path / "b"
    first = build_archive([source], built)
    again = build_archive([source], built, skip_known=True)
    assert (again.pages, again.companions, again.known) == (0, {}, first.pages)
    assert again.known_companions == sum(first.companions.values())
    more = build_archive([str(tmp_path / "more.warc")], built, skip_known=True)
    assert (more.pages, more.companions, more.known) == (2, {"request": 2}, 1)


def requests(count: int) -> list[bytes]:
    """Requests and responses of a crawl, as a browser sends them."""
    draw = random.Random(7)
    agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0"
    found = []
    for i in range(count):
        lines = [f"GET /page/{i}/{draw.randrange(10**6)} HTTP/1.1", "Host: a.example"]
        lines += [
            f"User-Agent: {agent}",
            "Accept: text/html,application/xhtml+xml",
            "Accept-Encoding: gzip, br",
        ]
        block = "\r\n".join([*lines, "", ""]).encode()
        fields = [f"WARC-Record-ID: <urn:uuid:{draw.getrandbits(128):032x}>", WHEN]
        fields += [
            f"WARC-Target-URI: https://a.example/page/{i}",
            f"WARC-Concurrent-To: <urn:uuid:{draw.getrandbits(128):032x}>",
        ]
        fields += [
            f"WARC-Block-Digest: {payload_digest(block)}",
            "Content-Type: application/http; msgtype=request",
        ]
        found.append(head("request", block, *fields))
    return found


@pytest.mark.parametrize("how", ["segment", "build"])
def test_requests_are_small_after_compaction(tmp_path: Path, how: str) -> None:
    records = requests(600)
    write(tmp_path / "a.warc", records)
    added(tmp_path / "a", [str(tmp_path / "a.warc")], how)
    with Archive.open(tmp_path / "a") as archive:
        stored = archive.stats().parts["companions"]

    # Two random identifiers are 32 bytes; all else repeats.
    assert stored / len(records) < 70
    assert stored < 0.1 * sum(map(len, records))


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("how", ["journal", "segment"])
def test_damage_is_found_and_the_rest_is_saved(tmp_path: Path, how: str, at: float) -> None:
    records = requests(300) + [
        record(response(PAGE + b"%d" % i), url=f"https://a.example/{i}") for i in range(40)
    ]
    write(tmp_path / "a.warc", records)
    added(tmp_path / "a", [str(tmp_path / "a.warc")], how)
    (file,) = (
        path for path in (tmp_path / "a").iterdir() if path.suffix in {".journal", ".segment"}
    )
    data = bytearray(file.read_bytes())
    data[int(at * len(data))] ^= 0xFF
    file.write_bytes(data)

    with Archive.open(tmp_path / "a") as archive:
        assert archive.verify() != []
    done = repair(tmp_path / "a", tmp_path / "b")

    assert done.lost
    with Archive.open(tmp_path / "b") as archive:
        assert archive.verify() == []
        assert (len(archive), archive.companion_count()) == (done.pages, done.companions)
        out = export(archive, tmp_path / "out.warc.gz").warc
    left = records_in(out)
    assert left <= records_in(tmp_path / "a.warc")
    # A block of a segment holds up to 128 of them, a record of a journal one.
    assert left.total() >= len(records) - (128 if how == "segment" else 1)
    assert done.pages + done.companions == left.total()


def test_acknowledged_companions_survive_any_cut(tmp_path: Path) -> None:
    write(tmp_path / "a.warc", requests(12))
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        ingest(archive, [str(tmp_path / "a.warc")])
        journal = archive.folder / "000001.journal"
        safe = journal.stat().st_size
        write(tmp_path / "b.warc", requests(20)[12:])
        ingest(archive, [str(tmp_path / "b.warc")])
    whole = journal.read_bytes()
    before = records_in(tmp_path / "a.warc")
    for index in (tmp_path / "a").glob("*.index"):
        index.unlink()
    for length in range(safe, len(whole), 97):
        journal.write_bytes(whole[:length])
        with Archive.open(tmp_path / "a") as archive:
            assert archive.verify() == []
            found = Counter((one.warc_head, one.block) for one in archive.companions())
        assert before <= found
        assert found.total() <= 20


def test_a_cut_before_the_commit_is_damage(tmp_path: Path) -> None:
    write(tmp_path / "a.warc", requests(12))
    added(tmp_path / "a", [str(tmp_path / "a.warc")], "journal")
    journal = tmp_path / "a" / "000001.journal"
    data = journal.read_bytes()
    middle = data.index(b"\xabQR\n", len(data) // 2)
    journal.write_bytes(data[:middle] + data[-40:])
    (tmp_path / "a" / "000001.journal.index").unlink()

    with Archive.open(tmp_path / "a") as archive:
        (finding,) = archive.verify()
    assert "of the pages stored here are gone" in finding


def test_a_part_of_an_archive_is_exported_with_its_companions(tmp_path: Path) -> None:
    records = [record(b"software: x", kind="warcinfo", url="about:")]
    for host in "ab":
        url = f"https://{host}.example/"
        records += [record(response(PAGE), url=url), record(b"GET", kind="request", url=url)]
        records.append(record(b"x", kind="metadata", url=f"{url}other"))
    write(tmp_path / "a.warc", records)
    added(tmp_path / "a", [str(tmp_path / "a.warc")], "segment")
    with Archive.open(tmp_path / "a") as archive:
        done = export(archive, tmp_path / "out.warc.gz", prefix="https://a.")

    found = [one for one in read_records(str(done.warc), kinds=None) if isinstance(one, Read)]
    assert [(one.kind, one.url) for one in found] == [
        ("warcinfo", "about:"),
        ("response", "https://a.example/"),
        ("request", "https://a.example/"),
        ("metadata", "https://a.example/other"),
    ]
    assert (done.pages, done.records) == (1, 4)


def test_a_forged_head_of_a_companion_is_not_believed(tmp_path: Path) -> None:
    from quire.archive.format.journal import packed  # noqa: PLC0415 - only here
    from quire.archive.format.page_meta import about  # noqa: PLC0415 - only here

    lie = b"\x00WWARC/1.0\r\nWARC-Type: re\x00quest\r\nContent-Length: 999\r\n\r\n"
    time = datetime(2026, 5, 17, tzinfo=UTC)
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        archive.add_packed(packed(about("a\r\nb", time, b"x", b"", lie, is_companion=True), b"x"))
        archive.commit()
        export(archive, tmp_path / "out.warc.gz")

    (one,) = (
        one
        for one in read_records(str(tmp_path / "out.warc.gz"), kinds=None)
        if isinstance(one, Read) and one.kind != "warcinfo"
    )
    assert (one.kind, one.block, one.url) == ("unknown", b"x", "file:///a%0D%0Ab")


def again(url: str, digest: str, of: str = "") -> bytes:
    fields = [f"WARC-Target-URI: {url}", f"WARC-Payload-Digest: {digest}", WHEN]
    fields += [f"WARC-Refers-To-Target-URI: {of}"] if of else []
    return head("revisit", response(b"", "X-Again: yes"), *fields)


def test_add_and_build_store_the_same(tmp_path: Path) -> None:
    source = str(crawl(tmp_path, ".gz"))
    results = []
    for how in ("segment", "build"):
        done = added(tmp_path / how, [source], how)
        with Archive.open(tmp_path / how) as archive:
            pages = sorted((one.url, one.time, one.head, one.body, one.extra) for one in archive)
            beside = sorted((one.url, one.warc_head, one.block) for one in archive.companions())
        warnings = sorted(warning.name for warning in done.warnings)
        results.append((pages, beside, done.companions, done.pages, warnings))
    assert results[0] == results[1]


def test_an_index_knows_companions_and_one_that_lies_is_ignored(tmp_path: Path) -> None:
    source = str(crawl(tmp_path, ""))
    added(tmp_path / "a", [source], "segment")
    index = next((tmp_path / "a").glob("*.index"))
    about = json.loads(index.read_bytes()[32:].partition(b"}")[0] + b"}")
    with Archive.open(tmp_path / "a") as archive:
        assert about["companions"] == archive.companion_count() == 21

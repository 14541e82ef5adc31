"""Whole crawls go into an archive; unreadable records are listed, and the rest is stored."""

from __future__ import annotations

import gzip
import os
import random
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from quire.archive import Archive, ingest
from quire.archive.warc.export import payload_digest
from quire.errors import SourceUnreadable
from quire.sources import Trouble, find
from tests.archive.test_export import START, crawl
from tests.sources.crawls import coded, record, response, write

LATER = datetime(2026, 6, 1, tzinfo=UTC)


def revisit(url: str, body: bytes, *, of: str = "https://a.example/1", profile: str = "x") -> bytes:
    more = (
        f"WARC-Payload-Digest: {payload_digest(body)}\r\nWARC-Profile: {profile}\r\n"
        f"WARC-Refers-To-Target-URI: {of}\r\nWARC-Refers-To-Date: 2026-05-17T11:02:33Z\r\n"
    )
    return record(response(b""), kind="revisit", url=url, more=more.encode())


def test_a_crawl_is_added_with_its_heads(tmp_path: Path) -> None:
    source = crawl(".gz", tmp_path)
    told: list[tuple[str, int, int]] = []
    with Archive.create(tmp_path / "a") as archive:
        done = ingest(archive, [str(source)], progress=lambda *how: told.append(how))

        assert (done.pages, done.troubles, len(archive)) == (9, (), 9)
        assert done.companions == {"request": 1, "warcinfo": 1}
        page = archive.get("https://a.example/2")
        assert page.time == START
        assert page.head == response(b"", "Content-Encoding: gzip")
        assert page.body != page.content() == b"<p>Cod 8.40" * 40
        assert page.digest().text().startswith("Cod 8.40")
        assert (page.warc_head() or b"").startswith(b"WARC/1.0\r\nWARC-Type: response")
        assert archive.get("https://a.example/3").content() == b"<p>"
        assert archive.get("https://a.example/gone").status == 404
        again = archive.get("https://b.example/again")
        assert again.body == archive.get("https://a.example/1").body
        assert b"X-Again: yes" in again.head
    size = source.stat().st_size
    assert told[0] == ("read", 0, size)
    assert told[-1] == ("read", size, size)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_body_that_does_not_decode_is_kept_as_it_is(tmp_path: Path) -> None:
    broken = gzip.compress(b"<p>Cod" * 99)[:-20]
    write(tmp_path / "a.warc", [record(response(broken, "Content-Encoding: gzip"))])
    with Archive.create(tmp_path / "a") as archive:
        assert ingest(archive, [str(tmp_path / "a.warc")]).pages == 1
        page = archive.get("https://a.example/")
        assert page.body == broken
        with pytest.raises(SourceUnreadable, match=r"^https://a\.example/: gzip: truncated"):
            page.content()
        with pytest.raises(SourceUnreadable):
            page.digest()


def test_what_cannot_be_read_is_told_and_passed_over(tmp_path: Path) -> None:
    good = [record(response(b"<p>%d" % i), url=f"https://a.example/{i}") for i in range(3)]
    write(tmp_path / "a.warc.gz", good)
    data = bytearray((tmp_path / "a.warc.gz").read_bytes())
    data[len(coded(good[0], ".gz")) + 30] ^= 0xFF
    (tmp_path / "a.warc.gz").write_bytes(data)
    told: list[Trouble] = []
    paths = [str(tmp_path / "a.warc.gz"), str(tmp_path / "gone.warc"), str(tmp_path / "no.html")]
    with Archive.create(tmp_path / "a") as archive:
        done = ingest(archive, paths, on_trouble=told.append)

        assert [version.url for version in archive.pages(order="url")] == [
            "https://a.example/0",
            "https://a.example/2",
        ]
    assert done.trouble_count == 3
    assert list(done.troubles) == told
    assert [trouble.name.partition("#")[0] for trouble in told] == paths
    assert told[1].reason == "no such file"


def test_revisits_have_the_bytes_of_their_pages(tmp_path: Path) -> None:
    page = b"<p>Cod"
    records = [
        revisit("https://b.example/early", page),
        record(response(page), url="https://a.example/1"),
        revisit("https://b.example/wrong", b"<p>Another"),
        revisit("https://b.example/lost", page, of="https://nowhere.example/"),
        revisit("https://b.example/same", page, profile="http://x/revisit/server-not-modified"),
    ]
    write(tmp_path / "a.warc", records)
    with Archive.create(tmp_path / "a") as archive:
        done = ingest(archive, [str(tmp_path / "a.warc")])

        assert (done.pages, done.companions, done.troubles) == (3, {"revisit": 2}, ())
        assert archive.get("https://b.example/early").body == page
        assert archive.get("https://b.example/lost").body == page, "found by its digest"
        digest = payload_digest(b"<p>Another")
        assert [one.reason for one in done.warnings] == [
            f"unresolved revisit: no page with the digest {digest!r} (https://a.example/1)"
        ]
        kept = {one.url: one.kind for one in archive.companions()}
        assert kept == {"https://b.example/wrong": "revisit", "https://b.example/same": "revisit"}


def test_revisits_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.archive.warc.revisits.MOST_BYTES", 4)
    page = b"<p>Cod"
    records = [record(response(page), url="https://a.example/1")]
    records += [revisit(f"https://a.example/again{i}", page) for i in range(30)]
    write(tmp_path / "a.warc", records)
    with Archive.create(tmp_path / "a") as archive:
        assert ingest(archive, [str(tmp_path / "a.warc")]).pages == 31
        archive.compact()
        stats = archive.stats()
        assert (stats.pages, stats.duplicates) == (31, 30)


def test_copies_and_revisits_are_stored_once_before_compaction_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, other = (random.Random(i).randbytes(50_000) for i in range(2))
    records = [record(response(page), url="https://a.example/1")]
    records += [record(response(page), url=f"https://a.example/copy{i}") for i in range(9)]
    records += [revisit(f"https://a.example/again{i}", page) for i in range(9)]
    write(tmp_path / "a.warc", records)
    with Archive.create(tmp_path / "a") as archive:
        ingest(archive, [str(tmp_path / "a.warc")])
        journal = archive.folder / "000001.journal"
        assert journal.stat().st_size < 1.3 * len(page)
        assert {one.body for one in archive} == {page}
        # Only one page is remembered, so each of these is stored when the other came before it.
        monkeypatch.setattr("quire.archive.format.journal.MOST_REMEMBERED", 1)
        for i, body in enumerate([other, page, page, other]):
            archive.add(f"https://b.example/{i}", START, body)
        archive.commit()
        assert archive.verify() == []
        assert journal.stat().st_size > 3 * len(page)
        found = [archive.get(f"https://b.example/{i}").body for i in range(4)]
        assert found == [other, page, page, other]
        archive.compact()
        assert [archive.get(f"https://b.example/{i}").body for i in range(4)] == found


def test_folders_parquet_and_wacz_are_added(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.html").write_bytes(b"<p>a")
    os.utime(source / "a.html", (START.timestamp(), START.timestamp()))
    rows = {"url": ["https://p.example/1", None], "time": [START, None], "body": [b"<p>p", b"<p>q"]}
    parquet.write_table(pa.table(rows), source / "b.parquet")
    warc = b"".join(coded(record(response(b"<p>w%d" % i)), ".gz") for i in range(2))
    with zipfile.ZipFile(source / "c.wacz", "w") as file:
        file.writestr("archive/x.warc.gz", warc)
        file.writestr("../../evil.warc.gz", warc)
    before = sorted(tmp_path.rglob("*"))
    with Archive.create(tmp_path / "a") as archive:
        done = ingest(archive, find([str(source)]), time=LATER)
        found = {page.url: (page.time, page.body) for page in archive}

        assert (done.pages, done.troubles) == (5, ())
        assert found[str(source / "a.html")] == (LATER, b"<p>a")
        assert found["https://p.example/1"] == (START, b"<p>p")
        assert found[f"{source}/b.parquet#1"] == (LATER, b"<p>q")
        assert [page.body for page in archive.read("https://a.example/")] == [b"<p>w0", b"<p>w1"]
    now = {path for path in tmp_path.rglob("*") if tmp_path / "a" not in (path, *path.parents)}
    assert now == set(before), "nothing is written beside the archive"


def test_a_file_without_a_time_has_that_of_its_last_change(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"<p>a")
    os.utime(tmp_path / "a.html", (START.timestamp(), START.timestamp()))
    with Archive.create(tmp_path / "a") as archive:
        ingest(archive, [str(tmp_path / "a.html")])
        assert archive.get(str(tmp_path / "a.html")).time == START


def test_what_is_known_is_not_added_again(tmp_path: Path) -> None:
    source = str(crawl("", tmp_path))
    with Archive.create(tmp_path / "a") as archive:
        first = ingest(archive, [source], commit_pages=2)
        again = ingest(archive, [source], skip_known=True)
        archive.compact()
        third = ingest(archive, [source], skip_known=True)
        assert (first.pages, again.pages, again.known, third.known) == (9, 0, 9, 9)
        assert ingest(archive, [source]).pages == 9
        assert len(archive) == 18


def test_pages_are_safe_every_so_often(tmp_path: Path) -> None:
    write(tmp_path / "a.warc", [record(response(b"%d" % i)) for i in range(10)])
    reader = None
    seen = []
    with Archive.create(tmp_path / "a") as archive:
        reader = Archive.open(tmp_path / "a")

        def look(_step: str, _done: int, _of: int) -> None:
            reader.refresh()
            seen.append((len(archive), len(reader)))

        ingest(archive, [str(tmp_path / "a.warc")], commit_pages=4, progress=look)
        ingest(archive, [str(tmp_path / "a.warc")], commit_bytes=3)
        reader.close()

    # More is written than is safe, but never more than the commit size ahead.
    assert all(pages - 4 <= safe for pages, safe in seen)
    assert seen[-1] == (10, 10)


def test_troubles_are_counted_and_not_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys  # noqa: PLC0415 - the function hides its module

    monkeypatch.setattr(sys.modules["quire.archive.warc.ingest"], "MOST_TROUBLES", 3)
    with Archive.create(tmp_path / "a") as archive:
        done = ingest(archive, [str(tmp_path / f"{i}.html") for i in range(9)])

    assert (done.trouble_count, len(done.troubles)) == (9, 3)

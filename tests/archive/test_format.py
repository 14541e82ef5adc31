"""The archive part of docs/format.md is true: a reader written from it reads the golden archives.

The reader uses no quire code. Golden archives of every released version must open, have no findings
and return their pages.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
import zstandard

from quire.archive import Archive, StoredPage, ingest
from quire.archive.repair import repair
from quire.archive.warc.pipeline import Arrived
from tests.sources.crawls import record, response
from tests.sources.crawls import write as write_crawl

GOLDEN = Path(__file__).parent / "golden"
START = datetime(2026, 5, 1, 12, 30, 0, 123456, tzinfo=UTC)
#: Folders this reader cannot read: it would need complete implementations of their codecs.
TIERS = ("dense", "tbc")
FOLDERS = sorted(path for path in GOLDEN.glob("v*/*") if path.is_dir())
PLAIN = [path for path in FOLDERS if path.name not in TIERS]
EACH = pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}"
)


class Page(NamedTuple):
    """A page as it was stored."""

    url: str
    time: datetime
    head: bytes
    extra: bytes
    body: bytes


def pages() -> list[Page]:
    """Return the content of every golden archive."""
    found = []
    for i in range(9):
        rows = "".join(f"<tr><td>{j}<td>{i * j % 7}</tr>" for j in range(8))
        body = f"<title>Page {i % 8}</title><table>{rows if i < 8 else ''}</table>".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" if i % 2 else b""
        found.append(Page(f"https://a.example/{i % 5}", START + timedelta(days=i), head, b"", body))
    copy = found[3]._replace(url="https://a.example/copy", extra=b"WARC/1.1\r\n\r\n")
    noise = bytes((i * i * 31 + i // 7) % 256 for i in range(400))
    return [
        *found,
        copy,
        Page("https://b.example/noise", START, b"", b"", noise),
        Page("https://b.example/empty", START - timedelta(days=30_000), b"", b"", b""),
        Page("https://c.example/alone", START, b"", b"", b"<p>Alone, and long enough. " * 9),
        Page("https://b.example/\ud800é", START, b"", b"\0", b"\x37\xa4\x30\xec<p>magic"),
    ]


def chapters() -> list[Page]:
    """Return pages of a manual whose neighbours have most in common, for tiers that use it."""
    found = []
    for i in range(70):
        shared = "".join(f"<li>{j * j * (3 + i // 35) % 1009}" for j in range(300))
        own = " ".join(f"{i * j % 89}" for j in range(40))
        body = f"<title>Chapter {i}</title><ul class=x>{shared}</ul><p>{own}".encode()
        found.append(Page(f"https://m.example/{i:02}", START, b"", b"", body))
    return found


def pages_in(folder: Path) -> list[Page]:
    """Return the content of a golden archive."""
    return [*pages(), *chapters()] if folder.name in TIERS else pages()


class Beside(NamedTuple):
    """A WARC record without a page, as it was stored: its address, head and block."""

    url: str
    head: bytes
    block: bytes


def companions() -> list[Beside]:
    """Return the companions in every golden archive since version 2: short, long and empty ones."""
    found = []
    for i in range(9):
        block = b"GET /%d HTTP/1.1\r\nHost: a.example\r\n\r\n" % i
        length = b"Content-Length: %d" % len(block)
        lines = [b"WARC/1.0", b"WARC-Type: request", b"WARC-Record-ID: <x:%d>" % i, length]
        found.append(Beside(f"https://a.example/{i}", b"\r\n".join([*lines, b"", b""]), block))
    for kind, block in (("metadata", b"outlink: a\r\n" * 500), ("warcinfo", b"")):
        head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nContent-Length: {len(block)}\r\n\r\n"
        found.append(Beside("", head.encode(), block))
    return found


def add_all(archive: Archive, found: list[Page]) -> None:
    for page in found:
        archive.add(page.url, page.time, page.body, page.head, extra=page.extra)
    for one in companions():
        arrived = Arrived(one.url, START, b"", one.block, one.head, is_companion=True)
        archive.add_packed(arrived.packed())


def write_tiers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the golden archives for other tiers."""
    monkeypatch.setattr(
        "quire.archive.compact.tiers.dense.DENSE_BASE_BYTES", 500
    )  # so that runs have their own
    for name in TIERS:
        shutil.rmtree(folder / name, ignore_errors=True)
        with Archive.create(folder / name) as archive:
            add_all(archive, pages_in(folder / name))
            archive.compact(codec="dense" if name == "dense" else "tbc")
        (folder / name / "lock").unlink()


def write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the golden archives of the newest version."""
    write_tiers(folder, monkeypatch)
    monkeypatch.setattr(
        "quire.archive.format.segment.TWICE_SHARE", 1
    )  # so that a base is there twice
    for name in ("journal", "segment", "both", "torn"):
        shutil.rmtree(folder / name, ignore_errors=True)
        with Archive.create(folder / name) as archive:
            for page in pages()[:9]:
                archive.add(page.url, page.time, page.body, page.head, extra=page.extra)
            archive.commit()
            if name in {"segment", "both"}:
                archive.compact()
            add_all(archive, pages()[9:])
            if name == "segment":
                archive.compact()
        (folder / name / "lock").unlink()
    torn = folder / "torn" / "000001.journal"
    content = torn.read_bytes()
    torn.write_bytes(content + content[100:300])
    (folder / "torn" / "000001.journal.index").unlink()


def test_golden_archives_are_written_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get("QUIRE_WRITE_GOLDEN"):
        write(GOLDEN / "v2", monkeypatch)
    for version in ("v1", "v2"):
        assert sorted(path.name for path in GOLDEN.glob(f"{version}/*")) == [
            "both",
            "dense",
            "journal",
            "segment",
            "tbc",
            "torn",
        ]


class Record(NamedTuple):
    """A record of a journal or segment."""

    offset: int
    kind: int
    meta: bytes
    payload: bytes


def records(data: bytes) -> Iterator[Record]:
    """Read records up to the end, or to the first bytes that are not a record."""
    at = 0
    while data[at : at + 4] == b"\xabQR\n":
        kind, _tag, meta, payload, _, _ = struct.unpack_from("<4xB3sIQQI", data, at)
        end = at + 32 + meta + payload
        if end > len(data):
            return
        yield Record(at, kind, data[at + 32 : at + 32 + meta], data[at + 32 + meta : end])
        at = end


def unpacked(frame: bytes, length: int, base: bytes = b"") -> bytes:
    """Decode a frame."""
    if base.startswith(b"\x37\xa4\x30\xec"):
        base = b"\0" + base
    dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    reader = zstandard.ZstdDecompressor(
        dict_data=dictionary if base else None, format=zstandard.FORMAT_ZSTD1_MAGICLESS
    )
    return reader.decompress(frame, max_output_size=length) if length else b""


def columns(data: bytes) -> list[tuple[int, int, int, int, int, bytes, bytes, bytes]]:
    """Read columns: time, lengths of body and frame, codec, duplicate, address, head, extra."""
    (n,) = struct.unpack_from("<I", data)
    times = struct.unpack_from(f"<{n}q", data, 4)
    numbers = struct.unpack_from(f"<{4 * n}I", data, 4 + 8 * n)
    at = 4 + 8 * n + 16 * n + 8 * n + 16 * n
    lengths = struct.unpack_from(f"<{3 * n}I", data, at)
    at += 12 * n
    texts = []
    for length in lengths:
        texts.append(data[at : at + length])
        at += length
    assert at == len(data)
    rows = zip(*(numbers[i * n : (i + 1) * n] for i in range(4)), strict=True)
    named = zip(texts[:n], texts[n : 2 * n], texts[2 * n :], strict=True)
    return [(t, *row, *text) for t, row, text in zip(times, rows, named, strict=True)]


def pages_of(data: bytes, kinds: tuple[int, int] = (2, 4)) -> Iterator[Page]:
    """Read all pages of a journal or segment, or all companions."""
    bases = {0: b""}
    at_offset: dict[int, bytes] = {}
    for offset, kind, meta, payload in records(data):
        if kind == 3:
            number, length, _ = struct.unpack("<IIQ", meta)
            bases[number] = unpacked(payload, length)
        if kind not in kinds:
            continue
        base = 0
        if kind in {4, 8}:
            base, length = struct.unpack_from("<II", meta)
            meta = unpacked(meta[8:], length)  # noqa: PLW2901 - as the page says it
        bodies: list[bytes] = []
        for time, length, frame, codec, twin, url, head, extra in columns(meta):
            part, payload = payload[:frame], payload[frame:]  # noqa: PLW2901 - taken off the front
            if codec == 0:
                body = part
            elif codec == 3 and kind in {2, 7}:
                body = at_offset[struct.unpack("<Q", part)[0]]
            elif codec == 3:
                body = bodies[twin]
            else:
                leans_on = {1: b"", 2: bases[base], 4: bodies[twin] if codec == 4 else b""}
                body = unpacked(part, length, leans_on[codec])
            bodies.append(body)
            at_offset[offset] = body
            when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)
            yield Page(url.decode("utf-8", "surrogatepass"), when, head, extra, body)


@pytest.mark.parametrize("folder", PLAIN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_reader_written_from_the_format_page_gives_the_pages_back(folder: Path) -> None:
    about = json.loads((folder / "archive.json").read_text())
    assert (about["format"], f"v{about['version']}") == ("quire archive", folder.parent.name)
    found: list[Page] = []
    beside: list[Page] = []
    for path in [*folder.glob("*.segment"), *folder.glob("*.journal")]:
        found += pages_of(path.read_bytes())
        beside += pages_of(path.read_bytes(), (7, 8))

    assert sorted(found) == sorted(pages())
    assert sorted((one.url, one.head + one.body) for one in beside) == sorted(
        (one.url, one.block) for one in companions_in(folder)
    )
    heads = [warc_head_of(one, block=one.head + one.body) or b"" for one in beside]
    assert sorted(heads) == sorted(one.head for one in companions_in(folder))


def companions_in(folder: Path) -> list[Beside]:
    return [] if folder.parent.name == "v1" else companions()


@EACH
def test_a_golden_archive_opens_has_no_finding_and_gives_its_pages(
    folder: Path, tmp_path: Path
) -> None:
    with Archive.open(folder) as archive:
        assert archive.verify(every_byte=False) == []
        assert archive.verify() == []
        assert sorted(
            Page(page.url, page.time, page.head, page.extra, page.body) for page in archive
        ) == sorted(pages_in(folder))
        for page in pages_in(folder):
            assert archive.get(page.url, page.time).body == page.body
        assert sorted(
            Beside(one.url, one.warc_head, one.block) for one in archive.companions()
        ) == sorted(companions_in(folder))
    kinds = {finding.kind for finding in repair(folder).findings}
    assert kinds == ({"torn"} if folder.name == "torn" else set())

    shutil.copytree(folder, tmp_path / "a")
    with Archive.open(tmp_path / "a", write=True) as archive:
        archive.add("https://c.example", START, b"<p>new")
        archive.compact()
        assert len(archive) == len(pages_in(folder)) + 1
        assert archive.companion_count() == len(companions_in(folder))
        assert archive.verify() == []


def test_a_golden_segment_has_every_kind_of_record() -> None:
    kinds = set()
    for path in GOLDEN.rglob("*.*"):
        if path.suffix in {".journal", ".segment"}:
            kinds |= {record.kind for record in records(path.read_bytes())}
    assert kinds == {1, 2, 3, 4, 5, 6, 7, 8}
    assert codecs_in("segment") == {0, 1, 2, 3, 4}
    assert codecs_in_journals("journal") == {0, 1, 3}
    assert 5 in codecs_in("dense")
    assert 6 in codecs_in("tbc")
    (path,) = GOLDEN.glob("v2/dense/*.segment")
    bases = [payload for _, kind, _, payload in records(path.read_bytes()) if kind == 3]
    below = {struct.unpack_from("<I", base, 4)[0] for base in bases if base[:4] == b"qdns"}
    assert len(below) == 2, "a base for all, and others on top of it"
    assert 0 in below


def codecs_in_journals(name: str) -> set[int]:
    """List the codecs in the journals of the newest golden archives."""
    return {
        columns(meta)[0][3]
        for path in GOLDEN.glob(f"v2/{name}/*.journal")
        for _, kind, meta, _ in records(path.read_bytes())
        if kind in {2, 7}
    }


def codecs_in(name: str) -> set[int]:
    """List the codecs in a golden archive."""
    return {
        row[3]
        for path in GOLDEN.rglob(f"{name}/*.segment")
        for _, kind, meta, _ in records(path.read_bytes())
        if kind == 4
        for row in columns(unpacked(meta[8:], struct.unpack_from("<II", meta)[1]))
    }


def warc_head_of(page: StoredPage | Page, block: bytes | None = None) -> bytes | None:
    """Replace the marks in an extra, as the format page describes."""
    if page.extra[:2] == b"\x00W":
        return page.extra[2:]
    if page.extra[:2] != b"\x01W":
        return None
    is_revisit = re.search(rb"(?im)^WARC-Type: *revisit\r$", page.extra) is not None
    if block is None:
        block = page.head if is_revisit else page.head + page.body
    head = page.extra[2:]
    for name in ("md5", "sha1", "sha256", "sha512"):
        for letters, data in ((b"bB", block), (b"pP", page.body)):
            found = hashlib.new(name, data, usedforsecurity=False).digest()
            for letter, spelled in zip(
                letters, (base64.b32encode(found), found.hex().encode()), strict=True
            ):
                mark = name.encode() + b":\x01" + bytes([letter])
                head = head.replace(mark, name.encode() + b":" + spelled)
    time = page.time.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    head = head.replace(b"\x01d", time).replace(b"\x01l", b"%d" % len(block))
    return head.replace(b"\x01u", page.url.encode())


def test_marks_in_extras_are_as_the_format_page_has_them(tmp_path: Path) -> None:
    block = response(b"<p>Cod")
    said = base64.b32encode(hashlib.sha1(block, usedforsecurity=False).digest())
    more = b"WARC-Block-Digest: sha1:%s\r\nWARC-Payload-Digest: sha256:%s\r\n" % (
        said,
        hashlib.sha256(b"<p>Cod").hexdigest().encode(),
    )
    write_crawl(
        tmp_path / "a.warc",
        [record(block, more=more), record(block, url="https://a.example/\x01")],
    )
    with Archive.create(tmp_path / "a") as archive:
        ingest(archive, [str(tmp_path / "a.warc")])
        archive.add("https://a.example/other", START, b"x", extra=b"\x02 of somebody else")
        found = {page.url: page for page in archive}

    assert {page.extra[:2] for page in found.values()} == {b"\x00W", b"\x01W", b"\x02 "}
    folded = found["https://a.example/"].extra
    assert all(mark in folded for mark in (b"\x01u", b"\x01d", b"\x01l", b"sha1:\x01b", b":\x01P"))
    for page in found.values():
        assert warc_head_of(page) == page.warc_head()
    assert more in (found["https://a.example/"].warc_head() or b"")

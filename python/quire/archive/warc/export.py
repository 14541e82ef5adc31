"""Export: writes an archive as a ``.warc.gz`` with an index, for any tool that reads WARC.

A page that came in a WARC record is written as the same record: record head, HTTP head and payload
are the original bytes. So are requests and all other records that came with the pages. A page with
an HTTP head but no record becomes a ``response``, one without a head a ``resource``. Each record is
its own gzip member, and a line of the CDXJ index gives the position of each page and revisit.

Descriptions of the crawl (``warcinfo``) come first, then each page, followed by the records of the
same address and time, then the rest. A ``warcinfo`` of our own is added only if a record of ours
is in the file: records that come from WARC files go out as they came, and nothing else.

Both files get their names when both are complete on the disk.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import uuid
import zlib
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from quire.archive.archive import Archive
from quire.archive.format.warc_head import warc_date
from quire.archive.results import Companion, StoredPage
from quire.archive.warc import cdxj
from quire.archive.warc.beside import Beside
from quire.archive.warc.revisits import REVISIT
from quire.atomic import open_atomic
from quire.errors import ArchiveError
from quire.progress import Progress, no_progress
from quire.sources.heads import Arc, BadHead, Head, Warc
from quire.sources.warc import PAGES
from quire.version import version as quire_version

LEVEL = 6
_ABOUT_CRAWL = "warcinfo"
_TOKEN = re.compile(r"[a-z][a-z0-9-]{0,40}")
_HTTP_END = re.compile(rb"\r?\n\r?\n")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# The address is put on a line of its own, so nothing in it may end the line.
_SAFE = "!#$%&'()*+,/:;=?@[]~"
_TYPES = {
    "html": "text/html",
    "json": "application/json",
    "text": "text/plain",
    "xml": "application/xml",
}


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        warc: Path of the WARC file.
        index: Path of its index.
        pages: Number of pages written.
        damaged: Descriptions of pages and records that could not be read.
        records: Number of WARC records written, those of pages included.
    """

    warc: Path
    index: Path
    pages: int
    damaged: tuple[str, ...]
    records: int = 0


def index_path(warc: Path) -> Path:
    """Return the path of the index of a WARC file.

    >>> index_path(Path("crawl.warc.gz")).name
    'crawl.cdxj'
    """
    return warc.with_name(re.sub(r"(\.warc)?(\.gz)?$", "", warc.name) + ".cdxj")


def export(
    archive: Archive,
    target: str | os.PathLike[str],
    *,
    prefix: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    progress: Progress = no_progress,
) -> Exported:
    """Write pages and the records that came with them to a WARC file with an index.

    Files with these names are replaced.

    Args:
        archive: An open archive.
        target: The WARC file, usually ``*.warc.gz``; the index is written beside it as ``*.cdxj``.
        prefix: Only addresses that start with this; descriptions of the crawl are always written.
        since: Only pages fetched at this time or later.
        until: Only pages fetched at this time or earlier.
        progress: called with the number of pages written and the total.

    Raises:
        OSError: A file cannot be written.
    """
    warc = Path(target)
    index = index_path(warc)
    selected = _Selected(prefix, since, until)
    with closing(cdxj.Lines()) as lines, open_atomic(warc, index) as (file, index_file):
        out = _Output(file, warc.name, lines)
        damaged = _write(archive, out, selected, progress)
        index_file.writelines(line.encode() for line in lines.sorted())
    return Exported(warc, index, out.pages, damaged, out.records)


def export_stream(
    archive: Archive,
    stream: BinaryIO,
    *,
    prefix: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    progress: Progress = no_progress,
) -> tuple[int, tuple[str, ...]]:
    """Write pages as ``export`` does to an open stream, such as a pipe, without an index.

    Returns:
        The number of records written, and descriptions of everything that could not be read.

    Raises:
        OSError: The stream cannot be written.
    """
    out = _Output(stream, "stream.warc.gz", None)
    damaged = _write(archive, out, _Selected(prefix, since, until), progress)
    return out.records, damaged


class _Selected(NamedTuple):
    """The part of an archive to write."""

    prefix: str
    since: datetime | None
    until: datetime | None


def _write(
    archive: Archive, out: _Output, selected: _Selected, progress: Progress
) -> tuple[str, ...]:
    """Write the records, and return descriptions of those that could not be read."""
    damaged: list[str] = []

    def on_damage(error: ArchiveError) -> None:
        damaged.append(str(error))

    prefix, since, until = selected
    beside = Beside(archive, on_damage)
    for companion in beside.of_kind(_ABOUT_CRAWL):
        out.add_companion(companion)
    for page in archive.read(prefix, since=since, until=until, on_damage=on_damage):
        progress("export", out.pages, len(archive))
        out.add_page(page)
        for companion in beside.at(page.url, page.time):
            out.add_companion(companion)
    for companion in beside.rest(prefix, since, until):
        out.add_companion(companion)
    progress("export", out.pages, out.pages)
    return tuple(damaged)


class _Members:
    """A file made of gzip members."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._end = 0

    def add(self, parts: Sequence[bytes]) -> tuple[int, int]:
        engine = zlib.compressobj(LEVEL, zlib.DEFLATED, 31)
        offset = self._end
        for part in parts:
            self._end += self._file.write(engine.compress(part))
        self._end += self._file.write(engine.flush())
        return offset, self._end - offset


class _Output:
    """A WARC file being written, and the lines of its index."""

    def __init__(self, file: BinaryIO, name: str, lines: cdxj.Lines | None) -> None:
        self._members, self._name, self._lines = _Members(file), name, lines
        self._is_described = False
        self.pages = self.records = 0

    def add_page(self, page: StoredPage) -> None:
        record = record_of(page)
        self._list(page, record, *self._add(record))
        self.pages += 1

    def add_companion(self, companion: Companion) -> None:
        record = companion_record(companion)
        offset, length = self._add(record)
        if record.kind == REVISIT and companion.url:
            page = StoredPage(companion.url, companion.time, companion.block, b"", b"")
            self._list(page, record, offset, length)

    def _list(self, page: StoredPage, record: WarcRecord, offset: int, length: int) -> None:
        if self._lines is not None:
            self._lines.add(_line(page, record, self._name, offset, length))

    def _add(self, record: WarcRecord) -> tuple[int, int]:
        if record.is_ours and not self._is_described:
            self._members.add(_about_file(self._name))
            self._is_described = True
        self.records += 1
        return self._members.add([record.warc_head, *record.block, b"\r\n\r\n"])


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """A page or companion as a WARC record.

    Attributes:
        warc_head: Head of the record.
        block: Block of the record, in parts.
        kind: Type of the record.
        fields: Fields of the head.
        is_ours: Whether the head was made here, because there was none.
    """

    warc_head: bytes
    block: tuple[bytes, ...]
    kind: str
    fields: dict[str, str] = field(default_factory=dict)
    is_ours: bool = False


def record_of(page: StoredPage) -> WarcRecord:
    """Return the record of a page: the one it came in, or a new one."""
    stored = page.warc_head()
    if stored is not None and stored.startswith(b"WARC/"):
        kept = _kept(page, stored)
        if kept is not None:
            return kept
    return _new(page, _arc_address(stored))


def _kept(page: StoredPage, stored: bytes) -> WarcRecord | None:
    """Return the record a page came in; None if its head does not match the page.

    The head comes from the archive's files, which may have been tampered with.
    """
    try:
        head: Head = Warc.parse(stored)
    except BadHead:
        return None
    block = (page.head,) if head.kind == REVISIT else (page.head, page.body)
    is_whole = Warc.end(stored, 0) == len(stored)
    if head.kind not in {*PAGES, REVISIT} or head.length != sum(map(len, block)) or not is_whole:
        return None
    return WarcRecord(stored, block, head.kind, head.fields)


def _arc_address(line: bytes | None) -> str | None:
    """Return the IP address of the server from the line of an ARC record."""
    if line is None:
        return None
    try:
        return Arc.parse(line).fields["warc-ip-address"]
    except BadHead:
        return None


def _new(page: StoredPage, ip_address: str | None) -> WarcRecord:
    end = _HTTP_END.search(page.head)
    is_response = page.head.startswith(b"HTTP/") and end is not None and end.end() == len(page.head)
    block = (page.head, page.body) if is_response else (page.body,)
    kind = "response" if is_response else "resource"
    sha1 = hashlib.sha1(usedforsecurity=False)
    for part in block:
        sha1.update(part)
    url = address(page.url)
    name = f"{url} {page.time.isoformat()} {sha1.hexdigest()}"
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}>",
        "WARC-Target-URI": url,
        "WARC-Date": warc_date(page.time),
        **({"WARC-IP-Address": ip_address} if ip_address else {}),
        "WARC-Block-Digest": "sha1:" + base64.b32encode(sha1.digest()).decode(),
        "WARC-Payload-Digest": payload_digest(page.body),
        "Content-Type": "application/http; msgtype=response" if is_response else _type(page),
        "Content-Length": str(sum(map(len, block))),
    }
    return _ours(fields, block)


def companion_record(companion: Companion) -> WarcRecord:
    """Return the record of a companion: the one it came in, or a new one."""
    stored, block = companion.warc_head, (companion.block,)
    with suppress(BadHead):
        head = Warc.parse(stored)
        if head.length == len(companion.block) and Warc.end(stored, 0) == len(stored):
            return WarcRecord(stored, block, head.kind, head.fields)
    # The first record of an ARC file describes the crawl, as a warcinfo does. Otherwise the head
    # was tampered with, and its type may be anything.
    kind = companion.kind if _TOKEN.fullmatch(companion.kind) else "unknown"
    sha1 = hashlib.sha1(companion.block, usedforsecurity=False)
    name = f"{kind} {companion.url} {companion.time.isoformat()} {sha1.hexdigest()}"
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}>",
        **({"WARC-Target-URI": address(companion.url)} if kind != _ABOUT_CRAWL else {}),
        "WARC-Date": warc_date(companion.time),
        "WARC-Block-Digest": "sha1:" + base64.b32encode(sha1.digest()).decode(),
        "Content-Type": "text/plain" if kind == _ABOUT_CRAWL else "application/octet-stream",
        "Content-Length": str(len(companion.block)),
    }
    return _ours(fields, block)


def _ours(fields: dict[str, str], block: tuple[bytes, ...]) -> WarcRecord:
    known = {name.lower(): value for name, value in fields.items()}
    return WarcRecord(_head(fields), block, known["warc-type"], known, is_ours=True)


def _head(fields: dict[str, str]) -> bytes:
    # Version 1.0 has no fractions of seconds.
    version = "WARC/1.1" if "." in fields["WARC-Date"] else "WARC/1.0"
    lines = [version, *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode("utf-8", "replace")


def address(url: str) -> str:
    r"""Return an address in the form records use; anything without a scheme is a file name.

    >>> address("https://a.example/?q=ä"), address("site/a b.html")
    ('https://a.example/?q=%C3%A4', 'file:///site/a%20b.html')
    >>> address("https://a.example/\r\nX: y")
    'https://a.example/%0D%0AX:%20y'
    """
    quoted = quote(url.encode("utf-8", "surrogatepass"), safe=_SAFE)
    return quoted if _SCHEME.match(url) else "file:///" + quoted.lstrip("/")


def payload_digest(body: bytes) -> str:
    """Return the digest of a payload as WARC writes it."""
    sha1 = hashlib.sha1(body, usedforsecurity=False).digest()
    return "sha1:" + base64.b32encode(sha1).decode()


def _type(page: StoredPage) -> str:
    try:
        return _TYPES.get(page.digest().kind, "application/octet-stream")
    except (ArchiveError, ValueError, OSError):
        return "application/octet-stream"


def _line(page: StoredPage, record: WarcRecord, name: str, offset: int, length: int) -> str:
    # The content type of a response record is always that of an HTTP message.
    is_resource = record.kind == "resource"
    declared = record.fields.get("content-type") if is_resource else page.content_type
    mime = "warc/revisit" if record.kind == REVISIT else (declared or "unk").partition(";")[0]
    status = page.status
    fields = {
        "mime": mime.strip().lower() or "unk",
        **({"status": str(status)} if status is not None else {}),
        "digest": record.fields.get("warc-payload-digest") or payload_digest(page.body),
        "length": str(length),
        "offset": str(offset),
        "filename": name,
    }
    url = record.fields.get("warc-target-uri", page.url).removeprefix("<").removesuffix(">")
    return cdxj.line(url, page.time, fields)


def _about_file(name: str) -> list[bytes]:
    """Make the record that names the software which made the records after it."""
    block = f"software: quire/{quire_version()}\r\nformat: WARC File Format 1.0\r\n".encode()
    head = _head(
        {
            "WARC-Type": "warcinfo",
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
            "WARC-Filename": quote(name, safe=_SAFE),
            "WARC-Date": warc_date(datetime.now(UTC).replace(microsecond=0)),
            "Content-Type": "application/warc-fields",
            "Content-Length": str(len(block)),
        }
    )
    return [head, block, b"\r\n\r\n"]

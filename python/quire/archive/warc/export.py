"""Export: the pages of an archive as a ``.warc.gz`` with its index, for every tool that reads WARC.

A page that came in a WARC record goes out in the same: the head of the record, the HTTP head and the payload are the bytes that were
read. A page with an HTTP head and no record becomes a ``response``, one without a head a ``resource``. Each record is a
gzip member of its own, and a line of the CDXJ index says where.

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
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from quire.archive.archive import Archive
from quire.archive.results import StoredPage
from quire.archive.warc import cdxj
from quire.archive.warc.revisits import REVISIT
from quire.atomic import open_atomic
from quire.errors import ArchiveError
from quire.progress import Progress, no_progress
from quire.sources.heads import Arc, BadHead, Head, Warc
from quire.sources.warc import PAGES
from quire.version import version

LEVEL = 6
_HTTP_END = re.compile(rb"\r?\n\r?\n")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# An address goes into a line of its own: nothing in it may end that line.
_SAFE = "!#$%&'()*+,/:;=?@[]~"
_TYPES = {
    "html": "text/html",
    "json": "application/json",
    "text": "text/plain",
    "xml": "application/xml",
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        warc: the file of records.
        index: its index.
        pages: how many records with pages there are.
        damaged: pages that could not be read, in words.
    """

    warc: Path
    index: Path
    pages: int
    damaged: tuple[str, ...]


def index_path(warc: Path) -> Path:
    """Give the name of the index of a WARC file.

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
    tell: Progress = no_progress,
) -> Exported:
    """Write pages as WARC, with an index; files of these names are replaced.

    Args:
        archive: open in any way.
        target: the file, by custom ``*.warc.gz``; the index is beside it, ``*.cdxj``.
        prefix: what addresses begin with.
        since: pages of that time or later.
        until: pages of that time or before.
        tell: is told of progress.

    Raises:
        OSError: a file cannot be written.
    """
    warc = Path(target)
    index = index_path(warc)
    damaged: list[str] = []
    lines = cdxj.Lines()
    pages = 0
    try:
        with open_atomic(warc, index) as (file, index_file):
            out = _Members(file)
            out.add(_about_file(warc.name))
            for page in archive.read(
                prefix, since=since, until=until, on_damage=lambda error: damaged.append(str(error))
            ):
                tell("export", pages, len(archive))
                record = record_of(page)
                offset, length = out.add([record.warc_head, *record.block, b"\r\n\r\n"])
                lines.add(_line(page, record, warc.name, offset, length))
                pages += 1
            index_file.writelines(line.encode() for line in lines.sorted())
    finally:
        lines.close()
    tell("export", pages, pages)
    return Exported(warc, index, pages, tuple(damaged))


class _Members:
    """A file of gzip members."""

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


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """A page as a record.

    Attributes:
        warc_head: the head of the record.
        block: what follows, in parts.
        fields: what the head says.
        kind: ``response``, ``resource`` or ``revisit``.
    """

    warc_head: bytes
    block: tuple[bytes, ...]
    kind: str
    fields: dict[str, str] = field(default_factory=dict)


def record_of(page: StoredPage) -> WarcRecord:
    """Make the record of a page: the one it came in, or a new one."""
    stored = page.warc_head()
    if stored is not None and stored.startswith(b"WARC/"):
        kept = _kept(page, stored)
        if kept is not None:
            return kept
    return _new(page, _arc_address(stored))


def _kept(page: StoredPage, stored: bytes) -> WarcRecord | None:
    """The record that a page came in; None where its head does not fit the page, as nobody can be sure who stored it."""
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
    """The address of the server, out of the line of an ARC record."""
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
        "WARC-Date": f"{page.time:%Y-%m-%dT%H:%M:%S}Z",
        **({"WARC-IP-Address": ip_address} if ip_address else {}),
        "WARC-Block-Digest": "sha1:" + base64.b32encode(sha1.digest()).decode(),
        "WARC-Payload-Digest": payload_digest(page.body),
        "Content-Type": "application/http; msgtype=response" if is_response else _type(page),
        "Content-Length": str(sum(map(len, block))),
    }
    return WarcRecord(
        _head(fields), block, kind, {name.lower(): value for name, value in fields.items()}
    )


def _head(fields: dict[str, str]) -> bytes:
    lines = ["WARC/1.0", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode("utf-8", "replace")


def address(url: str) -> str:
    r"""Give an address as a record may have it: what is none is taken as the name of a file.

    >>> address("https://a.example/?q=ä"), address("site/a b.html"), address("https://a.example/\r\nX: y")
    ('https://a.example/?q=%C3%A4', 'file:///site/a%20b.html', 'https://a.example/%0D%0AX:%20y')
    """
    quoted = quote(url.encode("utf-8", "surrogatepass"), safe=_SAFE)
    return quoted if _SCHEME.match(url) else "file:///" + quoted.lstrip("/")


def payload_digest(body: bytes) -> str:
    """Give the digest of a payload as WARC has it."""
    sha1 = hashlib.sha1(body, usedforsecurity=False).digest()
    return "sha1:" + base64.b32encode(sha1).decode()


def _type(page: StoredPage) -> str:
    try:
        return _TYPES.get(page.digest().kind, "application/octet-stream")
    except (ArchiveError, ValueError, OSError):
        return "application/octet-stream"


def _line(page: StoredPage, record: WarcRecord, name: str, offset: int, length: int) -> str:
    # The type of a response's record is that of all HTTP messages.
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
    """The first record: what made the file."""
    block = f"software: quire/{version()}\r\nformat: WARC File Format 1.0\r\n".encode()
    head = _head(
        {
            "WARC-Type": "warcinfo",
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
            "WARC-Filename": quote(name, safe=_SAFE),
            "WARC-Date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}Z",
            "Content-Type": "application/warc-fields",
            "Content-Length": str(len(block)),
        }
    )
    return [head, block, b"\r\n\r\n"]

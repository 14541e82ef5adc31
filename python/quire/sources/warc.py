"""WARC and ARC files, record by record: as they are stored, with all their codings.

What is no sound record is a ``Trouble`` with its place, and reading goes on behind it; ``frames`` has the rules.
A record whose head carries a digest of its block is believed only if that is right.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from quire.sources.capture import MOST_BYTES, Trouble, parse_time
from quire.sources.frames import Fault, Frame, Frames
from quire.sources.heads import MOST_HEAD_BYTES
from quire.sources.members import Damage, Feed, RecordOffset
from quire.sources.places import is_arc, open_place

#: Records that hold pages.
PAGES = frozenset({"response", "resource"})

_HTTP_END = re.compile(rb"\r?\n\r?\n")
_DIGESTS = {"md5", "sha1", "sha256", "sha512"}


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it is stored.

    Attributes:
        name: the file and the record's place in it.
        kind: ``response``, ``resource``, ``request``, ``metadata``, …
        fields: the fields of its WARC head, by their names in lower case.
        warc_head: that head as stored; in an ARC file its line.
        head: HTTP status line and header block as stored, with the empty line; ``b""`` where there is none.
        payload: the rest of the block, with all its codings.
    """

    name: str
    kind: str
    fields: dict[str, str]
    warc_head: bytes
    head: bytes
    payload: bytes

    @property
    def url(self) -> str:
        """The address; the name where none is said."""
        # Wget 1.19 and the first draft of the standard put it in brackets.
        return (
            self.fields.get("warc-target-uri", "").removeprefix("<").removesuffix(">") or self.name
        )

    @property
    def time(self) -> datetime | None:
        """When it was fetched, where that is said."""
        return parse_time(self.fields.get("warc-date", ""))


def read_records(
    path: str,
    *,
    kinds: Collection[str] = PAGES,
    most_bytes: int = MOST_BYTES,
    place: RecordOffset | None = None,
) -> Iterator[Record | Trouble]:
    r"""Read the records of a WARC or ARC file, plain or in gzip, zstd or lz4.

    >>> import tempfile
    >>> record = b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n"
    >>> with tempfile.NamedTemporaryFile(suffix=".warc") as file:
    ...     _ = file.write(record), file.flush()
    ...     [(record.kind, record.payload) for record in read_records(file.name)]
    [('resource', b'<p>')]

    Args:
        path: a file, or an address that fsspec knows.
        kinds: the records to give; others are passed over.
        most_bytes: records with a longer block are a ``Trouble``.
        place: where to begin; the first record otherwise.

    Raises:
        OSError: the file cannot be opened; ``SourceNotFound`` where there is none.
        MissingExtra: fastwarc is not installed, and the file is compressed.
    """
    with open_place(path) as file:
        try:
            feed = Feed(file)
            if place is not None:
                feed.go_to(place)
        except Damage as damage:
            yield Trouble(f"{path}#{place or 0}", str(damage))
            return
        for found in Frames(feed, most_bytes + MOST_HEAD_BYTES, arc=is_arc(path)).read():
            made = _record(path, found, kinds)
            if isinstance(made, Record) and isinstance(found, Frame):
                wrong = _wrong(made, found, most_bytes)
                yield Trouble(made.name, wrong) if wrong else made
            elif made is not None:
                yield made


def _record(path: str, found: Frame | Fault, kinds: Collection[str]) -> Record | Trouble | None:
    name = f"{path}#{found.place}"
    if isinstance(found, Fault):
        return Trouble(name, found.reason)
    fields, block = found.head.fields, found.block
    # An ARC file does not say; what is no answer of a server is a page of its own (`dns:`).
    kind = found.head.kind or ("response" if block.startswith(b"HTTP/") else "resource")
    if kind not in kinds:
        return None
    head = b""
    if kind == "request" or (kind == "response" and block.startswith(b"HTTP/")):
        end = _HTTP_END.search(block)
        head = block[: end.end()] if end else block
    return Record(name, kind, fields, found.data, head, block[len(head) :])


def _wrong(record: Record, found: Frame, most_bytes: int) -> str | None:
    length = found.head.length - len(record.head)
    if length > most_bytes:
        return f"{length} bytes; at most {most_bytes} are read"
    if "warc-segment-number" in record.fields:
        return "one segment of a record; the others are records of their own"
    return _wrong_digest(record.fields.get("warc-block-digest", ""), found.block)


def _wrong_digest(said: str, block: bytes) -> str | None:
    algorithm, _, value = said.partition(":")
    if algorithm.lower() not in _DIGESTS:
        return None
    found = hashlib.new(algorithm.lower(), block, usedforsecurity=False).digest()
    for spelled in (base64.b32encode(found).decode(), found.hex()):
        if value.strip().upper().rstrip("=") == spelled.upper().rstrip("="):
            return None
    return f"damaged: its {algorithm.lower()} is {found.hex()}, and its head says {value[:64]}"

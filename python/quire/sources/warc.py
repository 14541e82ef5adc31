"""WARC and ARC files, record by record, as stored and with all encodings left on.

Anything that is not a valid record is a ``Trouble`` with its place, and reading continues after it;
``frames`` has the rules. If a head has a digest of its block, the record is accepted only if the
digest matches.
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

#: Kinds of records that hold pages.
PAGES = frozenset({"response", "resource"})

_HTTP_END = re.compile(rb"\r?\n\r?\n")
_DIGESTS = {"md5", "sha1", "sha256", "sha512"}


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it is stored.

    Attributes:
        name: The file and the record's place in it.
        kind: ``response``, ``resource``, ``request``, ``metadata``, …
        fields: Fields of its WARC head, by lower-case name.
        warc_head: That head as stored; in an ARC file, its line.
        head: HTTP status line and headers as stored, with the empty line, or ``b""``.
        payload: The rest of the block, with all encodings left on.
    """

    name: str
    kind: str
    fields: dict[str, str]
    warc_head: bytes
    head: bytes
    payload: bytes

    @property
    def url(self) -> str:
        """The address, or the name if the record has none."""
        # Wget 1.19 and the first draft of the standard put it in brackets.
        return (
            self.fields.get("warc-target-uri", "").removeprefix("<").removesuffix(">") or self.name
        )

    @property
    def time(self) -> datetime | None:
        """The fetch time, or None."""
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
        path: A file or an fsspec address.
        kinds: Kinds of records to yield; others are skipped.
        most_bytes: Maximum block size in bytes; a longer record is a ``Trouble``.
        place: Where to begin (default: the first record).

    Raises:
        OSError: The file cannot be opened; ``SourceNotFound`` if it does not exist.
        MissingExtra: The file is compressed, and fastwarc is not installed.
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
    # ARC does not state the kind; a block that is not an HTTP response is a resource (`dns:`).
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
        return "one segment of a record that is split into several; these are not joined"
    return _wrong_digest(record.fields.get("warc-block-digest", ""), found.block)


def _wrong_digest(stated: str, block: bytes) -> str | None:
    algorithm, _, value = stated.partition(":")
    if algorithm.lower() not in _DIGESTS:
        return None
    found = hashlib.new(algorithm.lower(), block, usedforsecurity=False).digest()
    for spelled in (base64.b32encode(found).decode(), found.hex()):
        if value.strip().upper().rstrip("=") == spelled.upper().rstrip("="):
            return None
    return f"damaged: its {algorithm.lower()} is {found.hex()}, but its head says {value[:64]}"

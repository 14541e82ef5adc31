"""WARC and ARC files, record by record, as stored and with all encodings left on.

Anything that is not a valid record is a ``Trouble`` with its place, and reading continues after it;
``frames`` has the rules. If a head has a digest of its block, the record is accepted only if the
digest matches. An archive stores every record it can read, so it asks for those as well.

Crawlers spell the same digest differently, in base 32, hexadecimal or base 64. So digests are
compared in a normal form: the algorithm and the value in hexadecimal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from quire.sources.capture import MOST_BYTES, Trouble, parse_time
from quire.sources.frames import Fault, Frame, Frames
from quire.sources.heads import MOST_HEAD_BYTES
from quire.sources.members import Damage, Feed, RecordOffset
from quire.sources.places import is_arc, open_place

#: Kinds of records that hold pages.
PAGES = frozenset({"response", "resource"})

_HTTP_END = re.compile(rb"\r?\n\r?\n")
_DIGEST_LENGTHS = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}


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
        fault: Why this is not the record that its head describes, or empty.
    """

    name: str
    kind: str
    fields: dict[str, str]
    warc_head: bytes
    head: bytes
    payload: bytes
    fault: str = ""

    @property
    def is_segment(self) -> bool:
        """Whether this is one of several parts of a longer record."""
        return "warc-segment-number" in self.fields

    @property
    def block(self) -> bytes:
        """Everything after the head of the record."""
        return self.head + self.payload

    @property
    def target(self) -> str:
        """The address that the record names, or empty."""
        # Wget 1.19 and the first draft of the standard put it in brackets.
        return self.fields.get("warc-target-uri", "").removeprefix("<").removesuffix(">")

    @property
    def url(self) -> str:
        """The address, or the name if the record has none."""
        return self.target or self.name

    @property
    def time(self) -> datetime | None:
        """The fetch time, or None."""
        return parse_time(self.fields.get("warc-date", ""))


def read_records(
    path: str,
    *,
    kinds: Collection[str] | None = PAGES,
    most_bytes: int = MOST_BYTES,
    place: RecordOffset | None = None,
    faulty: bool = False,
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
        kinds: Kinds of records to yield, or None for all; others are skipped.
        most_bytes: Maximum block size in bytes; a longer record is a ``Trouble``.
        place: Where to begin (default: the first record).
        faulty: Also yield records with a wrong digest and parts of longer records; by default each
            is a ``Trouble``.

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
                length = found.head.length - len(made.head)
                fault = _fault(made, found)
                if length > most_bytes:
                    yield Trouble(made.name, f"{length} bytes; at most {most_bytes} are read")
                elif fault and not faulty:
                    yield Trouble(made.name, fault)
                else:
                    yield replace(made, fault=fault) if fault else made
            elif made is not None:
                yield made


def _record(
    path: str, found: Frame | Fault, kinds: Collection[str] | None
) -> Record | Trouble | None:
    name = f"{path}#{found.place}"
    if isinstance(found, Fault):
        return Trouble(name, found.reason)
    fields, block = found.head.fields, found.block
    # ARC does not state the kind; a block that is not an HTTP response is a resource (`dns:`).
    kind = found.head.kind or ("response" if block.startswith(b"HTTP/") else "resource")
    if kinds is not None and kind not in kinds:
        return None
    head = b""
    if kind == "request" or (kind == "response" and block.startswith(b"HTTP/")):
        end = _HTTP_END.search(block)
        head = block[: end.end()] if end else block
    return Record(name, kind, fields, found.data, head, block[len(head) :])


def _fault(record: Record, found: Frame) -> str:
    if record.is_segment:
        return "one segment of a record that is split into several; these are not joined"
    return _wrong_digest(record.fields.get("warc-block-digest", ""), found.block)


def _wrong_digest(stated: str, block: bytes) -> str:
    normal = normal_digest(stated)
    found = digest_of(algorithm_of(normal), block)
    if found is None or found == normal:
        return ""
    algorithm, _, value = found.partition(":")
    said = stated.partition(":")[2]
    return f"damaged: its {algorithm} is {value}, but its head says {said[:64]}"


def normal_digest(stated: str) -> str:
    """Return a stated digest in one form for all spellings; an unknown one is left as it is.

    >>> normal_digest("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
    'sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709'
    >>> normal_digest("SHA-1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=")
    'sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709'
    >>> normal_digest("blake3:abc")
    'blake3:abc'
    """
    name, _, value = stated.strip().partition(":")
    algorithm = name.lower().replace("sha-", "sha")
    length = _DIGEST_LENGTHS.get(algorithm)
    if length is None:
        return stated.strip()
    found = _digest_value(value.strip().rstrip("="), length)
    return stated.strip() if found is None else f"{algorithm}:{found.hex()}"


def digest_of(algorithm: str, data: bytes) -> str | None:
    """Return the digest of some bytes as ``normal_digest`` does; None for an unknown algorithm."""
    if algorithm not in _DIGEST_LENGTHS:
        return None
    return f"{algorithm}:{hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()}"


def algorithm_of(normal: str) -> str:
    """Return the algorithm of a digest in normal form."""
    return normal.partition(":")[0]


def _digest_value(text: str, length: int) -> bytes | None:
    # The number of characters tells the spellings apart.
    try:
        if len(text) == 2 * length:
            return bytes.fromhex(text)
        if len(text) == -(-8 * length // 5):
            return base64.b32decode(text.upper() + "=" * (-len(text) % 8))
        if len(text) == -(-8 * length // 6):
            plain = text.replace("-", "+").replace("_", "/")
            return base64.b64decode(plain + "=" * (-len(text) % 4), validate=True)
    except (ValueError, binascii.Error):
        return None
    return None

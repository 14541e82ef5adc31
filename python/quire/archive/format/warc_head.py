r"""Stores the head of a WARC record with the page or companion in it, and restores it to the byte.

Most of a head can be derived from its page: address, date, length, and the digests of block and
payload, which no codec can compress. These values are left out of storage and filled in again
when the head is read. Values that cannot be derived, or are written unusually, are stored as they
are.

A page's ``extra`` begins with ``00 57`` (the unchanged head follows) or ``01 57`` (the head
follows with marks for the omitted values). A mark is ``01`` and a letter: ``u`` address, ``d``
date, ``l`` length of the block, ``b`` and ``p`` digest of block and payload in base32, ``B`` and
``P`` in hexadecimal. Lines of ARC records are stored the same way.

A companion has only a block. ``block_parts`` splits it into the two parts that the marks refer to.

>>> from datetime import UTC, datetime
>>> head = b"WARC/1.0\r\nWARC-Type: resource\r\n"
>>> head += b"WARC-Target-URI: https://a.example/\r\nContent-Length: 3\r\n\r\n"
>>> page = "https://a.example/", datetime(2026, 5, 1, tzinfo=UTC), b"", b"<p>"
>>> fold(head, *page)
b'\x01WWARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: \x01u\r\nContent-Length: \x01l\r\n\r\n'
>>> unfold(fold(head, *page), *page) == head
True
"""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import datetime

_PLAIN = b"\x00W"
_FOLDED = b"\x01W"
_MARK = b"\x01"
#: How much longer than the head its stored form can be: the prefix, and marks for short values.
MOST_ADDED_BYTES = 16
#: Maximum length of a restored head: twice the limit for address and headers of a page.
MOST_UNFOLDED_BYTES = 1 << 21
_MOST_VALUE_BYTES = 128  # SHA-512 in hexadecimal
_MARKED = re.compile(rb"(?:(md5|sha1|sha256|sha512):)?\x01([udlbpBP])")
_REVISIT = re.compile(rb"^WARC-Type[ \t]*:[ \t]*revisit[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_TYPE = re.compile(rb"^WARC-Type[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_HTTP_END = re.compile(rb"\r?\n\r?\n")
#: Types of records whose block is an HTTP message.
_HTTP_TYPES = frozenset({"request", "response"})
_DIGEST = re.compile(rb"(md5|sha1|sha256|sha512):([0-9A-Za-z]{16,128})")
_DIGEST_MARKS = {b"warc-block-digest": (b"b", b"B"), b"warc-payload-digest": (b"p", b"P")}


def fold(warc_head: bytes, url: str, time: datetime, head: bytes, body: bytes) -> bytes:
    """Return the stored form of a record's head.

    Args:
        warc_head: The head, or the line of an ARC record.
        url: Address of the page.
        time: Fetch time of the page.
        head: HTTP status line and headers of the page.
        body: Body of the page.
    """
    if _MARK not in warc_head:
        parts = _Parts(url, time, head, body, is_revisit=is_revisit(warc_head))
        lines = [_folded_line(line, parts) for line in warc_head.split(b"\r\n")]
        folded = b"\r\n".join(lines)
        # Use the short form only if it restores to exactly this head.
        if is_revisit(folded) == parts.is_revisit and _put_in(folded, parts) == warc_head:
            return _FOLDED + folded
    return _PLAIN + warc_head


def unfold(extra: bytes, url: str, time: datetime, head: bytes, body: bytes) -> bytes | None:
    """Restore the head of a record; None if the page had none, or the head would be too long."""
    if extra.startswith(_PLAIN):
        return extra[len(_PLAIN) :]
    if not extra.startswith(_FOLDED):
        return None
    folded = extra[len(_FOLDED) :]
    # A mark takes two bytes and an address up to a million: a head full of marks could fill
    # the memory.
    addresses = folded.count(_MARK + b"u") * len(url.encode("utf-8", "surrogatepass"))
    if addresses + folded.count(_MARK) * _MOST_VALUE_BYTES + len(folded) > MOST_UNFOLDED_BYTES:
        return None
    return _put_in(folded, _Parts(url, time, head, body, is_revisit=is_revisit(folded)))


def _put_in(folded: bytes, parts: _Parts) -> bytes:
    """Fill in the omitted values."""

    def part(found: re.Match[bytes]) -> bytes:
        algorithm, letter = found[1], found[2]
        before = algorithm + b":" if algorithm else b""
        if letter not in b"bpBP":
            return before + parts.plain(letter)
        return before + parts.digest(algorithm, letter) if algorithm else found[0]

    return _MARKED.sub(part, folded)


def warc_date(time: datetime) -> str:
    """Return a time in UTC as a record has it, with the fraction of a second if there is one.

    >>> from datetime import UTC
    >>> warc_date(datetime(476, 9, 4, 12, tzinfo=UTC))
    '0476-09-04T12:00:00Z'
    """
    return time.replace(tzinfo=None).isoformat() + "Z"


def is_revisit(warc_head: bytes) -> bool:
    """Tell whether a record is a revisit: the page had not changed, so it has no payload."""
    return _REVISIT.search(warc_head) is not None


def warc_type(extra: bytes) -> str | None:
    """Return the type of the WARC or ARC record that something came in, from its extra, or None."""
    return record_type(extra) if extra.startswith((_PLAIN, _FOLDED)) else None


def record_type(warc_head: bytes) -> str:
    r"""Return the type of a record in lower case, from its head as it is or as stored.

    >>> record_type(b"\x01WWARC/1.0\r\nWARC-Type: Request\r\n\r\n")
    'request'
    >>> record_type(b"WARC/1.0\r\n\r\n")
    'unknown'
    """
    head = warc_head[len(_PLAIN) :] if warc_head.startswith((_PLAIN, _FOLDED)) else warc_head
    if not head.startswith(b"WARC/"):
        # The line of an ARC record. All but the first of a file are pages.
        return "warcinfo" if head.startswith(b"filedesc:") else "response"
    found = _TYPE.search(head)
    return found[1].decode("utf-8", "replace").lower() if found and found[1] else "unknown"


def block_parts(warc_head: bytes, block: bytes) -> tuple[bytes, bytes]:
    r"""Split the block of a companion into an HTTP head and a payload.

    >>> block_parts(b"WARC/1.0\r\nWARC-Type: request\r\n\r\n", b"POST / HTTP/1.1\r\n\r\na=1")
    (b'POST / HTTP/1.1\r\n\r\n', b'a=1')
    >>> block_parts(b"WARC/1.0\r\nWARC-Type: metadata\r\n\r\n", b"via: x")
    (b'', b'via: x')

    Args:
        warc_head: Head of the record, as it is or as stored.
        block: Its block.
    """
    kind = record_type(warc_head)
    if kind == "revisit":
        return block, b""
    end = _HTTP_END.search(block) if kind in _HTTP_TYPES else None
    return (block[: end.end()], block[end.end() :]) if end else (b"", block)


class _Parts:
    """The values of a head that can be derived from its page."""

    def __init__(
        self, url: str, time: datetime, head: bytes, body: bytes, *, is_revisit: bool
    ) -> None:
        self._url, self._time, self._body = url, time, body
        self.is_revisit = is_revisit
        self._block = (head,) if is_revisit else (head, body)
        self._digests: dict[tuple[bytes, bool], bytes] = {}

    def plain(self, letter: bytes) -> bytes:
        if letter == b"u":
            return self._url.encode("utf-8", "surrogatepass")
        if letter == b"d":
            return warc_date(self._time.replace(microsecond=0)).encode()
        return b"%d" % sum(map(len, self._block))

    def digest(self, algorithm: bytes, letter: bytes) -> bytes:
        key = algorithm, letter in b"bB"
        if key not in self._digests:
            made = hashlib.new(algorithm.decode(), usedforsecurity=False)
            for part in self._block if key[1] else (self._body,):
                made.update(part)
            self._digests[key] = made.digest()
        found = self._digests[key]
        return base64.b32encode(found) if letter in b"bp" else found.hex().encode()


def _folded_line(line: bytes, parts: _Parts) -> bytes:
    name, colon, value = line.partition(b": ")
    field = name.lower()
    if field == b"warc-target-uri" and value == parts.plain(b"u"):
        return name + colon + _MARK + b"u"
    if field == b"warc-date" and value == parts.plain(b"d"):
        return name + colon + _MARK + b"d"
    if field == b"content-length" and value == parts.plain(b"l"):
        return name + colon + _MARK + b"l"
    found = _DIGEST.fullmatch(value) if field in _DIGEST_MARKS else None
    if found is not None:
        for letter in _DIGEST_MARKS[field]:
            if found[2] == parts.digest(found[1], letter):
                return name + colon + found[1] + b":" + _MARK + letter
    return line

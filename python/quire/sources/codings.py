"""Codings: undoes the transfer and content encodings of an HTTP payload.

Payloads may be hostile: a kilobyte can decode to a gigabyte. So output is counted as it is
produced, and decoders are asked for one piece at a time. Archives may be sloppy: many keep
``Content-Encoding: gzip`` in the head and store the body decoded. So a payload that does not begin
like its encoding is taken as it is.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterable

from quire.sources.capture import header_values
from quire.sources.libraries import stream_io

# Two: a server and one proxy. More only occur in attacks (gzip of gzip of gzip).
MOST_CODINGS = 2

_PIECE_BYTES = 256 * 1024
_SLICE_BYTES = 64 * 1024
_CHUNK_LINE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r\n")
# Control characters that never occur in text; encoded data almost always has one early on.
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_TEXT_BYTES = 1024


class CannotDecode(Exception):
    """A payload does not decode; the message names the encoding and the reason."""


class TooLong(CannotDecode):
    """A payload decodes to more bytes than the caller accepts."""


def undo(head: bytes, payload: bytes, most_bytes: int) -> bytes:
    r"""Undo the encodings that a head declares.

    >>> head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    >>> undo(head, b"3\r\n<p>\r\n0\r\n\r\n", 100)
    b'<p>'

    Raises:
        CannotDecode: The payload is damaged, has an unknown encoding, or decodes to more than
            ``most_bytes``.
        MissingExtra: The encoding needs fastwarc, which is not installed.
    """
    return undo_codings(declared(head), payload, most_bytes)


def undo_codings(codings: list[str], payload: bytes, most_bytes: int) -> bytes:
    """Undo encodings that are given by name, the last one first.

    >>> import gzip
    >>> undo_codings(["gzip"], gzip.compress(b"<p>Open"), 100)
    b'<p>Open'

    Raises:
        CannotDecode: as for ``undo``; ``TooLong`` if the payload decodes to more than ``most_bytes``.
        MissingExtra: The encoding needs fastwarc, which is not installed.
    """
    if not payload or not codings:
        return payload
    if len([coding for coding in codings if coding != "chunked"]) > MOST_CODINGS:
        raise CannotDecode(
            f"{len(codings)} encodings on top of each other; expected at most {MOST_CODINGS}"
        )
    for coding in reversed(codings):
        payload = _DECODERS.get(coding, _unknown(coding))(payload, most_bytes)
    return payload


def decompress(coding: str, data: bytes, most_bytes: int) -> bytes:
    """Undo one content encoding: ``gzip``, ``zstd`` or ``br``.

    >>> import gzip
    >>> decompress("gzip", gzip.compress(b"<p>Open"), 100)
    b'<p>Open'

    Raises:
        CannotDecode: The data is damaged, or decodes to more than ``most_bytes``.
        MissingExtra: The encoding needs fastwarc, which is not installed.
    """
    return _DECODERS[coding](data, most_bytes)


def declared(head: bytes) -> list[str]:
    """List the encodings of a head in order of application: content encodings, then transfer."""
    return listed(
        value
        for field in (b"content-encoding", b"transfer-encoding")
        for value in header_values(head, field)
    )


def listed(values: Iterable[str]) -> list[str]:
    """List the encodings that the values of header fields name, in order of application.

    >>> listed(["X-GZIP, identity", "br"])
    ['gzip', 'br']
    """
    found = [coding.strip().lower() for value in values for coding in value.split(",")]
    return [_SAME.get(coding, coding) for coding in found if coding not in _NO_CODING]


def _gzip(data: bytes, most_bytes: int) -> bytes:
    return _inflate("gzip", data, 31, most_bytes) if data.startswith(b"\x1f\x8b") else data


def _deflate(data: bytes, most_bytes: int) -> bytes:
    # The standard means the zlib format, but some servers always send raw deflate.
    magic = int.from_bytes(data[:2], "big")
    is_zlib = data[0] & 0x0F == 8 and magic % 31 == 0  # noqa: PLR2004 - RFC 1950
    try:
        return _inflate("deflate", data, 15 if is_zlib else -15, most_bytes)
    except CannotDecode:
        if _is_text(data):
            return data
        raise


def _inflate(coding: str, data: bytes, window: int, most_bytes: int) -> bytes:
    pieces: list[bytes] = []
    size = at = 0
    engine = zlib.decompressobj(window)
    while True:
        given = data[at : at + _SLICE_BYTES]
        try:
            piece = engine.decompress(given, _PIECE_BYTES)
        except zlib.error:
            raise CannotDecode(f"{coding}: damaged after {size} decoded bytes") from None
        at += len(given) - len(engine.unconsumed_tail) - len(engine.unused_data)
        size += len(piece)
        if size > most_bytes:
            raise _too_long(coding, most_bytes)
        pieces.append(piece)
        if engine.eof:
            if coding != "gzip" or data[at : at + 2] != b"\x1f\x8b":
                return b"".join(pieces)  # browsers also ignore anything that follows
            engine = zlib.decompressobj(window)
        elif not piece and at >= len(data):
            raise CannotDecode(f"{coding}: truncated after {size} decoded bytes")


def _zstd(data: bytes, most_bytes: int) -> bytes:
    if not data.startswith(b"\x28\xb5\x2f\xfd"):
        return data
    return _drain("zstd", stream_io().ZstdReader(io.BytesIO(data)).read, most_bytes)


def _brotli(data: bytes, most_bytes: int) -> bytes:
    try:
        return _drain("br", stream_io().BrotliReader(io.BytesIO(data)).read, most_bytes)
    except CannotDecode:
        if _is_text(data):
            return data
        raise


def _drain(coding: str, read: Callable[[int], bytes], most_bytes: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := read(_PIECE_BYTES):
            size += len(piece)
            if size > most_bytes:
                raise _too_long(coding, most_bytes)
            pieces.append(piece)
    except OSError as error:
        raise CannotDecode(f"{coding}: damaged after {size} decoded bytes ({error})") from None
    return b"".join(pieces)


def _chunked(data: bytes, most_bytes: int) -> bytes:
    del most_bytes  # removing chunk sizes only makes the data shorter
    pieces: list[bytes] = []
    at = 0
    while at < len(data):  # a missing last chunk is accepted
        line = _CHUNK_LINE.match(data, at)
        if line is None:
            if not pieces:
                return data
            raise CannotDecode(f"chunked: expected a chunk at byte {at}")
        size, at = int(line[1], 16), line.end()
        if size == 0:
            break
        if at + size > len(data):
            raise CannotDecode(
                f"chunked: truncated after {len(data) - at} of {size} bytes of a chunk"
            )
        pieces.append(data[at : at + size])
        at += size
        if data[at : at + 2] == b"\r\n":
            at += 2
        elif at < len(data):
            if len(pieces) == 1:
                return data
            raise CannotDecode(f"chunked: expected the end of a chunk at byte {at}")
    return b"".join(pieces)


def _unknown(coding: str) -> Callable[[bytes, int], bytes]:
    def decode(data: bytes, _: int) -> bytes:
        # Servers put all sorts of words there: `UTF-8`, `none`, `text/html`.
        if _is_text(data):
            return data
        raise CannotDecode(f"unknown content encoding {coding[:40]!r}")

    return decode


def _is_text(data: bytes) -> bool:
    return _NO_TEXT.search(data, 0, _TEXT_BYTES) is None


def _too_long(coding: str, most_bytes: int) -> TooLong:
    return TooLong(f"{coding}: decodes to more than {most_bytes} bytes")


_SAME = {"x-gzip": "gzip", "x-deflate": "deflate", "x-br": "br"}
_NO_CODING = frozenset({"", "identity"})
_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "br": _brotli,
    "chunked": _chunked,
    "deflate": _deflate,
    "gzip": _gzip,
    "zstd": _zstd,
}

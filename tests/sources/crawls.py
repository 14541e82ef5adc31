"""Crawls to read: records, responses and files, written by hand so that they can be wrong."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import zstandard

from quire.sources import Capture, Trouble, read
from quire.sources.libraries import stream_io

CODINGS = ["", ".gz", ".zst", ".lz4"]


def record(
    block: bytes,
    *,
    kind: str = "response",
    url: str = "https://a.example/",
    length: int | None = None,
    more: bytes = b"",
) -> bytes:
    """Write a WARC record; its stated length may be wrong."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-05-17T11:02:33Z\r\n"
        f"Content-Length: {len(block) if length is None else length}\r\n"
    )
    return head.encode() + more + b"\r\n" + block + b"\r\n\r\n"


def response(body: bytes, *fields: str, status: str = "200 OK") -> bytes:
    """Write a server's response."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", *fields, "", ""]
    return "\r\n".join(lines).encode() + body


def coded(data: bytes, suffix: str) -> bytes:
    """Compress a record for a file with this suffix."""
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".zst":
        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    if suffix == ".lz4":
        stream = io.BytesIO()
        writer = stream_io().Lz4Writer(stream)
        writer.write(data)
        writer.close()
        return stream.getvalue()
    return data


def write(path: Path, records: Sequence[bytes]) -> list[int]:
    """Write a file of records, compressed by its suffix, and return where each begins."""
    members = [coded(one, path.suffix if path.suffix != ".warc" else "") for one in records]
    path.write_bytes(b"".join(members))
    return [sum(map(len, members[:index])) for index in range(len(members))]


def captures(path: Path) -> list[Capture]:
    """Read a file that must have no trouble."""
    found = list(read(str(path)))
    assert [one for one in found if isinstance(one, Trouble)] == []
    return [one for one in found if isinstance(one, Capture)]


def told_apart(path: Path) -> tuple[list[Capture], list[Trouble]]:
    """Read a file: its pages and its troubles."""
    found = list(read(str(path)))
    return (
        [one for one in found if isinstance(one, Capture)],
        [one for one in found if isinstance(one, Trouble)],
    )

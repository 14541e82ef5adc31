"""Encodings are undone, bombs are stopped, and a body stored decoded is taken as it is."""

from __future__ import annotations

import ast
import gzip
import io
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from quire.sources import MOST_BYTES
from quire.sources.codings import CannotDecode, undo
from quire.sources.libraries import stream_io
from tests.sources.crawls import record, response, write

PAGE = b"<!doctype html><title>Fish market</title><p>Mackerel 5.20" * 50
MOST = 2**20


def brotli(data: bytes) -> bytes:
    stream = io.BytesIO()
    writer = stream_io().BrotliWriter(stream)
    writer.write(data)
    writer.close()
    return stream.getvalue()


bare = zlib.compressobj(wbits=-15)
CODED = {
    "br": brotli(PAGE),
    "deflate": zlib.compress(PAGE),
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:]),
    "zstd": zstandard.ZstdCompressor().compress(PAGE),
    "Deflate": bare.compress(PAGE) + bare.flush(),  # as some servers send it
}


def chunked(data: bytes, size: int = 100) -> bytes:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%x;a=b\r\n%s\r\n" % (len(one), one) for one in pieces) + b"0\r\nX: y\r\n\r\n"


@pytest.mark.parametrize("coding", CODED)
def test_a_content_coding_is_undone(coding: str) -> None:
    head = response(b"", f"Content-Encoding: {coding}")

    assert undo(head, CODED[coding], MOST) == PAGE
    assert undo(head, PAGE, MOST) == PAGE  # stored decoded, as Common Crawl does
    assert undo(head, b"", MOST) == b""


def test_transfer_codings_are_undone_before_content_codings() -> None:
    head = response(b"", "Content-Encoding: gzip", "Transfer-Encoding: chunked")
    both = response(b"", "content-encoding: br, gzip", "transfer-encoding:\r\n chunked")

    assert undo(head, chunked(gzip.compress(PAGE)), MOST) == PAGE
    assert undo(head, chunked(PAGE), MOST) == PAGE
    assert undo(both, chunked(gzip.compress(CODED["br"])), MOST) == PAGE


@given(st.binary(max_size=300), st.integers(1, 50))
def test_chunks_are_put_together(data: bytes, size: int) -> None:
    head = response(b"", "Transfer-Encoding: chunked")

    assert undo(head, chunked(data, size), MOST) == data


@given(st.sampled_from([*CODED, "chunked"]), st.binary(max_size=60), st.integers(0, 3000))
def test_damage_never_raises_anything_else(coding: str, junk: bytes, at: int) -> None:
    data = chunked(PAGE) if coding == "chunked" else CODED[coding]
    field = "Transfer-Encoding" if coding == "chunked" else "Content-Encoding"
    try:
        undo(response(b"", f"{field}: {coding}"), data[:at] + junk + data[at + 9 :], MOST)
    except CannotDecode as error:
        assert coding.lower().removeprefix("x-") in str(error)  # noqa: PT017 - one of two right outcomes


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip", "zstd"])
def test_what_breaks_off_is_named(coding: str) -> None:
    with pytest.raises(CannotDecode, match=f"^{coding}: "):
        undo(response(b"", f"Content-Encoding: {coding}"), CODED[coding][:-10], MOST)
    with pytest.raises(CannotDecode, match=r"^chunked: truncated after \d+ of 100 bytes"):
        undo(response(b"", "Transfer-Encoding: chunked"), chunked(PAGE)[:150], MOST)


def test_a_coding_nobody_knows_is_named_unless_the_page_is_there_anyway() -> None:
    head = response(b"", "Content-Encoding: UTF-8")

    assert undo(head, PAGE, MOST) == PAGE
    with pytest.raises(CannotDecode, match="unknown content encoding 'utf-8'"):
        undo(head, b"\x00\x01\x02", MOST)


def test_two_codings_are_undone_and_three_are_not() -> None:
    once = gzip.compress(PAGE)
    twice = gzip.compress(once)

    assert undo(response(b"", "Content-Encoding: gzip, gzip"), twice, MOST) == PAGE
    with pytest.raises(CannotDecode, match="3 encodings"):
        undo(response(b"", "Content-Encoding: gzip, gzip, gzip"), gzip.compress(twice), MOST)


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip", "zstd"])
def test_the_longest_page_is_decoded_and_a_longer_one_is_not(coding: str) -> None:
    head = response(b"", f"Content-Encoding: {coding}")

    assert undo(head, CODED[coding], len(PAGE)) == PAGE
    with pytest.raises(CannotDecode, match=f"{coding}: decodes to more than"):
        undo(head, CODED[coding], len(PAGE) - 1)


BOMB_BYTES = 200_000_000
NOTHING = b"\0" * 10_000_000
# In a process of its own: this one may have had a higher peak before.
READ = """
import re, sys
from quire.sources import Trouble, read
from quire.sources.libraries import stream_io
stream_io()
# Not ru_maxrss: that counts the process that started this one.
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
before = peak()
found = [one.reason if isinstance(one, Trouble) else one.body for one in read(sys.argv[1])]
print([found, peak() - before])
"""


def bomb(coding: str) -> bytes:
    stream = io.BytesIO()
    library = stream_io()
    if coding == "br":
        writer = library.BrotliWriter(stream)
    elif coding == "zstd":
        writer = library.ZstdWriter(stream)
    else:
        writer = library.GzipWriter(stream, 6, zlib=coding == "deflate")
    for _ in range(BOMB_BYTES // len(NOTHING)):
        writer.write(NOTHING)
    writer.close()
    return stream.getvalue()


def read_apart(path: Path) -> tuple[list[object], int]:
    """Read a file in a process of its own; return its content, and the growth in kB."""
    command = [sys.executable, "-c", READ, str(path)]
    result = subprocess.run(command, capture_output=True, check=True, timeout=240)
    found, grown_kb = ast.literal_eval(result.stdout.decode())
    return found, grown_kb


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("coding", ["br", "deflate", "gzip", "zstd"])
def test_a_bomb_is_stopped_in_little_memory(tmp_path: Path, coding: str) -> None:
    path = tmp_path / "bomb.warc"
    coded = response(bomb(coding), f"Content-Encoding: {coding}", status="302 Found")
    write(path, [record(coded), record(response(b"<p>Open"))])

    found, grown_kb = read_apart(path)

    assert found == [f"{coding}: decodes to more than {MOST_BYTES} bytes", b"<p>Open"]
    assert grown_kb * 1024 < MOST_BYTES + 14 * 2**20  # 64 MiB


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_record_that_is_a_bomb_is_passed_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.warc.gz"
    start = f"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {BOMB_BYTES}\r\n\r\n"
    engine = zlib.compressobj(wbits=31)
    parts = [engine.compress(start.encode())]
    parts += [engine.compress(NOTHING) for _ in range(BOMB_BYTES // len(NOTHING))]
    parts += [engine.compress(b"\r\n\r\n"), engine.flush()]
    path.write_bytes(b"".join(parts) + gzip.compress(record(response(b"<p>Open"))))

    found, grown_kb = read_apart(path)

    assert found == [f"{BOMB_BYTES} bytes; at most {MOST_BYTES} are read", b"<p>Open"]
    assert grown_kb < 16 * 1024

"""Hostile files cost as much as they are long: reads are counted, not timed."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from quire.archive import Archive, export, ingest
from quire.sources import Trouble, find, read
from quire.sources import wacz as wacz_module
from quire.sources.capture import Capture, header_values
from quire.sources.heads import Warc
from quire.sources.members import Feed
from tests.archive.crash.ingest import QUICK, START
from tests.sources.crawls import record, response


def lines(n: int) -> bytes:
    return b"WARC/1.0\r\n" * n


def empty_heads(n: int) -> bytes:
    return b"WARC/1.0\r\n\r\n" * n


def swallowed_heads(n: int) -> bytes:
    inside = b"WARC/1.0\r\n\r\n" * n + b"x"
    return b"WARC/1.0\r\nContent-Length: %d\r\n\r\n" % (len(inside) - 1) + inside


def too_long(n: int) -> bytes:
    return b"WARC/1.0\r\nContent-Length: 40000000\r\n\r\nx\r\n\r\n" * n


def wrong_lengths(n: int) -> bytes:
    return b"WARC/1.0\r\nContent-Length: 100\r\n\r\nx\r\n\r\n" * n


def new_lines(n: int) -> bytes:
    return (b"\r\n" * 40 + b"x") * n


def in_members(data: bytes) -> bytes:
    return b"".join(gzip.compress(data[i : i + 10]) for i in range(0, len(data), 10))


def as_it_is(data: bytes) -> bytes:
    return data


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[bytes], int]:
    """Read a file, and return how many bytes were taken and handed back, and a few for each step."""
    taken = [0]
    take, hand_back = Feed.take, Feed.hand_back

    def counted_take(feed: Feed, size: int) -> bytes:
        data = take(feed, size)
        taken[0] += len(data) + 8  # a step costs as much as some bytes
        return data

    def counted_hand_back(feed: Feed, data: bytes, place: object) -> None:
        before = sum(len(left) for left, _ in feed._left)
        hand_back(feed, data, place)  # type: ignore[arg-type] # passed on
        # Everything that is new in the list was copied.
        taken[0] += abs(sum(len(left) for left, _ in feed._left) - before)

    monkeypatch.setattr(Feed, "take", counted_take)
    monkeypatch.setattr(Feed, "hand_back", counted_hand_back)

    def count(data: bytes) -> int:
        path = tmp_path / "x.warc.gz"
        path.write_bytes(data)
        taken[0] = 0
        list(read(str(path)))
        return taken[0]

    return count


@pytest.mark.parametrize("pack", [as_it_is, gzip.compress, in_members])
@pytest.mark.parametrize(
    "make", [lines, empty_heads, swallowed_heads, too_long, wrong_lengths, new_lines]
)
def test_a_file_of_false_records_is_read_in_proportion_to_its_length(
    cost: Callable[[bytes], int],
    make: Callable[[int], bytes],
    pack: Callable[[bytes], bytes],
) -> None:
    small, large = make(500), make(8000)
    free = 3 << 20  # what may be read again in any file, and the steps for that
    assert cost(pack(small)) <= 60 * len(small) + free
    assert cost(pack(large)) <= 60 * len(large) + free


def test_records_between_false_ones_are_found(tmp_path: Path) -> None:
    good = [record(response(b"<p>%d" % i), url=f"https://a.example/{i}") for i in range(200)]
    false = b"WARC/1.0\r\nContent-Length: %d\r\n\r\nx\r\n\r\n"
    for length in (40_000_000, 500):
        path = tmp_path / f"{length}.warc"
        path.write_bytes(b"".join(one + false % length for one in good))
        pages = [found for found in read(str(path)) if isinstance(found, Capture)]
        assert [page.url for page in pages] == [f"https://a.example/{i}" for i in range(200)]


def test_folded_lines_are_joined() -> None:
    data = b"WARC/1.0\r\nA: b\r\n" + b" c\r\n" * 50_000 + b"Content-Length: 0\r\n\r\n"
    assert Warc.parse(data).fields["a"] == "b" + " c" * 50_000
    head = b"HTTP/1.1 200 OK\r\nVary: a\r\n" + b"\tb\r\n" * 50_000 + b"\r\n"
    assert header_values(head, b"vary") == ["a" + " b" * 50_000]


@pytest.mark.parametrize("url", ["https://a.example/" + "x" * 400_000, "u:" + "ä" * 300_000])
def test_the_longest_addresses_come_back_from_an_export(tmp_path: Path, url: str) -> None:
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        archive.add(url, START, b"<p>x", {"Content-Type": "text/html"})
        archive.commit()
        export(archive, tmp_path / "out.warc.gz")
    (found,) = read(str(tmp_path / "out.warc.gz"))
    assert isinstance(found, Capture)
    assert found.body == b"<p>x"
    if url.isascii():
        with Archive.create(tmp_path / "b", disk=QUICK) as archive:
            assert ingest(archive, [str(tmp_path / "out.warc.gz")]).pages == 1
            assert archive.get(url, START).body == b"<p>x"


def wacz_of(path: Path, files: int, method: int) -> Path:
    with zipfile.ZipFile(path, "w", method) as made:
        for i in range(files):
            data = record(response(b"<p>%d" % i), url=f"https://a.example/{i}")
            made.writestr(f"archive/{i}.warc", data)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_directory_of_a_wacz_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: int
) -> None:
    path = wacz_of(tmp_path / "a.wacz", 50, method)
    calls = []
    entries = wacz_module._entries

    def counted(file: io.BufferedReader) -> object:
        calls.append(file)
        return entries(file)

    monkeypatch.setattr(wacz_module, "_entries", counted)
    pages = [page for inside in find([str(path)]) for page in read(inside)]
    assert len(pages) == 50
    assert all(isinstance(page, Capture) for page in pages)
    assert len(calls) == 1
    # A file that changed is another one.
    wacz_of(path, 7, method)
    assert len(find([str(path)])) == 7
    assert len(calls) == 2


def test_files_of_a_wacz_that_share_bytes_are_refused(tmp_path: Path) -> None:
    path = wacz_of(tmp_path / "a.wacz", 2, zipfile.ZIP_STORED)
    data = path.read_bytes()
    second = data.rindex(b"PK\1\2")
    # The second entry of the directory names the bytes of the first.
    path.write_bytes(data[: second + 42] + bytes(4) + data[second + 46 :])

    (inside,) = find([str(path)])
    (trouble,) = read(inside)
    assert isinstance(trouble, Trouble)
    assert "overlap" in trouble.reason


def test_a_compressed_file_of_a_wacz_is_checked(tmp_path: Path) -> None:
    path = wacz_of(tmp_path / "a.wacz", 1, zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\1\2") + 16] ^= 1  # the checksum in the directory
    path.write_bytes(data)
    (inside,) = find([str(path)])
    (trouble,) = read(inside)
    assert isinstance(trouble, Trouble)
    assert "do not match the checksum" in trouble.reason

"""Damage stays local: it is reported with its place, and every intact record around it is found."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from quire.sources import Capture, Trouble, read, read_one
from quire.sources.frames import Fault, Frame, Frames
from quire.sources.heads import MOST_HEAD_BYTES
from quire.sources.members import Damage, Feed
from tests.sources.crawls import CODINGS, captures, coded, record, response, told_apart, write

RECORDS = [
    record(response(b"<p>Mackerel 5.20"), url="https://a.example/0"),
    record(response(b"<p>Haddock 7.95, Cod 8.40"), url="https://a.example/1"),
    record(response(b"<p>Closed"), url="https://a.example/2"),
]
BLOCKS = [
    response(b"<p>Mackerel 5.20"),
    response(b"<p>Haddock 7.95, Cod 8.40"),
    response(b"<p>Closed"),
]
EACH_CODING = pytest.mark.parametrize("suffix", CODINGS)


def frames(data: bytes) -> tuple[dict[str, bytes], dict[str, str]]:
    """Read bytes as a file: blocks and faults, by place."""
    found = list(Frames(Feed(io.BytesIO(data)), 2**20, arc=False).read())
    good = {str(one.place): one.block for one in found if isinstance(one, Frame)}
    bad = {str(one.place): one.reason for one in found if isinstance(one, Fault)}
    assert len(good) + len(bad) >= len({one.place for one in found})
    return good, bad


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".lz4"])
def test_a_byte_that_is_wrong_harms_only_its_member(suffix: str) -> None:
    members = [coded(one, suffix) for one in RECORDS]
    starts = [len(b"".join(members[:index])) for index in range(3)]
    whole = b"".join(members)
    for flip in (0x01, 0x41, 0xFF):
        # The first four bytes give the compression; without them it is another kind of file.
        for at in range(4, len(whole)):
            hit = max(index for index in range(3) if starts[index] <= at)
            damaged = bytearray(whole)
            damaged[at] ^= flip

            good, bad = frames(bytes(damaged))

            for index in {0, 1, 2} - {hit}:
                assert BLOCKS[index] in good.values(), (suffix, flip, at)
                # If a member decodes, but to other bytes, the place is counted from it.
                assert suffix != ".gz" or good[str(starts[index])] == BLOCKS[index], (flip, at)
            # Some bytes carry no information (the time in a gzip header): then nothing is wrong.
            if good.get(str(starts[hit])) == BLOCKS[hit]:
                continue
            # These lz4 frames have no checksum, so changed letters go unnoticed.
            assert suffix == ".lz4" or bad, (suffix, flip, at)
            assert suffix == ".lz4" or set(good.values()) <= set(BLOCKS), (suffix, flip, at)


@EACH_CODING
def test_a_file_cut_anywhere_keeps_what_is_before(suffix: str) -> None:
    members = [coded(one, suffix) for one in RECORDS]
    ends = [len(b"".join(members[: index + 1])) for index in range(3)]
    whole = b"".join(members)
    for length in range(4, len(whole)):
        good, bad = frames(whole[:length])

        complete = sum(end <= length for end in ends)
        assert list(good.values())[:complete] == BLOCKS[:complete], length
        assert len(good) <= complete + 1
        assert set(good.values()) <= set(BLOCKS)
        assert len(bad) <= 1
        # A cut is reported, unless only newlines or a checksum are missing.
        assert bool(bad) != (len(good) == complete + 1 or length in ends), length


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_long_member_that_is_damaged_is_one_trouble(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"crawl.warc{suffix}"
    rows = random.Random(1)
    long = b"".join(b"<tr><td>%d" % rows.randrange(10**6) for _ in range(50_000))
    starts = write(path, [RECORDS[0], record(response(long)), RECORDS[2]])
    whole = path.read_bytes()
    for at in range(starts[1] + 50, starts[2] - 50, (starts[2] - starts[1]) // 50):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])

        pages, troubles = told_apart(path)

        assert [page.url[-1] for page in pages] == ["0", "2"], at
        assert [trouble.name for trouble in troubles] == [f"{path}#{starts[1]}"], at


def test_an_empty_member_at_the_end_is_no_damage() -> None:
    assert frames(coded(RECORDS[0], ".gz") + coded(b"", ".gz")) == ({"0": BLOCKS[0]}, {})


@EACH_CODING
@pytest.mark.parametrize(
    "garbage", [b"garbage", b"\x00" * 600, b"\r\n" * 99 + b"<p>", b"WARC/1.0 or so"]
)
def test_garbage_between_records_is_named_and_passed(
    tmp_path: Path, suffix: str, garbage: bytes
) -> None:
    path = tmp_path / f"crawl.warc{suffix}"
    first, second, third = (coded(one, suffix) for one in RECORDS)
    path.write_bytes(first + garbage + second + third)

    pages, (trouble,) = told_apart(path)

    assert [page.url[-1] for page in pages] == ["0", "1", "2"]
    assert int(trouble.name.rpartition("#")[2]) in range(len(first), len(first + garbage))
    assert [read_one(page.name) for page in pages] == pages


@EACH_CODING
@pytest.mark.parametrize("wrong", [-5, -1, 1, 2, 3, 4, 7, 150, 5000, 10**9, 10**17])
def test_a_wrong_length_costs_its_record_alone(tmp_path: Path, suffix: str, wrong: int) -> None:
    path = tmp_path / f"crawl.warc{suffix}"
    liar = record(BLOCKS[0], length=max(0, len(BLOCKS[0]) + wrong))
    starts = write(path, [RECORDS[1], liar, RECORDS[2], RECORDS[1]])

    pages, (trouble,) = told_apart(path)

    assert [page.url[-1] for page in pages] == ["1", "2", "1"]
    assert trouble.name == f"{path}#{starts[1]}"
    assert "bytes" in trouble.reason
    assert [read_one(page.name) for page in pages] == pages


@EACH_CODING
@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"WARC/1.0\r\nWARC-Type: response\r\n\r\n", "has no length"),
        (b"WARC/1.0\r\nContent-Length: many\r\n\r\n", "has the length 'many'; expected a number"),
        (b"WARC/1.0\r\nContent-Length: -3\r\n\r\n", "has the length '-3'; expected a number"),
        (b"WARC/x\r\nContent-Length: 3\r\n\r\n", "expected for example WARC/1.0"),
        (b"WARC/1.0\r\nX: " + b"x" * (1 << 20) + b"\r\n\r\n", "has no length"),
    ],
    ids=["no length", "a word", "negative", "no version", "endless"],
)
def test_a_head_that_says_nothing_is_passed(
    tmp_path: Path, suffix: str, head: bytes, reason: str
) -> None:
    path = tmp_path / f"crawl.warc{suffix}"
    starts = write(path, [RECORDS[0], head + b"<p>\r\n\r\n", RECORDS[1]])

    pages, (trouble,) = told_apart(path)

    assert [page.url[-1] for page in pages] == ["0", "1"]
    assert trouble.name == f"{path}#{starts[1]}"
    assert trouble.reason.endswith(reason)


def test_the_longest_head_is_read_and_a_longer_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc"
    for more, expected in ((0, 1), (2 * MOST_HEAD_BYTES, 0)):
        padding = b"X: " + b"x" * (MOST_HEAD_BYTES - 400 + more) + b"\r\n"
        write(path, [record(BLOCKS[0], more=padding)])

        assert len(told_apart(path)[0]) == expected


def test_a_digest_that_is_wrong_is_a_trouble(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc"
    right = hashlib.sha256(BLOCKS[0]).hexdigest().encode()
    write(
        path,
        [
            record(BLOCKS[0], more=b"WARC-Block-Digest: sha256:%s\r\n" % right),
            record(BLOCKS[1], more=b"WARC-Block-Digest: sha256:%s\r\n" % right),
            record(BLOCKS[2], more=b"WARC-Block-Digest: crc99:%s\r\n" % right),
        ],
    )

    pages, (trouble,) = told_apart(path)

    assert [page.body for page in pages] == [b"<p>Mackerel 5.20", b"<p>Closed"]
    assert f"its head says {right.decode()}" in trouble.reason


def test_a_segment_is_not_taken_for_a_page(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc"
    write(path, [record(BLOCKS[0], more=b"WARC-Segment-Number: 1\r\n"), RECORDS[1]])

    pages, (trouble,) = told_apart(path)

    assert [page.url[-1] for page in pages] == ["1"]
    assert "segment" in trouble.reason


@EACH_CODING
def test_a_record_that_is_too_long_is_passed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"crawl.warc{suffix}"
    fits, too_long = response(b"x" * 100), response(b"x" * 101)
    huge = response(b"x" * 2**20)
    starts = write(path, [record(one) for one in (fits, too_long, huge, fits)])

    found = list(read(str(path), most_bytes=100))

    assert [type(one) for one in found] == [Capture, Trouble, Trouble, Capture]
    assert [one.name for one in found] == [f"{path}#{start}" for start in starts]
    assert isinstance(found[1], Trouble)
    assert found[1].reason == "101 bytes; at most 100 are read"


@given(st.binary(max_size=400))
def test_any_bytes_after_a_record_are_read_without_an_exception(rest: bytes) -> None:
    for suffix in CODINGS:
        good, _ = frames(coded(RECORDS[0], suffix) + rest)

        assert good.get("0", BLOCKS[0]) == BLOCKS[0]


# Parts of records in any order, to cover every boundary between them.
PIECES = st.sampled_from(
    [
        *RECORDS,
        b"WARC/1.0\r\n",
        b"Content-Length: 7\r\n",
        b"\r\n",
        b"\n",
        b"x" * 40,
        coded(RECORDS[1], ".gz"),
        coded(RECORDS[2], ".zst"),
        coded(RECORDS[1], ".gz")[:50],
        b"\x1f\x8b\x08",
        b"\x5d\x2a\x4d\x18\x08\x00\x00\x00",
        b"http://a.example/ 10.0.0.1 20260517110233 text/html 3\n",
    ]
)


@given(st.lists(PIECES, max_size=12), st.booleans())
def test_pieces_of_records_are_read_without_an_exception(pieces: list[bytes], arc: bool) -> None:  # noqa: FBT001
    data = b"".join(pieces)
    try:
        feed = Feed(io.BytesIO(data))
    except Damage:
        return
    found = list(Frames(feed, 2**16, arc=arc).read())

    assert len(found) <= len(data) + 1


@pytest.mark.parametrize(
    "portion",
    [
        record(b"x", length=900_000),
        record(b"", length=10**12),
        b"WARC/1.0\r\nContent-Length: 9\r\n",
        b"WARC/1.0\r\n\r\n",
        b"\r\n",
        b"\x1f\x8b\x08",
        coded(RECORDS[0], ".gz")[:-1],
        coded(b"x" * 10_000, ".gz"),
        coded(record(b"", length=50_000), ".gz"),
    ],
    ids=["long", "endless", "heads", "starts", "newlines", "magic", "cut", "bombs", "coded lies"],
)
@pytest.mark.timeout(900)  # quadratic, it would take hours
@pytest.mark.parametrize("before", ["", ".gz"])
def test_the_cost_is_linear_whatever_is_wrong(portion: bytes, before: str) -> None:
    begin = coded(RECORDS[0], before)

    good, _ = frames(begin + portion * (4_000_000 // len(portion)))

    assert RECORDS[0].partition(b"\r\n\r\n")[2].rstrip(b"\r\n") in next(iter(good.values()))


ODD: dict[str, tuple[int, int]] = {
    # Faulty files from other projects: pages and troubles. All other files have no trouble.
    "alexa_short_header.arc.gz": (1, 0),  # fine, but warcio takes the page for a head
    "bad.arc": (1, 3),  # lengths -1, -1, abc
    "clipped.warc.gz": (0, 1),  # ends in its only record
    "example-bad-non-chunked.warc.gz": (1, 0),  # one member, which warcio refuses
    "example-space-in-url.arc": (0, 1),  # says 1591 bytes, has 1579
    "example-trunc.warc": (0, 1),  # says 973 bytes, has 975
    "example-wrong-chunks.warc.gz": (0, 1),  # its digest belongs to other bytes
}


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_the_odd_files_of_other_projects(corpus_files: Callable[[str], list[Path]]) -> None:
    for path in corpus_files("warc"):
        if path.name in ODD:
            pages, troubles = told_apart(path)
            assert (len(pages), len(troubles)) == ODD[path.name], path
            continue
        if ".lz4" in path.suffixes:  # warcio does not read it; the same records exist as gzip
            expected = warcio_pages(path.with_suffix(".gz"))
        else:
            expected = warcio_pages(path)

        found = [(page.url.replace(" ", "%20"), page.body) for page in captures(path)]
        assert found == expected, path


def warcio_pages(path: Path) -> list[tuple[str, bytes]]:
    """The records that another reader finds in the same file."""
    with path.open("rb") as file:
        return [
            # It writes a space as %20; we return addresses as they are stored.
            (one.rec_headers.get_header("WARC-Target-URI"), one.content_stream().read())
            for one in ArchiveIterator(file, arc2warc=True)
            if one.rec_type in {"response", "resource"}
        ]

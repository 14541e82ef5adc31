"""WARC records go in and come out unchanged, at the positions that the index gives."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped] # warcio has no types

from quire.archive import Archive, export, ingest
from quire.archive.addresses import key
from quire.archive.format.warc_head import fold, unfold
from quire.archive.warc import cdxj
from quire.sources.warc import PAGES, Record, read_records
from tests.sources.crawls import record, response, write

START = datetime(2026, 5, 17, 11, 2, 33, tzinfo=UTC)
KEPT = {*PAGES, "revisit"}


def through(folder: Path, sources: list[Path], *, compact: bool = True) -> Path:
    """Import files, and export the archive."""
    with Archive.create(folder / "a.quire") as archive:
        ingest(archive, [str(path) for path in sources])
        if compact:
            archive.compact()
        export(archive, folder / "out.warc.gz")
    return folder / "out.warc.gz"


def stored(path: Path) -> list[tuple[bytes, bytes, bytes]]:
    """The page records of a file, to the byte, without their positions."""
    found = []
    for one in read_records(str(path), kinds=KEPT):
        assert isinstance(one, Record), one
        found.append((one.warc_head, one.head, one.payload))
    return sorted(found)


def by_warcio(path: Path) -> list[tuple[str, str | None, str, bytes]]:
    """The records that another reader finds."""
    found = []
    with path.open("rb") as stream:
        for one in ArchiveIterator(stream, no_record_parse=False):
            if one.rec_type in KEPT:
                headers = str(one.http_headers) if one.http_headers else ""
                date = one.rec_headers.get_header("WARC-Date")
                assert date is not None
                found.append(
                    (
                        str(one.rec_headers.get_header("WARC-Target-URI")),
                        date,
                        headers,
                        one.raw_stream.read(),
                    )
                )
    return sorted(found)


def index_of(path: Path) -> Iterator[dict[str, str]]:
    lines = path.with_name("out.cdxj").read_text().splitlines()
    assert lines == sorted(lines)
    for line in lines:
        _, time, told = line.split(" ", 2)
        yield {"time": time, **json.loads(told)}


def check_index(path: Path) -> int:
    """Follow every line of the index to its record, and count them."""
    count = 0
    data = path.read_bytes()
    for line in index_of(path):
        start, length = int(line["offset"]), int(line["length"])
        member = data[start : start + length]
        assert len(gzip.decompress(member)) > 0, "a member of its own"
        (one,) = ArchiveIterator(io.BytesIO(member))
        url = one.rec_headers.get_header("WARC-Target-URI").strip("<>")
        assert url == line["url"].replace(" ", "%20"), "warcio escapes spaces"
        if one.http_headers:
            assert one.http_headers.get_statuscode() == line.get("status", "")
        count += 1
    return count


def crawl(suffix: str, folder: Path) -> Path:
    """A crawl with encodings, odd heads, a digest, a resource, and records without pages."""
    page = b"<p>Cod 8.40" * 40
    digest = b"WARC-Payload-Digest: " + _sha1(page) + b"\r\n"
    records = [
        record(b"software: x\r\n", kind="warcinfo"),
        record(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
        record(response(page), url="https://a.example/1", more=digest),
        record(response(gzip.compress(page), "Content-Encoding: gzip"), url="https://a.example/2"),
        record(
            response(b"3\r\n<p>\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
            url="https://a.example/3",
        ),
        record(
            b"HTTP/1.0 200\nX-Odd:   spaces  \nfolded: a\n b\n\n<p>newlines",
            url="https://a.example/4",
            more=b"WARC-Odd:no space\r\n folded\r\n",
        ),
        record(b"<p>A file", kind="resource", url="https://a.example/5"),
        record(b"no answer of a server", url="dns:a.example"),
        record(response(b""), url="https://a.example/empty"),
        record(response(page, status="404 Not Found"), url="https://a.example/gone"),
        record(
            response(b"", "X-Again: yes"),
            kind="revisit",
            url="https://b.example/again",
            more=digest
            + b"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
            b"WARC-Refers-To-Target-URI: https://a.example/1\r\nWARC-Refers-To-Date: 2026-05-17T11:02:33Z\r\n",
        ),
    ]
    path = folder / f"crawl.warc{suffix}"
    write(path, records)
    return path


def _sha1(data: bytes) -> bytes:
    from quire.archive.warc.export import payload_digest  # noqa: PLC0415 - the function of the same name hides it above

    return payload_digest(data).encode()


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("compact", [False, True], ids=["journal", "segment"])
def test_records_come_out_as_they_went_in(tmp_path: Path, suffix: str, *, compact: bool) -> None:
    source = crawl(suffix, tmp_path)
    out = through(tmp_path, [source], compact=compact)

    assert stored(out) == stored(source)
    assert len(stored(out)) == 9
    if suffix != ".zst":  # warcio does not read it
        assert by_warcio(out) == by_warcio(source)
    assert check_index(out) == 9
    assert not list(tmp_path.glob("*.part"))


def test_pages_of_an_arc_file_become_responses(
    tmp_path: Path, corpus_files: Callable[[str], list[Path]]
) -> None:
    (source,) = (path for path in corpus_files("warc") if path.name == "example.arc.gz")
    out = through(tmp_path, [source])
    before = [one for one in read_records(str(source)) if isinstance(one, Record)]
    after = [one for one in read_records(str(out)) if isinstance(one, Record)]

    assert before
    assert [(one.url, one.time, one.head, one.payload) for one in after] == [
        (one.url, one.time, one.head, one.payload) for one in before
    ]
    assert after[0].fields["warc-ip-address"] == before[0].fields["warc-ip-address"]
    assert check_index(out) == len(before)


def test_pages_without_a_record_become_responses_and_resources(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a") as archive:
        archive.add("https://a.example/", START, b"<p>x", {"Content-Type": "text/html"})
        archive.add("site/a b.html", START, b"<!doctype html><p>y")
        archive.add("https://a.example/\r\nX-Evil: 1", START, b"{}", b"not a head")
        archive.commit()
        done = export(archive, tmp_path / "out.warc.gz")

    assert done.pages == 3
    found = {str(one[0]): one for one in by_warcio(tmp_path / "out.warc.gz")}
    assert set(found) == {
        "https://a.example/",
        "file:///site/a%20b.html",
        "https://a.example/%0D%0AX-Evil:%201",
    }
    assert found["https://a.example/"][3] == b"<p>x"
    assert "Content-Type: text/html" in found["https://a.example/"][2]
    assert found["file:///site/a%20b.html"][3] == b"<!doctype html><p>y"
    assert {(line["mime"], line.get("status")) for line in index_of(tmp_path / "out.warc.gz")} == {
        ("text/html", "200"),
        ("text/html", None),
        ("application/json", None),
    }
    assert check_index(tmp_path / "out.warc.gz") == 3
    # Every digest is right: a reader that checks them reports no trouble.
    assert all(isinstance(one, Record) for one in read_records(str(tmp_path / "out.warc.gz")))


def test_a_stored_head_that_does_not_fit_its_page_is_not_believed(tmp_path: Path) -> None:
    lie = b"\x00WWARC/1.0\r\nWARC-Type: response\r\nContent-Length: 999\r\n\r\n"
    early = b"\x00WWARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 4\r\n\r\nWARC/1.0\r\n\r\n"
    with Archive.create(tmp_path / "a") as archive:
        archive.add("https://a.example/", START, b"<p>x", extra=lie)
        archive.add("https://a.example/", START, b"<p>y", extra=early)
        archive.commit()
        export(archive, tmp_path / "out.warc.gz")

    assert [one[3] for one in by_warcio(tmp_path / "out.warc.gz")] == [b"<p>x", b"<p>y"]


def test_a_part_of_an_archive_is_exported(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a") as archive:
        for day in (1, 2, 3):
            for host in "ab":
                archive.add(f"https://{host}.example/", datetime(2026, 5, day, tzinfo=UTC), b"x")
        archive.commit()
        done = export(
            archive,
            tmp_path / "out.warc.gz",
            prefix="https://a.",
            since=datetime(2026, 5, 2, tzinfo=UTC),
            until=datetime(2026, 5, 2, 23, tzinfo=UTC),
        )

    assert (done.pages, check_index(done.warc)) == (1, 1)


def test_lines_are_sorted_also_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdxj, "MOST_LINES", 7)
    lines = cdxj.Lines()
    made = [f"{(i * 37) % 100:03}\n" for i in range(100)]
    for line in made:
        lines.add(line)

    assert list(lines.sorted()) == sorted(made)
    lines.close()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.archive.org/goo/", "org,archive)/goo"),
        ("https://archive.org:8080/a?x=1&a=2", "org,archive:8080)/a?a=2&x=1"),
        ("http://archive.org", "org,archive)/"),
        ("dns:archive.org", "dns:archive.org"),
        ("https://a.example/%7Efoo/ä?q=ü", "example,a)/~foo/%c3%a4?q=%c3%bc"),
        ("http://a.example/a//b/../c", "example,a)/a/c"),
        ("http://a.example/%252541", "example,a)/a"),
        ("http://bücher.example/", "example,xn--bcher-kva)/"),
        ("http://a.example/?a=1&a=0&&b", "example,a)/?&a=0&a=1&b"),
        ("http://[::1", "http://[::1"),
        ("http://a.example/a b\nc", "example,a)/a%20b%0ac"),
    ],
)
def test_keys_are_those_of_other_tools(url: str, expected: str) -> None:
    assert key(url) == expected


heads = st.lists(
    st.sampled_from(
        [
            b"WARC/1.0",
            b"WARC-Type: response",
            b"WARC-Type: revisit",
            b"WARC-Target-URI: https://a.example/",
            b"WARC-Target-URI: <https://a.example/>",
            b"WARC-Date: 2026-05-17T11:02:33Z",
            b"WARC-Date: 2026-05-17T11:02:33.123456Z",
            b"Content-Length: 3",
            b"Content-Length: 0",
            b"WARC-Payload-Digest: sha1:6UYYPAJQEW2FOBL4EBSZYMPTB6FBFQDP",
            b"WARC-Block-Digest: sha256:00",
            b"\x01u",
            b"sha1:\x01b",
            b"",
        ]
    )
    | st.binary(max_size=12),
    max_size=8,
)


@given(heads, st.binary(max_size=20), st.binary(max_size=20))
@settings(max_examples=200)
def test_any_head_of_a_record_comes_back(lines: list[bytes], head: bytes, body: bytes) -> None:
    page = "https://a.example/", START, head, body
    warc_head = b"\r\n".join(lines)

    assert unfold(fold(warc_head, *page), *page) == warc_head


def test_a_usual_head_is_mostly_left_out(tmp_path: Path) -> None:
    source = crawl("", tmp_path)
    first = next(read_records(str(source)))
    assert isinstance(first, Record)
    assert first.time is not None
    folded = fold(first.warc_head, first.url, first.time, first.head, first.payload)

    assert b"a.example" not in folded
    assert b"2026" not in folded
    assert folded.count(b"\x01") == 5


def test_what_is_no_head_of_a_record_is_none() -> None:
    assert unfold(b"anything", "u", START, b"", b"") is None

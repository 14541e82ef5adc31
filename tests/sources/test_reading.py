"""Pages come out of files, WARC and Parquet as they went in, and again by their names."""

from __future__ import annotations

import gzip
import io
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

from quire.errors import SourceNotFound, SourceUnreadable
from quire.sources import Capture, Trouble, find, read, read_one
from quire.sources.warc import Record, read_records
from tests.sources.crawls import CODINGS, captures, record, response, told_apart, write

WHEN = datetime(2026, 5, 17, 11, 2, 33, tzinfo=UTC)


def test_a_file_is_a_page(tmp_path: Path) -> None:
    name = str(tmp_path / "a.html")
    Path(name).write_bytes(b"<p>Open")

    assert list(read(name)) == [Capture(name, name, None, b"", b"<p>Open")]
    assert read_one(name).body == b"<p>Open"
    assert read_one(name).status is None
    assert read_one(name).content_type is None


@pytest.mark.parametrize("suffix", CODINGS)
def test_the_pages_of_a_crawl_are_its_responses_and_resources(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"crawl.warc{suffix}"
    starts = write(
        path,
        [
            record(b"software: quire\r\n", kind="warcinfo"),
            record(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
            record(response(b"<p>Open"), url="https://a.example/b"),
            record(b"", kind="revisit"),
            record(b"x: y", kind="metadata"),
            record(b"<p>Shut", kind="resource", more=b"Content-Type: text/x-page\r\n"),
            record(response(b"", status="404 Not Found")),
        ],
    )

    page, resource, missing = captures(path)

    assert page == Capture(
        f"{path}#{starts[2]}", "https://a.example/b", WHEN, response(b""), b"<p>Open"
    )
    assert (page.status, page.content_type) == (200, "text/html; charset=utf-8")
    assert (resource.body, resource.head, resource.content_type) == (b"<p>Shut", b"", "text/x-page")
    assert (missing.status, missing.body) == (404, b"")
    assert [read_one(one.name) for one in (missing, page, resource)] == [missing, page, resource]


def test_a_crawl_in_one_member_has_places_within_it(tmp_path: Path) -> None:
    path = tmp_path / "solid.warc.gz"
    records = [record(response(b"<p>%d" % number)) for number in range(50)]
    path.write_bytes(gzip.compress(b"".join(records)))

    found = captures(path)

    assert [page.body for page in found] == [b"<p>%d" % number for number in range(50)]
    assert found[3].name == f"{path}#0+{sum(map(len, records[:3]))}"
    assert [read_one(page.name) for page in found] == found


def test_members_that_end_anywhere_are_read_through(tmp_path: Path) -> None:
    path = tmp_path / "blocks.warc.gz"
    data = b"".join(record(response(b"<p>%d" % number * 9)) for number in range(30))
    pieces = [data[start : start + 100] for start in range(0, len(data), 100)]
    path.write_bytes(b"".join(map(gzip.compress, pieces)))

    found = captures(path)

    assert [page.body for page in found] == [b"<p>%d" % number * 9 for number in range(30)]
    assert [read_one(page.name) for page in found] == found


def test_a_short_record_does_not_hide_where_the_next_begins(tmp_path: Path) -> None:
    path = tmp_path / "short.warc.gz"
    tiny = b"WARC/1.0\r\nContent-Length:0\r\n\r\n\r\n\r\n"
    starts = write(path, [tiny, tiny, record(response(b"<p>Open")), tiny, record(response(b"<p>"))])

    assert [page.name for page in captures(path)] == [f"{path}#{starts[2]}", f"{path}#{starts[4]}"]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # warcio leaves files open
def test_what_warcio_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "warcio.warc.gz"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number in range(3):
            fields = [("Content-Type", "text/html")]
            written = writer.create_warc_record(
                f"https://a.example/{number}",
                "response",
                payload=io.BytesIO(b"<p>%d" % number),
                http_headers=StatusAndHeaders("200 OK", fields, protocol="HTTP/1.0"),
            )
            writer.write_record(written)

    assert [(page.url, page.body) for page in captures(path)] == [
        (f"https://a.example/{number}", b"<p>%d" % number) for number in range(3)
    ]


def test_records_are_given_as_they_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.gz"
    payload = gzip.compress(b"<p>Open")
    coded = response(payload, "Content-Encoding: gzip")
    write(path, [record(b"GET / HTTP/1.1\r\n\r\n", kind="request"), record(coded)])

    (stored,) = read_records(str(path))

    assert isinstance(stored, Record)
    assert (stored.head + stored.payload, stored.payload) == (coded, payload)
    assert stored.warc_head + coded + b"\r\n\r\n" == record(coded)
    assert (stored.kind, stored.fields["warc-type"], stored.time) == ("response", "response", WHEN)
    assert [
        one.kind for one in read_records(str(path), kinds={"request"}) if isinstance(one, Record)
    ] == ["request"]


ARC_LINE = b"http://a.example/with space 10.0.0.1 20260517110233 text/html"


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("more", [b"", b" 200 - - 0 x.arc"], ids=["version 1", "version 2"])
def test_arc_files_are_read_as_warc_files_are(tmp_path: Path, suffix: str, more: bytes) -> None:
    path = tmp_path / f"old.arc{suffix}"
    version = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    block = response(b"<p>Open")
    records = [
        b"filedesc://old.arc 0.0.0.0 20260517110233 text/plain %d\n%s\n" % (len(version), version),
        ARC_LINE + more + b" %d\n" % len(block) + block + b"\n",
        b"dns:a.example 10.0.0.2 20260517110233 text/dns 5\nhello\n",
    ]
    starts = [len(b"".join(records[:number])) for number in range(3)]
    if suffix:
        members = [gzip.compress(one, mtime=0) for one in records]
        starts = [len(b"".join(members[:number])) for number in range(3)]
        records = members
    path.write_bytes(b"".join(records))

    page, name = captures(path)

    assert page == Capture(
        f"{path}#{starts[1]}", "http://a.example/with space", WHEN, response(b""), b"<p>Open"
    )
    assert (name.url, name.body, name.content_type) == ("dns:a.example", b"hello", "text/dns")
    assert [read_one(page.name), read_one(name.name)] == [page, name]


def test_rows_of_a_parquet_file_are_pages(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    rows = 100
    east = timezone(timedelta(hours=2))
    table = pa.table(
        {
            "other": list(range(rows)),
            "url": [f"https://a.example/{row}" for row in range(rows)],
            "time": pa.array([WHEN.astimezone(east)] * rows, pa.timestamp("ms", "Europe/Rome")),
            "body": [b"<p>%d" % row for row in range(rows)],
        }
    )
    pq.write_table(table, path, row_group_size=30)

    found = captures(path)

    assert [page.body for page in found] == [b"<p>%d" % row for row in range(rows)]
    assert found[7] == Capture(f"{path}#7", "https://a.example/7", WHEN, b"", b"<p>7")
    assert [read_one(found[row].name) for row in (0, 29, 30, 99)] == [
        found[row] for row in (0, 29, 30, 99)
    ]
    with pytest.raises(SourceNotFound, match="not the start of a page"):
        read_one(f"{path}#100")


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2026-05-17T11:02:33Z"], WHEN),
        (["yesterday"], None),
        (pa.array([WHEN.replace(tzinfo=None)], pa.timestamp("ns")), WHEN),
        (pa.array([2**55], pa.timestamp("ms")), None),
        (pa.array([None], pa.timestamp("s")), None),
    ],
    ids=["text", "no time", "naive", "a year too large", "null"],
)
def test_a_time_is_read_where_it_is_one(tmp_path: Path, times: object, expected: object) -> None:
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"time": times, "body": ["<p>Zoë"]}), path)

    (page,) = captures(path)

    assert (page.time, page.url, page.body) == (expected, f"{path}#0", "<p>Zoë".encode())


def test_a_row_without_a_page_is_a_trouble_and_the_others_are_pages(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"body": [b"<p>", None, b"", b"<i>"]}), path)

    pages, troubles = told_apart(path)

    assert [page.body for page in pages] == [b"<p>", b"<i>"]
    assert troubles == [
        Trouble(f"{path}#1", "no body: null"),
        Trouble(f"{path}#2", "empty: 0 bytes"),
    ]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"url": ["a"], "html": ["<p>"]}, "has no column body; it has url, html"),
        ({"body": [1]}, "has a column body of type int64; expected binary or string"),
    ],
)
def test_a_parquet_file_of_something_else_says_what_it_has(
    tmp_path: Path, table: dict[str, list[object]], reason: str
) -> None:
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.table(table), path)

    assert list(read(str(path))) == [Trouble(str(path), reason)]


def test_a_damaged_parquet_file_is_one_trouble(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"body": [b"<p>%d" % row for row in range(1000)]}), path)
    path.write_bytes(path.read_bytes()[:-20])

    (trouble,) = read(str(path))

    assert isinstance(trouble, Trouble)
    assert trouble.reason.startswith("not readable as Parquet: ")


def test_files_that_are_no_pages_are_troubles(tmp_path: Path) -> None:
    (tmp_path / "empty.html").touch()
    (tmp_path / "empty.warc").touch()
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "long.html").write_bytes(b"x" * 101)
    reasons = {}
    for name in (
        "empty.html",
        "empty.warc",
        "folder.html",
        "gone.html",
        "gone.warc.gz",
        "long.html",
    ):
        (trouble,) = read(str(tmp_path / name), most_bytes=100)
        assert isinstance(trouble, Trouble)
        reasons[name] = trouble.reason

    assert reasons == {
        "empty.html": "empty: 0 bytes",
        "empty.warc": "empty: 0 bytes",
        "folder.html": "is a directory",
        "gone.html": "no such file",
        "gone.warc.gz": "no such file",
        "long.html": "101 bytes; at most 100 are read",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_one_may_not_read_is_a_trouble(tmp_path: Path) -> None:
    path = tmp_path / "secret.html"
    path.write_bytes(b"<p>")
    path.chmod(0)

    assert list(read(str(path))) == [Trouble(str(path), "permission denied")]


def test_a_link_that_leads_nowhere_or_a_pipe_is_found_and_is_a_trouble(tmp_path: Path) -> None:
    (tmp_path / "lost.html").symlink_to(tmp_path / "nowhere.html")
    (tmp_path / "circle.html").symlink_to(tmp_path / "circle.html")
    os.mkfifo(tmp_path / "pipe.html")
    for argument in (tmp_path, tmp_path / "*.html"):
        circle, lost, pipe = find([str(argument)])
        assert list(read(lost)) == [Trouble(lost, "no such file")]
        assert [type(found) for found in read(circle)] == [Trouble]
        assert list(read(pipe)) == [Trouble(pipe, "not a file, but a pipe, device or link")]


def test_a_name_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html")
    Path(name).write_bytes(b"<p>")

    assert [page.name for page in read(name)] == [name]
    assert read_one(name).body == b"<p>"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("gone.html", SourceNotFound, "no such file"),
        ("a.warc", SourceNotFound, "holds many pages"),
        ("a.warc#7", SourceUnreadable, "expected a WARC record"),
        ("a.warc#99999999", SourceUnreadable, "empty"),
        ("a.parquet#0", SourceNotFound, "no such file"),
        ("empty.html", SourceUnreadable, "empty: 0 bytes"),
    ],
)
def test_a_name_that_leads_to_no_page_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[OSError], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("a.warc"), [record(response(b"<p>"))])
    Path("empty.html").touch()

    with pytest.raises(error, match=message):
        read_one(name)


def test_a_page_may_have_a_name_like_a_place(tmp_path: Path) -> None:
    path = tmp_path / "a#17"
    path.write_bytes(b"<p>")

    assert read_one(str(path)).body == b"<p>"

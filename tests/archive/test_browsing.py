"""Browsing archives: captures of an address by time and spelling, and CDX queries of clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote_plus

import pytest

from quire.archive import Archive
from quire.archive.browsing import Library, Query, answer, parse_timestamp
from quire.archive.browsing import library as libraries
from quire.archive.browsing.cdx import FIELDS, Match
from quire.errors import PageNotFound


def at(year: int, month: int = 1) -> datetime:
    return datetime(year, month, 1, 12, tzinfo=UTC)


PAGES = [
    ("http://example.org/", at(2024), b"<p>Old", "text/html"),
    ("http://example.org/", at(2025), b"<p>Old", "text/html"),
    ("http://example.org/", at(2026), b"<p>New", "text/html"),
    ("https://www.example.org/a b?y=1&x=2", at(2025), b"x", "image/png"),
    ("http://shop.example.org/", at(2025), b"<p>Shop", "text/html"),
    ("http://example.organic/", at(2025), b"<p>Other", "text/html"),
]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Archive.create(tmp_path / "a.quire") as archive:
        for url, time, body, kind in PAGES[:3]:
            archive.add(url, time, body, {"Content-Type": kind})
    with Archive.create(tmp_path / "b.quire") as archive:
        for url, time, body, kind in PAGES[3:]:
            archive.add(url, time, body, {"Content-Type": kind})
    with Archive.open(tmp_path / "a.quire") as one, Archive.open(tmp_path / "b.quire") as two:
        yield Library([one, two])


def originals(library: Library, **given: object) -> list[str]:
    query = Query(**{"url": "example.org", "fields": ("original",), **given})  # type: ignore[arg-type]
    return answer(library, query).split("\n")[:-1]


@pytest.mark.parametrize(
    ("url", "year", "body"),
    [
        ("http://example.org/", 2023, b"<p>Old"),
        ("http://example.org/", 2026, b"<p>New"),
        ("https://EXAMPLE.org", None, b"<p>New"),
        ("http://example.org/A%20b?x=2&y=1", None, b"x"),
    ],
)
def test_the_nearest_capture_is_found_in_any_spelling(
    library: Library, url: str, year: int | None, body: bytes
) -> None:
    assert library.nearest(url, None if year is None else at(year)).body == body


def test_a_missing_address_is_an_error_that_names_it(library: Library) -> None:
    with pytest.raises(PageNotFound, match=r"http://gone\.example/"):
        library.nearest("http://gone.example/", None)
    assert not library.has("http://gone.example/")


def test_pages_that_a_writer_adds_are_seen(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(libraries, "FRESH_S", 0.0)
    assert library.summary().captures == 6
    with Archive.open(tmp_path / "a.quire", write=True) as archive:
        archive.add("http://new.example/", at(2026), b"<p>New")

    assert library.nearest("http://new.example/", None).body == b"<p>New"
    assert library.summary().captures == 7
    assert library.search("NEW.example") == [("http://new.example/", 1)]


def test_hosts_are_counted_without_www(library: Library) -> None:
    assert library.hosts(2) == [("example.org", 4), ("example.organic", 1)]
    assert library.summary().hosts == 3


def test_lines_have_the_fields_of_the_wayback_machine_in_their_order(library: Library) -> None:
    lines = answer(library, Query("example.org")).splitlines()

    assert FIELDS == (
        "urlkey",
        "timestamp",
        "original",
        "mimetype",
        "statuscode",
        "digest",
        "length",
    )
    assert [line.split(" ")[:5] for line in lines] == [
        ["org,example)/", f"{year}0101120000", "http://example.org/", "text/html", "200"]
        for year in (2024, 2025, 2026)
    ]
    digests = [line.split(" ")[5] for line in lines]
    assert digests[0] == digests[1] != digests[2]


def test_json_is_an_array_of_arrays_with_the_names_first(library: Library) -> None:
    found = json.loads(
        answer(library, Query("example.org", is_json=True, fields=("url", "status")))
    )

    assert found[0] == ["original", "statuscode"]
    assert found[1:] == [["http://example.org/", "200"]] * 3
    assert json.loads(answer(library, Query("gone.example", is_json=True))) == []


def test_spaces_in_an_address_do_not_break_its_line(library: Library) -> None:
    line = answer(library, Query("example.org/a b?x=2&y=1"))

    assert line.startswith(
        "org,example)/a%20b?x=2&y=1 20250101120000 https://www.example.org/a%20b?"
    )
    assert len(line.split(" ")) == 7


@pytest.mark.parametrize(
    ("match", "count"), [(Match.EXACT, 3), (Match.PREFIX, 4), (Match.HOST, 4), (Match.DOMAIN, 5)]
)
def test_the_match_widens_a_query(library: Library, match: Match, count: int) -> None:
    assert len(originals(library, match=match, url="http://example.org/")) == count


def test_stars_widen_a_query(library: Library) -> None:
    assert len(originals(library, url="example.org/*")) == 4
    assert len(originals(library, url="*.example.org")) == 5
    assert len(originals(library, url="example.org/a*")) == 1


@pytest.mark.parametrize(
    ("given", "years"),
    [
        ({"since": "2025"}, ["2025", "2026"]),
        ({"until": "2025"}, ["2024", "2025"]),
        ({"since": "20250101120000", "until": "20250101120000"}, ["2025"]),
        ({"limit": 1}, ["2024"]),
        ({"limit": -1}, ["2026"]),
        ({"newest_first": True}, ["2026", "2025", "2024"]),
        ({"closest": "20251201"}, ["2026", "2025", "2024"]),
        ({"collapse": "digest"}, ["2024", "2026"]),
        ({"collapse": "timestamp:2"}, ["2024"]),
        ({"filters": ("!timestamp:2025.*",)}, ["2024", "2026"]),
        ({"filters": ("statuscode:200", "mimetype:text/.*")}, ["2024", "2025", "2026"]),
        ({"filters": ("statuscode:2",)}, []),
        ({"filters": ("~statuscode:2",)}, ["2024", "2025", "2026"]),
        ({"filters": ("=status:200",)}, ["2024", "2025", "2026"]),
    ],
)
def test_a_query_can_be_narrowed(library: Library, given: dict[str, object], years: list[str]) -> None:  # fmt: skip
    query = Query(**{"url": "example.org", "fields": ("timestamp",), **given})  # type: ignore[arg-type]

    assert [line[:4] for line in answer(library, query).splitlines()] == years


def test_a_resume_key_continues_where_an_answer_ended(library: Library) -> None:
    first = answer(library, Query("example.org", limit=2, shows_resume_key=True)).split("\n")
    assert len(first) == 5
    assert first[2] == ""
    assert " " not in first[3]
    for key in (first[3], unquote_plus(first[3])):
        rest = answer(library, Query("example.org", resume_key=key, shows_resume_key=True))
        assert [line.split(" ")[1][:4] for line in rest.splitlines()] == ["2026"]


def test_a_resume_key_is_no_part_of_a_line(library: Library) -> None:
    # waybackpy cuts the key out of the answer, wherever it stands first.
    text = answer(library, Query("example.org", limit=2, shows_resume_key=True))

    assert text.count(text.split("\n")[3]) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"since": "May"}, "from: expected up to 14 digits, found 'May'"),
        ({"filters": ("x",)}, "filter: expected field:pattern"),
        ({"filters": ("statuscode:(",)}, "filter:"),
        ({"fields": ("colour",)}, "fl: expected urlkey"),
        ({"collapse": "colour"}, "collapse: expected a field"),
        ({"closest": "x"}, "closest: expected"),
    ],
)
def test_a_wrong_parameter_is_named(library: Library, given: dict[str, object], message: str) -> None:  # fmt: skip
    with pytest.raises(ValueError, match=message):
        answer(library, Query(**{"url": "example.org", **given}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "x", "2026-05", "0000", "20261301", "202605171102339", "٢٠٢٦"]
)
def test_text_that_is_not_a_timestamp_is_refused(text: str) -> None:
    assert parse_timestamp(text) is None

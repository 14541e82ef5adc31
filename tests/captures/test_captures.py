"""Versions and users: which captures belong to one page, and who got them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.captures import Captures, Variants, histories
from quire.errors import CaptureTimeUnknown, SourceNotFound, VariantError
from quire.fragments.site.collection import Collection
from tests.captures.sources import CRAWLS, PAGES, WRITERS
from tests.sources.crawls import record, response, write

START = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pages of two users, in folders with the same names."""
    monkeypatch.chdir(tmp_path)
    for user in ("anyone", "mary"):
        (tmp_path / user).mkdir()
        for name in ("a", "b"):
            (tmp_path / user / f"{name}.html").write_text(f"<p>{name} for {user}")
    (tmp_path / "mary" / "inbox.html").write_text("<p>Only for Mary")
    return tmp_path


@pytest.mark.parametrize("kind", CRAWLS)
def test_every_crawl_gives_the_same_collection(tmp_path: Path, kind: str) -> None:
    steps: list[tuple[str, int, int]] = []
    captures = Captures(WRITERS[kind](tmp_path), progress=lambda *step: steps.append(step))
    with Collection(captures) as site:
        found = {page.url: site.source(page.versions[-1]) for page in site.pages}

    assert found == PAGES
    assert (captures.count, captures.troubles, steps) == (len(PAGES), [], [("files", 1, 1)])


@pytest.mark.parametrize("kind", ["archive", "by folder"])
def test_captures_of_one_page_are_its_versions(tmp_path: Path, kind: str) -> None:
    bodies = [f"<p>Day {day} at the harbour".encode() for day in range(4)]
    if kind == "archive":
        with Archive.create(tmp_path / "a.quire") as archive:
            for day, body in enumerate(bodies):
                archive.add("https://a.example/", START + timedelta(days=day), body)
        captures = Captures([str(tmp_path / "a.quire")])
    else:
        (tmp_path / "home").mkdir()
        for day, body in enumerate(bodies):
            (tmp_path / "home" / f"{START + timedelta(days=day):%Y-%m-%d}.html").write_bytes(body)
        captures = Captures([str(tmp_path)], by_folder=True)

    with Collection(captures) as site:
        (page,) = site.pages
        assert [site.source(version) for version in page.versions] == bodies
        assert [version.time for version in page.versions] == [
            START + timedelta(days=day) for day in range(4)
        ]


def test_one_address_can_be_asked_for(tmp_path: Path) -> None:
    url = "https://a.example/news/4"
    for kind in ("warc", "parquet", "archive"):
        folder = tmp_path / kind
        folder.mkdir()
        found = list(Captures(WRITERS[kind](folder), url=url))
        assert [one.capture.body for one in found] == [PAGES[url]]
        assert list(Captures(WRITERS[kind](folder / ".."), url="https://gone.example/")) == []


def test_files_with_times_that_are_not_read_as_versions_are_counted(tmp_path: Path) -> None:
    for name in ("2026-05-01.html", "2026-05-02.html", "about.html"):
        (tmp_path / name).write_text("<p>Rain")
    captures = Captures([str(tmp_path)])

    assert len(list(captures)) == 3
    assert (captures.files, captures.timed_files) == (3, 2)


def test_folders_of_users_are_matched_by_name(users: Path) -> None:
    assert users.is_dir()
    captures = Captures(["anyone"], variants=Variants(sources=("./mary",)))

    assert [(one.page, one.reader) for one in captures] == [
        ("a.html", ""),
        ("b.html", ""),
        ("a.html", "./mary"),
        ("b.html", "./mary"),
    ]
    assert captures.unmatched == 1


def test_secrets_in_addresses_are_in_no_name(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a.quire") as archive:
        archive.add("https://a.example/?token=hunter2&day=1", START, b"<p>1")
    captures = Captures([str(tmp_path / "a.quire")], variants=Variants(queries=("token",)))

    (found,) = captures
    assert (found.page, found.reader) == ("https://a.example/?day=1", "token=hunter2")
    assert (found.capture.url, "hunter2" in found.capture.name) == (found.page, False)


def test_cookies_of_requests_tell_users_apart(tmp_path: Path) -> None:
    tie, tied = b"WARC-Record-ID: <urn:1>\r\n", b"WARC-Concurrent-To: <urn:1>\r\n"
    asked = b"GET / HTTP/1.1\r\nCookie: session=7\r\n\r\n"
    write(
        tmp_path / "crawl.warc",
        [record(response(b"<p>1"), more=tie), record(asked, kind="request", more=tied)],
    )
    captures = Captures([str(tmp_path / "crawl.warc")], variants=Variants(cookies=("session",)))

    assert [one.reader for one in captures] == ["session=7"]
    assert captures.with_cookie == 1


@pytest.mark.parametrize(
    ("sources", "variants", "problem", "source"),
    [
        (["anyone", "mary"], Variants(sources=("bob",)), "several-sources", "bob"),
        (["anyone"], Variants(sources=("./anyone/",)), "same-source", "./anyone/"),
        (["anyone"], Variants(sources=("mary", "mary")), "same-source", "mary"),
        (["anyone/a.html"], Variants(cookies=("session",)), "no-requests", "anyone/a.html"),
        (["site.quire"], Variants(cookies=("session",)), "no-requests", "site.quire"),
    ],
)
def test_users_that_cannot_be_told_apart_are_an_error_that_says_which(
    users: Path, sources: list[str], variants: Variants, problem: str, source: str
) -> None:
    Archive.create(users / "site.quire").close()
    with pytest.raises(VariantError) as raised:
        Captures(sources, variants=variants)

    assert (raised.value.problem, raised.value.source) == (problem, source)
    assert "--" not in str(raised.value), "options belong to the command line"


def test_a_source_that_is_not_there_is_an_error_at_once(users: Path) -> None:
    assert users.is_dir()
    for sources, variants in ((["gone"], Variants()), (["anyone"], Variants(sources=("gone",)))):
        with pytest.raises(SourceNotFound, match="gone: no such file or folder"):
            Captures(sources, variants=variants)


def test_troubles_are_kept_and_not_raised(tmp_path: Path) -> None:
    (tmp_path / "empty.html").touch()
    captures = Captures([str(tmp_path)])

    assert list(captures) == []
    assert [(one.name, one.reason) for one in captures.troubles] == [
        (str(tmp_path / "empty.html"), "empty: 0 bytes")
    ]
    assert captures.count == 0


def test_histories_are_by_address(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a.quire") as archive:
        for day in range(3):
            for url in ("https://a.example/", "https://b.example/"):
                archive.add(url, START + timedelta(days=day), f"<p>Day {day} of rain".encode())
    found = dict(histories(Captures([str(tmp_path / "a.quire")])))

    assert {url: len(lives.times) for url, lives in found.items()} == {
        "https://a.example/": 3,
        "https://b.example/": 3,
    }


def test_a_history_needs_times(tmp_path: Path) -> None:
    (tmp_path / "home.html").write_text("<p>Rain")
    with pytest.raises(CaptureTimeUnknown) as raised:
        list(histories(Captures([str(tmp_path)], by_folder=True)))

    assert raised.value.name == str(tmp_path / "home.html")

"""Pages by address and time, comparing versions, and statistics that cover every byte."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import quire
from quire.archive import Archive
from quire.errors import ArchiveError, DamagedRecord, PageNotFound
from tests.archive.test_archive import at, filled, site
from tests.archive.test_damage import data_file
from tests.archive.test_export import START


@pytest.fixture(params=[False, True], ids=["journal", "segment"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return filled(tmp_path / "site.quire", site(), compact=request.param)


def test_the_archive_is_a_public_name() -> None:
    assert quire.Archive is Archive


def test_pages_are_listed_by_address_and_time(stored: Path) -> None:
    with Archive.open(stored) as archive:
        found = [(page.url, page.time) for page in archive.pages(order="url")]

        assert found == sorted((url, time) for url, time, _ in site())


@pytest.mark.parametrize(("since", "until"), [(None, 9), (10, None), (10, 20), (21, 20)])
def test_pages_are_listed_by_their_time(stored: Path, since: int | None, until: int | None) -> None:
    with Archive.open(stored) as archive:
        first = None if since is None else at(since)
        last = None if until is None else at(until)
        expected = {
            (url, time)
            for url, time, _ in site()
            if (first is None or time >= first) and (last is None or time <= last)
        }
        found = archive.pages(since=first, until=last)
        assert {(page.url, page.time) for page in found} == expected
        read = archive.read("https://a1.", since=first, until=last)
        assert {(page.url, page.time) for page in read} == {
            one for one in expected if one[0].startswith("https://a1.")
        }


def test_the_newest_version_of_every_address_is_the_one_that_get_gives(stored: Path) -> None:
    with Archive.open(stored) as archive:
        newest = list(archive.newest())
        in_order = [page for page in archive if page in newest]

        assert {page.url for page in newest} == {url for url, _, _ in site()}
        assert newest == [archive.get(page.url) for page in newest] == in_order


def test_a_version_knows_its_status_and_type(stored: Path) -> None:
    with Archive.open(stored) as archive:
        page = next(archive.pages())

        assert (page.status, page.content_type) == (200, "text/html")
        assert "head" not in repr(page)


def test_versions_are_compared(tmp_path: Path) -> None:
    url = "https://a.example/"
    with Archive.create(tmp_path / "a") as archive:
        for i, word in enumerate(["Cod", "Hake", "Hake", "Eel"]):
            archive.add(url, at(i), f"<p>{word}<p>Plaice".encode())
        archive.commit()

        assert [page.time for page in archive.pair(url)] == [at(2), at(3)]
        assert [page.time for page in archive.pair(url, new=at(1))] == [at(0), at(1)]
        assert [page.time for page in archive.pair(url, at(0))] == [at(0), at(3)]
        assert archive.diff(url).differs(["content"])
        assert not archive.diff(url, at(1), at(2)).differs(["content"])
        assert not archive.diff(url, rules=quire.Rules(only=("p + p",))).differs(["content"])
        with pytest.raises(PageNotFound, match="before the one of 2026-05-01 12:00:00 UTC"):
            archive.diff(url, new=at(0))
        with pytest.raises(PageNotFound, match="no such page in"):
            archive.diff("https://b.example/")


def test_two_versions_of_one_time_are_a_pair(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a") as archive:
        for body in (b"<p>one", b"<p>two"):
            archive.add("u", at(0), body)
        archive.commit()

        assert [page.body for page in archive.pair("u")] == [b"<p>one", b"<p>two"]


def test_a_page_is_known_by_all_of_it(stored: Path) -> None:
    with Archive.open(stored) as archive:
        url, time, body = site()[3]
        head = archive.get(url, time).head

        assert archive.has(url, time, head, body)
        assert not archive.has(url, time, head, body + b"x")
        assert not archive.has(url, time, b"", body)
        assert not archive.has(url, time + timedelta(microseconds=1), head, body)
        assert not archive.has(url + "x", time, head, body)


def test_every_byte_of_the_folder_is_in_one_part(stored: Path) -> None:
    with Archive.open(stored) as archive:
        stats = archive.stats()

    assert stats.stored_bytes == sum(path.stat().st_size for path in stored.iterdir())
    assert stats.pages == len(site())
    assert stats.urls == len({url for url, _, _ in site()})
    assert stats.hosts == 3
    assert stats.body_bytes == sum(len(body) for _, _, body in site())
    is_segment = "journals" not in stats.parts
    assert ("bases" in stats.parts) == is_segment
    assert ("guards" in stats.parts) == is_segment
    assert stats.duplicates == 1
    assert "damaged" not in stats.parts


def test_damaged_bytes_are_a_part_and_damaged_pages_are_told(stored: Path) -> None:
    file = data_file(stored)
    data = file.read_bytes()
    third = len(data) // 3
    file.write_bytes(data[:third] + bytes(third) + data[2 * third :])
    told: list[ArchiveError] = []
    with Archive.open(stored) as archive:
        stats = archive.stats()
        pages = list(archive.read(on_damage=told.append))
        assert stats.stored_bytes == sum(path.stat().st_size for path in stored.iterdir())
        assert len(pages) < len(site())
        assert stats.parts.get("damaged", 0) > third // 2 or told
        if told:
            with pytest.raises(DamagedRecord):
                list(archive)


STORED = ["https://www.fish.example/Market/", "http://b.example/a?x=1&y=2", "site/market1.html"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("https://www.fish.example/Market/", 0),
        ("http://www.fish.example/Market/", 0),
        ("https://fish.example/Market/", 0),
        ("https://www.fish.example/Market", 0),
        ("fish.example/Market", 0),
        ("WWW.FISH.example/Market", 0),
        ("HTTPS://www.Fish.Example:443/Market/", 0),
        ("fish.example/market/?", 0),
        ("b.example/a?y=2&x=1", 1),
        ("https://b.example/a?x=1&y=2#top", 1),
        ("site/market1.html", 2),
    ],
)
def test_an_address_is_found_as_people_write_it(tmp_path: Path, asked: str, found: int) -> None:
    with Archive.create(tmp_path / "a") as archive:
        for url in STORED:
            archive.add(url, START, b"x")
        archive.commit()
        assert archive.address(asked) == STORED[found]


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("https://www.fish.example/Markt/", (STORED[0],)),
        ("fihs.example/market", (STORED[0],)),
        ("site/market2.html", (STORED[2],)),
        ("https://nowhere.test/", ()),
        ("", ()),
        ("http://[::1", ()),
    ],
)
def test_near_addresses_are_suggested(tmp_path: Path, asked: str, near: tuple[str, ...]) -> None:
    with Archive.create(tmp_path / "a") as archive:
        for url in STORED:
            archive.add(url, START, b"x")
        archive.commit()
        with pytest.raises(PageNotFound, match="no such page in") as error:
            archive.address(asked)
        assert error.value.near == near


def test_an_exact_address_comes_before_other_spellings(tmp_path: Path) -> None:
    urls = [
        f"{scheme}://{www}a.example/x{slash}"
        for scheme in ("http", "https")
        for www in ("", "www.")
        for slash in ("", "/")
    ]
    with Archive.create(tmp_path / "a") as archive:
        for url in urls:
            archive.add(url, START, url.encode())
        archive.commit()
        assert [archive.address(url) for url in urls] == urls


def test_the_nearest_version_may_be_later(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a") as archive:
        for day in (1, 5, 11):
            archive.add("u", datetime(2026, 5, day, tzinfo=UTC), b"%d" % day)
        archive.commit()
        nearest = {
            day: archive.get("u", datetime(2026, 5, day, tzinfo=UTC), nearest=True).body
            for day in (2, 3, 4, 8, 9, 30)
        }
        assert nearest == {2: b"1", 3: b"5", 4: b"5", 8: b"11", 9: b"11", 30: b"11"}
        early = datetime(2025, 1, 1, tzinfo=UTC)
        assert archive.get("u", early, nearest=True).body == b"1"
        with pytest.raises(PageNotFound):
            archive.get("u", early)
        with pytest.raises(PageNotFound):
            archive.get("v", early, nearest=True)

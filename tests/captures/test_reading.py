"""The same pages come out of every source, and each is found again by its name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quire import captures
from quire.archive import Archive, ingest
from quire.captures import Capture, Trouble, find, read, read_newest, read_one
from quire.errors import SourceNotFound, SourceUnreadable
from quire.similar.crawl.templates import CrawlTemplates, crawl_templates
from quire.similar.models import TemplateModel
from tests.captures.sources import CRAWLS, PAGES, SERVED, TIME, WRITERS
from tests.sources.crawls import record, response, write

URL = "https://a.example/"
START = datetime(2026, 5, 1, tzinfo=UTC)


def pages(*sources: str, newest: bool = False) -> list[Capture]:
    found = list(read(sources, newest=newest))
    assert [one for one in found if isinstance(one, Trouble)] == []
    return [one for one in found if isinstance(one, Capture)]


def filled(path: Path, *bodies: bytes, url: str = URL) -> str:
    """An archive with versions of a page, a day apart."""
    with Archive.create(path) as archive:
        for day, body in enumerate(bodies):
            archive.add(url, START + timedelta(days=day), body)
    return str(path)


@pytest.mark.parametrize("kind", WRITERS)
def test_every_source_gives_the_same_pages(tmp_path: Path, kind: str) -> None:
    found = pages(*WRITERS[kind](tmp_path))

    assert sorted(page.body for page in found) == sorted(PAGES.values())
    if kind in CRAWLS:
        assert {page.url: page.body for page in found} == PAGES
        assert {page.time for page in found} == {TIME}
    if kind in SERVED:
        assert {page.status for page in found} == {200}
        assert {page.content_type for page in found} == {"text/html; charset=utf-8"}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_page_is_found_again_by_its_name(tmp_path: Path, kind: str) -> None:
    found = pages(*WRITERS[kind](tmp_path))

    assert len({page.name for page in found}) == len(PAGES)
    assert [read_one(page.name) for page in found] == found


def test_one_source_may_be_named_without_a_list(tmp_path: Path) -> None:
    source = filled(tmp_path / "a.quire", b"<p>Open")

    assert [page.body for page in read(source) if isinstance(page, Capture)] == [b"<p>Open"]


def test_the_head_of_an_archived_page_is_that_of_the_warc(tmp_path: Path) -> None:
    (warc,) = WRITERS["warc"](tmp_path)
    with Archive.create(tmp_path / "a.quire") as archive:
        ingest(archive, [warc])
    there = {page.url: (page.head, page.time) for page in pages(str(tmp_path / "a.quire"))}

    assert there == {page.url: (page.head, page.time) for page in pages(warc)}


def test_a_resource_keeps_its_content_type_in_an_archive(tmp_path: Path) -> None:
    plain = record(b"a < b", kind="resource", more=b"Content-Type: text/plain\r\n")
    write(tmp_path / "crawl.warc", [plain])
    with Archive.create(tmp_path / "a.quire") as archive:
        ingest(archive, [str(tmp_path / "crawl.warc")])

    (page,) = pages(str(tmp_path / "a.quire"))
    assert (page.content_type, page.status) == ("text/plain", None)


def shape(crawl: CrawlTemplates) -> list[tuple[object, ...]]:
    """The groups of a crawl, by the addresses of its pages."""
    columns = ("url", "time", "bytes", "nodes", "fit")
    rows = crawl.table().to_pylist()
    return sorted(tuple(row[name] for name in columns) for row in rows)


def groups(crawl: CrawlTemplates) -> set[frozenset[str]]:
    urls = crawl.pages["url"].to_pylist()
    return {frozenset(urls[page] for page in group.pages) for group in crawl.templates.groups}


@pytest.mark.parametrize("kind", ["wacz", "parquet", "archive", "compacted"])
def test_templates_do_not_depend_on_the_source(tmp_path: Path, kind: str) -> None:
    (tmp_path / "other").mkdir()
    warc = crawl_templates(find(WRITERS["warc"](tmp_path / "other")), reader=read_newest)
    found = crawl_templates(find(WRITERS[kind](tmp_path)), reader=read_newest)

    assert groups(found) == groups(warc)
    assert [len(group.pages) for group in found.templates.groups] == [6, 4]
    # Which page stands for a group depends on hashes of names, and with it the fit.
    assert [row[:4] for row in shape(found)] == [row[:4] for row in shape(warc)]
    model = TemplateModel.of(found, read_one=read_one)
    assert [group.size for group in model.groups] == [6, 4]


def test_of_an_archive_the_newest_captures_can_be_asked_for(tmp_path: Path) -> None:
    source = filled(tmp_path / "a.quire", b"<p>1", b"<p>2", b"<p>3")
    with Archive.open(source, write=True) as archive:
        archive.add("https://b.example/", START, b"<p>b")
        archive.add(URL, START - timedelta(days=9), b"<p>older, stored later")
        archive.add("https://b.example/", START, b"<p>of the same time, stored later")
        archive.commit()

        newest = pages(source, newest=True)
        assert [page.body for page in newest] == [b"<p>3", b"<p>of the same time, stored later"]
        assert [archive.get(page.url).body for page in newest] == [page.body for page in newest]
    assert [read_one(page.name) for page in newest] == newest
    assert len(pages(source)) == 6
    assert list(read_newest(source)) == newest


def test_archives_are_found_in_folders_and_by_patterns(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    one = filled(tmp_path / "deep" / "a.quire", b"<p>1")
    other = filled(tmp_path / "deep" / "er" / "b.quire", b"<p>2")
    empty = filled(tmp_path / "deep" / "empty.quire")
    page = tmp_path / "deep" / "archive.json"
    page.write_text('{"about": "a page that is called like the mark of an archive"}')

    assert find([str(tmp_path)]) == [one, empty, other, str(page)]
    assert find([f"{tmp_path}/deep/*.quire", f"{one}/"]) == [one, empty]
    assert find([f"{tmp_path}/**/*"]) == [one, empty, other, str(page)]
    assert find([str(page), other]) == [other, str(page)]
    assert [found.body for found in pages(str(tmp_path))][:2] == [b"<p>1", b"<p>2"]


@pytest.mark.parametrize("source", ["gone.quire", "*.quire", "gone/"])
def test_a_source_that_leads_nowhere_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceNotFound):
        find([source])


def test_names_take_any_address_and_any_folder(tmp_path: Path) -> None:
    urls = ["https://a.example/#top", "https://a.example/a b 2026-05-17", "", "#", " "]
    (tmp_path / "odd #1").mkdir()
    for number, url in enumerate(urls):
        filled(tmp_path / "odd #1" / f"{number}#.quire", b"<p>1", b"<p>2", url=url)
    found = pages(str(tmp_path))

    assert [page.url for page in found] == [url for url in urls for _ in range(2)]
    assert [read_one(page.name) for page in found] == found


def test_an_address_alone_is_its_newest_capture(tmp_path: Path) -> None:
    source = filled(tmp_path / "a.quire", b"<p>1", b"<p>2")

    assert read_one(f"{source}#{URL}").body == b"<p>2"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "holds many pages; expected one of them, as in"),
        ("#", "holds many pages; expected one of them, as in"),
        ("#https://c.example/", "no such page in the archive"),
        (f"#{URL} 2026-05-01T00:00:01Z", "no capture of that time in the archive"),
        (f"#{URL} 2026-04-01T00:00:00Z", "no such page in the archive"),
        (f"#{URL} 2026-99-99T00:00:00Z", "no such page in the archive"),
    ],
)
def test_a_name_of_nothing_is_an_error_that_names_it(tmp_path: Path, name: str, words: str) -> None:
    source = filled(tmp_path / "a.quire", b"<p>1", b"<p>2")

    with pytest.raises(SourceNotFound, match=words) as raised:
        read_one(source + name)
    assert str(raised.value).startswith(f"{source}{name}: ")


def test_a_page_that_is_too_long_is_a_trouble(tmp_path: Path) -> None:
    source = filled(tmp_path / "a.quire", b"<p>" * 1000, b"<p>2")
    first, second = read(source, most_bytes=100)

    assert isinstance(first, Trouble)
    assert first.name == f"{source}#{URL} 2026-05-01T00:00:00Z"
    assert "at most 100" in first.reason
    assert isinstance(second, Capture)
    with pytest.raises(SourceUnreadable, match="at most 100"):
        read_one(first.name, most_bytes=100)


def test_a_damaged_page_is_a_trouble_and_the_rest_is_read(tmp_path: Path) -> None:
    bodies = [bytes([65 + number]) * 200 + b"<p>" for number in range(3)]
    source = filled(tmp_path / "a.quire", *bodies)
    journal = next((tmp_path / "a.quire").glob("*.journal"))
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 0xFF
    journal.write_bytes(data)
    found = list(read(source))

    troubles = [one for one in found if isinstance(one, Trouble)]
    assert len(troubles) == 1, found
    assert troubles[0].name == source
    assert {one.body for one in found if isinstance(one, Capture)} < set(bodies)


@pytest.mark.parametrize("junk", [b"", b"\0" * 100, b"<p>no journal"])
def test_an_archive_of_junk_is_read_without_an_error(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "a.quire").mkdir()
    (tmp_path / "a.quire" / "000001.journal").write_bytes(junk)
    source = str(tmp_path / "a.quire")

    assert find([source]) == [source]
    for newest in (False, True):
        found = list(read(source, newest=newest))
        assert all(isinstance(one, Trouble) for one in found)


def test_crawls_and_archives_are_read_together(tmp_path: Path) -> None:
    (warc,) = WRITERS["warc"](tmp_path)
    source = filled(tmp_path / "a.quire", b"<p>1", b"<p>2")
    write(tmp_path / "more.warc", [record(response(b"<p>3"))])

    found = pages(warc, str(tmp_path / "more.warc"), source, newest=True)
    assert len(found) == len(PAGES) + 2
    assert found[0].body == b"<p>2", "archives come first"


def test_the_public_names_are_sorted_and_documented() -> None:
    names = captures.__all__
    by_kind = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))

    assert by_kind == names
    assert all(getattr(captures, name).__doc__ for name in names)

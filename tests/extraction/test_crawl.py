"""The records of a crawl are those of its pages, whatever holds the pages and runs the work."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quire
from quire.archive import Archive
from quire.captures import read_newest
from quire.engines import open_engine
from quire.extraction.crawl import PageRecords, crawl_records
from quire.sources import Trouble, find
from tests.extraction.redesigns import first, rows

PAGES = Path(__file__).parents[1] / "pages" / "records"


def test_a_crawl_has_the_regions_of_every_page() -> None:
    paths = sorted(str(path) for path in PAGES.glob("*/page.html"))

    with open_engine("local:2") as engine:
        found = list(crawl_records(paths, engine=engine))

    assert [page.name for page in found] == paths
    for page in found:
        assert isinstance(page, PageRecords)
        expected = quire.records(quire.encode(Path(page.name).read_bytes()))
        assert page.regions == expected.regions


def test_pages_of_parquet_files_and_archives_have_links_with_whole_addresses(
    tmp_path: Path,
) -> None:
    body, address = first(rows(1)), "https://shop.example/a/list"
    pq.write_table(pa.table({"url": [address], "body": [body]}), tmp_path / "pages.parquet")
    with Archive.create(tmp_path / "site.quire") as archive:
        archive.add(address, datetime(2026, 5, 1, tzinfo=UTC), b"<p>Closed")
        archive.add(address, datetime(2026, 5, 2, tzinfo=UTC), body)
    expected = quire.records(quire.encode(body), base=address).regions

    for source in ("pages.parquet", "site.quire"):
        (page,) = crawl_records([str(tmp_path / source)], reader=read_newest)
        assert isinstance(page, PageRecords)
        assert page.url == address
        assert page.regions == expected


def test_what_cannot_be_read_is_a_trouble_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"")
    (tmp_path / "b.html").write_bytes(first(rows(1)))
    gone = str(tmp_path / "gone.html")

    found = list(crawl_records([*find([str(tmp_path)]), gone, "\udcff.html"]))

    troubles = [one for one in found if isinstance(one, Trouble)]
    assert [Path(one.name).name for one in troubles] == ["\udcff.html", "a.html", "gone.html"]
    assert [len(one.regions) for one in found if isinstance(one, PageRecords)] == [1]


def test_a_page_longer_than_allowed_is_a_trouble(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(first(rows(1)))

    (found,) = crawl_records([str(tmp_path / "a.html")], most_bytes=10)

    assert isinstance(found, Trouble)


def test_stopping_early_ends_the_work(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.html").write_bytes(first(rows(number)))
    found = crawl_records(find([str(tmp_path)]))

    assert isinstance(next(found), PageRecords)
    found.close()  # type: ignore[attr-defined] # it is a generator

    with pytest.raises(StopIteration):
        next(found)

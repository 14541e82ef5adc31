"""The same pages written to every kind of source."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from quire.archive import Archive, ingest
from tests.sources.crawls import record, response, write

#: When ``tests.sources.crawls.record`` says that a page was fetched.
TIME = datetime(2026, 5, 17, 11, 2, 33, tzinfo=UTC)


def shop(rows: int) -> bytes:
    goods = "<tr class=good><td>Cod<td class=price>9" * rows
    return f"<h1 class=t>Fish</h1><table class=goods>{goods}</table>".encode()


def news(rows: int) -> bytes:
    return f"<main><article>{'<p class=lead>Rain' * rows}</article></main>".encode()


PAGES = {
    **{f"https://a.example/shop/{rows}?a=b#c d": shop(rows) for rows in range(4, 10)},
    **{f"https://a.example/news/{rows}": news(rows) for rows in range(4, 8)},
    "https://a.example/": b"<dl><dt>Open<dd>nine to five</dl>",
}


def folder(path: Path) -> list[str]:
    (path / "site").mkdir()
    for number, body in enumerate(PAGES.values()):
        (path / "site" / f"{number:02}.html").write_bytes(body)
    return [str(path / "site")]


def files(path: Path) -> list[str]:
    (source,) = folder(path)
    return sorted(str(file) for file in Path(source).iterdir())


def pattern(path: Path) -> list[str]:
    (source,) = folder(path)
    return [f"{source}/*.html"]


def warc(path: Path) -> list[str]:
    """A crawl whose server sent every other page compressed."""
    records = []
    for number, (url, body) in enumerate(PAGES.items()):
        if number % 2:
            sent = response(gzip.compress(body, mtime=0), "Content-Encoding: gzip")
        else:
            sent = response(body)
        records.append(record(sent, url=url))
    write(path / "crawl.warc.gz", records)
    return [str(path / "crawl.warc.gz")]


def wacz(path: Path) -> list[str]:
    (source,) = warc(path)
    with zipfile.ZipFile(path / "crawl.wacz", "w") as file:
        file.write(source, "archive/data.warc.gz")
    return [str(path / "crawl.wacz")]


def parquet(path: Path) -> list[str]:
    rows = [{"url": url, "time": TIME, "body": body} for url, body in PAGES.items()]
    pq.write_table(pa.Table.from_pylist(rows), path / "pages.parquet")
    return [str(path / "pages.parquet")]


def archive(path: Path) -> list[str]:
    with Archive.create(path / "site.quire") as target:
        ingest(target, warc(path))
    return [str(path / "site.quire")]


def compacted(path: Path) -> list[str]:
    (source,) = archive(path)
    with Archive.open(source, write=True) as target:
        target.compact()
    return [source]


#: Writers by the kind of source; each gives the sources to name.
WRITERS: dict[str, Callable[[Path], list[str]]] = {
    writer.__name__: writer
    for writer in (files, folder, pattern, warc, wacz, parquet, archive, compacted)
}
#: Those that record addresses and times, and those that also record what servers sent.
CRAWLS = ("warc", "wacz", "parquet", "archive", "compacted")
SERVED = ("warc", "wacz", "archive", "compacted")

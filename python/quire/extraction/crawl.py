"""The records of a whole crawl: every page is read once, by whichever engine there is.

A task reads some files and gives a row for each page: its regions as JSON, or the reason why it could
not be read. The rows of a page do not depend on other pages, so nothing is grouped and a crawl may
have any size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from quire.digest import encode
from quire.digest.files import PageKind
from quire.display import is_web_address
from quire.engines import Engine, open_engine
from quire.errors import MissingExtra, QuireError
from quire.extraction.find_records import records
from quire.extraction.finding.confidence import LEAST_CONFIDENCE
from quire.extraction.region import Region, RegionSource
from quire.extraction.table.cells import Key, Source
from quire.extraction.table.table import Column
from quire.extraction.table.values import ValueType
from quire.sources import MOST_BYTES, Capture, Trouble, read
from quire.sources.places import for_tasks
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.arrow import as_text, in_batches, paths_of, schema_of

#: The name of the step, for progress.
STEP = "records"
ROWS = schema_of(
    path=pa.string(),
    place=pa.int64(),
    name=pa.string(),
    url=pa.string(),
    regions=pa.large_string(),
    trouble=pa.string(),
)
# Fewer rows than usual in a batch: finding records takes long, and a batch is progress.
_MOST_ROWS = 256


@dataclass(frozen=True, slots=True)
class PageRecords:
    """The regions of one page of a crawl.

    Attributes:
        name: the name of the page.
        url: its address, if that is known.
        regions: its regions, the most important one first; may be empty.
        order: the file that it is in, and its place there.
    """

    name: str
    url: str | None
    regions: tuple[Region, ...]
    order: tuple[str, int]


def crawl_records(
    paths: Sequence[str],
    *,
    engine: Engine | None = None,
    least_confidence: float = LEAST_CONFIDENCE,
    kind: PageKind | None = None,
    encoding: str | None = None,
    most_bytes: int = MOST_BYTES,
    reader: PathReader = read,
) -> Iterator[PageRecords | Trouble]:
    """Find the records of every page of a crawl.

    Pages come as they are done: in the order of the files from the threads of this machine, in any
    order from a cluster.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.sources import find
    >>> items = "".join(f"<li><b>Fish {n}</b> <i>{n}.50 €</i>" for n in range(4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.html").write_text(f"<ul>{items}</ul>", "utf-8")
    ...     _ = Path(folder, "b.html").write_bytes(b"")
    ...     for found in crawl_records(find([folder])):
    ...         print(found.reason if isinstance(found, Trouble) else found.regions[0].rows[1])
    ('Fish 1', '1.50 €')
    empty: 0 bytes

    Args:
        paths: files, as ``quire.sources.find`` lists them.
        engine: runs the work; None for the threads of this machine.
        least_confidence: as for ``quire.records``.
        kind: the syntax of all pages; None to detect it.
        encoding: the character set of all pages; None to detect it.
        most_bytes: a longer page is a ``Trouble``.
        reader: reads a path. ``quire.captures.read_newest`` also reads archives, on any machine that
            sees the folder of the archive under the same path.
    """
    with ExitStack() as stack:
        running = engine or stack.enter_context(open_engine(None))
        fine, odd = for_tasks(paths)
        yield from odd
        task = partial(
            read_rows,
            least_confidence=least_confidence,
            kind=kind,
            encoding=encoding,
            most_bytes=most_bytes,
            reader=reader,
        )
        for batch in running.map_paths(fine, task, ROWS, step=STEP).batches():
            for row in batch.to_pylist():
                yield _read_back(row)


def read_rows(
    paths: pa.RecordBatch,
    *,
    least_confidence: float,
    kind: PageKind | None,
    encoding: str | None,
    most_bytes: int,
    reader: PathReader = read,
) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows, one for each page."""
    rows = (
        {
            "path": path,
            "place": place,
            "name": as_text(found.name),
            **_page_row(found, least_confidence, kind, encoding),
        }
        for path in paths_of(paths)
        for place, found in enumerate(reader(path, most_bytes=most_bytes))
    )
    yield from in_batches(rows, ROWS, heavy="regions", most_rows=_MOST_ROWS)


def _page_row(
    found: Capture | Trouble,
    least_confidence: float,
    kind: PageKind | None,
    encoding: str | None,
) -> dict[str, Any]:
    if isinstance(found, Trouble):
        return {"trouble": as_text(found.reason)}
    if not found.body:
        return {"trouble": "empty: 0 bytes"}
    url = as_text(found.url) if is_web_address(found.url) else None
    try:
        page = encode(found.body, kind=kind, encoding=encoding, content_type=found.content_type)
        regions = records(page, least_confidence=least_confidence, base=url)
    except (QuireError, ValueError) as error:
        return {"trouble": as_text(str(error))}
    return {"url": url, "regions": json.dumps([_plain(region) for region in regions])}


def _plain(region: Region) -> list[Any]:
    columns = [
        (one.name, one.type.value, one.key.path, one.key.source.value, one.key.column)
        for one in region.columns
    ]
    return [
        region.node,
        region.path,
        region.confidence,
        region.source.value,
        region.records,
        columns,
        region.rows,
        region.nodes,
    ]


def _read_back(row: dict[str, Any]) -> PageRecords | Trouble:
    if row["trouble"] is not None:
        return Trouble(row["name"], row["trouble"])
    regions = tuple(_region(plain) for plain in json.loads(row["regions"]))
    return PageRecords(row["name"], row["url"], regions, (row["path"], row["place"]))


def _region(plain: list[Any]) -> Region:
    node, path, confidence, source, found, columns, rows, nodes = plain
    return Region(
        node=node,
        path=path,
        confidence=confidence,
        source=RegionSource(source),
        records=tuple(map(tuple, found)),
        columns=tuple(
            Column(name, ValueType(type_), Key(tuple(labels), Source(of), number))
            for name, type_, labels, of, number in columns
        ),
        rows=tuple(map(tuple, rows)),
        nodes=tuple(map(tuple, nodes)),
    )

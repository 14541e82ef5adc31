"""The records of a folder, crawl or archive: all its pages, on the threads of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.crawls import find_sources
from quire.cli.common.engines import opened_engine
from quire.cli.common.options import KindChoice
from quire.cli.common.progress import bars

if TYPE_CHECKING:
    from quire.extraction import Region


def crawled(
    source: str,
    confidence: float,
    *,
    kind: KindChoice | None,
    encoding: str | None,
    engine: str | None,
    threads: int | None,
) -> list[tuple[str, list[Region]]]:
    """Find the records of all pages in a source, in its order; note pages that cannot be read.

    Raises:
        Refusal: the engine is not known.
        SourceNotFound: the source does not exist, or there is nothing to read in it.
    """
    from quire.captures import read_newest  # noqa: PLC0415 - heavy
    from quire.extraction.crawl import STEP, PageRecords, crawl_records  # noqa: PLC0415 - heavy

    paths = find_sources([source])
    pages: list[PageRecords] = []
    with (
        bars({STEP: "finding records"}) as progress,
        opened_engine(engine, threads, progress) as to,
    ):
        for found in crawl_records(
            paths,
            engine=to,
            least_confidence=confidence,
            kind=None if kind is None else kind.value,
            encoding=encoding,
            reader=read_newest,
        ):
            if isinstance(found, PageRecords):
                pages.append(found)
            else:
                terminal.note(f"{found.name}: {found.reason}")
    places = {path: place for place, path in enumerate(paths)}
    pages.sort(key=lambda page: (places.get(page.order[0], 0), page.order[1]))
    return [(page.name, list(page.regions)) for page in pages]

"""``quire fragments shared``: find the parts that the pages of a crawl have in common."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.crawls import counted_paths, find_sources, nothing_read, print_troubles
from quire.cli.common.engines import EngineOption, ThreadsOption, opened_engine
from quire.cli.common.options import ForceOption, Format, FormatOption, MostBytesOption
from quire.cli.common.progress import bars
from quire.cli.common.terminal import printable, reports_errors
from quire.cli.fragments.pages import (
    MinMatchOption,
    MinTextOption,
    SharedByOption,
    SourcesArgument,
)
from quire.display import format_bytes, format_count, shorten
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments.shared.crawl import CrawlFragments

_STEPS = {"parts": "reading pages"}
_MOST_NAME = 60


@reports_errors
def shared(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Write all places of all fragments to a .parquet or .csv file.",
        ),
    ] = None,
    min_match: MinMatchOption = 0.9,
    min_text_bytes: MinTextOption = 200,
    min_pages: SharedByOption = 2,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="List this many fragments.")] = 20,
    engine: EngineOption = None,
    threads: ThreadsOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Find the parts that the pages of a crawl have in common, identical or similar.

    Pages are read by threads on this machine or by a cluster, which sends back about
    10 kB per page. Files that cannot be read are listed with the reason. From an
    archive, quire reads the newest version of each page.

    \b
    Examples:
      quire fragments shared crawl/
      quire fragments shared site.quire
      quire fragments shared "s3://crawls/*.warc.gz" --engine spark://head:7077 -o shared.parquet
      quire fragments shared crawl/ --format json | jq '.fragments[] | select(.same == "exact")'

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    if output is not None:
        files.check_free(Path(output), force=force)
        from quire.fragments.shared.crawl_output import SUFFIXES  # noqa: PLC0415 - heavy

        files.check_suffix(output, SUFFIXES)
    from quire.captures import read_newest  # noqa: PLC0415 - heavy
    from quire.fragments.shared.crawl import crawl_fragments  # noqa: PLC0415 - heavy

    began = time.monotonic()
    paths = find_sources(sources)
    with bars(_STEPS) as progress, opened_engine(engine, threads, progress) as running:
        crawl = crawl_fragments(
            paths,
            engine=running,
            min_match=min_match,
            min_bytes=min_text_bytes,
            min_pages=min_pages,
            most_bytes=most_bytes,
            reader=read_newest,
        )
    if not len(crawl.pages):
        raise nothing_read(crawl.troubles, len(crawl.troubles))
    if output is not None:
        _write(crawl, Path(output), force=force)
    if format is Format.json:
        from quire.fragments.shared.crawl_output import as_json  # noqa: PLC0415 - heavy

        terminal.write_json(as_json(crawl))
    else:
        _print(crawl, top)
    if output is not None:
        terminal.note(f"{output}: written")
    terminal.note(f"{counted_paths(paths)} in {time.monotonic() - began:.1f} s")


def _write(crawl: CrawlFragments, target: Path, *, force: bool) -> None:
    from quire.fragments.shared.crawl_output import as_bytes  # noqa: PLC0415 - heavy

    files.write_whole(target, as_bytes(crawl, target.suffix.lower()), force=force)


def _print(crawl: CrawlFragments, top: int) -> None:
    from quire.fragments.shared.crawl_output import sameness  # noqa: PLC0415 - heavy

    found = crawl.fragments
    if top and len(found):
        terminal.write_text(
            f"{'text':>9}  {'pages':>6}  {'places':>6}  {'match':<11}  first place\n"
        )
    for one in found[:top]:
        start = int(one.members.byte_start[0])
        name = printable(shorten(crawl.name(int(one.members.page[0])), _MOST_NAME))
        place = f" at {start:,}" if start >= 0 else ""
        terminal.write_text(
            f"{one.value_bytes:>9,}  {len(one.pages):>6,}  {len(one.members):>6,}  "
            f"{sameness(one):<11}  {name}{place}\n"
        )
    if top and len(found) > top:
        terminal.write_text(f"… and {len(found) - top:,} more with shorter text\n")
    kinds = Counter(sameness(one) for one in found)
    told = format_bytes(crawl.total_bytes)
    terminal.write_text(
        f"{format_count(found.pages, 'page')}, {told}: {format_count(len(found), 'fragment')} "
        f"in {format_count(len(found.members), 'place')}; "
        f"{kinds['exact']:,} exact, {kinds['same text']:,} with the same text, "
        f"{kinds['approximate']:,} approximate\n"
    )
    print_troubles(crawl.troubles, elsewhere="--format json lists all")

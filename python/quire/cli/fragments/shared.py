"""``quire fragments shared``: find the parts that the pages of a crawl have in common."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
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
    from quire.fragments.shared.large.crawl import WrittenFragments
    from quire.fragments.shared.large.listing import ListedFragment

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
    to_folder: Annotated[
        str | None,
        typer.Option(
            "--to-folder",
            metavar="FOLDER",
            help="Group on the engine as well, and write all places to Parquet files in a new "
            "folder: for crawls too large for the memory of this machine.",
        ),
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            "--work",
            metavar="FOLDER",
            help="With --to-folder: an empty folder for intermediate files. A cluster needs one "
            "that all its machines reach.",
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
    10 kB per page; with --to-folder about 1 kB. Files that cannot be read are listed
    with the reason. From an archive, quire reads the newest version of each page.

    \b
    Examples:
      quire fragments shared crawl/
      quire fragments shared site.quire
      quire fragments shared "s3://crawls/*.warc.gz" --engine spark://head:7077 -o shared.parquet
      quire fragments shared crawl/ --to-folder shared
      quire fragments shared crawl/ --format json | jq '.fragments[] | select(.same == "exact")'

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    _check(sources, output, to_folder, work, force=force)
    from quire.captures import read_newest  # noqa: PLC0415 - heavy
    from quire.fragments.shared.crawl import crawl_fragments  # noqa: PLC0415 - heavy
    from quire.fragments.shared.large.crawl import write_crawl_fragments  # noqa: PLC0415 - heavy

    began = time.monotonic()
    paths = find_sources(sources)
    crawl: CrawlFragments | None = None
    written: WrittenFragments | None = None
    with bars(_STEPS) as progress, opened_engine(engine, threads, progress) as running:
        if to_folder is not None:
            written = write_crawl_fragments(
                paths,
                to_folder,
                engine=running,
                min_match=min_match,
                min_bytes=min_text_bytes,
                min_pages=min_pages,
                most_bytes=most_bytes,
                work=work,
                reader=read_newest,
            )
        else:
            crawl = crawl_fragments(
                paths,
                engine=running,
                min_match=min_match,
                min_bytes=min_text_bytes,
                min_pages=min_pages,
                most_bytes=most_bytes,
                reader=read_newest,
            )
    if written is not None:
        _tell_written(written, top, format)
        terminal.note(f"{to_folder}: written")
    elif crawl is not None:
        _tell(crawl, top, format, output, force=force)
    terminal.note(f"{counted_paths(paths)} in {time.monotonic() - began:.1f} s")


def _check(
    sources: Sequence[str],
    output: str | None,
    to_folder: str | None,
    work: str | None,
    *,
    force: bool,
) -> None:
    if output is not None and to_folder is not None:
        raise terminal.Refusal("--output and --to-folder: expected only one of them")
    if work is not None and to_folder is None:
        raise terminal.Refusal("--work: expected --to-folder with it")
    for folder in (to_folder, work):
        if folder is not None:
            _check_folder(folder, sources)
    if output is not None:
        files.check_free(Path(output), force=force)
        from quire.fragments.shared.crawl_output import SUFFIXES  # noqa: PLC0415 - heavy

        files.check_suffix(output, SUFFIXES)


def _check_folder(name: str, sources: Sequence[str]) -> None:
    if "://" in name:
        return  # the engine looks there
    folder = files.output_folder(name, sources)
    # A run that was stopped may have left empty folders.
    if folder.exists() and not (folder.is_dir() and all(map(Path.is_dir, folder.rglob("*")))):
        raise terminal.Refusal(
            f"{folder}: expected a new or an empty folder",
            hint="choose another name, or remove what a stopped run left there",
        )


def _tell(
    crawl: CrawlFragments,
    top: int,
    format: Format,  # noqa: A002 - the name of the option
    output: str | None,
    *,
    force: bool,
) -> None:
    from quire.fragments.shared.crawl_output import as_bytes, as_json  # noqa: PLC0415 - heavy

    if not len(crawl.pages):
        raise nothing_read(crawl.troubles, len(crawl.troubles))
    if output is not None:
        target = Path(output)
        files.write_whole(target, as_bytes(crawl, target.suffix.lower()), force=force)
    if format is Format.json:
        terminal.write_json(as_json(crawl))
    else:
        _print(crawl, top)
    if output is not None:
        terminal.note(f"{output}: written")


def _tell_written(
    found: WrittenFragments,
    top: int,
    format: Format,  # noqa: A002 - the name of the option
) -> None:
    from quire.fragments.shared.large.listing import list_longest  # noqa: PLC0415 - heavy

    if not found.n_pages:
        for file in (*found.places, *found.pages):
            if "://" not in file:
                Path(file).unlink()  # without rows; so the same folder can be used again
        raise nothing_read(found.troubles, len(found.troubles))
    longest = list_longest(found, top)
    if format is Format.json:
        terminal.write_json(asdict(found) | {"longest": [asdict(one) for one in longest]})
        return
    _print_header(longest)
    for one in longest:
        _print_fragment(one)
    if top and found.n_fragments > top:
        terminal.write_text(f"… and {found.n_fragments - top:,} more with shorter text\n")
    told = format_bytes(found.total_bytes)
    terminal.write_text(
        f"{format_count(found.n_pages, 'page')}, {told}: "
        f"{format_count(found.n_fragments, 'fragment')}\n"
    )
    print_troubles(found.troubles, elsewhere="--format json lists all")


def _print_header(listed: Sequence[object]) -> None:
    if listed:
        terminal.write_text(
            f"{'text':>9}  {'pages':>6}  {'places':>6}  {'match':<11}  first place\n"
        )


def _print_fragment(one: ListedFragment) -> None:
    place = f" at {one.byte_start:,}" if one.byte_start is not None else ""
    name = printable(shorten(one.name, _MOST_NAME))
    terminal.write_text(
        f"{one.text_bytes:>9,}  {one.pages:>6,}  {one.places:>6,}  {one.same:<11}  {name}{place}\n"
    )


def _print(crawl: CrawlFragments, top: int) -> None:
    from quire.fragments.shared.crawl_output import sameness  # noqa: PLC0415 - heavy
    from quire.fragments.shared.large.listing import ListedFragment  # noqa: PLC0415 - heavy

    found = crawl.fragments
    _print_header(found[:top])
    for one in found[:top]:
        start = int(one.members.byte_start[0])
        listed = ListedFragment(
            number=one.number,
            same=sameness(one),
            text_bytes=one.value_bytes,
            pages=len(one.pages),
            places=len(one.members),
            name=crawl.name(int(one.members.page[0])),
            byte_start=start if start >= 0 else None,
        )
        _print_fragment(listed)
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

"""Commands that write to an archive: ``create``, ``add`` and ``compact``."""

from __future__ import annotations

import dataclasses
import time as clock
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from quire.cli.archive.interrupts import created_if_missing, explained, stored
from quire.cli.archive.options import (
    ArchiveArgument,
    ByFolderOption,
    FetchedOption,
    SkipKnownOption,
    SourcesArgument,
    UrlPrefixOption,
    check_name,
    named_files,
)
from quire.cli.archive.summary import INCOMPLETE, Listed, ignore, print_added
from quire.cli.common import terminal
from quire.cli.common.archives import opened
from quire.cli.common.crawls import find_crawls, nothing_read
from quire.cli.common.options import Format, FormatOption, MostBytesOption
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.cli.common.times import start_of
from quire.display import format_bytes, format_count
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.archive import Archive

_MOST_THREADS = 64


@reports_errors
def create(*, archive: ArchiveArgument, format: FormatOption = Format.text) -> None:  # noqa: A002 - the name of the option
    """Create an empty archive.

    ARCHIVE is a new or empty folder.

    \b
    Examples:
      quire archive create site.quire
      quire archive create crawls/2026-05.quire --format json
    """
    from quire.archive import Archive  # noqa: PLC0415 - heavy

    check_name(archive)
    try:
        Archive.create(archive).close()
    except FileExistsError as error:
        raise Refusal(str(error), hint="`quire archive add` adds to an archive") from None
    if format is Format.json:
        terminal.write_json({"archive": archive, "pages": 0})
    else:
        terminal.write_text(f"{printable(archive)}: empty archive created\n")


@reports_errors
def add(
    *,
    archive: ArchiveArgument,
    sources: SourcesArgument,
    create: Annotated[  # the name of the option
        bool, typer.Option("--create", help="Create the archive if it does not exist.")
    ] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Compact the archive after adding.")
    ] = False,
    by_folder: ByFolderOption = False,
    url_prefix: UrlPrefixOption = "",
    skip_known: SkipKnownOption = True,
    time: FetchedOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    threads: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=_MOST_THREADS,
            metavar="N",
            help="Compression threads, besides the reading thread "
            "(default: the number of processors, at most 4).",
        ),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Add crawls to an archive.

    From WARC files, `add` takes all records: responses and resources as pages, with their headers
    exactly as they were sent; requests, metadata and all others so that `export` writes them
    again. It lists the records it cannot read and adds the rest. Pages are written safely to disk
    every few thousand, and at the end.

    \b
    Examples:
      quire archive add site.quire crawl.warc.gz --create
      quire archive add site.quire crawl.wacz pages/ "s3://crawls/2026-05/*.warc.gz"
      quire archive add site.quire saved/ --by-folder --url-prefix https://example.org/
      quire archive add site.quire crawl.warc.gz --format json | jq .pages

    Pages and records that are already stored are skipped. So after a crash or Ctrl-C, run the
    same command again to continue.

    Exit codes: 0 on success, 1 if something could not be read and was left out, 2 on error
    (including when no input could be read).
    """
    from quire.archive import ingest  # noqa: PLC0415 - heavy

    fetched = start_of(time)
    rename = named_files(sources, url_prefix, by_folder=by_folder)
    paths = find_crawls(sources)
    began = clock.monotonic()
    listed, is_json = Listed(), format is Format.json
    with (
        explained(lambda: stored(archive), "run the same command again; it skips these pages"),
        created_if_missing(archive, create=create),
    ):
        with opened(archive, write=True) as target, progress_bars() as progress:
            done = ingest(
                target,
                paths,
                time=fetched,
                rename=rename,
                skip_known=skip_known,
                most_bytes=most_bytes,
                threads=threads,
                on_trouble=listed.troubles.append if is_json else ignore,
                on_warning=listed.warnings.append if is_json else ignore,
                progress=lambda step, read, of: progress(step, read >> 20, of >> 20),
            )
            if compact and (done.pages or done.companions):
                target.compact(progress)
            total = len(target)
        if done.is_empty:
            raise nothing_read(done.troubles, done.trouble_count)
    if is_json:
        terminal.write_json(listed.as_json(archive, done, total))
    else:
        print_added(archive, done, total, clock.monotonic() - began)
    if done.trouble_count:
        raise typer.Exit(INCOMPLETE)


@reports_errors
def compact(
    *,
    archive: ArchiveArgument,
    dense: Annotated[
        bool,
        typer.Option(
            "--dense",
            help="Compress more, for pages that are rarely read; same as --codec dense.",
        ),
    ] = False,
    codec: Annotated[
        Literal["zstd", "dense", "tbc"], typer.Option(help="Codec for the pages.")
    ] = "zstd",
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Make an archive small by storing similar pages as differences from shared ones.

    With zstd, a page is read in 0.1 ms. The dense codec needs up to a third less space; a page
    is then read in a few milliseconds (the first page of a site in a tenth of a second), and
    compacting takes ten times as long. tbc is a method from the literature, for comparison.

    The old files are removed once the new file is safely on disk. Others can read the archive
    in the meantime.

    \b
    Examples:
      quire archive compact site.quire
      quire archive compact old-crawls.quire --dense
      quire archive compact site.quire --format json | jq .stored_bytes
    """
    with (
        explained(lambda: f"{archive} is as it was before"),
        opened(archive, write=True) as target,
        progress_bars() as progress,
    ):
        before = _folder_bytes(target)
        done = target.compact(progress, codec="dense" if dense else codec)
        after = _folder_bytes(target)
    if format is Format.json:
        values = {"archive": archive, "stored_bytes_before": before, "stored_bytes": after}
        terminal.write_json({**values, **dataclasses.asdict(done)})
        return
    terminal.write_text(
        f"{printable(archive)}: {format_count(done.pages, 'page')}; "
        f"{format_bytes(before)} before, {format_bytes(after)} now\n"
    )
    for damage in done.damaged:
        terminal.complain(damage)
    if done.damaged:
        terminal.advise("these pages stay in their old files")


def _folder_bytes(archive: Archive) -> int:
    return sum(path.stat().st_size for path in archive.folder.iterdir() if path.is_file())

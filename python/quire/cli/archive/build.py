"""``quire archive build``: turns crawls into a compacted archive in one run.

The work runs on this machine or on a cluster.
"""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.archive.interrupts import explained
from quire.cli.archive.options import (
    ByFolderOption,
    FetchedOption,
    SkipKnownOption,
    SourcesArgument,
    UrlPrefixOption,
    named_files,
)
from quire.cli.archive.summary import INCOMPLETE, Listed, ignore, print_added
from quire.cli.common import terminal
from quire.cli.common.crawls import find_crawls, nothing_read
from quire.cli.common.engines import EngineOption, ThreadsOption, opened_engine
from quire.cli.common.options import Format, FormatOption, MostBytesOption
from quire.cli.common.progress import bars
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.common.times import start_of
from quire.sources.capture import MOST_BYTES

# What the progress bars call the steps.
_STEPS = {
    "sketch": "reading pages",
    "fetch": "grouping similar pages",
    "encode": "storing pages",
}


@reports_errors
def build(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="ARCHIVE",
            help="Folder of the archive: a new one, or an archive to add to.",
        ),
    ],
    engine: EngineOption = None,
    threads: ThreadsOption = None,
    by_folder: ByFolderOption = False,
    url_prefix: UrlPrefixOption = "",
    skip_known: SkipKnownOption = True,
    time: FetchedOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    dense: Annotated[
        bool, typer.Option("--dense", help="Compress more, for pages that are rarely read.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Build a compacted archive from crawls, on this machine or on a cluster.

    The result is the same archive that `add` and `compact` make, but no journal is written in
    between. All machines of a cluster must be able to read the sources; the archive is written
    on this machine. It appears only when all of it is safely on disk: if a build is
    interrupted, run it again.

    \b
    Examples:
      quire archive build crawl.warc.gz -o site.quire
      quire archive build "s3://crawls/2026-05/*.warc.gz" -o may.quire --engine spark://head:7077
      quire archive build crawl/ -o site.quire --format json | jq .pages

    Exit codes: 0 on success, 1 if something could not be read and was left out, 2 on error
    (including when no input could be read).
    """
    from quire.archive import Archive  # noqa: PLC0415 - heavy
    from quire.archive.build.build import build_archive  # noqa: PLC0415 - heavy

    fetched = start_of(time)
    rename = named_files(sources, url_prefix, by_folder=by_folder)
    if Path(output).is_file():
        raise Refusal(f"{output}: is a file, not a folder", hint="choose another name")
    began = clock.monotonic()
    listed, is_json = Listed(), format is Format.json
    paths = find_crawls(sources)
    with (
        explained(lambda: f"nothing was added to {output}"),
        bars(_STEPS) as progress,
        opened_engine(engine, threads, progress) as running,
    ):
        done = build_archive(
            paths,
            output,
            engine=running,
            time=fetched,
            rename=rename,
            skip_known=skip_known,
            most_bytes=most_bytes,
            codec="dense" if dense else "zstd",
            on_trouble=listed.troubles.append if is_json else ignore,
            on_warning=listed.warnings.append if is_json else ignore,
        )
    if done.is_empty:
        raise nothing_read(done.troubles, done.trouble_count)
    with Archive.open(output) as archive:
        total = len(archive)
    if is_json:
        terminal.write_json(listed.as_json(output, done, total))
    else:
        print_added(output, done, total, clock.monotonic() - began)
    if done.trouble_count:
        raise typer.Exit(INCOMPLETE)

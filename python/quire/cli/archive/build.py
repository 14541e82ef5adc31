"""``quire archive build``: a crawl becomes an archive at once, on this machine or on a cluster."""

from __future__ import annotations

import dataclasses
import time as clock
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.archive.options import FetchedOption, SkipKnownOption, SourcesArgument
from quire.cli.archive.summary import print_added
from quire.cli.common import terminal
from quire.cli.common.crawls import find_crawls, nothing_read
from quire.cli.common.engines import EngineOption, ThreadsOption, opened_engine
from quire.cli.common.options import Format, FormatOption, MostBytesOption
from quire.cli.common.progress import bars
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.common.times import start_of
from quire.sources.capture import MOST_BYTES

# The steps of the work, as a person would call them.
_STEPS = {
    "sketch": "looking at pages",
    "fetch": "bringing alike together",
    "encode": "storing pages",
}


@reports_errors
def build(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="ARCHIVE", help="The archive: a new folder, or one to add to."
        ),
    ],
    engine: EngineOption = None,
    threads: ThreadsOption = None,
    skip_known: SkipKnownOption = False,
    time: FetchedOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    dense: Annotated[
        bool, typer.Option("--dense", help="Smaller yet, for what is rarely read.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Make an archive of crawls, small at once, on this machine or on a cluster.

    The same archive as `add` and `compact` make, without the journal between them. The
    machines of a cluster have to reach the sources; the archive is written here. There
    is none until all of it is safe: a build that was cut off is simply run again.

    \b
    Examples:
      quire archive build crawl.warc.gz -o site.quire
      quire archive build "s3://crawls/2026-05/*.warc.gz" -o may.quire --engine spark://head:7077
      quire archive build crawl/ -o site.quire --skip-known --format json | jq .pages

    Exit code: 0 done, 2 error, which is also that nothing could be read.
    """
    from quire.archive import Archive  # noqa: PLC0415 - heavy
    from quire.archive.build.build import build_archive  # noqa: PLC0415 - heavy

    fetched = start_of(time)
    if Path(output).is_file():
        raise Refusal(f"{output}: a file, not a folder", hint="choose another name")
    began = clock.monotonic()
    paths = find_crawls(sources)
    with bars(_STEPS) as listener, opened_engine(engine, threads, listener) as running:
        done = build_archive(
            paths,
            output,
            engine=running,
            time=fetched,
            skip_known=skip_known,
            most_bytes=most_bytes,
            codec="dense" if dense else "zstd",
        )
    if not (done.pages or done.known):
        raise nothing_read(done.troubles, done.trouble_count)
    with Archive.open(output) as archive:
        total = len(archive)
    if format is Format.json:
        terminal.write_json({"archive": output, "total_pages": total, **dataclasses.asdict(done)})
        return
    print_added(output, done, total, clock.monotonic() - began)

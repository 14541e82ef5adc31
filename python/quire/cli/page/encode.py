"""``quire encode``: turn pages into digests, one or a hundred thousand.

Threads encode the files (the kernels release the interpreter lock). Each thread reads, encodes and
writes one file at a time, so memory holds at most one page per thread. Files that fail are listed
at the end; the others are still encoded.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.fetched import is_web_page
from quire.cli.common.files import DIGEST_SUFFIX, STANDARD_INPUT
from quire.cli.common.open_page import PageReader, encode_page, reader
from quire.cli.common.options import (
    ContentTypeOption,
    EncodingOption,
    ForceOption,
    Format,
    FormatOption,
    FragmentOption,
    KindOption,
    NoScriptingOption,
    RecoverOption,
)
from quire.cli.common.terminal import Refusal, reports_errors
from quire.sources.places import PAGE_SUFFIXES


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded page."""

    source: str
    output: str
    kind: str
    encoding: str
    nodes: int
    source_bytes: int
    digest_bytes: int
    verbatim: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """A page that could not be encoded, and why."""

    source: str
    error: str
    hint: str | None


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a run."""

    files: int
    failed: int
    source_bytes: int
    digest_bytes: int
    verbatim: int
    seconds: float

    @property
    def ratio(self) -> str:
        """Digest bytes per page byte; a dash without pages."""
        return terminal.ratio(self.digest_bytes, self.source_bytes)

    @property
    def megabytes_per_second(self) -> float:
        """Megabytes of pages read, encoded and written per second."""
        return self.source_bytes / 1e6 / self.seconds if self.seconds else 0.0


@reports_errors
def encode(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES", help="Pages, folders, patterns or a web address; - for standard input."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="OUT", help="Write the digest here; - for standard output."
        ),
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write digests to this folder (default: next to the pages)."
        ),
    ] = None,
    compress: Annotated[
        bool, typer.Option("--compress", help="Compress digests: smaller, but slower to load.")
    ] = False,
    force: ForceOption = False,
    kind: KindOption = None,
    content_type: ContentTypeOption = None,
    encoding: EncodingOption = None,
    no_scripting: NoScriptingOption = False,
    fragment: FragmentOption = None,
    recover: RecoverOption = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of threads (default: one per core)."),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Encode pages as digests.

    a.html becomes a.qd in the same folder. If you give a folder, quire encodes every page
    in it and in its subfolders. The digest of standard input or of a web page goes to
    standard output, or to -o. Pages that cannot be read are listed at the end; the others
    are still encoded.

    \b
    Examples:
      quire encode page.html
      quire encode https://example.org/ -o example.qd
      quire encode crawl/ --output-dir digests/ --compress --format json

    Exit codes: 0 on success, 2 on error (including when any page could not be read).
    """
    read = reader(
        kind=kind,
        content_type=content_type,
        encoding=encoding,
        scripting=not no_scripting,
        fragment=fragment,
        recover=recover,
    )
    names, places = _plan(sources, output, output_dir)
    if places is None:
        if format is Format.json:
            raise Refusal(
                "the digest goes to standard output, so the JSON report cannot", hint="use -o"
            )
        terminal.write_bytes(encode_page(names[0], read).to_bytes(compress=compress))
        return
    work = [
        partial(_encode_file, name, place, read, compress=compress, force=force)
        for name, place in zip(names, places, strict=True)
    ]
    start = time.perf_counter()
    results = _run(work, names, jobs or os.cpu_count() or 1)
    _report(results, time.perf_counter() - start, format)


def _plan(
    sources: list[str], output: str | None, output_dir: Path | None
) -> tuple[list[str], list[Path] | None]:
    """Return the names of the pages and the paths of their digests; None for standard output.

    Raises:
        Refusal: the options contradict each other.
    """
    # A stream or a page on the web: there is no file that the digest could lie next to.
    single = next((name for name in sources if name == STANDARD_INPUT or is_web_page(name)), None)
    called = "standard input" if single == STANDARD_INPUT else single
    if output is not None and output_dir is not None:
        raise Refusal("-o and --output-dir cannot be combined", hint="-o is for one page")
    if single is not None and len(sources) > 1:
        raise Refusal(
            f"{called} cannot be combined with files", hint="encode it in a separate command"
        )
    if single is not None and output_dir is not None:
        raise Refusal(f"{called} has no file name for --output-dir", hint="use -o")
    found = [] if single is not None else files.find(sources, PAGE_SUFFIXES)
    names = [single] if single is not None else [str(file.path) for file in found]
    if output is not None and len(names) > 1:
        raise Refusal(f"-o is one file, but there are {len(names)} pages", hint="use --output-dir")
    if output == STANDARD_INPUT or (single is not None and output is None):
        if sys.stdout.isatty():
            raise Refusal(
                "a digest is binary, not text for a terminal", hint="use -o, or `quire show`"
            )
        return names, None
    if output is not None:
        if Path(output).is_dir():
            raise Refusal(
                f"{output}: is a folder, but -o needs a file", hint="use --output-dir for a folder"
            )
        return names, [Path(output)]
    return names, files.targets(found, output_dir, DIGEST_SUFFIX)


def _encode_file(
    source: str, target: Path, read: PageReader, *, compress: bool, force: bool
) -> Encoded:
    files.check_free(target, force=force)  # fail early; checked again before writing
    page = encode_page(source, read)
    data = page.to_bytes(compress=compress)
    files.write_whole(target, data, force=force)
    return Encoded(
        source=source,
        output=str(target),
        kind=page.kind,
        encoding=page.encoding,
        nodes=page.n,
        source_bytes=page.source_bytes,
        digest_bytes=len(data),
        verbatim="verbatim" in page.flags,
    )


def _run(
    work: Sequence[Callable[[], Encoded]], names: Sequence[str], jobs: int
) -> list[Encoded | Failed]:
    """Run all the work in threads and return the results in the order of the work."""
    results: list[Encoded | Failed | None] = [None] * len(work)
    with ThreadPoolExecutor(min(jobs, len(work))) as pool, _progress(len(work)) as advance:
        places: dict[Future[Encoded], int] = {
            pool.submit(job): place for place, job in enumerate(work)
        }
        try:
            for done in as_completed(places):
                place = places.pop(done)
                results[place] = _outcome(done, names[place])
                advance()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [result for result in results if result is not None]


def _outcome(done: Future[Encoded], name: str) -> Encoded | Failed:
    error = done.exception()
    if error is None:
        return done.result()
    if not isinstance(error, (Refusal, OSError)):
        raise error  # a bug in quire, not a problem of the page
    message, hint = terminal.explain(error, name)
    return Failed(name, message, hint)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error if it is a terminal."""
    if total == 1 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal.console(stderr=True), transient=True) as bar:
        task = bar.add_task("encoding", total=total)
        yield lambda: bar.advance(task)


def _report(results: Sequence[Encoded | Failed], seconds: float, format_: Format) -> None:
    """Print the results, with failures at the end, where they are seen.

    Raises:
        typer.Exit: with 2 if anything failed.
    """
    encoded = [result for result in results if isinstance(result, Encoded)]
    failed = [result for result in results if isinstance(result, Failed)]
    totals = Totals(
        files=len(encoded),
        failed=len(failed),
        source_bytes=sum(page.source_bytes for page in encoded),
        digest_bytes=sum(page.digest_bytes for page in encoded),
        verbatim=sum(page.verbatim for page in encoded),
        seconds=round(seconds, 6),
    )
    if format_ is Format.json:
        terminal.write_json(
            {
                "files": [asdict(page) for page in encoded],
                "failed": [asdict(page) for page in failed],
                "totals": asdict(totals),
            }
        )
    elif len(results) == 1 and encoded:
        page = encoded[0]
        terminal.console().print(
            f"{terminal.printable(page.source)} → {terminal.printable(page.output)}: "
            f"{page.source_bytes:,} bytes as {page.digest_bytes:,} ({totals.ratio}), "
            f"{page.nodes:,} nodes" + (", verbatim" if page.verbatim else ""),
            soft_wrap=True,
        )
    elif encoded:
        _print_totals(totals)
    for failure in failed:
        terminal.complain(failure.error)
    for hint in sorted({failure.hint for failure in failed if failure.hint}):
        terminal.advise(hint)
    if failed:
        raise typer.Exit(terminal.ERROR)


def _print_totals(totals: Totals) -> None:
    from rich.table import Table  # noqa: PLC0415 - heavy

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("pages", "bytes", "digest bytes", "ratio", "MB/s", "verbatim", "failed"):
        table.add_column(heading, justify="right")
    table.add_row(
        f"{totals.files:,}",
        f"{totals.source_bytes:,}",
        f"{totals.digest_bytes:,}",
        totals.ratio,
        f"{totals.megabytes_per_second:.0f}",
        f"{totals.verbatim:,}",
        f"{totals.failed:,}",
    )
    terminal.console().print(table)

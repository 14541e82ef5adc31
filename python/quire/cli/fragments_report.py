"""``quire fragments report``: what pages share and how long their parts live, as one HTML page with JSON beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli import files, terminal
from quire.cli.archive_options import MostBytesOption, opened, told_bytes, told_time
from quire.cli.archive_progress import telling
from quire.cli.crawls import find_crawls, is_archive_folder, nothing_read
from quire.cli.fragments_pages import SourcesArgument
from quire.cli.options import ForceOption, Format, FormatOption
from quire.cli.templates_tables import counted
from quire.cli.terminal import Refusal, reports_errors
from quire.sources.capture import MOST_BYTES, parse_time

if TYPE_CHECKING:
    from quire.fragments.statistics import FragmentStudy
    from quire.sources import Capture, Trouble

_MOST_NAMED = 5
_MOST_LISTED = 10


@reports_errors
def report(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="HTML", help="The report; its numbers go beside it, as .json."
        ),
    ],
    log: Annotated[
        str | None,
        typer.Option(
            metavar="LOG", help="An access log, common or combined log format, plain or gzip."
        ),
    ] = None,
    by_folder: Annotated[
        bool,
        typer.Option(
            "--by-folder",
            help="Files that are named by a time (20260517T110233Z.html) are versions of the page that their folder is.",
        ),
    ] = False,
    min_match: Annotated[
        float,
        typer.Option(
            min=0.01, max=1, metavar="SHARE", help="How much parts overlap that are one, at least."
        ),
    ] = 0.9,
    min_bytes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Bytes of text that a part has, at least.")
    ] = 200,
    min_pages: Annotated[
        int, typer.Option(min=2, metavar="N", help="Pages that share a part, at least.")
    ] = 2,
    most_bytes: MostBytesOption = MOST_BYTES,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Write a page that shows what pages share, how long it lives, and what to do about it.

    The page needs no network and runs nothing. Captures of one address at different
    times are its versions; they tell how long parts live. Only parts with the same
    bytes can be cut out; those that are alike are named with what differs.

    \b
    Examples:
      quire fragments report crawl/ -o report.html
      quire fragments report site.quire -o report.html --log access.log.gz
      quire fragments report crawl.warc.gz -o report.html --format json | jq .totals

    Exit code: 0 done, 2 error, which is also that nothing could be read.
    """
    target = Path(output)
    beside = target.with_suffix(".json")
    if beside == target:
        raise Refusal(
            f"{output}: the name of the numbers beside it", hint="end it with .html instead"
        )
    for path in (target, beside):
        files.check_free(path, force=force)
    from quire.fragments.collected import Collection  # noqa: PLC0415 - heavy
    from quire.fragments.report import as_json, fragment_report, graph_of  # noqa: PLC0415 - heavy
    from quire.fragments.statistics import study_fragments  # noqa: PLC0415 - heavy

    if log is not None:
        with Path(log).open("rb"):  # before the long work, and not after it
            pass
    with telling() as tell:
        captures = _Captures(sources, most_bytes, tell, by_folder=by_folder)
        with Collection(captures) as site:
            study = study_fragments(
                site,
                log=log,
                min_match=min_match,
                min_bytes=min_bytes,
                min_pages=min_pages,
                tell=tell,
            )
            graph = graph_of(study, tell=tell)
            drawn = fragment_report(study, graph, title=" ".join(sources))
            numbers = as_json(study, graph)
    files.write_whole(target, drawn.encode("utf-8", "replace"), force=force)
    told = json.dumps(numbers, indent=1, ensure_ascii=False)
    files.write_whole(beside, f"{told}\n".encode("utf-8", "replace"), force=force)
    if format is Format.json:
        terminal.write_json(numbers)
    else:
        _print(study)
    captures.complain()
    terminal.note(f"{target} and {beside}: written")


class _Captures:
    """The captures of some sources, to go through once: all versions that there are."""

    def __init__(
        self,
        sources: Sequence[str],
        most_bytes: int,
        tell: Callable[[str, int, int], None],
        *,
        by_folder: bool,
    ) -> None:
        self._archives = [source for source in sources if is_archive_folder(source)]
        crawls = [source for source in sources if source not in self._archives]
        self._paths = find_crawls(crawls) if crawls else []
        self._most_bytes, self._tell, self._by_folder = most_bytes, tell, by_folder
        self.troubles: list[Trouble] = []
        self._named_by_time = 0
        self._refused = 0

    def __iter__(self) -> Iterator[Capture]:
        """Read them.

        Raises:
            Refusal: nothing could be read.
        """
        from quire.fragments.hazards import refusals  # noqa: PLC0415 - heavy

        of, count = len(self._archives) + len(self._paths), 0
        for done, place in enumerate([*self._archives, *self._paths], start=1):
            read = self._from_archive if done <= len(self._archives) else self._from_crawl
            for capture in read(place):
                count += 1
                self._refused += bool(refusals(capture.body))
                yield capture
            self._tell("files", done, of)
        if not count:
            raise nothing_read(self.troubles, len(self.troubles))

    def _from_archive(self, archive: str) -> Iterator[Capture]:
        from quire.sources import Capture, Trouble  # noqa: PLC0415 - heavy

        def damaged(error: Exception) -> None:
            self.troubles.append(Trouble(archive, str(error)))

        with opened(archive) as source:
            for page in source.read(on_damage=damaged):
                try:
                    body = page.content(most_bytes=self._most_bytes)
                except OSError as error:
                    damaged(error)
                    continue
                name = f"{page.url} {told_time(page.time)}"
                yield Capture(name, page.url, page.time, b"", body, page.content_type)

    def _from_crawl(self, path: str) -> Iterator[Capture]:
        from quire.sources import Capture, read  # noqa: PLC0415 - heavy

        for found in read(path, most_bytes=self._most_bytes):
            if not isinstance(found, Capture):
                self.troubles.append(found)
            elif self._by_folder and found.time is None:
                yield _version(found)
            else:
                stem = PurePath(found.name).stem
                self._named_by_time += found.time is None and parse_time(stem) is not None
                yield found

    def complain(self) -> None:
        """Name what could not be read, and what may have been meant otherwise."""
        if self._named_by_time > 1:
            terminal.note(
                f"{self._named_by_time:,} files are named by a time; --by-folder takes those of a folder as versions of one page"
            )
        if self._refused:
            terminal.note(
                f"{counted(self._refused, 'page')} would be refused by `quire fragments plan`, which says why; "
                "what is told here counts them with the others"
            )
        for trouble in self.troubles[:_MOST_NAMED]:
            terminal.note(f"{trouble.name}: not read: {trouble.reason}")
        more = len(self.troubles) - _MOST_NAMED
        if more > 0:
            terminal.note(f"{more:,} more could not be read")


def _version(found: Capture) -> Capture:
    """A file that is named by a time, as a version of the page that its folder is; others as they are."""
    from quire.sources import Capture  # noqa: PLC0415 - heavy

    name = PurePath(found.name)
    time = parse_time(name.stem)
    if time is None:
        return found
    return Capture(found.name, str(name.parent), time, found.head, found.body, found.declared)


def _print(study: FragmentStudy) -> None:
    totals = study.totals
    listed = [one for one in study.facts if one.tier == "exact" and one.stored_beyond > 0]
    if listed:
        terminal.write_text(f"{'bytes':>9}  {'pages':>6}  {'saved':>9}  what to do\n")
    for one in listed[:_MOST_LISTED]:
        terminal.write_text(
            f"{one.source_bytes:>9,}  {one.pages:>6,}  {told_bytes(one.stored_beyond):>9}  {one.advice}\n"
        )
    share = f" ({100 * totals.stored_saved / totals.page_bytes:.1f} %)" if totals.page_bytes else ""
    terminal.write_text(
        f"{counted(totals.pages, 'page')}, {counted(totals.versions, 'version')}: {counted(totals.worth_it, 'part')} worth "
        f"cutting out, {told_bytes(totals.stored_saved)} of {told_bytes(totals.page_bytes)} stored less{share}\n"
        f"{totals.exact:,} exact, {totals.approximate:,} approximate, {totals.own_pace:,} of their own pace\n"
    )

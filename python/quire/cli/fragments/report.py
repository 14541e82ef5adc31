"""``quire fragments report``: what pages share and how long their parts live, as one HTML page with JSON beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.options import ForceOption, Format, FormatOption, MostBytesOption
from quire.cli.common.step_progress import telling
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.cli.fragments.captures import (
    ByFolderOption,
    Captures,
    VariantCookieOption,
    VariantOption,
    VariantQueryOption,
    Variants,
)
from quire.cli.fragments.pages import (
    MinMatchOption,
    MinTextOption,
    SharedByOption,
    SourcesArgument,
)
from quire.display import format_bytes, format_count
from quire.errors import SourceUnreadable
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments.study.access_log import AccessLog
    from quire.fragments.study.study import FragmentStudy

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
    by_folder: ByFolderOption = False,
    variant: VariantOption = None,
    variant_query: VariantQueryOption = None,
    variant_cookie: VariantCookieOption = None,
    min_match: MinMatchOption = 0.9,
    min_bytes: MinTextOption = 200,
    min_pages: SharedByOption = 2,
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
      quire fragments report nobody/ -o report.html --variant mary/
      quire fragments report crawl.warc.gz -o report.html --format json | jq .totals

    Exit code: 0 done, 2 error, which is also that nothing could be read.
    """
    target = Path(output)
    if not target.name or target.is_dir():
        raise Refusal(f"{output or '-o'}: no name of a file", hint="such as -o report.html")
    if os.path.lexists(target) and not target.is_file():
        raise Refusal(f"{output}: no plain file", hint="--format json prints the numbers instead")
    beside = target.with_suffix(".json")
    if beside == target:
        raise Refusal(
            f"{output}: the name of the numbers beside it", hint="end it with .html instead"
        )
    for path in (target, beside):
        files.check_free(path, force=force)
    from quire.fragments.site.collection import Collection  # noqa: PLC0415 - heavy
    from quire.fragments.study.study import study_fragments  # noqa: PLC0415 - heavy
    from quire.reports.fragments.report import as_json, fragment_report, graph_of  # noqa: PLC0415 - heavy

    if log is not None and not Path(log).is_fifo():  # who writes to a pipe would find it closed
        with Path(log).open("rb"):  # before the long work, and not after it
            pass
    with telling() as tell:
        variants = Variants.told(variant, variant_query, variant_cookie)
        captures = Captures(sources, most_bytes, tell, by_folder=by_folder, variants=variants)
        with Collection(captures) as site:
            try:
                study = study_fragments(
                    site,
                    log=log,
                    min_match=min_match,
                    min_bytes=min_bytes,
                    min_pages=min_pages,
                    tell=tell,
                )
            except SourceUnreadable as error:  # the log: pages were read before
                raise Refusal(
                    str(error),
                    hint="--log takes what Apache, nginx or Varnish wrote, plain or gzip",
                ) from None
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
    if study.log is not None and log is not None:
        _complain(study.log, log)
    terminal.note(f"{target} and {beside}: written")


def _complain(found: AccessLog, log: str) -> None:
    if found.damaged:
        terminal.note(f"{printable(log)}: damaged; read up to line {found.lines:,}")
    if found.skipped:
        terminal.note(
            f"{printable(log)}: {found.skipped:,} of {format_count(found.lines, 'line')} are no entries"
        )


def _print(study: FragmentStudy) -> None:
    totals = study.totals
    # What matters is what parts are ranked by: with a log, what is moved.
    saved = "stored less" if study.log is None else "moved less"
    listed = [one for one in study.facts if one.tier == "exact" and one.stored_beyond > 0]
    if listed:
        terminal.write_text(f"{'bytes':>9}  {'pages':>6}  {saved:>11}  what to do\n")
    for one in listed[:_MOST_LISTED]:
        less = one.stored_beyond if study.log is None else one.moved_beyond
        terminal.write_text(
            f"{one.source_bytes:>9,}  {one.pages:>6,}  {format_bytes(less):>11}  {one.advice}\n"
        )
    if len(listed) > _MOST_LISTED:
        terminal.write_text(f"… and {len(listed) - _MOST_LISTED:,} more\n")
    share = f" ({100 * totals.stored_saved / totals.page_bytes:.1f} %)" if totals.page_bytes else ""
    terminal.write_text(
        f"{format_count(totals.pages, 'page')}, {format_count(totals.versions, 'version')}: {format_count(totals.worth_it, 'part')} worth "
        f"cutting out, {format_bytes(totals.stored_saved)} of {format_bytes(totals.page_bytes)} stored less{share}\n"
        f"{totals.exact:,} exact, {totals.approximate:,} approximate, {totals.own_pace:,} of their own pace\n"
    )

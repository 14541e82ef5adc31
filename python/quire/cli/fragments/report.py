"""``quire fragments report``: the plan of a site with advice, as an HTML page and JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.options import ForceOption, Format, FormatOption, MostBytesOption
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.cli.fragments.captures import (
    ByFolderOption,
    VariantCookieOption,
    VariantOption,
    VariantQueryOption,
    Variants,
)
from quire.cli.fragments.pages import MinMatchOption, MinTextOption, SourcesArgument
from quire.cli.fragments.plan_options import (
    AnyStartOption,
    ApartOption,
    Asked,
    DepthOption,
    MinPagesOption,
    MinSourceOption,
    MostTtlOption,
    PaceOption,
    PoliciesOption,
    PrefixOption,
    TtlOption,
    planning,
)
from quire.display import format_bytes, format_count, shorten
from quire.errors import SourceUnreadable
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments.study.study import FragmentStudy
    from quire.sources.access_log import AccessLog

_DAY_S = 86_400
_MOST_LISTED = 10
_MOST_NAME = 60
_WIDTH = 13


@reports_errors
def report(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="HTML",
            help="The report; its numbers go into a .json file beside it.",
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
    min_source_bytes: MinSourceOption = 500,
    min_pages: MinPagesOption = 2,
    depth: DepthOption = 1,
    prefix: PrefixOption = "",
    any_start: AnyStartOption = False,
    apart: ApartOption = True,
    pace: PaceOption = True,
    ttl: TtlOption = None,
    most_ttl: MostTtlOption = _DAY_S,
    policies: PoliciesOption = None,
    min_match: MinMatchOption = 0.9,
    min_text_bytes: MinTextOption = 200,
    most_bytes: MostBytesOption = MOST_BYTES,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Write a page that shows the plan of a site, how long parts last, and what to do about it.

    The exact parts and all savings are those of `quire fragments plan` and `esi` with the
    same options: --min-source-bytes is for these. Parts that are only alike
    (--min-text-bytes, --min-match) are listed with their differences, as advice. The page
    needs no network and has no scripts. Captures of one address at different times are
    its versions; they show how long parts last.

    \b
    Examples:
      quire fragments report crawl/ -o report.html
      quire fragments report site.quire -o report.html --log access.log.gz
      quire fragments report anonymous/ -o report.html --variant mary/
      quire fragments report crawl.warc.gz -o report.html --format json | jq .totals

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    target = Path(output)
    if not target.name or target.is_dir():
        raise Refusal(f"{output or '-o'}: not a file name", hint="such as -o report.html")
    if os.path.lexists(target) and not target.is_file():
        raise Refusal(
            f"{output}: not a plain file", hint="--format json prints the numbers instead"
        )
    beside = target.with_suffix(".json")
    if beside == target:
        raise Refusal(f"{output}: this name is for the numbers beside it", hint="use .html instead")
    for path in (target, beside):
        files.check_free(path, force=force)
    from quire.fragments.study.page_requests import PageRequests  # noqa: PLC0415 - heavy
    from quire.fragments.study.study import study_fragments  # noqa: PLC0415 - heavy
    from quire.reports.fragments import report as drawing  # noqa: PLC0415 - heavy

    if log is not None and not Path(log).is_fifo():  # the writer of a pipe would find it closed
        with Path(log).open("rb"):  # before the long work, and not after it
            pass
    asked = Asked(
        sources=sources,
        min_source_bytes=min_source_bytes,
        min_pages=min_pages,
        depth=depth,
        prefix=prefix,
        any_start=any_start,
        by_folder=by_folder,
        variants=Variants.told(variant, variant_query, variant_cookie),
        apart=apart,
        pace=pace,
        ttl_s=ttl,
        most_ttl_s=most_ttl,
        policies=policies,
        most_bytes=most_bytes,
    )
    with planning(asked) as planner:
        requests = PageRequests.once(planner.site)
        if log is not None:
            try:
                requests = PageRequests.read(planner.site, log)
            except SourceUnreadable as error:
                hint = "--log takes a log of Apache, nginx or Varnish, plain or gzip"
                raise Refusal(str(error), hint=hint) from None
        study = study_fragments(
            planner.plan(),
            asked=requests,
            min_match=min_match,
            min_bytes=min_text_bytes,
            min_pages=min_pages,
            progress=planner.progress,
        )
        planner.note_strangers(study.composition.manifest)
        graph = drawing.graph_of(study, progress=planner.progress)
        drawn = drawing.fragment_report(study, graph, title=" ".join(sources))
        numbers = drawing.as_json(study, graph)
    files.write_whole(target, drawn.encode("utf-8", "replace"), force=force)
    told = json.dumps(numbers, indent=1, ensure_ascii=False)
    files.write_whole(beside, f"{told}\n".encode("utf-8", "replace"), force=force)
    if format is Format.json:
        terminal.write_json(numbers)
    else:
        _print(study)
    if study.log is not None and log is not None:
        _complain(study.log, log)
    terminal.note(f"{target} and {beside}: written")


def _complain(found: AccessLog, log: str) -> None:
    if found.damaged:
        terminal.note(f"{printable(log)}: damaged; read up to line {found.lines:,}")
    if found.skipped:
        terminal.note(
            f"{printable(log)}: {found.skipped:,} of {format_count(found.lines, 'line')} are not entries"
        )


def _print(study: FragmentStudy) -> None:
    from quire.fragments.study.columns import COLUMNS  # noqa: PLC0415 - heavy
    from quire.fragments.study.facts import figure  # noqa: PLC0415 - heavy

    totals = study.totals
    listed = study.advised[:_MOST_LISTED]
    if listed:
        heads = "".join(f"{one.heading:>{_WIDTH}}" for one in COLUMNS)
        terminal.write_text(f"{heads}  part, and what to do\n")
    for one in listed:
        cells = "".join(f"{figure(one, column.key):>{_WIDTH}}" for column in COLUMNS)
        name = printable(shorten(one.label, _MOST_NAME))
        terminal.write_text(f"{cells}  {one.tier} {one.rank}: {name}. {printable(one.advice)}\n")
    more = len(study.advised) - len(listed)
    if more > 0:
        terminal.write_text(f"… and {more:,} more, which save less\n")
    terminal.write_text(
        f"{format_count(totals.pages, 'page')}, {format_count(totals.versions, 'version')}: "
        f"{format_count(totals.worth_it, 'part')} worth cutting out, "
        f"{_less(totals.stored_saved, totals.page_bytes)} to store, "
        f"{_less(totals.moved_saved, totals.moved_bytes)} to move while parts are fresh\n"
        f"{totals.isolated:,} of these isolated, {totals.paced:,} cut out for their pace; "
        f"{totals.approximate:,} more only alike, "
        f"{totals.own_pace:,} that change at their own pace; "
        f"{format_count(totals.refused, 'page')} refused\n"
    )


def _less(saved: int, of: int) -> str:
    """Say how much less there is, or more: ``69 B more (5.8 %)``."""
    share = f" ({100 * abs(saved) / of:.1f} %)" if of else ""
    return f"{format_bytes(abs(saved))} {'less' if saved >= 0 else 'more'}{share}"

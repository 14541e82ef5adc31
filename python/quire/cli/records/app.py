"""``quire records``: find the lists of a page, save an extractor, apply it to other pages.

``quire records PAGE`` is short for ``quire records find PAGE``. ``quire.extraction`` does the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.engines import EngineOption, ThreadsOption
from quire.cli.common.help_group import HELP_OPTIONS, HelpGroup
from quire.cli.common.open_page import reader
from quire.cli.common.options import EncodingOption, ForceOption, KindOption
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.records.crawled import crawled
from quire.cli.records.output import RecordFormat, write_region, write_regions
from quire.cli.records.pages import is_one_page, naming, read_pages

if TYPE_CHECKING:
    from quire.digest import Digest
    from quire.extraction import Records, Region


class _FindByDefault(HelpGroup):
    """Treats an argument that is not a command as a page: ``quire records PAGE``."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override] # the class of a context is not public
        if args and args[0] not in self.commands and args[0] not in HELP_OPTIONS:
            args = ["find", *args]
        return super().parse_args(ctx, args)


app: typer.Typer = typer.Typer(
    cls=_FindByDefault,
    rich_markup_mode=None,
    help="""Read the lists of pages as tables.

    `quire records PAGE` is short for `quire records find PAGE`.

    \b
    Examples:
      quire records shop.html
      quire records https://example.org/ --format csv > records.csv
      quire records shop.html --save shop.json
      quire records apply shop.json crawl/ --format csv
    """,
)

_FormatOption = Annotated[
    RecordFormat,
    typer.Option("--format", help="Output format; csv and parquet have one region."),
]
_OutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to this file (default: print)."),
]
_SafeOption = Annotated[
    bool,
    typer.Option(
        "--escape-formulas", help="Put ' in front of CSV values that a spreadsheet would calculate."
    ),
]


@app.command("find")
@reports_errors
def find(
    *,
    source: Annotated[
        str,
        typer.Argument(
            metavar="PAGE",
            help="Page, digest, web address, folder, crawl or archive; - for standard input.",
        ),
    ],
    format: _FormatOption = RecordFormat.table,  # noqa: A002 - the name of the option
    output: _OutputOption = None,
    region: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Only this region (default: all; for csv the first)."
        ),
    ] = None,
    example: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="Only the region that has this value; can be given twice."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Minimum confidence of a region.")
    ] = 0.5,
    explain: Annotated[
        Path | None,
        typer.Option(metavar="HTML", help="Write a report with the records outlined."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="JSON", help="Write an extractor for `quire records apply`."),
    ] = None,
    common: Annotated[
        bool,
        typer.Option("--common", help="Join columns of different sites that mean the same."),
    ] = False,
    escape_formulas: _SafeOption = False,
    kind: KindOption = None,
    encoding: EncodingOption = None,
    engine: EngineOption = None,
    threads: ThreadsOption = None,
    force: ForceOption = False,
) -> None:
    """Find the lists of records of a page, and print them as tables.

    From a folder, crawl or archive, csv and parquet have the first region of every
    page in one table, with the page in the first column.

    \b
    Examples:
      quire records find shop.html
      quire records https://example.org/ --format csv | head
      quire records shop.html --explain report.html --save shop.json
      quire records crawl/ --format parquet -o records.parquet
      quire records "s3://crawls/*.warc.gz" --engine spark://head:7077 --format json

    With a cluster, its machines must see the sources under the same paths.

    Exit codes: 0 on success, 2 on error (including when no list was found).
    """
    is_one = is_one_page(source)
    if (explain is not None or save is not None) and not is_one:
        raise Refusal("--explain and --save need a single page", hint="name one page of it")
    for path in (output, explain, save):
        if path is not None:
            files.check_free(path, force=force)
    if is_one:
        (name, url, page), *_ = read_pages([source], reader(kind=kind, encoding=encoding))
        from quire.extraction import records  # noqa: PLC0415 - heavy

        found = records(page, least_confidence=confidence, base=url)
        if explain is not None:
            _write_report(page, found, name, explain, force=force)
        if save is not None:
            _write_extractor(page, save, (region or 1) - 1, example or [], force=force)
        pages = [(name, list(found))]
    else:
        pages = crawled(
            source, confidence, kind=kind, encoding=encoding, engine=engine, threads=threads
        )
    chosen = [(name, _chosen(found, region, example or [])) for name, found in pages]
    named = [(name, found) for name, found in chosen if found]
    if not named:
        raise Refusal(
            f"{source}: no list of records found",
            hint="--confidence 0 shows lists that are hardly records, such as navigation",
        )
    if format in {RecordFormat.table, RecordFormat.json} and not common:
        write_regions(named, format, output, force=force)
    else:
        one = _joined(named, is_one=is_one, common=common)
        write_region(one, format, output, force=force, safe=escape_formulas)


def _write_report(page: Digest, found: Records, name: str, path: Path, *, force: bool) -> None:
    from quire.reports.records.report import report  # noqa: PLC0415 - heavy

    files.write_whole(path, report(page, found, name=name).encode(), force=force)


def _write_extractor(
    page: Digest, path: Path, region: int, examples: list[str], *, force: bool
) -> None:
    from quire.extraction import Extractor  # noqa: PLC0415 - heavy

    learned = Extractor.learn(page, region=region, examples=examples)
    files.write_whole(path, (learned.to_json() + "\n").encode(), force=force)


def _chosen(found: list[Region], number: int | None, examples: list[str]) -> list[Region]:
    """The regions that were asked for."""
    if number is not None:
        return found[number - 1 : number]
    return [
        region
        for region in found
        if all(
            any(each in (value or "") for row in region.rows for value in row) for each in examples
        )
    ]


def _joined(named: list[tuple[str, list[Region]]], *, is_one: bool, common: bool) -> Region:
    """The first region of a page, or those of all pages in one table."""
    if is_one:
        others = len(named[0][1]) - 1
        if others:
            terminal.note(f"the first of {others + 1} regions; --region chooses another")
        return named[0][1][0]
    from quire.extraction.joining import join  # noqa: PLC0415 - heavy

    return join(((name, found[0]) for name, found in named), common=common)


@app.command("apply")
@reports_errors
def apply(
    *,
    extractor: Annotated[
        Path, typer.Argument(metavar="EXTRACTOR", help="File that `quire records --save` wrote.")
    ],
    pages: Annotated[
        list[str],
        typer.Argument(
            metavar="PAGE", help="Pages, digests, web addresses, folders, crawls or archives."
        ),
    ],
    format: _FormatOption = RecordFormat.csv,  # noqa: A002 - the name of the option
    output: _OutputOption = None,
    skip: Annotated[
        bool,
        typer.Option("--skip", help="Leave out pages that do not fit, instead of stopping."),
    ] = False,
    escape_formulas: _SafeOption = False,
    kind: KindOption = None,
    encoding: EncodingOption = None,
    force: ForceOption = False,
) -> None:
    """Read the records of pages with a saved extractor.

    If a page no longer fits, quire searches its records again and says what moved. If
    it cannot find them for certain, it stops.

    \b
    Examples:
      quire records apply shop.json today.html
      quire records apply shop.json crawl/ --skip --format parquet -o records.parquet
      quire records apply shop.json https://example.org/ --format json | jq length

    Exit codes: 0 on success, 2 on error (including a page that does not fit).
    """
    from quire.errors import TemplateDrift  # noqa: PLC0415 - light, but late like its users
    from quire.extraction import Extractor  # noqa: PLC0415 - heavy
    from quire.extraction.joining import join  # noqa: PLC0415 - heavy

    if output is not None:
        files.check_free(output, force=force)
    learned = Extractor.load(extractor)
    found: list[tuple[str, Region]] = []
    for name, url, page in read_pages(pages, reader(kind=kind, encoding=encoding)):
        try:
            with naming(name):
                applied = learned.apply(page, base=url)
        except TemplateDrift as error:
            if not skip:
                raise
            terminal.note(str(error))
            continue
        for moved in applied.moved:
            terminal.note(f"{name}: moved: {moved}")
        found.append((name, applied.region))
    if not found:
        raise Refusal(
            "no page fits the extractor", hint="learn it again with `quire records --save`"
        )
    is_one = len(pages) == 1 and is_one_page(pages[0])
    write_region(
        found[0][1] if is_one else join(found), format, output, force=force, safe=escape_formulas
    )

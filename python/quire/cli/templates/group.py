"""``quire templates``: group pages by their templates, and check whether later pages still fit.

``quire templates DIR`` is short for ``quire templates group DIR``. ``check`` compares pages with a
model that grouping wrote. ``quire.similar`` and an engine do the work; this file has the options.
"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.crawls import counted_paths, find_sources, nothing_read
from quire.cli.common.engines import EngineOption, ThreadsOption, opened_engine
from quire.cli.common.help_group import HELP_OPTIONS, HelpGroup
from quire.cli.common.options import ForceOption, Format, FormatOption
from quire.cli.common.progress import bars
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.templates.check import check
from quire.cli.templates.tables import print_groups
from quire.progress import Progress
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.similar.crawl.templates import CrawlTemplates

# The steps of the work, and how progress bars call them.
_STEPS = {
    "sketch": "reading pages",
    "meet": "finding candidates",
    "hubs": "choosing candidates",
    "links": "comparing",
    "pick": "fetching samples",
    "fit": "choosing representatives",
    "fits": "measuring fit",
    "report": "drawing the report",
}


class On(StrEnum):
    """What to compare."""

    structure = "structure"
    structure_class = "structure+class"
    content = "content"
    paths = "paths"
    paths_counts = "paths+counts"
    tokens = "tokens"


class _GroupByDefault(HelpGroup):
    """Treats an argument that is not a command as a source: ``quire templates DIR``."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override] # the class of a context is not public
        if args and args[0] not in self.commands and args[0] not in HELP_OPTIONS:
            args = ["group", *args]
        return super().parse_args(ctx, args)


app: typer.Typer = typer.Typer(
    cls=_GroupByDefault,
    rich_markup_mode=None,
    help="""Find the templates of a crawl or archive, and check pages against them.

    `quire templates DIR` is short for `quire templates group DIR`.

    \b
    Examples:
      quire templates crawl/
      quire templates site.quire
      quire templates crawl.warc.gz --report report.html --model model.json
      quire templates check page.html --model model.json
    """,
)


@reports_errors
def group(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Folders, pages, WARC, WACZ and Parquet files, archives, patterns, addresses that fsspec knows.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Write every page with its group: .parquet, .csv or .json.",
        ),
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="HTML", help="Write an HTML report about the groups.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="JSON", help="Write a model for `quire templates check`.")
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="Minimum share of the smaller page that the larger one must contain.",
        ),
    ] = 0.8,
    on: Annotated[On, typer.Option(help="What to compare.")] = On.structure_class,
    engine: EngineOption = None,
    threads: ThreadsOption = None,
    work: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder for intermediate files, empty at the start; a cluster needs one that all its machines reach (default: a temporary folder).",
        ),
    ] = None,
    most_bytes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Do not read pages longer than this many bytes.")
    ] = MOST_BYTES,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Group pages by the template they were made from.

    You do not have to say how many templates there are. quire lists the pages that it
    cannot read with the reason, and groups the rest. From an archive it reads the newest
    capture of each page.

    \b
    Examples:
      quire templates group crawl/
      quire templates site.quire --report report.html --model model.json
      quire templates crawl/ --report report.html -o groups.parquet
      quire templates "s3://crawls/*.warc.gz" --engine spark://head:7077 --work s3://tmp/t1
      quire templates crawl/ --format json | jq '.groups[].representative'

    Write ./group or ./check for a folder that is called group or check. With a cluster,
    its machines must see the sources under the same paths, archives included.

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    outputs = [Path(path) for path in (output, report, model) if path is not None]
    for place, path in enumerate(outputs):
        files.check_free(path, force=force)
        if path in outputs[:place]:
            raise Refusal(
                f"{path}: named for two outputs", hint="choose a different name for each output"
            )
    if output is not None:
        from quire.similar.crawl.output import SUFFIXES  # noqa: PLC0415 - heavy

        files.check_suffix(output, SUFFIXES)
    from quire.captures import read_newest  # noqa: PLC0415 - heavy
    from quire.similar.crawl.templates import crawl_templates  # noqa: PLC0415 - heavy

    began = time.monotonic()
    paths = find_sources(sources)
    with bars(_STEPS) as progress:
        with opened_engine(engine, threads, progress) as running:
            crawl = crawl_templates(
                paths,
                engine=running,
                on=on.value,
                threshold=threshold,
                most_bytes=most_bytes,
                work=work,
                reader=read_newest,
            )
        if not len(crawl.pages):
            raise nothing_read(crawl.troubles, len(crawl.troubles))
        if output is not None:
            _write_groups(crawl, Path(output), force=force)
        if report is not None:
            _write_report(crawl, sources, Path(report), most_bytes, progress, force=force)
        if model is not None:
            _write_model(crawl, Path(model), most_bytes, force=force)
    if format is Format.json:
        from quire.similar.crawl.output import as_json  # noqa: PLC0415 - heavy

        terminal.write_json(as_json(crawl))
    else:
        print_groups(crawl)
    for path in outputs:
        terminal.note(f"{path}: written")
    terminal.note(f"{counted_paths(paths)} in {time.monotonic() - began:.1f} s")


app.command("group")(group)
app.command("check")(check)


def _write_groups(crawl: CrawlTemplates, target: Path, *, force: bool) -> None:
    from quire.similar.crawl.output import as_bytes  # noqa: PLC0415 - heavy

    files.write_whole(target, as_bytes(crawl, target.suffix.lower()), force=force)


def _write_report(
    crawl: CrawlTemplates,
    sources: list[str],
    target: Path,
    most_bytes: int,
    progress: Progress,
    *,
    force: bool,
) -> None:
    from quire.reports.templates.report import template_report  # noqa: PLC0415 - heavy

    drawn = template_report(
        crawl, title=" ".join(sources), most_bytes=most_bytes, progress=progress
    )
    files.write_whole(target, drawn.encode("utf-8", "replace"), force=force)


def _write_model(crawl: CrawlTemplates, target: Path, most_bytes: int, *, force: bool) -> None:
    from quire.captures import read_one  # noqa: PLC0415 - heavy
    from quire.similar.models import TemplateModel  # noqa: PLC0415 - heavy

    made = TemplateModel.of(crawl, most_bytes=most_bytes, read_one=read_one)
    files.write_whole(target, made.to_json().encode("utf-8", "replace"), force=force)

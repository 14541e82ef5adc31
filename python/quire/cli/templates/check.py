"""``quire templates check``: check whether pages still fit the templates of a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.crawls import find_sources, nothing_read, print_troubles
from quire.cli.common.fetched import is_web_page
from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.open_page import EXPECTED, open_page, reader
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.display import format_count, shorten
from quire.sources.places import is_archive as is_warc
from quire.sources.places import is_parquet

if TYPE_CHECKING:
    from quire.digest import Digest
    from quire.similar import Fit, Likeness
    from quire.sources import Trouble

DOES_NOT_FIT = 1
_MOST_NAME = 70


@reports_errors
def check(
    *,
    pages: Annotated[
        list[str],
        typer.Argument(
            metavar="PAGE",
            help="Pages or digests; folders, WARC, WACZ and Parquet files and archives with many pages, or one page of them (crawl.warc.gz#8192, site.quire#https://example.org/); - is standard input.",
        ),
    ],
    model: Annotated[
        str, typer.Option(metavar="JSON", help="Model written by `quire templates --model`.")
    ],
    explain: Annotated[
        bool, typer.Option("--explain", help="List the parts that differ from the representative.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if a page does not fit.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Find the template of each page, and whether the page fits it.

    A page fits when it and a page of the template are similar enough, by the rule that
    grouped them: the larger of the two contains most of the smaller one. Of folders,
    crawls and archives quire checks every page; of an archive the newest capture of each.

    \b
    Examples:
      quire templates check page.html --model model.json
      quire templates check new/*.html --model model.json --explain
      quire templates check crawl.warc.gz new/ --model model.json
      quire templates check "site.quire#https://example.org/" --model model.json
      quire templates check https://example.org/ --model model.json --exit-code

    Exit codes: 0 on success, 1 if a page does not fit (with --exit-code), 2 on error.
    """
    from quire.similar import TemplateModel  # noqa: PLC0415 - heavy

    if pages.count(STANDARD_INPUT) > 1:
        raise Refusal("-: standard input can only be read once", hint="name - once")
    known = TemplateModel.load(model)
    results: list[dict[str, object]] = []
    troubles: list[Trouble] = []
    checked = fitting = 0
    for name, page in _opened(pages, troubles):
        fit = known.fit(page)
        checked += 1
        fitting += fit.fits
        why = known.explain(page) if explain else None
        if format is Format.json:
            told = {} if not explain else {"explanation": why and dataclasses.asdict(why)}
            results.append({"page": name, **dataclasses.asdict(fit), **told})
        else:
            _print(name, fit, why)
    if not checked:
        raise nothing_read(troubles, len(troubles))
    if format is Format.json:
        terminal.write_json(
            {
                "model": model,
                "all_fit": fitting == checked,
                "pages": results,
                "troubles": [{"name": each.name, "reason": each.reason} for each in troubles],
            }
        )
    else:
        if any(_holds_many(name) for name in pages):
            terminal.write_text(
                f"{format_count(checked, 'page')}: {fitting:,} fit, {checked - fitting:,} do not\n"
            )
        print_troubles(troubles, elsewhere="--format json lists all")
    if exit_code and fitting < checked:
        raise typer.Exit(DOES_NOT_FIT)


def _opened(names: Sequence[str], troubles: list[Trouble]) -> Iterator[tuple[str, Digest]]:
    """Open the pages that arguments lead to; what cannot be read in a crawl is a trouble."""
    from quire.captures import read_newest  # noqa: PLC0415 - heavy
    from quire.digest import encode  # noqa: PLC0415 - heavy
    from quire.sources import Capture, Trouble  # noqa: PLC0415 - heavy

    for name in names:
        if not _holds_many(name):
            yield name, _opened_one(name)
            continue
        for path in find_sources([name]):
            for found in read_newest(path):
                if not isinstance(found, Capture):
                    troubles.append(found)
                    continue
                try:
                    page = encode(found.body, content_type=found.content_type)
                except EXPECTED as error:
                    troubles.append(Trouble(found.name, str(error)))
                    continue
                yield found.name, page


def _holds_many(name: str) -> bool:
    """Tell whether an argument is a source of many pages, and not a page."""
    from quire.archive import is_archive  # noqa: PLC0415 - heavy

    path = Path(name)
    if path.is_dir() or is_archive(name):
        return True
    is_crawl = is_warc(name) or is_parquet(name) or path.suffix.lower() == ".wacz"
    is_pattern = "#" not in name and has_magic(name) and not is_web_page(name)
    return is_crawl or (not path.exists() and is_pattern)


def _opened_one(name: str) -> Digest:
    from quire.captures import read_one  # noqa: PLC0415 - heavy
    from quire.digest import encode  # noqa: PLC0415 - heavy

    if name == STANDARD_INPUT or is_web_page(name) or Path(name).exists():
        return open_page(name, reader())
    try:
        capture = read_one(name)
        return encode(capture.body, content_type=capture.content_type)
    except EXPECTED as error:
        message, hint = terminal.explain(error, name)
        raise Refusal(message, hint=hint) from error


def _print(name: str, fit: Fit, why: Likeness | None) -> None:
    called = "standard input" if name == STANDARD_INPUT else printable(shorten(name, _MOST_NAME))
    if fit.group is None:
        terminal.write_text(f"{called}: does not fit; the model has no template\n")
        return
    verdict = "fits template" if fit.fits else "does not fit; nearest is template"
    terminal.write_text(
        f"{called}: {verdict} {fit.group} ({100 * fit.contained:.0f} % contained, "
        f"resemblance {fit.resemblance:.2f}), as {printable(shorten(fit.representative or '', _MOST_NAME))}\n"
    )
    if why is not None:
        _print_parts(why)


def _print_parts(why: Likeness) -> None:
    if not why.parts:
        terminal.write_text("  no part differs from the representative\n")
        return
    width = max(len(str(max(part.in_a, part.in_b))) for part in why.parts)
    width = max(width, len("template"))
    terminal.write_text(f"  {'template':>{width}}  {'page':>{width}}  part\n")
    for part in why.parts:
        text = terminal.one_line(part.text, most=100)
        terminal.write_text(f"  {part.in_a:>{width}}  {part.in_b:>{width}}  {text}\n")
    more = why.differing - len(why.parts)
    beyond = f"; {more:,} more differ" if more else ""
    terminal.write_text(f"  {why.shared} of {why.total} parts shared{beyond}\n")

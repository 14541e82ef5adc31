"""``quire fragments strip``: pages without what most pages of their template have."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.options import ForceOption, Format, FormatOption, MostBytesOption
from quire.cli.common.step_progress import telling
from quire.cli.common.terminal import printable, reports_errors
from quire.cli.fragments.pages import Pages, SourcesArgument
from quire.display import format_bytes, format_count
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments import StrippedPage

INDEX = "index.json"


class As(StrEnum):
    """What is made of pages."""

    text = "text"
    html = "html"


_SUFFIXES = {As.text: "txt", As.html: "html"}


@reports_errors
def strip(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="The folder that files go to.")
    ],
    form: Annotated[As, typer.Option("--as", help="What is made of pages.")] = As.text,
    share: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="More than this share of a template's pages has it."
        ),
    ] = 0.5,
    min_bytes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Bytes of text that a block has, at least.")
    ] = 30,
    most_bytes: MostBytesOption = MOST_BYTES,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Write pages without the blocks that most pages of their template have.

    For indexes and for language models: menus, footers and notices go, what a page
    says itself stays. Files are named by a digest of their page, and index.json says
    which page is where. Pages of no template stay whole.

    \b
    Examples:
      quire fragments strip crawl/ -o texts
      quire fragments strip crawl.warc.gz -o pages --as html --share 0.8
      quire fragments strip site.quire -o texts --format json | jq .kept_bytes

    Exit code: 0 done, 2 error, which is also that nothing could be read.
    """
    from quire.fragments import strip as stripped  # noqa: PLC0415 - heavy

    target = files.output_folder(output, sources)
    files.check_free(target / INDEX, force=force)
    listed: list[dict[str, object]] = []
    with telling() as tell:
        pages = Pages(sources, most_bytes, tell)
        for page in stripped(pages, form=form.value, share=share, min_bytes=min_bytes):
            name = f"{page.sha256[:32]}.{_SUFFIXES[form]}"
            _write(target / name, page, force=force, is_new=page.is_first)
            listed.append(
                {
                    "name": page.name,
                    "url": page.url,
                    "file": name,
                    "template": page.template if page.template >= 0 else None,
                    "text_bytes": page.text_bytes,
                    "kept_bytes": page.kept_bytes,
                }
            )
            tell("strip", len(listed), pages.count)
    told = json.dumps({"pages": listed}, indent=1, ensure_ascii=True) + "\n"
    files.write_whole(target / INDEX, told.encode("ascii"), force=force)
    text_bytes = sum(int(str(one["text_bytes"])) for one in listed)
    kept_bytes = sum(int(str(one["kept_bytes"])) for one in listed)
    templates = len({one["template"] for one in listed} - {None})
    if format is Format.json:
        terminal.write_json(
            {
                "pages": len(listed),
                "templates": templates,
                "text_bytes": text_bytes,
                "kept_bytes": kept_bytes,
                "index": str(target / INDEX),
            }
        )
    else:
        kept = f" ({100 * kept_bytes / text_bytes:.1f} %)" if text_bytes else ""
        terminal.write_text(
            f"{format_count(len(listed), 'page')} of {format_count(templates, 'template')}: "
            f"{format_bytes(kept_bytes)} of {format_bytes(text_bytes)} of text stay{kept}\n"
        )
    pages.complain()
    terminal.note(f"{printable(output)}: {INDEX} says which page is where")


def _write(path: Path, page: StrippedPage, *, force: bool, is_new: bool) -> None:
    if is_new:  # equal pages are one file
        files.write_whole(path, page.data, force=force)

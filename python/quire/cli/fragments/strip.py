"""``quire fragments strip``: remove the blocks that most pages of a template contain."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.options import ForceOption, Format, FormatOption, MostBytesOption
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import printable, reports_errors
from quire.cli.fragments.pages import Pages, SourcesArgument
from quire.display import format_bytes, format_count
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments import StrippedPage

INDEX = "index.json"


class OutputForm(StrEnum):
    """The output format of a page."""

    text = "text"
    markdown = "markdown"
    html = "html"


_SUFFIXES = {OutputForm.text: "txt", OutputForm.markdown: "md", OutputForm.html: "html"}


@reports_errors
def strip(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="Folder to write the files to.")
    ],
    form: Annotated[
        OutputForm, typer.Option("--as", help="Write each page as text, as Markdown or as HTML.")
    ] = OutputForm.text,
    share: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="Remove a block when more than this share of the template's pages contain it.",
        ),
    ] = 0.5,
    min_text_bytes: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Remove only blocks with at least this many bytes of text."
        ),
    ] = 30,
    most_bytes: MostBytesOption = MOST_BYTES,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Write pages without the blocks that most pages of their template contain.

    Useful for search indexes and language models: quire removes menus, footers and
    notices, and keeps the text of the page itself, in whole sentences. Each file is named after the SHA-256
    of its page; index.json maps pages to files. Pages without a template stay whole.

    \b
    Examples:
      quire fragments strip crawl/ -o texts
      quire fragments strip crawl/ -o texts --as markdown
      quire fragments strip crawl.warc.gz -o pages --as html --share 0.8
      quire fragments strip site.quire -o texts --format json | jq .kept_bytes

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    from quire.fragments import strip as stripped  # noqa: PLC0415 - heavy

    target = files.output_folder(output, sources)
    files.check_free(target / INDEX, force=force)
    listed: list[dict[str, object]] = []
    with progress_bars() as progress:
        pages = Pages(sources, most_bytes, progress)
        for page in stripped(pages, form=form.value, share=share, min_bytes=min_text_bytes):
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
            progress("strip", len(listed), pages.count)
    index = json.dumps({"pages": listed}, indent=1, ensure_ascii=True) + "\n"
    files.write_whole(target / INDEX, index.encode("ascii"), force=force)
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
        share_kept = f" ({100 * kept_bytes / text_bytes:.1f} %)" if text_bytes else ""
        terminal.write_text(
            f"{format_count(len(listed), 'page')}, {format_count(templates, 'template')}: "
            f"kept {format_bytes(kept_bytes)} of {format_bytes(text_bytes)} of text{share_kept}\n"
        )
    pages.complain()
    terminal.note(f"{printable(output)}: written; {INDEX} maps pages to files")


def _write(path: Path, page: StrippedPage, *, force: bool, is_new: bool) -> None:
    if is_new:  # duplicates share one file
        files.write_whole(path, page.data, force=force)

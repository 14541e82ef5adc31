"""``quire fragments changed``: list the files to purge from a cache."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import printable, reports_errors
from quire.display import format_count

_MOST_SHOWN = 20


@reports_errors
def changed(
    *,
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="Folder that the cache was filled from."),
    ],
    new: Annotated[
        str,
        typer.Argument(metavar="NEW", help="Folder written by `quire fragments esi --after OLD`."),
    ],
    keys: Annotated[
        bool,
        typer.Option(
            "--keys",
            help="Print only values for the header Surrogate-Key of PURGE requests, one a line.",
        ),
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """List the files to purge from a cache after a site was composed again.

    OLD and NEW are compositions. A file has to be purged if its own bytes changed under its
    name; pages that include it do not. Other caches, which hold composed pages, have to
    purge the addresses of the pages that changed.

    \b
    Examples:
      quire fragments changed composed next
      quire fragments changed composed next --keys | xargs -d '\\n' -I KEYS \\
        curl -s -X PURGE -H 'Surrogate-Key: KEYS' http://127.0.0.1:6081/
      quire fragments changed composed next --format json | jq -r '.pages[]'

    Exit codes: 0 on success, 2 on error.
    """
    from quire.fragments.esi.changes import changed_files  # noqa: PLC0415 - heavy

    found = changed_files(Path(old), Path(new))
    if keys:
        for line in found.key_lines():
            terminal.write_text(f"{line}\n")
        return
    if format is Format.json:
        terminal.write_json(dataclasses.asdict(found))
        return
    terminal.write_text(f"{format_count(len(found.purge), 'file')} to purge\n")
    for one in found.purge[:_MOST_SHOWN]:
        on = format_count(one.pages, "page")
        terminal.write_text(f"  {one.folder}/{one.name}.html, on {on}\n")
    if len(found.purge) > _MOST_SHOWN:
        terminal.write_text(f"  … and {len(found.purge) - _MOST_SHOWN:,} more\n")
    terminal.write_text(
        f"{format_count(len(found.added), 'new file')}, {len(found.gone):,} no longer used\n"
        f"{format_count(len(found.pages), 'page')} changed, {len(found.new_pages):,} new, "
        f"{len(found.gone_pages):,} gone\n"
    )
    for page in found.pages[:_MOST_SHOWN]:
        terminal.write_text(f"  {printable(page)}\n")
    if len(found.pages) > _MOST_SHOWN:
        terminal.write_text(f"  … and {len(found.pages) - _MOST_SHOWN:,} more\n")
    if found.is_vcl_changed:
        terminal.note(f"varnish.vcl changed: load the one in {printable(new)}")

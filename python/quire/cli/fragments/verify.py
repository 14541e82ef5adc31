"""``quire fragments verify``: compose every page again and compare it with the original."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.display import format_count

_MOST_NAMED = 10


class ComposerName(StrEnum):
    """Which program composes the pages."""

    own = "own"
    varnish = "varnish"
    auto = "auto"


@reports_errors
def verify(
    *,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder written by `quire fragments esi`.")
    ],
    composer: Annotated[
        ComposerName,
        typer.Option(
            help="Program that composes the pages: own is built into quire; auto uses Varnish "
            "if it is installed."
        ),
    ] = ComposerName.auto,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Compose every page again and compare it with the original, byte for byte.

    The built-in composer is strict: it accepts only includes that quire wrote, and every
    fragment must exist. With Varnish, quire starts a real Varnish with the VCL of the
    folder on a free local port, asks it for the address of every page, and stops it
    afterwards.

    \b
    Examples:
      quire fragments verify composed
      quire fragments verify composed --composer varnish
      quire fragments verify composed --composer own --format json

    Exit codes: 0 if every page is equal or was refused by `esi`, 2 if a page differs, or on
    error (including when there are no pages).
    """
    from quire.fragments import verify as compose_all  # noqa: PLC0415 - heavy

    with progress_bars() as progress:
        found = compose_all(
            Path(folder),
            composer=composer.value,
            progress=progress,
        )
    if not found.pages:
        raise Refusal(
            f"{printable(folder)}: its manifest lists no pages, so there is nothing to verify",
            hint="write a composition with `quire fragments esi`",
        )
    if format is Format.json:
        terminal.write_json(
            {
                "pages": found.pages,
                "equal": found.equal,
                "refused": found.refused,
                "unequal": found.unequal,
                "composer": found.composer,
            }
        )
    else:
        terminal.write_text(
            f"{format_count(found.pages, 'page')} composed by {_COMPOSERS[found.composer]}: "
            f"{found.equal:,} equal, {found.refused:,} refused, {found.unequal:,} different\n"
        )
    for fault in found.faults[:_MOST_NAMED]:
        where = f" ({fault.address})" if fault.address else ""
        terminal.complain(f"{fault.page}{where}: {fault.reason}")
    if len(found.faults) > _MOST_NAMED:
        terminal.note(f"{len(found.faults) - _MOST_NAMED:,} more pages differ")
    if found.is_vcl_changed:
        terminal.note(
            "varnish.vcl was changed: this checked the VCL that quire writes for these pages"
        )
    if found.unequal:
        raise typer.Exit(terminal.ERROR)


_COMPOSERS = {"own": "quire", "varnish": "Varnish"}

"""``quire fragments verify``: every page of a composition is composed, and compared with what went in."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.step_progress import telling
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.display import format_count

_MOST_NAMED = 10


class ComposerName(StrEnum):
    """Who composes."""

    own = "own"
    varnish = "varnish"
    auto = "auto"


@reports_errors
def verify(
    *,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="What `quire fragments esi` has written.")
    ],
    composer: Annotated[
        ComposerName,
        typer.Option(help="Who composes; auto is a real Varnish where it is installed."),
    ] = ComposerName.auto,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Compose every page, and compare it with the page that went in.

    The own composer is strict: only includes that quire wrote, each fragment there. A
    real Varnish is started on a free port of this machine for as long as it takes.

    \b
    Examples:
      quire fragments verify composed
      quire fragments verify composed --composer varnish
      quire fragments verify composed --composer own --format json

    Exit code: 0 every page is equal or was refused beforehand, 2 one is not, or error, which is
    also that there is no page.
    """
    from quire.fragments import verify as compose_all  # noqa: PLC0415 - heavy

    with telling() as tell:
        found = compose_all(
            Path(folder),
            composer=composer.value,
            tell=tell,
        )
    if not found.pages:
        raise Refusal(
            f"{printable(folder)}: no pages in its manifest, so there is nothing to verify",
            hint="`quire fragments esi` writes a composition of pages",
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
            f"{format_count(found.pages, 'page')} by {_WHO[found.composer]}: {found.equal:,} equal, "
            f"{found.refused:,} refused beforehand, {found.unequal:,} unequal\n"
        )
    for fault in found.faults[:_MOST_NAMED]:
        terminal.complain(f"{fault.page}: {fault.reason}")
    if len(found.faults) > _MOST_NAMED:
        terminal.note(f"{len(found.faults) - _MOST_NAMED:,} more pages are unequal")
    if found.unequal:
        raise typer.Exit(terminal.ERROR)


_WHO = {"own": "the own composer", "varnish": "Varnish"}

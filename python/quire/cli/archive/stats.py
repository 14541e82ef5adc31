"""``quire archive stats``: the contents of an archive and the space each part takes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from quire.cli.archive.options import ArchiveArgument
from quire.cli.common import terminal
from quire.cli.common.archives import opened
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import printable, reports_errors
from quire.display import format_bytes

if TYPE_CHECKING:
    from quire.archive import Statistics

_BAR = 40


@reports_errors
def stats(*, archive: ArchiveArgument, format: FormatOption = Format.text) -> None:  # noqa: A002 - the name of the option
    """Show the contents of an archive and the space each part takes.

    \b
    Examples:
      quire archive stats site.quire
      quire archive stats site.quire --format json | jq .parts
    """
    with opened(archive) as source:
        found = source.stats()
    if format is Format.json:
        values = {**dataclasses.asdict(found), "stored_bytes": found.stored_bytes}
        terminal.write_json({"archive": archive, **values})
        return
    _print(archive, found)


def _print(archive: str, found: Statistics) -> None:
    rows = [
        ("pages", f"{found.pages:,}"),
        ("addresses", f"{found.urls:,}"),
        ("hosts", f"{found.hosts:,}"),
        ("duplicates", f"{found.duplicates:,}"),
        ("companions", f"{found.companions:,}"),
        ("bodies", format_bytes(found.body_bytes)),
        ("headers", format_bytes(found.head_bytes)),
        ("stored", format_bytes(found.stored_bytes)),
        ("compressed to", _share(found)),
    ]
    terminal.write_text(f"{printable(archive)}\n")
    for name, value in rows:
        terminal.write_text(f"  {name:<16}{value:>12}\n")
    terminal.write_text("space by part\n")
    most = max(found.parts.values(), default=0)
    for part, length in found.parts.items():
        share = 100 * length / found.stored_bytes
        bar = "█" * max(1, round(_BAR * length / most))
        terminal.write_text(f"  {part:<20}{format_bytes(length):>10} {share:5.1f} %  {bar}\n")


def _share(found: Statistics) -> str:
    whole = found.body_bytes + found.head_bytes
    return f"{100 * found.stored_bytes / whole:.1f} %" if whole else "–"

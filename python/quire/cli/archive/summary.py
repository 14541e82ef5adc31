"""The summary that ``quire archive add`` and ``quire archive build`` print at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.terminal import printable
from quire.display import format_bytes, format_count, shorten

if TYPE_CHECKING:
    from quire.archive import Ingested

_MOST_TROUBLES = 20
_MOST_NAME = 70
_MOST_REASON = 160


def print_added(archive: str, done: Ingested, total: int, seconds: float) -> None:
    """Print how many pages were added, skipped and unreadable."""
    known = f", {done.known:,} already known" if done.known else ""
    terminal.write_text(
        f"{printable(archive)}: {format_count(done.pages, 'page')} added "
        f"({format_bytes(done.body_bytes)}){known}; {total:,} in total\n"
    )
    if done.passed_over:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in done.passed_over.items())
        terminal.write_text(f"skipped, not pages: {kinds}\n")
    if done.trouble_count:
        terminal.write_text(f"{done.trouble_count:,} could not be read:\n")
    for trouble in done.troubles[:_MOST_TROUBLES]:
        name = printable(shorten(trouble.name, _MOST_NAME))
        reason = terminal.one_line(trouble.reason, most=_MOST_REASON)
        terminal.write_text(f"  {name}: {reason}\n")
    if done.trouble_count > _MOST_TROUBLES:
        terminal.write_text(f"  … {done.trouble_count - _MOST_TROUBLES:,} more\n")
    terminal.note(f"{seconds:.1f} s")

"""The summary that ``quire archive add`` and ``quire archive build`` print at the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.terminal import printable
from quire.display import format_bytes, format_count, shorten

if TYPE_CHECKING:
    from quire.archive import Ingested
    from quire.sources import Trouble

#: Exit code of a run that had to leave something out.
INCOMPLETE = 1

_MOST_TROUBLES = 20
_MOST_NAME = 70
_MOST_REASON = 160


def ignore(_trouble: Trouble) -> None:
    """Do nothing: the result of the run has the first troubles, and that is enough for people."""


class Listed:
    """Everything that a run reports, for output that lists all of it."""

    def __init__(self) -> None:
        self.troubles: list[Trouble] = []
        self.warnings: list[Trouble] = []

    def as_json(self, archive: str, done: Ingested, total: int) -> dict[str, object]:
        """Return the result of the run, with all troubles and warnings."""
        listed = {
            "troubles": [dataclasses.asdict(one) for one in self.troubles],
            "warnings": [dataclasses.asdict(one) for one in self.warnings],
        }
        return {"archive": archive, "total_pages": total, **dataclasses.asdict(done), **listed}


def print_added(archive: str, done: Ingested, total: int, seconds: float) -> None:
    """Print how many pages and other records were added, skipped and unreadable."""
    known = f", {done.known:,} already known and skipped" if done.known else ""
    terminal.write_text(
        f"{printable(archive)}: {format_count(done.pages, 'page')} added "
        f"({format_bytes(done.body_bytes)}){known}; {total:,} in total\n"
    )
    if done.companions:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in done.companions.items())
        terminal.write_text(f"other records added: {printable(kinds)}\n")
    if done.known_companions:
        terminal.write_text(f"other records already known: {done.known_companions:,}\n")
    _print_first("could not be read", done.troubles, done.trouble_count)
    _print_first("added with a warning", done.warnings, done.warning_count)
    terminal.note(f"{seconds:.1f} s")


def _print_first(what: str, troubles: Sequence[Trouble], count: int) -> None:
    if count:
        terminal.write_text(f"{count:,} {what}:\n")
    for trouble in troubles[:_MOST_TROUBLES]:
        name = printable(shorten(trouble.name, _MOST_NAME))
        reason = terminal.one_line(trouble.reason, most=_MOST_REASON)
        terminal.write_text(f"  {name}: {reason}\n")
    more = count - len(troubles[:_MOST_TROUBLES])
    if more:
        terminal.write_text(f"  … {more:,} more; --format json lists all\n")

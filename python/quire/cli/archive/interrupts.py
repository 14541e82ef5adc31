"""Ctrl-C and failures: say which pages are safe and how to continue, and leave no empty archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from quire.cli.archive.options import check_name
from quire.cli.common import terminal
from quire.cli.common.terminal import Refusal
from quire.errors import ArchiveError

#: Exit code of a program that Ctrl-C ended, as shells expect it.
INTERRUPTED = 130
_AGAIN = "run the same command again"


@contextmanager
def explained(what_is_safe: Callable[[], str], hint: str = _AGAIN) -> Iterator[None]:
    """Explain an interrupt.

    Args:
        what_is_safe: Returns the sentence about data that is stored; called after the interrupt.
        hint: How to continue.
    """
    try:
        yield
    except KeyboardInterrupt:
        terminal.complain(f"interrupted; {what_is_safe()}", hint=hint)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def created_if_missing(path: str, *, create: bool) -> Iterator[None]:
    """Create an archive if there is none, and remove it if it is still empty at the end.

    Raises:
        Refusal: The archive does not exist, and ``create`` is false.
    """
    from quire.archive import Archive  # noqa: PLC0415 - heavy

    folder = Path(path)
    if folder.exists():
        yield
        return
    if not create:
        raise Refusal(f"{path}: no such archive", hint="use --create to create it")
    check_name(path)
    made = [folder, *(parent for parent in folder.parents if not parent.exists())]
    Archive.create(path).close()
    try:
        yield
    finally:
        # The error that got us here matters more than one of cleaning up.
        with suppress(OSError, ArchiveError):
            _remove_empty(folder, made)


def stored(path: str) -> str:
    """Return the sentence about the pages that are safe in an archive."""
    from quire.archive import Archive  # noqa: PLC0415 - heavy

    try:
        with Archive.open(path) as archive:
            pages = len(archive)
    except (OSError, ArchiveError):
        pages = 0
    if not pages:
        return "no page was stored"
    return f"{path} has {pages:,} pages, which are safe"


def _remove_empty(folder: Path, made: list[Path]) -> None:
    from quire.archive import Archive  # noqa: PLC0415 - heavy

    with Archive.open(folder, write=True) as archive:
        names = {path.name for path in folder.iterdir()}
        if len(archive) or archive.companion_count() or names != {"archive.json", "lock"}:
            return
        for name in names:
            (folder / name).unlink()
    for empty in made:
        empty.rmdir()

"""Open an archive that the user named, with errors that name the finding."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from quire.cli.common.terminal import Refusal

if TYPE_CHECKING:
    from quire.archive import Archive
    from quire.archive.browsing import Library


def opened(path: str, *, write: bool = False) -> Archive:
    """Open an archive.

    Raises:
        Refusal: this path does not hold an archive.
    """
    from quire.archive import Archive  # noqa: PLC0415 - heavy

    check_archive(path)
    return Archive.open(path, write=write)


def library_of(paths: Sequence[str], stack: ExitStack) -> Library | None:
    """Open archives to browse them as one; None without any.

    Raises:
        Refusal: a path does not hold an archive.
    """
    from quire.archive.browsing import Library  # noqa: PLC0415 - heavy

    archives = [stack.enter_context(opened(path)) for path in paths]
    return Library(archives) if archives else None


def check_archive(path: str) -> None:
    """Check that there is an archive, damaged or not.

    Raises:
        Refusal: this path does not hold an archive.
    """
    from quire.archive import is_archive  # noqa: PLC0415 - heavy

    if not Path(path).exists():
        raise Refusal(f"{path}: no such archive", hint="`quire archive create` makes one")
    if not Path(path).is_dir():
        raise Refusal(
            f"{path}: a file, and an archive is a folder",
            hint="`quire archive add NEW FILE --create` makes an archive of crawls and pages",
        )
    if not is_archive(path):
        raise Refusal(
            f"{path}: a folder, but not an archive: no archive.json, journals or segments in it",
            hint="`quire archive add NEW FOLDER --create` makes an archive of a folder's pages",
        )

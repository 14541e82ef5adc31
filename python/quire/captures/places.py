"""The paths of a list of sources: files as ``quire.sources.find`` lists them, and archives."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from quire import sources as files
from quire.archive import is_archive
from quire.errors import SourceNotFound
from quire.sources.places import is_address

#: How the files inside an archive end. A folder or a pattern can lead to them.
_INSIDE = (".index", ".journal", ".segment", "archive.json", "lock")


def find(sources: Sequence[str]) -> list[str]:
    """List the archives and files that sources lead to, each once: archives first.

    A source is an archive, a file, a folder, a pattern, or an address that fsspec knows. A folder
    is searched to any depth, also for archives. See ``quire.sources.find`` for everything else.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.archive import Archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Archive.create(f"{folder}/site.quire").close()
    ...     _ = Path(folder, "page.html").write_bytes(b"<p>Open")
    ...     [Path(path).name for path in find([folder])]
    ['site.quire', 'page.html']

    Raises:
        SourceNotFound: a source does not exist, or there is nothing to read in it.
        MissingExtra: a source is an address, and fsspec is not installed.
    """
    archives: dict[str, None] = {}
    pages: set[str] = set()
    for source in sources:
        here = _archives(source)
        archives |= dict.fromkeys(here)
        if not is_archive(source):
            inside, outside = _told_apart(_files(source, is_needed=not here))
            archives |= dict.fromkeys(inside)
            pages |= outside
    return [*archives, *sorted(pages)]


def _archives(source: str) -> list[str]:
    """List the archives that a source names by itself or by a pattern."""
    if is_archive(source):
        return [source.rstrip(os.sep)]
    if is_address(source) or os.path.lexists(source) or not glob.has_magic(source):
        return []
    found = glob.glob(source, recursive=True)  # noqa: PTH207 - keeps `./`
    return sorted(path.rstrip(os.sep) for path in found if is_archive(path))


def _files(source: str, *, is_needed: bool) -> list[str]:
    try:
        return files.find([source])
    except SourceNotFound:
        if is_needed:
            raise
        return []


def _told_apart(paths: Sequence[str]) -> tuple[list[str], set[str]]:
    """Separate archives, found by the files inside them, from all other files."""
    folders = {_folder(path) for path in paths if path.endswith(_INSIDE)}
    archives = {folder for folder in folders if is_archive(folder)}
    return sorted(archives), {path for path in paths if _folder(path) not in archives}


def _folder(path: str) -> str:
    return os.path.dirname(path)  # noqa: PTH120 - keeps `./`

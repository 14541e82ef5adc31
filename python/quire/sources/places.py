"""Places: finds the files that a folder, pattern, file name or address stands for, and opens them.

Local paths need only the standard library. A path with ``://`` is an address for fsspec (``s3://``,
``memory://``, ``file://``), which is imported only then. A WACZ is listed as the files of its
crawl.
"""

from __future__ import annotations

import glob
import importlib
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from types import ModuleType
from typing import BinaryIO, cast

from quire.errors import MissingExtra, SourceNotFound, SourceUnreadable
from quire.safe_read import open_source
from quire.sources.capture import Trouble
from quire.sources.wacz import BadZip, is_wacz, list_members, open_member, split

# Files read from a folder. Crawlers also write pages without any suffix.
PAGE_SUFFIXES: tuple[str, ...] = (
    "",
    ".atom",
    ".htm",
    ".html",
    ".json",
    ".rss",
    ".svg",
    ".txt",
    ".xhtml",
    ".xml",
)
PARQUET_SUFFIX = ".parquet"
_ARCHIVE = re.compile(r"\.w?arc(\.wet|\.wat)?(\.gz|\.zst|\.lz4)?$", re.IGNORECASE)
# Object stores answer in tens of milliseconds: use fewer, larger requests.
_REMOTE_BUFFER_BYTES = 1024 * 1024


def find(arguments: Sequence[str]) -> list[str]:
    """List the files that arguments name, sorted: files, folders, patterns, addresses.

    A file is accepted whatever its name, and a WACZ stands for the WARC files in it. A folder is
    searched to any depth for pages, WARC, WACZ and Parquet files; hidden files are skipped, and
    links to folders are not followed. A pattern is expanded. A broken link is listed too: reading
    it gives a trouble, so it does not go unnoticed.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("crawl.warc.gz", "page.html", "page.qd"):
    ...         _ = Path(folder, name).write_bytes(b"")
    ...     [Path(path).name for path in find([folder, f"{folder}/*.html"])]
    ['crawl.warc.gz', 'page.html']

    Raises:
        SourceNotFound: A file does not exist, or a folder or pattern yields nothing readable.
        MissingExtra: An argument is an address, and fsspec is not installed.
    """
    found: set[str] = set()
    for argument in arguments:
        paths = _find_remote(argument) if is_address(argument) else _find_local(argument)
        for path in paths:
            found.update(_inside(path) if is_wacz(path) else [path])
    return sorted(found)


def _inside(path: str) -> list[str]:
    """List the files of a WACZ, or the WACZ itself if that fails: reading it reports why."""
    try:
        with _open_outer(path) as file:
            return [f"{path}/{name}" for name in list_members(file, is_archive)]
    except (BadZip, OSError):
        return [path]


def for_tasks(paths: Sequence[str]) -> tuple[list[str], list[Trouble]]:
    r"""Separate paths that tasks of an engine can receive from those that they cannot.

    Tasks receive paths as Arrow strings, which are UTF-8; file names can be any bytes.

    >>> fine, odd = for_tasks(["a.html", "\udcff.html"])
    >>> fine, odd[0].reason
    (['a.html'], 'its name is not UTF-8, and cannot be handed to a task')
    """
    fine: list[str] = []
    odd: list[Trouble] = []
    for path in paths:
        try:
            path.encode()
        except UnicodeEncodeError:
            odd.append(Trouble(path, "its name is not UTF-8, and cannot be handed to a task"))
        else:
            fine.append(path)
    return fine, odd


def is_address(path: str) -> bool:
    """Tell whether a path is an fsspec address."""
    return "://" in path


def is_archive(path: str) -> bool:
    """Tell whether a path names a WARC or ARC file."""
    return _ARCHIVE.search(path) is not None


def is_arc(path: str) -> bool:
    """Tell whether a path names an ARC file, the format before WARC."""
    found = _ARCHIVE.search(path)
    return found is not None and found[0].lower().startswith(".arc")


def is_parquet(path: str) -> bool:
    """Tell whether a path names a Parquet file."""
    return path.lower().endswith(PARQUET_SUFFIX)


def is_wanted(name: str) -> bool:
    """Tell whether a file in a folder should be read, by its name."""
    suffix = PurePosixPath(name).suffix.lower()
    is_page = suffix in PAGE_SUFFIXES or suffix == PARQUET_SUFFIX
    return is_page or is_archive(name) or is_wacz(name)


def walk(folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    """Yield the files below a folder whose names are wanted, in order; hidden files are skipped.

    Broken links, pipes and devices are listed too; reading them reports the problem.
    """
    # Links to folders are not followed: they can lead in circles.
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(here, name)  # noqa: PTH118 - keeps `./`
            if not name.startswith(".") and wanted(name):
                yield path


def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - keeps `./`


def fill_in(pattern: str) -> list[str]:
    """List the files that match a pattern, sorted."""
    fitting = glob.glob(pattern, recursive=True)  # noqa: PTH207 - keeps `./`
    return sorted(name for name in fitting if not os.path.isdir(name))  # noqa: PTH112 - same


def _find_local(argument: str) -> list[str]:
    if os.path.isdir(argument):  # noqa: PTH112 - one test for any argument
        return list(walk(argument, is_wanted)) or _nothing_in(argument)
    if os.path.lexists(argument) or split(argument, _is_file):
        return [argument]
    if glob.has_magic(argument):
        return fill_in(argument) or _nothing_fits(argument)
    raise SourceNotFound(f"{argument}: no such file or folder", name=argument)


def _find_remote(argument: str) -> list[str]:
    core = _fsspec(argument)
    try:
        system, path = core.url_to_fs(argument)
        if system.isdir(path):
            base = path.rstrip("/") + "/"
            files = [name for name in system.find(path) if _is_shown(name.removeprefix(base))]
            files = [name for name in files if is_wanted(name)] or _nothing_in(argument)
        elif system.exists(path):
            files = [path]
        elif glob.has_magic(path):
            files = [name for name in system.glob(path) if system.isfile(name)]
            files = files or _nothing_fits(argument)
        else:
            raise SourceNotFound(f"{argument}: no such file or folder", name=argument)
        return [str(system.unstrip_protocol(name)) for name in files]
    except (ImportError, OSError, ValueError) as error:
        raise _unreachable(argument, error) from error


def _is_shown(path: str) -> bool:
    return not any(part.startswith(".") for part in PurePosixPath(path).parts)


def _nothing_in(folder: str) -> list[str]:
    raise SourceNotFound(f"{folder}: nothing to read in this folder", name=folder)


def _nothing_fits(pattern: str) -> list[str]:
    raise SourceNotFound(f"{pattern}: no file fits this pattern", name=pattern)


def open_place(path: str) -> BinaryIO:
    """Open a local file, an fsspec address or a file in a WACZ, for reading at any position.

    Raises:
        OSError: The file cannot be opened; ``SourceNotFound`` if it does not exist.
        MissingExtra: The path is an address, and fsspec is not installed.
    """
    parts = split(path, lambda outer: is_address(outer) or _is_file(outer))
    if parts is None and not is_wacz(path):
        return _open_outer(path)
    file = _open_outer(parts[0] if parts else path)
    try:
        return open_member(file, parts[1] if parts else "")
    except BadZip as bad:
        file.close()
        raise SourceUnreadable(f"{path}: {bad}", name=path) from None
    except BaseException:
        file.close()
        raise


def _open_outer(path: str) -> BinaryIO:
    if not is_address(path):
        try:
            return open_source(path)
        except FileNotFoundError:
            raise SourceNotFound(f"{path}: no such file", name=path) from None
        except ValueError as error:  # a NUL in the name
            raise SourceNotFound(f"{path!r}: {error}", name=path) from None
    core = _fsspec(path)
    try:
        system, inner = core.url_to_fs(path)
        opened = system.open(inner, "rb", block_size=_REMOTE_BUFFER_BYTES)
    except (ImportError, OSError, ValueError) as error:
        raise _unreachable(path, error) from error
    return cast("BinaryIO", io.BufferedReader(opened, _REMOTE_BUFFER_BYTES))


def _fsspec(path: str) -> ModuleType:
    try:
        return importlib.import_module("fsspec.core")  # optional, and slow to import
    except ImportError:
        raise MissingExtra(f"{path}: fsspec is not installed", extra="archive") from None


def _unreachable(path: str, error: Exception) -> Exception:
    if isinstance(error, SourceNotFound):
        return error
    if isinstance(error, FileNotFoundError):
        return SourceNotFound(f"{path}: no such file or folder", name=path)
    if isinstance(error, OSError):
        return error
    if isinstance(error, ImportError):
        protocol = path.partition("://")[0]
        message = f"{path}: {error}; run: pip install 'fsspec[{protocol}]'"
        return SourceNotFound(message, name=path)
    # Probably an unknown protocol; the message of fsspec says so.
    return SourceNotFound(f"{path}: {error}", name=path)

"""Places: what a person means by a folder, a pattern, a file, an address.

Paths of this machine need nothing but the standard library. What holds ``://`` is an address for fsspec (``s3://``,
``memory://``, ``file://``), which is asked only then. A WACZ is named by itself and listed as the files of its crawl.
"""

from __future__ import annotations

import glob
import importlib
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import BinaryIO, cast

from quire.errors import MissingExtra, SourceNotFound, SourceUnreadable
from quire.sources.capture import Trouble
from quire.sources.wacz import BadZip, is_wacz, list_members, open_member, split

# What is read of a folder. Crawlers also write pages without any suffix.
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
# An object store answers in tens of milliseconds: fewer, larger requests.
_REMOTE_BUFFER_BYTES = 1024 * 1024


def find(arguments: Sequence[str]) -> list[str]:
    """List what arguments name: files, folders, patterns, addresses. Sorted, each once.

    A file is taken whatever it is called, and a WACZ is the WARC files in it. A folder is searched to any depth for pages,
    WARC, WACZ and Parquet files; hidden ones are passed over, links to folders are not followed. A pattern is filled in. A link that leads nowhere
    is listed: to read it is a trouble, which is better than not to know.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("crawl.warc.gz", "page.html", "page.qd"):
    ...         _ = Path(folder, name).write_bytes(b"")
    ...     [Path(path).name for path in find([folder, f"{folder}/*.html"])]
    ['crawl.warc.gz', 'page.html']

    Raises:
        SourceNotFound: there is no such file, or a folder or pattern leads to nothing that can be read.
        MissingExtra: an address, and fsspec is not installed.
    """
    found: set[str] = set()
    for argument in arguments:
        paths = _find_remote(argument) if is_address(argument) else _find_local(argument)
        for path in paths:
            found.update(_inside(path) if is_wacz(path) else [path])
    return sorted(found)


def _inside(path: str) -> list[str]:
    """List the files of a WACZ; itself where they cannot be listed, and to read it is a trouble that says why."""
    try:
        with _open_outer(path) as file:
            return [f"{path}/{name}" for name in list_members(file, is_archive)]
    except (BadZip, OSError):
        return [path]


def for_tasks(paths: Sequence[str]) -> tuple[list[str], list[Trouble]]:
    r"""Part paths into those that can be handed to tasks of an engine, and troubles for the others.

    Tasks get paths as Arrow's strings, which are UTF-8; names of files are any bytes.

    >>> for_tasks(["a.html", "\udcff.html"])
    (['a.html'], [Trouble(name='\udcff.html', reason='its name is not UTF-8, and cannot be handed to a task')])
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
    """Tell whether a path is one for fsspec."""
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
    """Tell whether a file of a folder is read, by its name."""
    suffix = PurePosixPath(name).suffix.lower()
    is_page = suffix in PAGE_SUFFIXES or suffix == PARQUET_SUFFIX
    return is_page or is_archive(name) or is_wacz(name)


def walk(folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    """Give the files below a folder whose names are wanted, in order; hidden ones are passed over."""
    # Links to folders are not followed: they can lead in circles.
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(here, name)  # noqa: PTH118 - keeps `./`
            if not name.startswith(".") and wanted(name) and (_is_file(path) or _is_lost(path)):
                yield path


def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - keeps `./`


def _is_lost(path: str) -> bool:
    """Tell whether a link leads nowhere: whoever reads it says so, which is better than to pass over it."""
    return os.path.islink(path) and not os.path.exists(path)  # noqa: PTH110, PTH114 - same


def fill_in(pattern: str) -> list[str]:
    """List the files that fit a pattern, sorted."""
    fitting = glob.glob(pattern, recursive=True)  # noqa: PTH207 - keeps `./`
    return sorted(name for name in fitting if _is_file(name) or _is_lost(name))


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
    """Open a file of this machine, one that fsspec knows, or one in a WACZ, for reading at any place of it.

    Raises:
        OSError: it cannot be opened; ``SourceNotFound`` where there is none.
        MissingExtra: an address, and fsspec is not installed.
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
            return Path(path).open("rb")
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
    # An unknown protocol: fsspec says so.
    return SourceNotFound(f"{path}: {error}", name=path)

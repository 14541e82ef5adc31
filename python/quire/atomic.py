"""Write files whole or not at all: one promise for every file that quire writes.

After an error, a kill or a power cut, a name holds the complete old file or the complete new one.
The data goes to a temporary file beside the target, is flushed to the disk, and then gets its name.
The folder is flushed last, so a name that was given stays given.

Four choices worth knowing before changing this file:

* The temporary name cannot be guessed, and a file or link that already has it is never opened.
* A new file gets the permissions of any new file. A replaced file keeps those of the old one.
* If the target is a link, the link stays and the file behind it is replaced.
* A device or a pipe (``/dev/stdout``) cannot be renamed over, so it is written directly.

An error while writing removes the temporary file and names the target. A killed process leaves the
temporary file behind: a hidden file that ends in ``.part`` and can be deleted.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

if sys.platform != "win32":
    import fcntl

# Few characters of the target's name: with four bytes each they still fit into a file name.
_KEPT_CHARACTERS = 40
_BUFFER_BYTES = 1 << 17
# File systems that cannot flush a folder, or folders that we may write to but not read.
_NO_FOLDER_SYNC = {errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP}
# Ten seconds at most for another process that names its files.
_MOST_TRIES = 1000
_PAUSE_S = 0.01
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


def write_atomic(path: str | os.PathLike[str], data: bytes, *, replace: bool = True) -> None:
    """Write a file whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(f"{folder}/a.txt", b"Fish")
    ...     Path(folder, "a.txt").read_bytes()
    b'Fish'

    Args:
        path: the file.
        data: its bytes.
        replace: whether to replace an existing file.

    Raises:
        FileExistsError: the file exists, and ``replace`` is false.
        OSError: the file cannot be written; the error names ``path``.
    """
    with open_atomic(path, replace=replace) as (stream,):
        stream.write(data)


@contextmanager
def open_atomic(
    *paths: str | os.PathLike[str], replace: bool = True
) -> Iterator[tuple[BinaryIO, ...]]:
    """Open files for writing that appear when the block ends, and not at all if it fails.

    All files are complete on the disk before the first one gets its name. If one of the names
    cannot be given after that, the names before it are already in place. If two processes write the
    same files, those of one process replace all of the other's.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_atomic(f"{folder}/a.txt", f"{folder}/b.txt") as (first, second):
    ...         written = first.write(b"Fish"), second.write(b"chips")
    ...         before = os.path.exists(f"{folder}/a.txt")
    ...     before, Path(folder, "b.txt").read_bytes()
    (False, b'chips')

    Args:
        paths: the files.
        replace: whether to replace existing files.

    Raises:
        FileExistsError: a file exists, and ``replace`` is false.
        OSError: a file cannot be written; the error names it as in ``paths``.
    """
    drafts: list[_Draft] = []
    try:
        for path in paths:
            drafts.append(_Draft(path, replace=replace))  # noqa: PERF401 - those made are discarded
        yield tuple(draft.stream for draft in drafts)
        for draft in drafts:
            draft.finish()
        with _alone(drafts):
            for draft in drafts:
                draft.publish()
    finally:
        for draft in drafts:
            draft.discard()
    for folder in {draft.target.parent for draft in drafts if not draft.is_direct}:
        sync_folder(folder)


@contextmanager
def _alone(drafts: list[_Draft]) -> Iterator[None]:
    """Let one process at a time name several files, so that all of them come from one process.

    The folder is locked for the few renames. If that takes too long, or the file system cannot
    lock, the files are named all the same.
    """
    files = [draft for draft in drafts if not draft.is_direct]
    if len(files) <= 1 or sys.platform == "win32":
        yield
        return
    try:
        folder = os.open(files[0].target.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # a folder that we may write to but not read
        yield
        return
    try:
        for _ in range(_MOST_TRIES):
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_PAUSE_S)
                continue
            except OSError:
                pass
            break
        yield
    finally:
        os.close(folder)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is a device or a pipe, which has no file to replace.

    >>> is_stream(os.devnull), is_stream("not-there"), is_stream(".")
    (True, False, False)
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - any kind of path
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def create(path: str | os.PathLike[str], mode: int = 0o666) -> int:
    """Create a file for writing and return its descriptor; never open an existing file or link.

    Raises:
        FileExistsError: the name is taken.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, mode)


def sync_file(stream: IO[bytes]) -> None:
    """Wait until everything written to a file is on the disk."""
    stream.flush()
    if sys.platform == "darwin":  # fsync stops at the memory of the drive there
        fcntl.fcntl(stream.fileno(), fcntl.F_FULLFSYNC)
    else:
        os.fsync(stream.fileno())


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Wait until the names in a folder are on the disk, if its file system can do that."""
    if sys.platform == "win32":  # cannot open folders, and does not need this
        return
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


class _Output(io.FileIO):
    """A file whose errors name the target: a write error names no file, a person needs one."""

    target: str

    def write(self, data: ReadableBuffer) -> int:
        with naming(self.target):
            return super().write(data)


class _Draft:
    """A file that has no name yet, or a device or pipe that is written directly."""

    def __init__(self, path: str | os.PathLike[str], *, replace: bool) -> None:
        self._path = os.fspath(path)
        self._replace = replace
        self._temporary: Path | None = None
        self.is_direct = is_stream(path)
        self.target = Path(os.path.realpath(path) if replace else path)
        with naming(self._path):
            self.stream: BinaryIO = self._open()

    def _open(self) -> BinaryIO:
        if self.is_direct:
            file = _Output(self._path, "w")
        else:
            if self.target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not self._replace and os.path.lexists(self.target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            file = _Output(self._create(), "w")
        file.target = self._path
        return io.BufferedWriter(file, _BUFFER_BYTES)

    def _create(self) -> int:
        name = f".{self.target.name[:_KEPT_CHARACTERS]}.{secrets.token_hex(8)}.part"
        temporary = self.target.with_name(name)
        try:
            old_mode = stat.S_IMODE(self.target.stat().st_mode) & 0o777
        except OSError:
            file = create(temporary)
        else:
            # Never more open than the old file, not even for a moment.
            file = create(temporary, old_mode)
            with suppress(OSError, AttributeError):  # not on every system and file system
                os.fchmod(file, old_mode)
        self._temporary = temporary
        return file

    def finish(self) -> None:
        """Bring all data to the disk."""
        with naming(self._path):
            if not self.is_direct:
                sync_file(self.stream)
            self.stream.close()

    def publish(self) -> None:
        """Give the file its name."""
        if self._temporary is None:
            return
        with naming(self._path):
            if self._replace:
                self._temporary.replace(self.target)
                self._temporary = None
            else:
                _link(self._temporary, self.target)

    def discard(self) -> None:
        """Close the file, and remove it if it has no name."""
        with suppress(OSError):
            self.stream.close()
        if self._temporary is not None:
            with suppress(OSError):
                self._temporary.unlink()


def _link(temporary: Path, target: Path) -> None:
    """Give a file its name only if the name is free, which renaming cannot do."""
    try:
        target.hardlink_to(temporary)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        temporary.replace(target)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Let errors of the system name a file or a folder, and nothing else."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise  # of a library, about something else than the disk
        # A new error: one that knows two names prints both, the temporary one or None included.
        # In the words of the system: those of libraries are long.
        raise OSError(error.errno, os.strerror(error.errno), path) from None

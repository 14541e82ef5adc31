"""Safe reading of files that others may have tampered with: those of an archive or a composition.

A folder can hold a pipe that never ends, a device without a length, or a link that leads elsewhere.
So files are opened without waiting and without following links, must be plain files, and are read
up to a given length.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

_GIVEN = re.compile(r"/dev/(?:stdin|fd/[0-9]+)|/proc/self/fd/[0-9]+")


def open_plain(path: str | os.PathLike[str]) -> int:
    """Open a file for reading and return its descriptor.

    Raises:
        FileNotFoundError: it does not exist.
        OSError: it cannot be opened, or is a link, a pipe, a device or a folder.
    """
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):  # not on every system
        flags |= getattr(os, name, 0)
    try:
        file = os.open(path, flags)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:  # a link, a socket
            raise _not_plain(path) from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _not_plain(path)
    return file


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Read a file up to one byte more than ``most_bytes``, which shows that it is longer.

    Raises:
        OSError: it cannot be read, or is not a plain file.
    """
    file = open_plain(path)
    with open(file, "rb") as opened:  # noqa: PTH123 - an open file, not a path
        # `read` allocates the length that it is given, so it is given no more than there is.
        return opened.read(min(most_bytes, os.fstat(file).st_size) + 1)


def open_source(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading; links are followed, as the user named it.

    A pipe or device would keep the reader waiting, so it is refused. The exception are those that
    this process was given: ``/dev/stdin``, and ``/dev/fd/63``, as the shell calls ``<(...)``.

    Raises:
        NotPlain: it is a pipe, a device or a socket.
        OSError: it cannot be opened.
    """
    if _GIVEN.fullmatch(os.fspath(path)):
        return Path(path).open("rb")
    try:
        file = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a device without its driver
            raise _not_plain(path) from None
        raise
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode):
        os.close(file)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        raise _not_plain(path)
    return open(file, "rb")  # noqa: PTH123 - an open file, not a path


class NotPlain(OSError):
    """A name leads to a link, a pipe, a device or a folder, and not to a plain file."""


def _not_plain(path: str | os.PathLike[str]) -> NotPlain:
    return NotPlain(errno.EINVAL, "not a file, but a pipe, device or link", os.fspath(path))

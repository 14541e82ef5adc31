"""Safe reading of files that others may have tampered with, such as those of a composition.

A folder can hold a pipe that never ends, a device without a length, or a link that leads elsewhere.
So files are opened without waiting and without following links, must be plain files, and are read
up to a given length.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Read a file up to one byte more than ``most_bytes``, which shows that it is longer.

    Raises:
        OSError: it cannot be read, or is not a plain file.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(file, "rb") as opened:  # noqa: PTH123 - an open file, not a path
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("not a plain file")
        # `read` allocates the length that it is given, so it is given no more than there is.
        return opened.read(min(most_bytes, found.st_size) + 1)

"""Plain files: reading those of a composition, which somebody may have tampered with.

A folder can hold a pipe that never ends, a device without a length, or a link that leads elsewhere. Here a file is opened without waiting and
without following a link, must be a plain one, and is read as far as was asked for.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Read a file, and one byte more than so many at most, so that it can be told to be longer.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(file, "rb") as opened:  # noqa: PTH123 - an open file, not a path
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("no plain file")
        # A length that was asked for is memory that is taken, so no more is asked for than there is.
        return opened.read(min(most_bytes, found.st_size) + 1)

"""The marker file ``archive.json``, which identifies a folder as an archive.

One line of JSON: ``format``, ``version`` and a random ``id``. Every other file identifies itself,
so an archive can be read without its marker. Only the marker gives the version of an empty
archive, so a writer checks it first.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

from quire.archive.disk.storage import Disk, Writer
from quire.archive.format.record import FORMAT, VERSION, VERSIONS
from quire.archive.format.stored_file import data_files
from quire.safe_read import read_plain

MARK = "archive.json"
#: Name of the marker while it is being written.
PART = MARK + ".part"
#: A marker has about a hundred bytes; a longer file is something else and is not read.
_MOST_BYTES = 4096
#: The format is named within the first bytes, also when the rest of the mark is damaged.
_FORMAT_BYTES = 64
_ID = re.compile(r"[0-9a-f]{32}")


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is an archive, even one that has lost its mark or all of its pages.

    >>> is_archive("nowhere.quire")
    False

    Args:
        path: any path; it need not exist.
    """
    folder = Path(path)
    if not os.path.isdir(folder):  # noqa: PTH112 - False, not an error, for a name that is too long
        return False
    try:
        if data_files(folder):
            return True
        return json.dumps(FORMAT).encode() in read_plain(folder / MARK, _FORMAT_BYTES)
    except OSError:
        return False


def write_mark(folder: Path, disk: Disk) -> None:
    """Make a folder an archive, safe against a power cut.

    Raises:
        StorageFailed: The disk could not store the marker.
    """
    about = {"format": FORMAT, "version": VERSION, "id": uuid.uuid4().hex}
    writer = Writer(disk, folder / PART)
    try:
        writer.append(json.dumps(about).encode() + b"\n")
        writer.finish(folder / MARK)
    except BaseException:
        writer.discard()
        raise


def other_version(folder: Path) -> object:
    """Return the version in the marker if we do not know it; None if the marker is unusable."""
    about = _read(folder)
    version = None if isinstance(about, str) else about.get("version")
    return None if isinstance(version, int) and version in VERSIONS else version


def wrong_mark(folder: Path) -> str | None:
    """Describe the fault of the marker, or return None if it is fine."""
    about = _read(folder)
    if isinstance(about, str):
        return about
    version = about.get("version")
    if not isinstance(version, int) or version not in VERSIONS:
        return f"says archive format {version!r}, but this version reads up to {VERSION}"
    if _ID.fullmatch(str(about.get("id"))) is None:
        return "has no id of 32 hexadecimal digits"
    return None


def _read(folder: Path) -> dict[str, Any] | str:
    """Read the marker, or return the reason why it cannot be read."""
    try:
        data = read_plain(folder / MARK, _MOST_BYTES)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    try:
        about = json.loads(data) if len(data) <= _MOST_BYTES else None
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        return "is damaged: it does not identify an archive"
    return about

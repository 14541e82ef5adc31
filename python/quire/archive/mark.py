"""The mark of an archive: ``archive.json``, which says of a folder that it is one.

One line of JSON: ``format``, ``version``, and ``id``, chosen at random. Every other file says for itself what it is, so an
archive whose mark is lost can be read all the same.

Above: ``archive``, ``repair``. Below: ``layout``, ``storage``.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from quire.archive.layout import FORMAT, VERSION
from quire.archive.storage import Disk, Writer

MARK = "archive.json"
#: What it is called until it is whole.
PART = MARK + ".part"


def write_mark(folder: Path, disk: Disk) -> None:
    """Make a folder an archive, safe against a power cut.

    Raises:
        StorageFailed: the disk did not take it.
    """
    about = {"format": FORMAT, "version": VERSION, "id": uuid.uuid4().hex}
    writer = Writer(disk, folder / PART)
    try:
        writer.append(json.dumps(about).encode() + b"\n")
        writer.finish(folder / MARK)
    except BaseException:
        writer.discard()
        raise

"""Files of quire itself: what ``quire watch export`` and the web pages write."""

from __future__ import annotations

from quire.errors import WatchError
from quire.sentinels.form.files import read_watches
from quire.sentinels.imports.imported import MAX_WATCHES, Imported


def import_own(data: str | bytes, file: str = "") -> Imported:
    r"""Import watches that quire wrote.

    >>> import_own("watches:\n  - url: https://a.example/\n").watches[0].name
    'https://a.example/'

    Raises:
        WatchError: the text is too long, or a watch is not valid; one that was written without its
            secrets is not.
    """
    found = read_watches(data, file)
    if len(found) > MAX_WATCHES:
        raise WatchError(f"{file}: expected at most {MAX_WATCHES:,} watches", path="")
    return Imported(tuple(found), ())

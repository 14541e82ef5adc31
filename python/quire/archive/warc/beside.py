"""Beside: the companions of an archive, each given out once, with its page if it has one.

A request has the address and time of its response, and a page of that address and time brings it
along. Only indexes are held in memory, 29 bytes for each companion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.archive.archive import Archive
from quire.archive.format import index as indexes
from quire.archive.format.page_meta import About, not_after, not_before
from quire.archive.format.stored_file import StoredFile
from quire.archive.format.warc_head import record_type
from quire.archive.results import Companion, companion_of
from quire.errors import ArchiveError


class Beside:
    """The companions that were not given out yet.

    Args:
        archive: An open archive.
        on_damage: Called with the error for each companion that cannot be read.
    """

    def __init__(self, archive: Archive, on_damage: Callable[[ArchiveError], None]) -> None:
        self._on_damage = on_damage
        self._files: list[tuple[StoredFile, NDArray[Any], NDArray[np.bool_]]] = []
        for file in archive.files():
            rows = file.index.companions.array()
            if len(rows):
                self._files.append((file, rows, np.zeros(len(rows), np.bool_)))

    def of_kind(self, kind: str) -> Iterator[Companion]:
        """Give out all of one type, in stored order."""
        return self._taken(lambda known: record_type(known.extra) == kind)

    def rest(
        self, prefix: str, since: datetime | None, until: datetime | None
    ) -> Iterator[Companion]:
        """Give out all whose address and time are asked for, in stored order."""
        first = None if since is None else not_before(since)
        last = None if until is None else not_after(until)
        return self._taken(
            lambda known: (
                known.url.startswith(prefix)
                and (first is None or known.time >= first)
                and (last is None or known.time <= last)
            )
        )

    def at(self, url: str, time: datetime) -> Iterator[Companion]:
        """Give out those of an address and time."""
        key, when = indexes.url_hash(url), not_before(time)
        for file, rows, is_gone in self._files:
            start = int(np.searchsorted(rows["url"], np.uint64(key), "left"))
            for i in range(start, len(rows)):
                if int(rows["url"][i]) != key or int(rows["time"][i]) > when:
                    break
                if int(rows["time"][i]) == when and not is_gone[i]:
                    yield from self._one(file, rows[i], is_gone, i, lambda known: known.url == url)

    def _taken(self, is_wanted: Callable[[About], bool]) -> Iterator[Companion]:
        for file, rows, is_gone in self._files:
            for i in np.lexsort((rows["slot"], rows["offset"])).tolist():
                if not is_gone[i]:
                    yield from self._one(file, rows[i], is_gone, i, is_wanted)

    def _one(
        self,
        file: StoredFile,
        row: Any,  # noqa: ANN401 - a row of a numpy array
        is_gone: NDArray[np.bool_],
        i: int,
        is_wanted: Callable[[About], bool],
    ) -> Iterator[Companion]:
        offset, slot = int(row["offset"]), int(row["slot"])
        try:
            if not is_wanted(file.about(offset, slot)):
                return
            found = companion_of(*file.page(offset, slot))
        except ArchiveError as error:
            is_gone[i] = True
            self._on_damage(error)
            return
        is_gone[i] = True
        yield found

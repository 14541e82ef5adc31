"""Known: the pages and companions an archive had at one moment, to add each of them only once.

A crawl may hold two equal records, and both are kept. So each stored copy stands for one copy of
the crawl: with two stored and three found, one is added.

Memory: some hundred bytes for each page that is looked up and found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from quire import _core
from quire.archive.format import index as indexes
from quire.archive.format.stored_file import StoredFile
from quire.archive.results import companion_of, page_of
from quire.errors import ArchiveError

#: Length and XXH3 of the body of a page or the block of a companion, XXH3 of all its heads.
Identity = tuple[int, int, int]


def identity(head: bytes, body: bytes, warc_head: bytes) -> Identity:
    """Return what distinguishes a page or companion from others of its address and time.

    Args:
        head: HTTP head of a page; empty for a companion.
        body: Body of a page, or block of a companion.
        warc_head: Head of its WARC record, or empty.
    """
    return len(body), _core.hash64(body), heads_hash(head, warc_head)


def heads_hash(head: bytes, warc_head: bytes) -> int:
    """Hash the HTTP head of a page and the head of its record."""
    return _core.hash64(b"%d\n%s%s" % (len(head), head, warc_head))


class Known:
    """The pages and companions of some files, as they are now."""

    def __init__(self, files: Sequence[StoredFile]) -> None:
        # Rows are never changed in place, so these stay as they are while a writer adds pages.
        self._files = [(file, (file.index.pages, file.index.companions)) for file in files]
        self._left: dict[tuple[int, int, bool], Counter[Identity]] = {}

    def is_at(self, url: str, time: int, *, is_companion: bool = False) -> bool:
        """Tell whether there is a page or companion of this address and time, from indexes only."""
        return (
            next(self._places(indexes.url_hash(url), time, companions=is_companion), None)
            is not None
        )

    def leave_out(
        self, url: str, time: int, identity: Identity, *, is_companion: bool = False
    ) -> bool:
        """Tell whether a page or companion is stored already, and use up one of its copies.

        Args:
            url: Address of the page or companion.
            time: Its time in microseconds since 1970, UTC.
            identity: What distinguishes it from others of this address and time.
            is_companion: Whether to look among the companions.
        """
        key = (indexes.url_hash(url), time, is_companion)
        left = self._left.get(key)
        if left is None:
            left = Counter(self._stored(url, key[0], time, companions=is_companion))
            if not left:
                return False
            self._left[key] = left
        if left[identity] <= 0:
            return False
        left[identity] -= 1
        return True

    def _stored(self, url: str, key: int, time: int, *, companions: bool) -> Iterator[Identity]:
        for file, offset, slot in self._places(key, time, companions=companions):
            try:
                about = file.about(offset, slot)
                if about.url != url:
                    continue
                if companions:
                    found = companion_of(*file.page(offset, slot))
                    yield identity(b"", found.block, found.warc_head)
                elif about.extra:
                    page = page_of(*file.page(offset, slot))
                    yield identity(page.head, page.body, page.warc_head() or b"")
                else:
                    yield about.length, about.check, heads_hash(about.head, b"")
            except ArchiveError:  # a damaged copy does not count
                continue

    def _places(
        self, key: int, time: int, *, companions: bool
    ) -> Iterator[tuple[StoredFile, int, int]]:
        for file, rows in self._files:
            found = rows[companions].find(key)
            for row in found[found["time"] == time]:
                yield file, int(row["offset"]), int(row["slot"])

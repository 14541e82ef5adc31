"""Reading an archive: pages by address and time, by prefix, and all of them.

An archive is a list of files, and each has an index that is sorted by the hash of the address. One page is found by a search
in every index; of one address the newest is first, and of one time what was stored last. Many pages are read as
they are stored, file by file. Nothing here writes, so any number of readers go on beside a writer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

from quire.archive.damage import findings, mark_findings
from quire.archive.format import index as indexes
from quire.archive.format.page_meta import About, about, to_microseconds
from quire.archive.format.stored_file import StoredFile, live_files
from quire.archive.results import StoredPage, Version, page_of, version_of
from quire.archive.statistics import Statistics, statistics
from quire.errors import ArchiveError, PageNotFound
from quire.sdiff import Annotation, Rules, annotate
from quire.sdiff.rules import EVERYTHING


class Reader:
    """The pages of a folder, as they were when it was opened or last refreshed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: list[StoredFile] | None = []
        self._taken_over: list[Path] = []

    def get(self, url: str, time: datetime | None = None) -> StoredPage:
        """Give a page back, byte for byte.

        Args:
            url: its address.
            time: the newest version of that time or before; None for the newest of all.

        Raises:
            PageNotFound: there is none.
            DamagedRecord: its bytes are no longer what was stored.
        """
        for file, offset, slot in self._find(url, time):
            found, body = file.page(offset, slot)
            if found.url == url:
                return page_of(found, body)
        raise self._not_found(url, time)

    def versions(self, url: str) -> list[Version]:
        """List the versions of a page, oldest first."""
        return [version_of(known) for known in self.abouts(url)][::-1]

    def abouts(self, url: str, time: datetime | None = None) -> Iterator[About]:
        """Give what is stored of the versions of a page beside their bytes, newest first.

        Args:
            url: its address.
            time: versions of that time or before; None for all.
        """
        for file, offset, slot in self._find(url, time):
            known = file.about(offset, slot)
            if known.url == url:
                yield known

    def has(self, url: str, time: datetime, head: bytes, body: bytes) -> bool:
        """Tell whether a page is there already: the same address, time, head and bytes. Reads no bodies."""
        asked = about(url, time, body, head)
        for known in self.abouts(url, time):
            if known.time != asked.time:
                return False
            same = (known.head, known.length, known.check, known.digest)
            if same == (head, asked.length, asked.check, asked.digest):
                return True
        return False

    def diff(
        self,
        url: str,
        old: datetime | None = None,
        new: datetime | None = None,
        *,
        rules: Rules = EVERYTHING,
    ) -> Annotation:
        """Compare two versions of a page.

        Args:
            url: its address.
            old: the newest of that time or before; None for the version before the new one.
            new: the newest of that time or before; None for the newest of all.
            rules: what is not a difference.

        Raises:
            PageNotFound: there is no such version.
        """
        before, after = self.pair(url, old, new)
        return annotate(before.digest(), after.digest(), rules)

    def pair(
        self, url: str, old: datetime | None = None, new: datetime | None = None
    ) -> tuple[StoredPage, StoredPage]:
        """Give two versions of a page, as ``diff`` chooses them.

        Raises:
            PageNotFound: there is no such version.
        """
        if old is not None:
            return self.get(url, old), self.get(url, new)
        found = []
        for file, offset, slot in self._find(url, new):
            if file.about(offset, slot).url == url:
                found.append(page_of(*file.page(offset, slot)))
            if len(found) == 2:  # noqa: PLR2004 - a pair
                return found[1], found[0]
        if found:
            raise PageNotFound(
                f"{url}: {self.folder} has no version before that of {found[0].time}", url=url
            )
        raise self._not_found(url, new)

    def pages(
        self,
        prefix: str = "",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        order: Literal["stored", "url"] = "stored",
    ) -> Iterator[Version]:
        """Go through pages without their bytes.

        Args:
            prefix: what their address begins with.
            since: of that time or later.
            until: of that time or before.
            order: as they are stored, which is quickest, or by address and time, for which all are held in memory.
        """
        places = self._places(prefix, since, until)
        if order == "url":
            places = iter(sorted(places, key=lambda place: (place[0].url, place[0].time)))
        for known, _, _, _ in places:
            yield version_of(known)

    def read(
        self,
        prefix: str = "",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        on_damage: Callable[[ArchiveError], None] | None = None,
    ) -> Iterator[StoredPage]:
        """Go through pages with their bytes, in stored order.

        Args:
            prefix: what their address begins with.
            since: of that time or later.
            until: of that time or before.
            on_damage: is told of pages that cannot be read, and the next is given.

        Raises:
            DamagedRecord: a page cannot be read, and nobody asked to be told.
        """
        for _, file, offset, slot in self._places(prefix, since, until, on_damage):
            try:
                page = page_of(*file.page(offset, slot))
            except ArchiveError as error:
                if on_damage is None:
                    raise
                on_damage(error)
                continue
            yield page

    def newest(
        self, *, on_damage: Callable[[ArchiveError], None] | None = None
    ) -> Iterator[StoredPage]:
        """Go through the newest version of every address, in stored order.

        Gives the versions that ``get`` gives. Bodies of older versions are not read.

        Args:
            on_damage: called for each page that cannot be read; reading goes on after it.

        Raises:
            DamagedRecord: a page cannot be read, and there is no ``on_damage``.
        """
        last: dict[str, tuple[int, StoredFile, int, int]] = {}
        for known, file, offset, slot in self._places("", None, None, on_damage):
            # Of one time, the version stored last counts.
            if known.url not in last or known.time >= last[known.url][0]:
                last.pop(known.url, None)  # keeps the order of what is stored
                last[known.url] = (known.time, file, offset, slot)
        for _, file, offset, slot in last.values():
            try:
                page = page_of(*file.page(offset, slot))
            except ArchiveError as error:
                if on_damage is None:
                    raise
                on_damage(error)
                continue
            yield page

    def __iter__(self) -> Iterator[StoredPage]:
        """Go through all pages with their bytes, in stored order."""
        return self.read()

    def stats(self) -> Statistics:
        """Count pages, addresses and hosts, and say where the bytes went."""
        return statistics(self.folder, self._open_files())

    def __len__(self) -> int:
        return sum(len(file.index.rows) for file in self._open_files())

    def refresh(self) -> None:
        """See what others have added since. Threads that still read go on with what they have."""
        self._open_files()
        self._files, self._taken_over = live_files(self.folder)

    def verify(self, *, every_byte: bool = True) -> list[str]:
        """Look for damage and list it, in words; nothing is changed.

        Args:
            every_byte: also read every page. Else only what leads to them: records, addresses, lengths.
        """
        of_files = (findings(file, every_byte=every_byte) for file in self._open_files())
        found = itertools.chain(mark_findings(self.folder), *of_files)
        return [str(finding) for finding in found if finding.kind != "torn"]

    def _open_files(self) -> list[StoredFile]:
        """Give the files.

        Raises:
            ArchiveError: the archive was closed.
        """
        if self._files is None:
            raise ArchiveError(f"{self.folder}: this archive is closed; open it again")
        return self._files

    def _not_found(self, url: str, time: datetime | None) -> PageNotFound:
        when = f" of {time} or before" if time is not None else ""
        return PageNotFound(f"{url}: {self.folder} has no page of this address{when}", url=url)

    def _places(
        self,
        prefix: str,
        since: datetime | None,
        until: datetime | None,
        on_damage: Callable[[ArchiveError], None] | None = None,
    ) -> Iterator[tuple[About, StoredFile, int, int]]:
        """What is known of pages, and where they are, in stored order."""
        for file in self._open_files():
            for offset, slot in _stored_order(file, since, until):
                try:
                    known = file.about(offset, slot)
                except ArchiveError as error:
                    if on_damage is None:
                        raise
                    on_damage(error)
                    continue
                if known.url.startswith(prefix):
                    yield known, file, offset, slot

    def _find(self, url: str, time: datetime | None) -> Iterator[tuple[StoredFile, int, int]]:
        """Where versions of a page are, newest first; of one time the one stored last is first."""
        key = indexes.url_hash(url)
        latest = None if time is None else to_microseconds(time)
        files = self._open_files()
        found = []
        for number, file in enumerate(files):
            for row in file.index.find(key):
                when = int(row["time"])
                if latest is None or when <= latest:
                    found.append((when, number, int(row["offset"]), int(row["slot"])))
        for _, number, offset, slot in sorted(found, reverse=True):
            yield files[number], offset, slot


def _stored_order(
    file: StoredFile, since: datetime | None = None, until: datetime | None = None
) -> list[tuple[int, int]]:
    rows = file.index.rows
    if since is not None:
        rows = rows[rows["time"] >= to_microseconds(since)]
    if until is not None:
        rows = rows[rows["time"] <= to_microseconds(until)]
    return sorted(zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True))

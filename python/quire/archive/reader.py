"""Reads an archive: one page by address and time, pages by prefix, or all pages.

An archive is a list of files, each with an index sorted by the hash of the address. To find one
page, every index is searched; the newest version comes first, and among versions with the same
time the one stored last. Many pages are read file by file, in stored order. Nothing here writes,
so any number of readers can work beside a writer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from quire.archive.addresses import same_address, spellings
from quire.archive.damage import findings, mark_findings
from quire.archive.format import index as indexes
from quire.archive.format.page_meta import (
    About,
    about,
    not_after,
    not_before,
    to_time,
)
from quire.archive.format.stored_file import StoredFile, live_files
from quire.archive.format.warc_head import warc_type
from quire.archive.known import Known
from quire.archive.results import (
    Companion,
    StoredPage,
    Version,
    companion_of,
    page_of,
    version_of,
)
from quire.archive.statistics import Statistics, statistics
from quire.errors import ArchiveError, PageNotFound
from quire.sdiff import Annotation, Rules, annotate
from quire.sdiff.rules import EVERYTHING


class Reader:
    """The pages of an archive, as they were when it was opened or last refreshed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: list[StoredFile] | None = []
        self._replaced: list[Path] = []

    def address(self, url: str) -> str:
        """Return the address of the page that a person means, as the archive has it.

        The address itself comes first, then other spellings of it: another scheme or none, with
        or without ``www.`` and the last slash, capitals in the host. If these fail, all addresses
        are compared in their normal form.

        Raises:
            PageNotFound: The archive does not have this page; the error has similar addresses.
        """
        for spelling in spellings(url):
            if next(self.abouts(spelling), None) is not None:
                return spelling
        stored = {known.url: None for known, _, _, _ in self._places("", None, None, _ignore)}
        found, near = same_address(url, stored)
        if found is None:
            message = f"{url}: no such page in {self.folder}"
            raise PageNotFound(message, url=url, near=tuple(near))
        return found

    def get(self, url: str, time: datetime | None = None, *, nearest: bool = False) -> StoredPage:
        """Get a page back, byte for byte.

        Args:
            url: Address of the page.
            time: Get the newest version fetched at or before this time (default: the newest).
            nearest: Get the version fetched nearest to ``time`` instead, before or after it.

        Raises:
            PageNotFound: The page or version does not exist.
            DamagedRecord: The stored bytes are damaged.
        """
        places = self._find(url, None if nearest else time)
        if nearest and time is not None:
            wanted = not_before(time)
            # Stable: of two versions equally far away, the newer one comes first.
            places = iter(sorted(places, key=lambda place: abs(place[0] - wanted)))
        for _, file, offset, slot in places:
            found, body = file.page(offset, slot)
            if found.url == url:
                return page_of(found, body)
        raise self._not_found(url, None if nearest else time)

    def versions(self, url: str) -> list[Version]:
        """List the versions of a page, oldest first."""
        return [version_of(known) for known in self.abouts(url)][::-1]

    def abouts(self, url: str, time: datetime | None = None) -> Iterator[About]:
        """Yield the metadata of a page's versions, newest first.

        Args:
            url: Address of the page.
            time: Only versions fetched at or before this time (default: all).
        """
        for _, file, offset, slot in self._find(url, time):
            known = file.about(offset, slot)
            if known.url == url:
                yield known

    def has(self, url: str, time: datetime, head: bytes, body: bytes) -> bool:
        """Tell whether the archive has this page: same address, time, head and bytes.

        Reads no bodies.
        """
        asked = about(url, time, body, head)
        for known in self.abouts(url, time):
            if known.time != asked.time:
                return False
            same = (known.head, known.length, known.check, known.digest)
            if same == (head, asked.length, asked.check, asked.digest):
                return True
        return False

    def files(self) -> Sequence[StoredFile]:
        """Return the open journals and segments, oldest first."""
        return tuple(self._open_files())

    def known(self) -> Known:
        """Return the pages and companions that the archive has now, to leave them out later."""
        return Known(self._open_files())

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
            url: Address of the page.
            old: Newest version at or before this time (default: the version before the new one).
            new: Newest version at or before this time (default: the newest).
            rules: Which differences to ignore.

        Raises:
            PageNotFound: The version does not exist.
        """
        before, after = self.pair(url, old, new)
        return annotate(before.digest(), after.digest(), rules)

    def pair(
        self, url: str, old: datetime | None = None, new: datetime | None = None
    ) -> tuple[StoredPage, StoredPage]:
        """Get the two versions of a page that ``diff`` would compare.

        Raises:
            PageNotFound: The version does not exist.
        """
        if old is not None:
            return self.get(url, old), self.get(url, new)
        found = []
        for _, file, offset, slot in self._find(url, new):
            if file.about(offset, slot).url == url:
                found.append(page_of(*file.page(offset, slot)))
            if len(found) == 2:  # noqa: PLR2004 - a pair
                return found[1], found[0]
        if found:
            raise PageNotFound(
                f"{url}: no version in {self.folder} before the one of {_in_words(found[0].time)}",
                url=url,
            )
        raise self._not_found(url, new)

    def pages(
        self,
        prefix: str = "",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        order: Literal["stored", "url"] = "stored",
        kind: str = "",
    ) -> Iterator[Version]:
        """Iterate over pages without their bytes.

        Args:
            prefix: Only addresses that start with this.
            since: Only pages fetched at this time or later.
            until: Only pages fetched at this time or earlier.
            order: ``stored`` is fastest; ``url`` sorts by address and time and holds the metadata
                of all pages in memory.
            kind: Only what came in WARC records of this type: pages (``response``, ``resource``,
                ``revisit``) or records without a page (``request``, ``metadata``, …).
        """
        places = self._places(prefix, since, until)
        if kind:
            beside = self._places(prefix, since, until, companions=True)
            places = (
                place
                for place in itertools.chain(places, beside)
                if warc_type(place[0].extra) == kind
            )
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
        """Iterate over pages with their bytes, in stored order.

        Args:
            prefix: Only addresses that start with this.
            since: Only pages fetched at this time or later.
            until: Only pages fetched at this time or earlier.
            on_damage: Called with the error for each page that cannot be read; iteration then
                continues with the next page.

        Raises:
            DamagedRecord: A page cannot be read and ``on_damage`` is None.
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
            DamagedRecord: a page cannot be read, and ``on_damage`` is missing.
        """
        last: dict[str, tuple[int, StoredFile, int, int]] = {}
        for known, file, offset, slot in self._places("", None, None, on_damage):
            # Of one time, the version stored last counts.
            if known.url not in last or known.time >= last[known.url][0]:
                last.pop(known.url, None)  # keeps the stored order
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
        """Iterate over all pages with their bytes, in stored order."""
        return self.read()

    def companions(
        self,
        kind: str = "",
        prefix: str = "",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        on_damage: Callable[[ArchiveError], None] | None = None,
    ) -> Iterator[Companion]:
        """Iterate over WARC records that came with the pages and have no page of their own.

        Args:
            kind: Only records of this type, such as ``request`` (default: all).
            prefix: Only records whose address starts with this.
            since: Only records from this time or later.
            until: Only records from this time or earlier.
            on_damage: Called with the error for each record that cannot be read; iteration then
                continues with the next.

        Raises:
            DamagedRecord: A record cannot be read and ``on_damage`` is None.
        """
        places = self._places(prefix, since, until, on_damage, companions=True)
        for known, file, offset, slot in places:
            if kind and warc_type(known.extra) != kind:
                continue
            try:
                found = companion_of(*file.page(offset, slot))
            except ArchiveError as error:
                if on_damage is None:
                    raise
                on_damage(error)
                continue
            yield found

    def companion_count(self) -> int:
        """Count the WARC records without a page of their own."""
        return sum(len(file.index.companions) for file in self._open_files())

    def stats(self) -> Statistics:
        """Count pages, addresses and hosts, and the bytes of each part of the archive."""
        return statistics(self.folder, self._open_files())

    def __len__(self) -> int:
        return sum(len(file.index.pages) for file in self._open_files())

    def refresh(self) -> None:
        """Make everything committed since the archive was opened visible.

        Threads that are still reading continue with the files they have.
        """
        self._open_files()
        self._files, self._replaced = live_files(self.folder)

    def verify(self, *, every_byte: bool = True) -> list[str]:
        """Check for damage and return a list of findings; nothing is changed.

        Args:
            every_byte: Also read every page. Otherwise only records, addresses and lengths are
                checked.
        """
        of_files = (findings(file, every_byte=every_byte) for file in self._open_files())
        found = itertools.chain(mark_findings(self.folder), *of_files)
        return [str(finding) for finding in found if finding.kind != "torn"]

    def _open_files(self) -> list[StoredFile]:
        """Return the open files.

        Raises:
            ArchiveError: The archive is closed.
        """
        if self._files is None:
            raise ArchiveError(f"{self.folder}: this archive is closed; open it again")
        return self._files

    def _not_found(self, url: str, time: datetime | None) -> PageNotFound:
        if time is None:
            return PageNotFound(f"{url}: no such page in {self.folder}", url=url)
        return PageNotFound(
            f"{url}: no version in {self.folder} from {_in_words(time)} or earlier", url=url
        )

    def _places(
        self,
        prefix: str,
        since: datetime | None,
        until: datetime | None,
        on_damage: Callable[[ArchiveError], None] | None = None,
        *,
        companions: bool = False,
    ) -> Iterator[tuple[About, StoredFile, int, int]]:
        """Yield the metadata and position of pages or companions, in stored order."""
        for file in self._open_files():
            rows = file.index.companions if companions else file.index.pages
            for offset, slot in _stored_order(rows.array(), since, until):
                try:
                    known = file.about(offset, slot)
                except ArchiveError as error:
                    if on_damage is None:
                        raise
                    on_damage(error)
                    continue
                if known.url.startswith(prefix):
                    yield known, file, offset, slot

    def _find(self, url: str, time: datetime | None) -> Iterator[tuple[int, StoredFile, int, int]]:
        """Find the versions of a page, newest first; for equal times, the one stored last.

        Yields their times and positions.
        """
        key = indexes.url_hash(url)
        latest = None if time is None else not_after(time)
        files = self._open_files()
        found = []
        for number, file in enumerate(files):
            for row in file.index.pages.find(key):
                when = int(row["time"])
                if latest is None or when <= latest:
                    found.append((when, number, int(row["offset"]), int(row["slot"])))
        for when, number, offset, slot in sorted(found, reverse=True):
            yield when, files[number], offset, slot


def _ignore(_error: ArchiveError) -> None:
    """Skip a page whose address cannot be read."""


def _in_words(time: datetime) -> str:
    return f"{to_time(not_after(time)).isoformat(' ', 'seconds').removesuffix('+00:00')} UTC"


def _stored_order(
    rows: NDArray[Any], since: datetime | None = None, until: datetime | None = None
) -> list[tuple[int, int]]:
    if since is not None:
        rows = rows[rows["time"] >= not_before(since)]
    if until is not None:
        rows = rows[rows["time"] <= not_after(until)]
    return sorted(zip(rows["offset"].tolist(), rows["slot"].tolist(), strict=True))

"""Revisits in a build whose pages an earlier crawl put into the archive.

They are few, or their bytes are on this machine, so they are stored here and not by the engine.
Each is read again by its name, with the bytes of its page, when it is encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from quire.archive.archive import Archive
from quire.archive.build.encode import no_page, pieces, stored
from quire.archive.build.read import Found, Reading, of_record
from quire.archive.compact.clusters import host
from quire.archive.compact.tiers import TierName, tier_of
from quire.archive.format.page_meta import About, to_microseconds
from quire.archive.format.segment import Piece
from quire.archive.warc.revisits import REVISIT, original
from quire.errors import ArchiveError, PageNotFound, SourceUnreadable
from quire.sources import Trouble
from quire.sources.reading import split_name
from quire.sources.warc import Record, read_records


@dataclass
class StoredRevisits:
    """Revisits of pages that are already stored.

    Args:
        archive: The archive that may have their pages.
        reading: How to read their sources.

    Attributes:
        members: Revisits to store.
        body_bytes: Bytes of their pages.
        known: Number of revisits that are already stored.
    """

    archive: Archive
    reading: Reading
    members: list[_Member] = field(default_factory=list)
    body_bytes: int = 0
    known: int = 0

    def look(
        self, names: Sequence[str], on_trouble: Callable[[Trouble], None], *, skip_known: bool
    ) -> None:
        """Look up the pages of the named revisits; a missing page is a trouble."""
        for name in names:
            found, record = self._read(name)
            try:
                page = original(self.archive, record)
            except PageNotFound as error:
                finding = f"no page {error.url} from that time or earlier"
                on_trouble(Trouble(name, no_page(finding)))
                continue
            except ArchiveError as error:
                on_trouble(Trouble(name, no_page(error)))
                continue
            if skip_known and self.archive.has(found.url, found.time, found.head, page.body):
                self.known += 1
                continue
            self.body_bytes += len(page.body)
            time = to_microseconds(found.time)
            self.members.append(_Member(self, name, found.url, time, len(page.body)))
        self.members.sort(key=lambda member: (member.url, member.time))

    def pieces(self, number: int, codec: TierName) -> Iterator[Piece]:
        """Encode the revisits in clusters by host, numbered from ``number`` on."""
        groups = groupby(self.members, key=lambda member: host(member.url))
        for cluster, (_, members) in enumerate(groups, number):
            yield from pieces(cluster, list(members), tier_of(codec))

    def page(self, name: str) -> tuple[About, bytes]:
        """Read a revisit with the bytes of its page."""
        found, record = self._read(name)
        body = original(self.archive, record).body
        return stored(found.url, found.time, found.head, body, found.warc_head), body

    def _read(self, name: str) -> tuple[Found, Record]:
        path, place = split_name(name)
        kinds, most = {REVISIT}, self.reading.most_bytes
        record = next(read_records(path, kinds=kinds, most_bytes=most, place=place), None)
        if not isinstance(record, Record) or record.name != name:
            raise SourceUnreadable(
                f"{name}: changed while the archive was built; build it again", name=name
            )
        return of_record(record, self.reading), record


@dataclass(frozen=True, slots=True)
class _Member:
    revisits: StoredRevisits
    name: str
    url: str
    time: int
    length: int

    @property
    def digest(self) -> bytes:
        """First bytes of the SHA-256 of the body."""
        return self.read()[0].digest

    def read(self) -> tuple[About, bytes]:
        """Read and check the page."""
        return self.revisits.page(self.name)

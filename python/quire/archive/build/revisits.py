"""Revisits of a build whose pages are in the archive already: those of an earlier crawl.

They are few or their bytes are here, so they are stored here and not by the engine: each is read again by its name, with
the bytes of its page, when its turn comes.
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
class Again:
    """Revisits that lean on what is stored.

    Args:
        archive: where their pages are, if anywhere.
        reading: how their sources are read.

    Attributes:
        members: those that are stored.
        body_bytes: of their pages.
        known: those that are stored already.
    """

    archive: Archive
    reading: Reading
    members: list[_Member] = field(default_factory=list)
    body_bytes: int = 0
    known: int = 0

    def look(
        self, names: Sequence[str], on_trouble: Callable[[Trouble], None], *, skip_known: bool
    ) -> None:
        """Look up their pages; one that is not here is a trouble."""
        for name in names:
            found, record = self._read(name)
            try:
                page = original(self.archive, record)
            except PageNotFound as error:
                finding = f"no page {error.url} of that time or before"
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
        """Encode them, with clusters by host that are numbered from a number on."""
        groups = groupby(self.members, key=lambda member: host(member.url))
        for cluster, (_, members) in enumerate(groups, number):
            yield from pieces(cluster, list(members), tier_of(codec))

    def page(self, name: str) -> tuple[About, bytes]:
        """Read a revisit, with the bytes of its page."""
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
    again: Again
    name: str
    url: str
    time: int
    length: int

    @property
    def digest(self) -> bytes:
        """The beginning of the SHA-256 of its body."""
        return self.read()[0].digest

    def read(self) -> tuple[About, bytes]:
        """Read it, checked."""
        return self.again.page(self.name)

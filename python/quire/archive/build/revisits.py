"""Revisits in a build whose pages are not in the sources: they may be in the archive already.

They are few, or their bytes are on this machine, so they are stored here and not by the engine.
Those whose bytes are nowhere become companions, as in ``ingest``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby

from quire import _core
from quire.archive.archive import Archive
from quire.archive.build.encode import companion_pieces, companion_slot, pieces
from quire.archive.build.read import Reading, of_record
from quire.archive.compact.clusters import host
from quire.archive.compact.companions import CompanionSlot
from quire.archive.compact.tiers import TierName, tier_of
from quire.archive.format.page_meta import About
from quire.archive.format.segment import Piece
from quire.archive.warc.ingest import companion_in, no_page, revisit_in
from quire.archive.warc.pipeline import Arrived
from quire.archive.warc.revisits import REVISIT, Revisits
from quire.errors import SourceUnreadable
from quire.sources import Trouble
from quire.sources.reading import split_name
from quire.sources.warc import Record, read_records
from quire.spool import Spool


@dataclass
class StoredRevisits:
    """Revisits that are stored by this process.

    Args:
        archive: The archive that may have their pages.
        reading: How to read their sources.
        spool: Holds the bytes of their pages.

    Attributes:
        members: Revisits to store as pages.
        companions: Revisits without a page, to store as companions.
        body_bytes: Bytes of their pages.
        known: Number of revisits that are already stored.
        known_companions: Number of revisits without a page that are already stored.
    """

    archive: Archive
    reading: Reading
    spool: Spool
    members: list[_Member] = field(default_factory=list)
    companions: list[CompanionSlot] = field(default_factory=list)
    body_bytes: int = 0
    known: int = 0
    known_companions: int = 0

    def look(
        self,
        names: Sequence[str],
        on_warning: Callable[[Trouble], None],
        is_known: Callable[[Arrived], bool],
    ) -> None:
        """Look up the pages of the named revisits."""
        with closing(Revisits()) as revisits:
            for name in names:
                revisits.wait(self._read(name))
            for record, body in revisits.found(self.archive):
                time = of_record(record, self.reading).page.time
                if body is None:
                    on_warning(Trouble(record.name, no_page(record)))
                    self._add_companion(companion_in(record, time), is_known)
                    continue
                page = revisit_in(record, time, body)
                if is_known(page):
                    self.known += 1
                    continue
                self.body_bytes += len(body)
                self.members.append(_Member(self.spool, self.spool.add(body), page.about()))
        self.members.sort(key=lambda member: (member.url, member.time))

    def _add_companion(self, companion: Arrived, is_known: Callable[[Arrived], bool]) -> None:
        if is_known(companion):
            self.known_companions += 1
        else:
            self.companions.append(companion_slot(companion))

    def pieces(self, number: int, codec: TierName) -> Iterator[Piece]:
        """Encode the revisits in clusters by host, numbered from ``number`` on."""
        groups = groupby(self.members, key=lambda member: host(member.url))
        for _, members in groups:
            yield from pieces(number, list(members), tier_of(codec))
            number += 1
        yield from companion_pieces(number, self.companions, tier_of(codec))

    def _read(self, name: str) -> Record:
        path, place = split_name(name)
        kinds, most = {REVISIT}, self.reading.most_bytes
        found = read_records(path, kinds=kinds, most_bytes=most, place=place, faulty=True)
        record = next(found, None)
        if not isinstance(record, Record) or record.name != name:
            raise SourceUnreadable(
                f"{name}: changed while the archive was built; build it again", name=name
            )
        return record


@dataclass(frozen=True, slots=True)
class _Member:
    spool: Spool
    number: int
    about: About

    @property
    def url(self) -> str:
        """Address of the page."""
        return self.about.url

    @property
    def time(self) -> int:
        """Fetch time in microseconds since 1970, UTC."""
        return self.about.time

    @property
    def length(self) -> int:
        """Length of the body in bytes."""
        return self.about.length

    @property
    def sketch(self) -> bytes:
        """Sketch of the body."""
        return _core.page_sketch(self.read()[1])

    @property
    def digest(self) -> bytes:
        """First bytes of the SHA-256 of the body."""
        return self.about.digest

    def read(self) -> tuple[About, bytes]:
        """Return metadata and body of the page."""
        return self.about, self.spool.get(self.number)

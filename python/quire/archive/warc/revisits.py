"""Revisits: WARC records saying that a page was fetched again and had not changed.

Such a record has the HTTP head of the later response and no payload. It states the digest of the
earlier bytes, and usually names the earlier page. It becomes a page with these bytes.

The bytes are found by their digest, anywhere in the archive. The page that the revisit names is
tried first, also with another scheme, with or without ``www.`` and the last slash. The digests of
all stored pages are only computed if that fails for some revisit. The earlier page may come later
in the crawl, so revisits wait until all sources are read; they wait in a temporary file.

A revisit whose bytes are not found, and one that only says "not modified" (status 304) and states
no digest, are kept as companions: an export has them again.
"""

from __future__ import annotations

import io
import pickle
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import BinaryIO

from quire.archive.addresses import spellings
from quire.archive.archive import Archive
from quire.archive.results import StoredPage
from quire.errors import ArchiveError
from quire.sources.capture import parse_time
from quire.sources.warc import Record, algorithm_of, digest_of, normal_digest
from quire.spool import temporary_file

REVISIT = "revisit"
#: Bytes of waiting revisits that stay in memory; more are written to a temporary file.
MOST_BYTES = 16 << 20

_NOT_MODIFIED = "server-not-modified"
_DIGEST_FIELD = re.compile(rb"^WARC-Payload-Digest[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)


class Revisits:
    """Revisits that wait for their pages to be stored."""

    def __init__(self) -> None:
        # The file has no name, so no other process can change it.
        self._file: BinaryIO = io.BytesIO()
        self._is_on_disk = False
        self._places: list[int] = []

    def __len__(self) -> int:
        return len(self._places)

    def wait(self, record: Record) -> None:
        """Queue a revisit that states a digest."""
        place = self._file.seek(0, io.SEEK_END)
        if place > MOST_BYTES and not self._is_on_disk:
            self._to_disk()
        self._places.append(place)
        pickle.dump(record, self._file, pickle.HIGHEST_PROTOCOL)

    def _to_disk(self) -> None:
        held, self._file = self._file, temporary_file()
        self._is_on_disk = True
        held.seek(0)
        shutil.copyfileobj(held, self._file)

    def _record(self, place: int) -> Record:
        self._file.seek(place)
        record: Record = pickle.load(self._file)  # noqa: S301 - our own file
        return record

    def found(self, archive: Archive) -> Iterator[tuple[Record, bytes | None]]:
        """Yield each revisit with the bytes of its page, or None if these are nowhere.

        The caller may add pages to the archive meanwhile.
        """
        left: dict[str, list[int]] = {}
        for place in self._places:
            record = self._record(place)
            page = named_original(archive, record)
            if page is not None:
                yield record, page.body
            else:
                left.setdefault(normal_digest(stated_digest(record)), []).append(place)
        for digest, page in pages_with(archive, left):
            for place in left.pop(digest):
                yield self._record(place), page.body
        for places in left.values():
            for place in places:
                yield self._record(place), None

    def close(self) -> None:
        """Drop the revisits."""
        self._file.close()


def states_digest(record: Record) -> bool:
    """Tell whether a revisit states the digest of a payload, by which its bytes can be found."""
    profile = record.fields.get("warc-profile", "").lower()
    return _NOT_MODIFIED not in profile and bool(stated_digest(record))


def named_page(record: Record) -> tuple[str, datetime | None]:
    """Return address and time of the page a revisit names: the newest version up to that time."""
    fields = record.fields
    url = fields.get("warc-refers-to-target-uri") or record.url
    time: datetime | None = parse_time(fields.get("warc-refers-to-date", "")) or record.time
    return url.removeprefix("<").removesuffix(">"), time


def stated_digest(record: Record) -> str:
    """Return the digest that a revisit states for its page."""
    return record.fields.get("warc-payload-digest", "")


def named_original(archive: Archive, record: Record) -> StoredPage | None:
    """Find the page that a revisit names, in any spelling of its address, if it has the digest."""
    url, time = named_page(record)
    digest = normal_digest(stated_digest(record))
    for spelling in spellings(url):
        try:
            page = archive.get(spelling, time)
        except ArchiveError:  # not there, or damaged
            continue
        if has_digest(digest, page.body, page.warc_head() or b""):
            return page
    return None


def pages_with(archive: Archive, digests: Mapping[str, object]) -> Iterator[tuple[str, StoredPage]]:
    """Find pages by their digests, which are in normal form: one page for each digest.

    Reads every page, up to the point where all digests are found; a damaged page is skipped.

    Args:
        archive: An open archive.
        digests: The digests; the caller removes those that were found.
    """
    algorithms = {algorithm_of(digest) for digest in digests}
    for page in archive.read(on_damage=lambda _error: None) if digests else ():
        for digest in digests_of(page.body, page.warc_head() or b"", algorithms):
            if digest in digests:
                yield digest, page
        if not digests:
            return


def digests_of(body: bytes, warc_head: bytes, algorithms: Iterable[str]) -> set[str]:
    """Return the digests of a payload in normal form: those of its bytes, and the stated one.

    Some crawlers compute digests over payloads without chunked encoding; so the digest that the
    page's own record states counts as well.
    """
    own = _DIGEST_FIELD.search(warc_head)
    found = {normal_digest(own[1].decode("latin-1"))} if own else set()
    made = (digest_of(algorithm, body) for algorithm in algorithms)
    return found | {digest for digest in made if digest is not None}


def has_digest(digest: str, body: bytes, warc_head: bytes) -> bool:
    """Tell whether a page has a digest in normal form."""
    return digest in digests_of(body, warc_head, {algorithm_of(digest)})

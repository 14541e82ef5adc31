"""Revisits: records that say a page was found again as it was.

Such a record has the HTTP head of the later answer and no payload; it names the page it is like, and the digest of its
bytes. It becomes a page with these bytes. It may come before that page is safe, so revisits wait until the
next commit.

A revisit is believed only if the page it names is in the archive and has the digest it says. One that says "not modified"
(status 304) names none: the page before it is still the answer to whoever asks for that time, and it is passed over.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from datetime import datetime

from quire.archive.archive import Archive
from quire.archive.results import StoredPage
from quire.errors import ArchiveError
from quire.sources import Trouble
from quire.sources.capture import parse_time
from quire.sources.warc import Record

REVISIT = "revisit"
#: Revisits that wait, at most, and bytes of them.
MOST_WAITING = 10_000
MOST_BYTES = 16 << 20

_NOT_MODIFIED = "server-not-modified"
_DIGEST_FIELD = re.compile(rb"^WARC-Payload-Digest[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)


class Revisits:
    """Those that wait for their pages."""

    def __init__(self) -> None:
        self._waiting: list[Record] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether they should be looked up now."""
        return len(self._waiting) >= MOST_WAITING or self._bytes >= MOST_BYTES

    def wait(self, record: Record) -> bool:
        """Keep a revisit for later; False for one that names no page."""
        if not names_page(record):
            return False
        self._waiting.append(record)
        self._bytes += len(record.payload) + len(record.warc_head)
        return True

    def found(self, archive: Archive) -> Iterator[tuple[Record, bytes] | Trouble]:
        """Give each with the bytes of its page, and let go of it."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        for record in waiting:
            try:
                yield record, original(archive, record).body
            except ArchiveError as error:
                yield Trouble(record.name, f"a revisit whose page is not here: {error}")


def names_page(record: Record) -> bool:
    """Tell whether a revisit names the page it is like."""
    return _NOT_MODIFIED not in record.fields.get("warc-profile", "").lower()


def named_page(record: Record) -> tuple[str, datetime | None]:
    """Give address and time of the page that a revisit names: its newest version of that time or before."""
    fields = record.fields
    url = fields.get("warc-refers-to-target-uri") or record.url
    time: datetime | None = parse_time(fields.get("warc-refers-to-date", "")) or record.time
    return url.removeprefix("<").removesuffix(">"), time


def said_digest(record: Record) -> str:
    """Give the digest that a revisit says its page has."""
    return record.fields.get("warc-payload-digest", "")


def original(archive: Archive, record: Record) -> StoredPage:
    """Find the page that a revisit is like.

    Raises:
        ArchiveError: it is not in the archive, or has another digest than the revisit says.
    """
    page = archive.get(*named_page(record))
    check_digest(said_digest(record), page.url, page.time, page.body, page.warc_head() or b"")
    return page


def check_digest(said: str, url: str, time: datetime, body: bytes, warc_head: bytes) -> None:
    """Check that a page has the digest that a revisit says.

    Args:
        said: the digest.
        url: of the page.
        time: of the page.
        body: of the page.
        warc_head: of the record that the page came in; empty where it came in none.

    Raises:
        ArchiveError: it has another.
    """
    if not said or not _has_digest(said, body, warc_head):
        raise ArchiveError(f"{url} of {time} has not the digest {said[:80]!r}")


def _has_digest(said: str, body: bytes, warc_head: bytes) -> bool:
    """Tell whether a page has a digest: by its bytes, or by what its own record said.

    Some crawlers take digests of payloads without their chunks; so two that were said alike are alike.
    """
    algorithm, _, value = said.partition(":")
    if algorithm.lower() in {"md5", "sha1", "sha256", "sha512"}:
        made = hashlib.new(algorithm.lower(), body, usedforsecurity=False).digest()
        if value.upper() in {base64.b32encode(made).decode(), made.hex().upper()}:
            return True
    own = _DIGEST_FIELD.search(warc_head)
    return own is not None and own[1].decode("latin-1").upper() == said.upper()

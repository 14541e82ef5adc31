"""Revisits: WARC records saying that a page was fetched again and had not changed.

Such a record has the HTTP head of the later response and no payload. It names the earlier page and
the digest of its bytes. It becomes a page with these bytes. It may arrive before the earlier page
is safely stored, so revisits wait for the next commit.

A revisit is accepted only if the page it names is in the archive and has the stated digest. A
revisit with "not modified" (status 304) names no page and is skipped: the version before it is
still the answer for that time.
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
#: Maximum number of waiting revisits, and of their bytes.
MOST_WAITING = 10_000
MOST_BYTES = 16 << 20

_NOT_MODIFIED = "server-not-modified"
_DIGEST_FIELD = re.compile(rb"^WARC-Payload-Digest[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)


class Revisits:
    """Revisits that wait for their pages to be stored."""

    def __init__(self) -> None:
        self._waiting: list[Record] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether the waiting revisits should be resolved now."""
        return len(self._waiting) >= MOST_WAITING or self._bytes >= MOST_BYTES

    def wait(self, record: Record) -> bool:
        """Queue a revisit; return False if it names no page."""
        if not names_page(record):
            return False
        self._waiting.append(record)
        self._bytes += len(record.payload) + len(record.warc_head)
        return True

    def found(self, archive: Archive) -> Iterator[tuple[Record, bytes] | Trouble]:
        """Empty the queue, yielding each revisit with the bytes of its page."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        for record in waiting:
            try:
                yield record, original(archive, record).body
            except ArchiveError as error:
                yield Trouble(record.name, f"unresolved revisit: {error}")


def names_page(record: Record) -> bool:
    """Tell whether a revisit names the earlier page."""
    return _NOT_MODIFIED not in record.fields.get("warc-profile", "").lower()


def named_page(record: Record) -> tuple[str, datetime | None]:
    """Return address and time of the page a revisit names: the newest version up to that time."""
    fields = record.fields
    url = fields.get("warc-refers-to-target-uri") or record.url
    time: datetime | None = parse_time(fields.get("warc-refers-to-date", "")) or record.time
    return url.removeprefix("<").removesuffix(">"), time


def stated_digest(record: Record) -> str:
    """Return the digest that a revisit states for its page."""
    return record.fields.get("warc-payload-digest", "")


def original(archive: Archive, record: Record) -> StoredPage:
    """Find the page that a revisit names.

    Raises:
        ArchiveError: It is not in the archive, or its digest differs from the stated one.
    """
    page = archive.get(*named_page(record))
    check_digest(stated_digest(record), page.url, page.time, page.body, page.warc_head() or b"")
    return page


def check_digest(stated: str, url: str, time: datetime, body: bytes, warc_head: bytes) -> None:
    """Check that a page has the digest that a revisit states.

    Args:
        stated: The stated digest.
        url: Address of the page.
        time: Fetch time of the page.
        body: Body of the page.
        warc_head: Head of the record the page came in; empty if it had none.

    Raises:
        ArchiveError: The page has a different digest.
    """
    if not stated or not _has_digest(stated, body, warc_head):
        raise ArchiveError(f"{url} of {time} does not have the digest {stated[:80]!r}")


def _has_digest(stated: str, body: bytes, warc_head: bytes) -> bool:
    """Tell whether a page has a digest, by its bytes or by the digest in its own record.

    Some crawlers compute digests over payloads without chunked encoding; so two equal stated
    digests are accepted as well.
    """
    algorithm, _, value = stated.partition(":")
    if algorithm.lower() in {"md5", "sha1", "sha256", "sha512"}:
        made = hashlib.new(algorithm.lower(), body, usedforsecurity=False).digest()
        if value.upper() in {base64.b32encode(made).decode(), made.hex().upper()}:
            return True
    own = _DIGEST_FIELD.search(warc_head)
    return own is not None and own[1].decode("latin-1").upper() == stated.upper()

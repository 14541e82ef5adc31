"""What an archive gives back: a page with its bytes, or what is known of it without them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from quire.archive.format.page_meta import About, to_time
from quire.archive.format.warc_head import unfold
from quire.digest import Digest, encode
from quire.errors import SourceUnreadable
from quire.sources.capture import MOST_BYTES, header_values, status
from quire.sources.codings import CannotDecode, undo


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page out of an archive.

    Attributes:
        url: its address.
        time: when it was fetched, UTC.
        head: HTTP status line and headers as they came, or nothing.
        body: its exact bytes: of a page out of a WARC file with all its codings.
        sha256_start: the first 16 bytes of the SHA-256 of the body.
        extra: what else was stored with it.
    """

    url: str
    time: datetime
    head: bytes
    body: bytes
    sha256_start: bytes
    extra: bytes = b""

    @property
    def content_type(self) -> str | None:
        """The content type as its head declares it."""
        return _content_type(self.head)

    @property
    def status(self) -> int | None:
        """The HTTP status, where there is one."""
        return status(self.head)

    def content(self, *, most_bytes: int = MOST_BYTES) -> bytes:
        """Give the page as its reader would get it: transfer and content codings undone.

        Raises:
            SourceUnreadable: they cannot be undone, or give more than ``most_bytes``.
        """
        try:
            return undo(self.head, self.body, most_bytes)
        except CannotDecode as error:
            raise SourceUnreadable(f"{self.url}: {error}", name=self.url) from None

    def digest(self) -> Digest:
        """Encode the page.

        Raises:
            SourceUnreadable: its codings cannot be undone.
        """
        return encode(self.content(), content_type=self.content_type)

    def warc_head(self) -> bytes | None:
        """Give the head of the WARC record it came in, as it was; None where it came in none."""
        return unfold(self.extra, self.url, self.time, self.head, self.body)


@dataclass(frozen=True, slots=True)
class Version:
    """A page that an archive has, without its bytes.

    Attributes:
        url: its address.
        time: when it was fetched, UTC.
        length: bytes of the body.
        stored: bytes it takes in the archive, without what it shares with others.
        head: HTTP status line and headers as they came, or nothing.
    """

    url: str
    time: datetime
    length: int
    stored: int
    head: bytes = field(default=b"", repr=False)

    @property
    def content_type(self) -> str | None:
        """The content type as its head declares it."""
        return _content_type(self.head)

    @property
    def status(self) -> int | None:
        """The HTTP status, where there is one."""
        return status(self.head)


def page_of(known: About, body: bytes) -> StoredPage:
    """Give a page as it was stored."""
    return StoredPage(
        url=known.url,
        time=to_time(known.time),
        head=known.head,
        body=body,
        sha256_start=known.digest,
        extra=known.extra,
    )


def version_of(known: About) -> Version:
    """Say what a reader may know of a page without its bytes."""
    return Version(
        url=known.url,
        time=to_time(known.time),
        length=known.length,
        stored=known.frame,
        head=known.head,
    )


def _content_type(head: bytes) -> str | None:
    values = header_values(head, b"content-type")
    return values[-1] if values else None

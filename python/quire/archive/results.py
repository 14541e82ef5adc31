"""Results of reading an archive: a page, a version without its bytes, or a companion."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from quire.archive.format.page_meta import About, to_time
from quire.archive.format.warc_head import block_parts, record_type, unfold, warc_type
from quire.digest import Digest, encode
from quire.errors import SourceUnreadable
from quire.sources.capture import MOST_BYTES, header_values, status
from quire.sources.codings import CannotDecode, undo


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page read from an archive.

    Attributes:
        url: Address of the page.
        time: Fetch time, UTC.
        head: HTTP status line and headers as received, or empty.
        body: The exact bytes; for a page from a WARC file, with all encodings left on.
        sha256_start: First 16 bytes of the SHA-256 of the body.
        extra: Anything else stored with the page.
    """

    url: str
    time: datetime
    head: bytes
    body: bytes
    sha256_start: bytes
    extra: bytes = b""

    @property
    def content_type(self) -> str | None:
        """The content type declared in the headers."""
        return _content_type(self.head)

    @property
    def status(self) -> int | None:
        """The HTTP status, or None."""
        return status(self.head)

    def header(self, name: str) -> str | None:
        r"""Return the last value of a header field, or None.

        >>> from datetime import UTC
        >>> head = b"HTTP/1.1 301 Moved\r\nLocation: /new\r\n\r\n"
        >>> StoredPage("", datetime(2026, 5, 1, tzinfo=UTC), head, b"", b"").header("location")
        '/new'
        """
        values = header_values(self.head, name.encode("latin-1", "replace"))
        return values[-1] if values else None

    def content(self, *, most_bytes: int = MOST_BYTES) -> bytes:
        """Return the page as a browser would see it, with transfer and content encodings undone.

        Raises:
            SourceUnreadable: The encodings cannot be undone, or the result exceeds
                ``most_bytes``.
        """
        try:
            return undo(self.head, self.body, most_bytes)
        except CannotDecode as error:
            raise SourceUnreadable(f"{self.url}: {error}", name=self.url) from None

    def digest(self) -> Digest:
        """Encode the page as a digest.

        Raises:
            SourceUnreadable: The encodings of the page cannot be undone.
        """
        return encode(self.content(), content_type=self.content_type)

    def warc_head(self) -> bytes | None:
        """Return the head of the WARC record the page came in, or None if it had none."""
        return unfold(self.extra, self.url, self.time, self.head, self.body)


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a page in an archive, without its bytes.

    Attributes:
        url: Address of the page.
        time: Fetch time, UTC.
        length: Length of the body in bytes.
        stored: Bytes the version takes in the archive, without shared bases.
        head: HTTP status line and headers as received, or empty.
        record_type: Type of the WARC record it came in (``response``, ``resource``, …), or None.
    """

    url: str
    time: datetime
    length: int
    stored: int
    head: bytes = field(default=b"", repr=False)
    record_type: str | None = None

    @property
    def content_type(self) -> str | None:
        """The content type declared in the headers."""
        return _content_type(self.head)

    @property
    def status(self) -> int | None:
        """The HTTP status, or None."""
        return status(self.head)


@dataclass(frozen=True, slots=True)
class Companion:
    """A WARC record without a page of its own, read from an archive.

    Attributes:
        kind: Type of the record: ``request``, ``metadata``, ``warcinfo``, …
        url: The address that the record names, or empty.
        time: Time of the record, UTC.
        block: Everything after the head of the record.
        warc_head: Head of the record as it came; for the first record of an ARC file, its line.
    """

    kind: str
    url: str
    time: datetime
    block: bytes
    warc_head: bytes


def companion_of(known: About, body: bytes) -> Companion:
    """Make the companion from its metadata and body."""
    time, block = to_time(known.time), known.head + body
    parts = block_parts(known.extra, block)
    warc_head = unfold(known.extra, known.url, time, *parts) or b""
    return Companion(record_type(warc_head), known.url, time, block, warc_head)


def page_of(known: About, body: bytes) -> StoredPage:
    """Make the page from its metadata and body."""
    return StoredPage(
        url=known.url,
        time=to_time(known.time),
        head=known.head,
        body=body,
        sha256_start=known.digest,
        extra=known.extra,
    )


def version_of(known: About) -> Version:
    """Make the version from its metadata."""
    return Version(
        url=known.url,
        time=to_time(known.time),
        length=known.length + (len(known.head) if known.is_companion else 0),
        stored=known.frame,
        head=b"" if known.is_companion else known.head,
        record_type=warc_type(known.extra),
    )


def _content_type(head: bytes) -> str | None:
    values = header_values(head, b"content-type")
    return values[-1] if values else None

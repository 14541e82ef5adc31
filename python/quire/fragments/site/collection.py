"""Collection: the pages of a site with their versions, kept on disk.

Captures of one address that have a time are versions of one page, in any order; the newest is the
page. A capture without a time is a page of its own. Captures of the same page made for other users
(``Seen``) are kept beside the versions: they show which parts are private,
and are not pages themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from quire.digest import encode
from quire.digest.page import Digest
from quire.errors import QuireError
from quire.sources.capture import Capture
from quire.spool import Closes, Spool

#: Replaces a missing time; then no capture of the page has one.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page.

    Attributes:
        name: its name where it came from.
        url: its address if known, else its name.
        body: its bytes.
        content_type: the type it was served as.
    """

    name: str
    url: str
    body: bytes
    content_type: str | None = None


class Seen(NamedTuple):
    """A capture, and the user it was made for.

    Attributes:
        capture: the page as it was fetched.
        page: names the page: equal for all captures of it, such as an address without the
            parameter that identifies the user, or a file name within a folder.
        reader: the user: a cookie, a query, a folder. Empty for an anonymous user, whose captures
            come first if there are any.
        address: where the page is served, if that is not the address of the capture: for a file,
            its path below the source.
    """

    capture: Capture
    page: str
    reader: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A stored capture.

    Attributes:
        time: when it was made, if known.
        body: the number of its bytes.
        content_type: the type it was served as.
        reader: the user it was made for.
        status: the HTTP status it was served with, if known.
    """

    time: datetime | None
    body: int
    content_type: str | None
    reader: str = ""
    status: int | None = None

    @property
    def seconds(self) -> float:
        """When it was captured, in seconds since 1970; a time without a zone is UTC."""
        if self.time is None:
            return 0.0
        time = self.time if self.time.tzinfo else self.time.replace(tzinfo=UTC)
        return time.timestamp()


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """A page of a site.

    Attributes:
        name: the name of its newest capture.
        url: its address; for a plain file its name.
        versions: its captures, oldest first.
        source_bytes: length of the newest one.
        others: captures for other users, oldest first.
        address: where it is served, if that is not its ``url``.
    """

    name: str
    url: str
    versions: tuple[KeptVersion, ...]
    source_bytes: int
    others: tuple[KeptVersion, ...] = ()
    address: str = ""

    @property
    def is_compared(self) -> bool:
        """Whether there is more than one capture: at another time, or for another user."""
        return len(self.versions) + len(self.others) > 1

    @property
    def body(self) -> int:
        """The number of the bytes of the newest version; equal pages have the same."""
        return self.versions[-1].body


class Collection(Closes):
    """Pages with their versions. Close it, or use it in a ``with`` statement: it holds a file.

    >>> captures = [
    ...     Capture(f"{day}.html", "/news", datetime(2026, 5, day), b"", b"<p>Rain")
    ...     for day in (2, 1)
    ... ]
    >>> with Collection([*captures, Capture("a.html", "a.html", None, b"", b"<p>Sun")]) as found:
    ...     [(page.url, len(page.versions), page.name) for page in found.pages]
    [('/news', 2, '2.html'), ('a.html', 1, 'a.html')]

    Attributes:
        pages: the pages, in the order of their first captures.
        unreadable: numbers of bodies that could not be read as a page.
    """

    def __init__(self, captures: Iterable[Capture | Seen]) -> None:
        self._spool = Spool()
        self.unreadable: set[int] = set()
        try:
            self.pages: tuple[CollectedPage, ...] = tuple(self._pages(captures))
        except BaseException:
            self.close()
            raise

    def _pages(self, captures: Iterable[Capture | Seen]) -> Iterator[CollectedPage]:
        found: dict[tuple[str, bool], list[_Named]] = {}
        urls: dict[tuple[str, bool], tuple[str, str]] = {}
        for given in captures:
            capture, page, reader, address = given if isinstance(given, Seen) else _alone(given)
            body = self._spool.add(capture.body)
            kept = KeptVersion(capture.time, body, capture.content_type, reader, capture.status)
            key = (page, capture.time is not None)
            found.setdefault(key, []).append(_Named(capture.name, kept))
            urls.setdefault(key, (capture.url, address))
        return (self._page(*urls[key], captured) for key, captured in found.items())

    def _page(self, url: str, address: str, captured: list[_Named]) -> CollectedPage:
        # Versions are the captures of the anonymous user, or of the user with the most.
        readers = Counter(one.kept.reader for one in captured)
        first = "" if "" in readers else readers.most_common(1)[0][0]
        by_time: dict[tuple[str, datetime | None], _Named] = {}
        for one in captured:  # of two captures with the same time, the first counts
            by_time.setdefault((one.kept.reader, one.kept.time), one)
        ordered = sorted(by_time.values(), key=lambda one: one.kept.time or _NO_TIME)
        mine = [one for one in ordered if one.kept.reader == first]
        others = tuple(one.kept for one in ordered if one.kept.reader != first)
        name, last = mine[-1]
        versions = tuple(one.kept for one in mine)
        return CollectedPage(name, url, versions, self._spool.size(last.body), others, address)

    def digest(self, version: KeptVersion) -> Digest:
        """Encode a version; an unreadable one as an empty page, counted in ``unreadable``."""
        try:
            return encode(self._spool.get(version.body), content_type=version.content_type)
        except QuireError:
            self.unreadable.add(version.body)
            return encode(b"", kind="html")

    def latest(self) -> Iterator[Digest]:
        """Encode the newest version of each page, one after the other."""
        return (self.digest(page.versions[-1]) for page in self.pages)

    def source(self, version: KeptVersion) -> bytes:
        """Return the bytes of a version."""
        return self._spool.get(version.body)

    def body(self, number: int) -> bytes:
        """Return the bytes with this number."""
        return self._spool.get(number)

    def sha256(self, number: int) -> str:
        """Return the SHA-256 of the bytes with this number."""
        return self._spool.sha256(number)

    def close(self) -> None:
        """Release the pages."""
        self._spool.close()


class _Named(NamedTuple):
    name: str
    kept: KeptVersion


def _alone(capture: Capture) -> Seen:
    """A capture of a crawl with one user: the address names the page, or the file name."""
    return Seen(capture, capture.name if capture.time is None else capture.url, "")

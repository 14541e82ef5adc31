"""Collected captures: the pages of a site, each with its versions, put by on disk so that memory holds one page at a time.

Captures of one address that say when they were made are versions of one page, whatever their order; the last is the page. A capture
without a time is a page of its own. Where other readers got a page too (``Seen``), theirs are kept beside the versions: they tell what is
private, and are no pages of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import NamedTuple, Self

from quire.digest import encode
from quire.digest.page import Digest
from quire.errors import QuireError
from quire.fragments.site.spool import Spool
from quire.sources.capture import Capture


class Seen(NamedTuple):
    """A capture, and whose it is.

    Attributes:
        capture: what was there.
        page: what captures of one page have in common: an address without the part that tells readers apart, a name in a folder.
        reader: for whom: a cookie, a query, a folder. Empty for nobody in particular, who comes first where he is there.
    """

    capture: Capture
    page: str
    reader: str


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A capture that was put by.

    Attributes:
        time: when it was made, where that is known.
        body: the number of its bytes.
        content_type: what it was served as.
        reader: for whom.
    """

    time: datetime | None
    body: int
    content_type: str | None
    reader: str = ""


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """A page of a site.

    Attributes:
        name: what its last capture is called.
        url: its address; for a plain file its name.
        versions: its captures, each later than the one before.
        source_bytes: how long the last one is.
        others: what other readers got, by time.
    """

    name: str
    url: str
    versions: tuple[KeptVersion, ...]
    source_bytes: int
    others: tuple[KeptVersion, ...] = ()

    @property
    def is_compared(self) -> bool:
        """Whether there is more than one capture: of another time, or for another reader."""
        return len(self.versions) + len(self.others) > 1


class Collection:
    """Pages with their versions. Close it, or use it in a ``with``: it holds a file.

    >>> captures = [Capture(f"{day}.html", "/news", datetime(2026, 5, day), b"", b"<p>Rain") for day in (2, 1)]
    >>> with Collection([*captures, Capture("a.html", "a.html", None, b"", b"<p>Sun")]) as found:
    ...     [(page.url, len(page.versions), page.name) for page in found.pages]
    [('/news', 2, '2.html'), ('a.html', 1, 'a.html')]
    """

    def __init__(self, captures: Iterable[Capture | Seen]) -> None:
        self._spool = Spool()
        self.unreadable: set[int] = set()
        try:
            self.pages: list[CollectedPage] = self._pages(captures)
        except BaseException:
            self.close()
            raise

    def _pages(self, captures: Iterable[Capture | Seen]) -> list[CollectedPage]:
        found: dict[tuple[str, bool], list[_Named]] = {}
        urls: dict[tuple[str, bool], str] = {}
        for given in captures:
            capture, page, reader = given if isinstance(given, Seen) else _alone(given)
            body = self._spool.add(capture.body)
            kept = KeptVersion(capture.time, body, capture.content_type, reader)
            key = (page, capture.time is not None)
            found.setdefault(key, []).append(_Named(capture.name, kept))
            urls.setdefault(key, capture.url)
        return [self._page(urls[key], captured) for key, captured in found.items()]

    def _page(self, url: str, captured: list[_Named]) -> CollectedPage:
        first = _first_reader(captured)
        by_time: dict[tuple[str, datetime | None], _Named] = {}
        for one in captured:  # of two at one time the first stands
            by_time.setdefault((one.kept.reader, one.kept.time), one)
        ordered = sorted(by_time.values(), key=lambda one: one.kept.time or _NO_TIME)
        mine = [one for one in ordered if one.kept.reader == first]
        others = tuple(one.kept for one in ordered if one.kept.reader != first)
        name, last = mine[-1]
        versions = tuple(one.kept for one in mine)
        return CollectedPage(name, url, versions, self._spool.size(last.body), others)

    def digest(self, version: KeptVersion) -> Digest:
        """Read a version again; one that is no page is read as an empty one, and counted in ``unreadable``."""
        try:
            return encode(self._spool.get(version.body), content_type=version.content_type)
        except QuireError:
            self.unreadable.add(version.body)
            return encode(b"", kind="html")

    def latest(self) -> Iterator[Digest]:
        """The last version of each page, one after the other."""
        return (self.digest(page.versions[-1]) for page in self.pages)

    def source(self, version: KeptVersion) -> bytes:
        """The bytes of a version."""
        return self._spool.get(version.body)

    def close(self) -> None:
        """Let go of the pages."""
        self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


#: In the place of a time that is not known; then no capture of the page has one.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class _Named(NamedTuple):
    name: str
    kept: KeptVersion


def _alone(capture: Capture) -> Seen:
    """A capture of a crawl with one reader: its address is the page; without a time it is alone, or named twice."""
    return Seen(capture, capture.name if capture.time is None else capture.url, "")


def _first_reader(captured: list[_Named]) -> str:
    """Who is followed through time: nobody in particular, or else who has most captures."""
    counts = Counter(one.kept.reader for one in captured)
    return "" if "" in counts else max(counts, key=lambda reader: counts[reader])

"""Collected captures: the pages of a site, each with its versions, put by on disk so that memory holds one page at a time.

Captures of one address that say when they were made are versions of one page, whatever their order; the last is the page. A capture
without a time is a page of its own.

Above: ``statistics``, ``report``. Below: ``spool``, ``sources``, ``digest``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Self

from quire.digest import encode
from quire.digest.page import Digest
from quire.errors import QuireError
from quire.fragments.spool import Spool
from quire.sources.capture import Capture


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A capture that was put by.

    Attributes:
        time: when it was made, where that is known.
        body: the number of its bytes.
        content_type: what it was served as.
    """

    time: datetime | None
    body: int
    content_type: str | None


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """A page of a site.

    Attributes:
        name: what its last capture is called.
        url: its address; for a plain file its name.
        versions: its captures, each later than the one before.
        source_bytes: how long the last one is.
    """

    name: str
    url: str
    versions: tuple[KeptVersion, ...]
    source_bytes: int


class Collection:
    """Pages with their versions. Close it, or use it in a ``with``: it holds a file.

    >>> captures = [Capture(f"{day}.html", "/news", datetime(2026, 5, day), b"", b"<p>Rain") for day in (2, 1)]
    >>> with Collection([*captures, Capture("a.html", "a.html", None, b"", b"<p>Sun")]) as found:
    ...     [(page.url, len(page.versions), page.name) for page in found.pages]
    [('/news', 2, '2.html'), ('a.html', 1, 'a.html')]
    """

    def __init__(self, captures: Iterable[Capture]) -> None:
        self._spool = Spool()
        self.unreadable: set[int] = set()
        try:
            self.pages: list[CollectedPage] = self._pages(captures)
        except BaseException:
            self.close()
            raise

    def _pages(self, captures: Iterable[Capture]) -> list[CollectedPage]:
        found: dict[tuple[str, bool], list[tuple[str, KeptVersion]]] = {}
        urls: dict[tuple[str, bool], str] = {}
        for capture in captures:
            timed = capture.time is not None
            key = (capture.url if timed else capture.name, timed)
            kept = KeptVersion(capture.time, self._spool.add(capture.body), capture.content_type)
            found.setdefault(key, []).append((capture.name, kept))
            urls.setdefault(key, capture.url)
        pages = []
        for key, versions in found.items():
            # Of two at one time the first stands; a capture without a time is alone, or named twice.
            by_time = {kept.time: (name, kept) for name, kept in reversed(versions)}
            ordered = [by_time[time] for time in sorted(t for t in by_time if t is not None)]
            ordered = ordered or versions[:1]
            name, last = ordered[-1]
            kept_versions = tuple(kept for _, kept in ordered)
            size = self._spool.size(last.body)
            pages.append(CollectedPage(name, urls[key], kept_versions, size))
        return pages

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

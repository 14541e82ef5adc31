"""Two captures to compare, with the style sheets, images and fonts that the archive has for each."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urljoin

from quire.archive import StoredPage
from quire.archive.browsing import Library, timestamp
from quire.digest import encode
from quire.errors import ArchiveError, SourceUnreadable
from quire.sentinels.resources import FoundLooks, Resource, sniffed
from quire.viewing import Use
from quire.web.pages.diff.drawings import Pair

#: Redirects on the way to a style sheet or an image.
MOST_HOPS = 3


def pair_of(library: Library, url: str, old: datetime, new: datetime) -> Pair:
    """Return the captures of an address that are nearest to two times.

    Raises:
        PageNotFound: there is none.
        ArchiveError: one is damaged.
        SourceUnreadable: one cannot be decoded.
    """
    before, after = library.nearest(url, old), library.nearest(url, new)
    digests = [
        encode(each.content(), content_type=each.content_type, recover=True)
        for each in (before, after)
    ]
    looks, old_looks = (looks_at(library, each.time) for each in (after, before))
    return Pair(digests[0], digests[1], before.url, after.url, looks, old_looks)


def looks_at(library: Library, time: datetime) -> FoundLooks:
    """Return the style sheets, images and fonts of an archive that are nearest to a time."""

    def find(url: str, use: Use) -> Resource | None:
        try:
            page = _followed(library, url, time)
            return None if page is None else sniffed(page.url, page.content(), _type(page), use)
        except (ArchiveError, SourceUnreadable):
            return None

    return FoundLooks(f"archive {id(library)} {timestamp(time)}", find)


def _followed(library: Library, url: str, time: datetime) -> StoredPage | None:
    """Return the capture of an address; after redirects, the one that they lead to."""
    for _ in range(MOST_HOPS + 1):
        if not library.has(url):
            return None
        page = library.nearest(url, time)
        location = page.header("location") if page.status in range(300, 400) else None
        if not location:
            return page
        url = urljoin(page.url, location.strip())
    return None


def _type(page: StoredPage) -> str:
    return page.content_type or ""

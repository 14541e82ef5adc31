"""Watching: what the versions of collected pages, and what other readers got of them, tell about their parts."""

from __future__ import annotations

from datetime import UTC

from quire.fragments.lifetime.lifetimes import MIN_FRAGMENT_BYTES, PageVersion, lifetimes
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.lifetime.version_parts import CHILD_CHANGE
from quire.fragments.site.collection import CollectedPage, Collection, KeptVersion
from quire.progress import Progress


def page_lifetimes(
    site: Collection,
    page: CollectedPage,
    *,
    child_change: float = CHILD_CHANGE,
    min_bytes: int = MIN_FRAGMENT_BYTES,
) -> Lifetimes:
    """Find the parts of a page that live at their own pace, or differ between readers.

    Captures without a time count as of one time: of one reader there is only one then.

    Args:
        site: holds the captures.
        page: the page.
        child_change: as for ``lifetimes``.
        min_bytes: as for ``lifetimes``.

    Raises:
        ValueError: a setting is out of range.
    """
    # The first reader comes first, of one time.
    captured = sorted((*page.versions, *page.others), key=seconds_of)
    return lifetimes(
        (PageVersion(seconds_of(one), site.digest(one), one.reader) for one in captured),
        child_change=child_change,
        min_bytes=min_bytes,
        main=page.versions[0].reader,
    )


def all_lifetimes(
    site: Collection, tell: Progress, *, min_bytes: int = MIN_FRAGMENT_BYTES
) -> dict[int, Lifetimes]:
    """The same for every page with more than one capture, by its place in ``site.pages``.

    Args:
        site: the pages.
        min_bytes: as for ``lifetimes``.
        tell: is told of progress: the step, how much is done, and of how much.
    """
    found: dict[int, Lifetimes] = {}
    compared = [place for place, page in enumerate(site.pages) if page.is_compared]
    for done, place in enumerate(compared, start=1):
        found[place] = page_lifetimes(site, site.pages[place], min_bytes=min_bytes)
        tell("versions", done, len(compared))
    return found


def seconds_of(version: KeptVersion) -> float:
    """When it was captured, in seconds since 1970; a time without a zone is UTC."""
    if version.time is None:
        return 0.0
    time = version.time if version.time.tzinfo else version.time.replace(tzinfo=UTC)
    return time.timestamp()

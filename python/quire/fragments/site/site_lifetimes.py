"""Site lifetimes: how the parts of collected pages change, between versions and between users."""

from __future__ import annotations

from quire.fragments.lifetime.lifetimes import MIN_FRAGMENT_BYTES, PageVersion, lifetimes
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.lifetime.version_parts import CHILD_CHANGE
from quire.fragments.site.collection import CollectedPage, Collection
from quire.progress import Progress


def page_lifetimes(
    site: Collection,
    page: CollectedPage,
    *,
    child_change: float = CHILD_CHANGE,
    min_bytes: int = MIN_FRAGMENT_BYTES,
) -> Lifetimes:
    """Find the parts of a page that change at their own pace, or differ between users.

    Captures without a time count as made at one time; then there is one per user.

    Args:
        site: holds the captures.
        page: the page.
        child_change: as for ``lifetimes``.
        min_bytes: as for ``lifetimes``.

    Raises:
        ValueError: a setting is out of range.
    """
    # Of captures made at one time, the first user's comes first.
    captured = sorted((*page.versions, *page.others), key=lambda one: one.seconds)
    return lifetimes(
        (PageVersion(one.seconds, site.digest(one), one.reader) for one in captured),
        child_change=child_change,
        min_bytes=min_bytes,
        main=page.versions[0].reader,
    )


def all_lifetimes(
    site: Collection, progress: Progress, *, min_bytes: int = MIN_FRAGMENT_BYTES
) -> dict[int, Lifetimes]:
    """Do the same for every page with more than one capture; keys are places in ``site.pages``.

    Args:
        site: the pages.
        progress: called with the step, the amount done and the total.
        min_bytes: as for ``lifetimes``.
    """
    found: dict[int, Lifetimes] = {}
    compared = [place for place, page in enumerate(site.pages) if page.is_compared]
    for done, place in enumerate(compared, start=1):
        found[place] = page_lifetimes(site, site.pages[place], min_bytes=min_bytes)
        progress("versions", done, len(compared))
    return found

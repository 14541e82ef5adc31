"""Histories: how long the parts of each page live, from all versions in some captures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quire.errors import CaptureTimeUnknown
from quire.fragments.lifetime.lifetimes import MIN_FRAGMENT_BYTES
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.lifetime.version_parts import CHILD_CHANGE
from quire.fragments.site.collection import Collection, Seen
from quire.fragments.site.site_lifetimes import page_lifetimes
from quire.progress import Progress, no_progress
from quire.sources import Capture


def histories(
    captures: Iterable[Capture | Seen],
    *,
    child_change: float = CHILD_CHANGE,
    min_bytes: int = MIN_FRAGMENT_BYTES,
    progress: Progress = no_progress,
) -> Iterator[tuple[str, Lifetimes]]:
    """Find the lifetimes of every page in some captures; give each with the page's address.

    Captures are kept in a temporary file, so memory holds one page with its versions at a time.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.captures import Captures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in (1, 2):
    ...         _ = Path(folder, f"2026-05-0{day}.html").write_text(f"<p>{day} mm of rain")
    ...     captures = Captures([folder], by_folder=True)
    ...     [len(found.times) for _, found in histories(captures)]
    [2]

    Args:
        captures: such as ``Captures``; with ``by_folder`` it reads times in the names of files.
        child_change: as for ``quire.lifetimes``.
        min_bytes: as for ``quire.lifetimes``.
        progress: called after every page, with the step ``versions``.

    Raises:
        CaptureTimeUnknown: a page has neither a time nor captures of other users.
        ValueError: a setting is out of range.
    """
    with Collection(captures) as site:
        for page in site.pages:
            # Captures of several users at one time tell nothing about time, and need none.
            if page.versions[0].time is None and not page.others:
                raise CaptureTimeUnknown(f"{page.name}: no time of capture known", name=page.name)
        for done, page in enumerate(site.pages, start=1):
            found = page_lifetimes(site, page, child_change=child_change, min_bytes=min_bytes)
            progress("versions", done, len(site.pages))
            yield page.url, found

"""Lifetimes of the parts of a page: ``lifetimes``, which reads the captures of a page in order."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from quire.digest.page import Digest
from quire.fragments.lifetime.detector import (
    MIN_FRAGMENT_BYTES,
    LifetimeDetector,
    PageVersion,
)
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.lifetime.version_parts import CHILD_CHANGE, MIN_OVERLAP
from quire.fragments.trees.af_tree import FORMATTING
from quire.fragments.trees.shingles import Shingling


def lifetimes(
    versions: Iterable[PageVersion | tuple[datetime | float, Digest]],
    *,
    child_change: float = CHILD_CHANGE,
    min_overlap: float = MIN_OVERLAP,
    min_bytes: int = MIN_FRAGMENT_BYTES,
    shingling: Shingling | None = None,
    formatting: Iterable[str] = FORMATTING,
    main: str | None = None,
) -> Lifetimes:
    """Find the parts of a page that change independently, and how long each stays the same.

    >>> import quire
    >>> hours = "<ul><li>Mondays from nine to five<li>Fridays from nine to two</ul>"
    >>> fish = ["cod from Mary's boat", "hake, off the island", "hake, off the island"]
    >>> pages = [
    ...     quire.encode(f"<h1>The fish shop</h1>{hours}<p>Fish of the day is {one}</p>".encode())
    ...     for one in fish
    ... ]
    >>> found = lifetimes([(hour * 3600, page) for hour, page in enumerate(pages)])
    >>> for one in found.parts:
    ...     print(one, one.path)
    ...     print(one.lives.seconds.tolist(), one.lives.ended.tolist())
    <LpFragment 1: p, 40 bytes of text, 1 change> html > body > p
    [3600.0, 3600.0] [True, False]

    Args:
        versions: captures in order of time; only a few are held in memory at a time.
        child_change: share of changed children from which a part counts as changed as a whole
            (ChildChangeThreshold).
        min_overlap: resemblance from which two parts count as the same part (OvlpThrshld).
        min_bytes: minimum bytes of text of a fragment (MinFragSize); changes in smaller parts count
            for the fragment around them.
        shingling: settings for shingles.
        formatting: names of the HTML tags to remove; see ``AfTree``.
        main: the variant to track over time (default: that of the first capture).

    Raises:
        ValueError: there are no versions, or none of the main variant, or a setting is out of
            range.
        VersionOrderError: a version is not later than the one before.
    """
    detector = LifetimeDetector(
        child_change=child_change,
        min_overlap=min_overlap,
        min_bytes=min_bytes,
        shingling=shingling,
        formatting=formatting,
        main=main,
    )
    for version in versions:
        detector.add(version)
    return detector.lifetimes()

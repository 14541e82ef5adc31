"""Lifetimes of the parts of a page: ``lifetimes``, which reads the captures of a page in order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from quire.digest.page import Digest
from quire.errors import VersionOrderError
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.lifetime.results_builder import build_lifetimes
from quire.fragments.lifetime.version_parts import CHILD_CHANGE, MIN_OVERLAP, Comparing, Parts
from quire.fragments.lifetime.version_record import VersionRecord
from quire.fragments.trees.af_tree import FORMATTING
from quire.fragments.trees.shingles import Shingling

#: Minimum bytes of text of an L-P fragment: the smaller of the paper's two values.
MIN_FRAGMENT_BYTES = 30


class PageVersion(NamedTuple):
    """A capture of a page.

    Attributes:
        time: capture time; a number is in seconds since 1970, a time without a zone is in UTC.
        page: the digest of the page.
        variant: the user it was captured for: a cookie, a query, or any other label. One variant is
            tracked over time, and the others are compared with it.
    """

    time: datetime | float
    page: Digest
    variant: str = ""


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
    if min_bytes < 1:
        raise ValueError(f"min_bytes {min_bytes}: expected at least 1")
    how = Comparing(min_overlap, child_change, shingling or Shingling())
    removed = frozenset(formatting)
    record = VersionRecord(how, min_bytes)
    order = _Order(main)
    for given in versions:
        version = PageVersion(*given)
        time_s = order.checked(version)
        parts = Parts(version.page, how, removed)
        if version.variant == order.main:
            record.take(parts, time_s)
        else:
            record.take_variant(parts, time_s)
    record.finish()
    return build_lifetimes(record)


class _Order:
    """Checks that capture times ascend, and that no variant has the same time twice."""

    def __init__(self, main: str | None) -> None:
        self.main = main
        self._count = 0
        self._last = -math.inf
        self._last_of: dict[str, float] = {}

    def checked(self, version: PageVersion) -> float:
        time = version.time
        if isinstance(time, datetime):
            time = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        time = float(time)
        if not math.isfinite(time):
            raise ValueError(f"version {self._count}: {time} is not a time")
        if time < self._last or time == self._last_of.get(version.variant):
            raise VersionOrderError(
                f"version {self._count}: captured at {_shown(time)}, but the one before it "
                f"at {_shown(self._last)}; expected ascending times",
                version=self._count,
            )
        self.main = version.variant if self.main is None else self.main
        self._count += 1
        self._last = self._last_of[version.variant] = time
        return time


def _shown(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return f"{seconds:g} s"

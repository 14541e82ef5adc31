"""Histories: captures of a page, one after the other, and ``lifetimes``, which reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from quire.digest.page import Digest
from quire.errors import VersionOrderError
from quire.fragments.lifetime.algorithm_2 import Record
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.lifetime.results_builder import arranged
from quire.fragments.lifetime.version_parts import CHILD_CHANGE, MIN_OVERLAP, Comparing, Parts
from quire.fragments.trees.af_tree import FORMATTING
from quire.fragments.trees.shingles import Shingling

#: Bytes of text that an L-P fragment has at least: the smaller one of the paper's two.
MIN_FRAGMENT_BYTES = 30


class PageVersion(NamedTuple):
    """A capture of a page.

    Attributes:
        time: when; a number is seconds since 1970, a time without a zone is UTC.
        page: what was there.
        variant: for whom: a cookie, a query, whatever tells readers apart. One is followed through time, the others are
            compared with it.
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
    """Find the parts of a page that live at their own pace.

    >>> import quire
    >>> hours = "<ul><li>Mondays from nine to five<li>Fridays from nine to two<li>Never on Sundays</ul>"
    >>> body = "<h1>The fish shop at the harbour</h1><main>" + hours + "<p>Fish of the day is {}</p></main>"
    >>> fish = ["cod from Mary's boat", "hake, off the island", "hake, off the island"]
    >>> pages = [quire.encode(body.format(one).encode()) for one in fish]
    >>> found = lifetimes([(hour * 3600, page) for hour, page in enumerate(pages)])
    >>> for one in found.parts:
    ...     print(one, one.path, one.lives.seconds.tolist(), one.lives.ended.tolist())
    <LpFragment 1: p, 40 bytes of text, 1 change> html > body > main > p [3600.0, 3600.0] [True, False]

    Args:
        versions: captures, each later than the one before; each may go when the next one comes.
        child_change: share of children that changed, from which a part changed as a whole (ChildChangeThreshold).
        min_overlap: resemblance from which two parts are the same one (OvlpThrshld).
        min_bytes: bytes of text that a fragment has at least (MinFragSize); smaller ones are part of what they are in.
        shingling: how shingles are made.
        formatting: names of the HTML tags that are removed; see ``AfTree``.
        main: the variant that is followed through time; the first that comes where none is named.

    Raises:
        ValueError: there is no version, none of the main variant, or a setting is out of range.
        VersionOrderError: a version is not later than the one before.
    """
    if min_bytes < 1:
        raise ValueError(f"min_bytes {min_bytes}: a fragment has 1 byte of text at least")
    how = Comparing(min_overlap, child_change, shingling or Shingling())
    removed = frozenset(formatting)
    record = Record(how, min_bytes)
    order = _Order(main)
    for given in versions:
        version = PageVersion(*given)
        time_s = order.checked(version)
        parts = Parts(version.page, how, removed)
        if version.variant == order.main:
            record.take(parts, time_s)
        else:
            record.take_reader(parts, time_s)
    record.finish()
    return arranged(record)


class _Order:
    """Holds captures to ascend in time: those of one variant strictly."""

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
            raise ValueError(f"version {self._count}: {time} is no time")
        before = max(self._last, self._last_of.get(version.variant, -math.inf))
        same = version.variant in self._last_of and time == self._last_of[version.variant]
        if time < before or same:
            raise VersionOrderError(
                f"version {self._count}: captured at {_shown(time)}, but the one before it at {_shown(before)}; "
                "versions ascend in time",
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

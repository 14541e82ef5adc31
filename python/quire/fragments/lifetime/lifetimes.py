"""Lifetimes of the parts of a page: of all captures at once, or capture by capture.

``LifetimeDetector.add`` takes the next capture and returns its changes, in time proportional to the
page: it compares the capture with one or two before it, however many there were. ``lifetimes``
does this for captures that are all there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True, eq=False)
class CaptureUpdate:
    """The changes that a capture of the main variant shows.

    A part keeps its number in all captures.

    Attributes:
        version: number of the capture, from 0.
        kind: its kind of page.
        is_base: whether later captures are compared with it.
        part: the part of each node of its AF tree.
        fragments: the nodes that are fragments now, in page order; the first is the page.
        new_fragments: parts that became fragments with this capture.
        changed: parts whose own text or list of children changed, without duplicates.
    """

    version: int
    kind: int
    is_base: bool
    part: NDArray[np.int64]
    fragments: NDArray[np.int64]
    new_fragments: tuple[int, ...]
    changed: NDArray[np.int64]

    def __repr__(self) -> str:
        found = f"{len(self.fragments) - 1:,} fragments, {len(self.new_fragments):,} new"
        return f"<CaptureUpdate {self.version}: {found}, {len(self.changed):,} parts changed>"


class LifetimeDetector:
    """Finds the parts of a page that change independently, while captures arrive.

    >>> import quire
    >>> hours = "<ul><li>Mondays from nine to five<li>Fridays from nine to two</ul>"
    >>> detector = LifetimeDetector()
    >>> for hour, fish in enumerate(["cod from Mary's boat", "hake, off the island"]):
    ...     page = f"<h1>The fish shop</h1>{hours}<p>Fish of the day is {fish}</p>"
    ...     print(detector.add((hour * 3600, quire.encode(page.encode()))))
    <CaptureUpdate 0: 0 fragments, 0 new, 0 parts changed>
    <CaptureUpdate 1: 1 fragments, 1 new, 1 parts changed>
    >>> detector.lifetimes()
    <Lifetimes of 2 versions: 1 fragments, 0 volatile nodes>

    Two captures of each kind of page are held in memory, and a few numbers for each part ever seen.

    Args:
        child_change: as for ``lifetimes``, like all others.
        min_overlap: the same.
        min_bytes: the same.
        shingling: the same.
        formatting: the same.
        main: the same.

    Raises:
        ValueError: a setting is out of range.
    """

    def __init__(
        self,
        *,
        child_change: float = CHILD_CHANGE,
        min_overlap: float = MIN_OVERLAP,
        min_bytes: int = MIN_FRAGMENT_BYTES,
        shingling: Shingling | None = None,
        formatting: Iterable[str] = FORMATTING,
        main: str | None = None,
    ) -> None:
        if min_bytes < 1:
            raise ValueError(f"min_bytes {min_bytes}: expected at least 1")
        self._how = Comparing(min_overlap, child_change, shingling or Shingling())
        self._removed = frozenset(formatting)
        self._record = VersionRecord(self._how, min_bytes)
        self._order = _Order(main)

    def add(self, version: PageVersion | tuple[datetime | float, Digest]) -> CaptureUpdate | None:
        """Take the next capture and return its changes; None for another variant.

        The cost is that of comparing the page with at most ``MOST_KINDS`` others by their shingles,
        and with two node by node; it does not depend on the number of captures.

        Raises:
            ValueError: its time is not a time.
            VersionOrderError: it is not later than the one before.
        """
        given = PageVersion(*version)
        time_s = self._order.checked(given)
        parts = Parts(given.page, self._how, self._removed)
        record = self._record
        if given.variant != self._order.main:
            record.take_variant(parts, time_s)
            return None
        known = len(record.found)
        step = record.take(parts, time_s)
        changed = record.events[-1][1] if step.old is not None else np.empty(0, np.int64)
        is_fragment = np.fromiter(
            (part in record.fragments for part in step.part.tolist()), np.bool_, len(step.part)
        )
        is_fragment[0] = True
        return CaptureUpdate(
            version=len(record.times) - 1,
            kind=step.kind.number,
            is_base=step.is_base,
            part=step.part,
            fragments=np.flatnonzero(is_fragment),
            new_fragments=tuple(
                part for part in record.found[known:] if record.columns["parent"][part] >= 0
            ),
            changed=changed,
        )

    def lifetimes(self) -> Lifetimes:
        """Return the lifetimes so far, as ``lifetimes`` does for these captures.

        The cost is proportional to the parts and changes of all captures. More may follow.

        Raises:
            ValueError: captures of the main variant are missing.
        """
        self._record.name_latest()
        return build_lifetimes(self._record)


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

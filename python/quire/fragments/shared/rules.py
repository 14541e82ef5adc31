"""Rules of sharing: when parts of pages are alike, and how many pages make a fragment."""

from __future__ import annotations

from dataclasses import dataclass

from quire.fragments.trees.shingles import ESTIMATES, Estimate

#: Bytes of value that a fragment has at least.
MIN_BYTES = 200
#: Overlap of shingles, at least.
MIN_MATCH = 0.9
#: Pages that share a fragment, at least.
MIN_PAGES = 2
#: The paper's P, unless the overlap asks for less.
SIZE_RATIO = 0.9


@dataclass(frozen=True, slots=True)
class SharingRules:
    """What makes parts of pages a shared fragment. Names of the paper in brackets.

    Attributes:
        min_bytes: bytes of value that a part has at least (MinFragSize).
        min_pages: pages that share it, at least (ShareFactor).
        min_match: overlap of shingles, at least (MinMatchFactor).
        size_ratio: length of a part, at least, as a share of the longest of its group (P).
        estimate: how the overlap is estimated.
    """

    min_bytes: int
    min_pages: int
    min_match: float
    size_ratio: float
    estimate: Estimate

    @classmethod
    def checked(
        cls,
        *,
        min_bytes: int,
        min_pages: int,
        min_match: float,
        size_ratio: float | None,
        estimate: Estimate,
    ) -> SharingRules:
        """Fill in P, and refuse what makes no sense.

        >>> SharingRules.checked(
        ...     min_bytes=30, min_pages=2, min_match=0.7, size_ratio=None, estimate="paper"
        ... ).size_ratio
        0.7

        Raises:
            ValueError: a rule is out of range.
        """
        if min_bytes < 1:
            raise ValueError(f"min_bytes {min_bytes}: a fragment has 1 byte of text at least")
        if min_pages < 2:  # noqa: PLR2004 - the paper's M > 1
            raise ValueError(f"min_pages {min_pages}: a fragment is shared by 2 pages at least")
        if not 0 < min_match <= 1:
            raise ValueError(f"min_match {min_match}: an overlap is more than 0, and at most 1")
        if size_ratio is None:
            # A part as like as asked for may be as much shorter: with 0.9 matches of 0.7 would be lost.
            size_ratio = min(SIZE_RATIO, min_match)
        if not 0 <= size_ratio <= 1:
            raise ValueError(f"size_ratio {size_ratio}: a share is between 0 and 1")
        if estimate not in ESTIMATES:
            raise ValueError(
                f"estimate {estimate!r} is not known; known are {' and '.join(ESTIMATES)}"
            )
        return cls(min_bytes, min_pages, min_match, size_ratio, estimate)

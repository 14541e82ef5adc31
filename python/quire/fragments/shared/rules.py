"""Sharing rules: when two parts count as the same, and how many pages must share a fragment."""

from __future__ import annotations

from dataclasses import dataclass

from quire.fragments.trees.shingles import ESTIMATES, Estimate

#: Minimum bytes of text of a fragment.
MIN_BYTES = 200
#: Minimum overlap of shingles.
MIN_MATCH = 0.9
#: Minimum number of pages that share a fragment.
MIN_PAGES = 2
#: The paper's P: a part may be this much shorter than the longest one of its fragment.
SIZE_RATIO = 0.9


@dataclass(frozen=True, slots=True)
class SharingRules:
    """The rules by which parts of pages become a shared fragment. The paper's names in brackets.

    Attributes:
        min_bytes: minimum bytes of text of a part (MinFragSize).
        min_pages: minimum number of pages that share it (ShareFactor).
        min_match: minimum overlap of shingles (MinMatchFactor).
        size_ratio: minimum length of a part, as a share of the longest part of its group (P).
        estimate: how to estimate the overlap.
    """

    min_bytes: int
    min_pages: int
    min_match: float
    size_ratio: float
    estimate: Estimate

    @classmethod
    def checked(
        cls,
        min_bytes: int,
        min_pages: int,
        min_match: float,
        size_ratio: float,
        estimate: Estimate,
    ) -> SharingRules:
        """Check the rules.

        >>> SharingRules.checked(30, 2, min_match=0.7, size_ratio=0.9, estimate="paper").min_match
        0.7

        Raises:
            ValueError: a rule is out of range.
        """
        if min_bytes < 1:
            raise ValueError(f"min_bytes {min_bytes}: expected at least 1")
        if min_pages < 2:  # noqa: PLR2004 - the paper's M > 1
            raise ValueError(f"min_pages {min_pages}: expected at least 2")
        if not 0 < min_match <= 1:
            raise ValueError(f"min_match {min_match}: expected more than 0, and at most 1")
        if not 0 <= size_ratio <= 1:
            raise ValueError(f"size_ratio {size_ratio}: expected 0 to 1")
        if estimate not in ESTIMATES:
            raise ValueError(f"estimate {estimate!r}: expected {' or '.join(ESTIMATES)}")
        return cls(min_bytes, min_pages, min_match, size_ratio, estimate)

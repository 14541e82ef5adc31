"""Capture spans: the times in which captures of a page are dense enough to tell lifetimes.

Captures that follow each other within ``MOST_UNEVEN`` times the median gap are one span. The gaps
between spans are left out wherever lengths of lives matter: how often something changed in them is
unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: A gap between two captures is too long to tell a lifetime if it is longer than this many times
#: the median gap.
MOST_UNEVEN = 4.0


@dataclass(frozen=True, slots=True)
class CaptureSpan:
    """Captures without a long gap between them; times are in seconds since 1970.

    Attributes:
        start: the first capture.
        end: the last one.
        captures: how many there are.
    """

    start: float
    end: float
    captures: int

    @property
    def is_used(self) -> bool:
        """Whether it tells anything about lifetimes: one capture alone does not."""
        return self.captures > 1


def longest_gap_s(times: NDArray[np.float64]) -> float:
    """Return the longest gap between two captures that tells when something changed.

    >>> longest_gap_s(np.array([0.0, 10, 20, 30, 9000])), longest_gap_s(np.array([0.0, 10]))
    (40.0, inf)
    """
    gaps = np.diff(times)
    gaps = gaps[gaps > 0]
    return MOST_UNEVEN * float(np.median(gaps)) if len(gaps) > 1 else np.inf


def capture_spans(times: NDArray[np.float64]) -> tuple[CaptureSpan, ...]:
    """Divide captures into spans.

    >>> for span in capture_spans(np.array([0.0, 10, 20, 9000, 9010, 99_000])):
    ...     print(span.start, span.end, span.captures, span.is_used)
    0.0 20.0 3 True
    9000.0 9010.0 2 True
    99000.0 99000.0 1 False

    Args:
        times: capture times, in ascending order.
    """
    edges = np.flatnonzero(np.diff(times) > longest_gap_s(times)) + 1
    return tuple(
        CaptureSpan(float(some[0]), float(some[-1]), len(some))
        for some in np.split(times, edges)
        if len(some)
    )


def dense_clock(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the time that each capture is after the first one, without the gaps between spans.

    >>> dense_clock(np.array([0.0, 10, 20, 9000, 9010])).tolist()
    [0.0, 10.0, 20.0, 20.0, 30.0]
    """
    gaps = np.diff(times)
    return np.concatenate([[0.0], np.cumsum(np.where(gaps > longest_gap_s(times), 0, gaps))])

"""Sparklines: how often something changed on each of the last days, as a small drawing (SVG)."""

from __future__ import annotations

from collections.abc import Sequence

from quire.display import format_count

#: The size of one day and of the whole drawing, in pixels.
BAR, GAP, HEIGHT = 2, 1, 20
#: A day with a change is at least this high, so that it can be seen.
LOWEST = 4


def width(counts: Sequence[int]) -> int:
    """Return how wide the drawing is."""
    return len(counts) * (BAR + GAP)


def path(counts: Sequence[int]) -> str:
    """Return the bars as the path of an SVG drawing. The highest bar is the largest count.

    >>> path([0, 1, 2])
    'M3 20v-10h2v10zM6 20v-20h2v20z'
    """
    largest = max(counts, default=0)
    bars = []
    for day, count in enumerate(counts):
        if count:
            high = max(LOWEST, round(count * HEIGHT / largest))
            bars.append(f"M{day * (BAR + GAP)} {HEIGHT}v-{high}h{BAR}v{high}z")
    return "".join(bars)


def words(counts: Sequence[int]) -> str:
    """Return what the drawing shows, for those who do not see it.

    >>> words([0] * 29 + [2]), words([3] + [0] * 29)
    ('2 changes in 30 days, 2 of them today', '3 changes in 30 days')
    """
    total = sum(counts)
    today = f", {counts[-1]:,} of them today" if total and counts[-1] else ""
    return f"{format_count(total, 'change')} in {len(counts)} days{today}"

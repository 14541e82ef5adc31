"""Charts as plain values: places of points and lines, which a template draws as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 12, 28
#: Marks on the axis of values, about.
_MARKS = 4
_A_DAY_S = 86_400
_WHOLE = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True)
class AxisMark:
    """A mark on an axis: its place, and its words."""

    at: float
    words: str


@dataclass(frozen=True, slots=True)
class Point:
    """A point: its place, and its words."""

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A line through values at times.

    Attributes:
        width: the width of the drawing.
        height: its height.
        line: the line, as the ``d`` of a path: a value holds until the next one.
        points: the values.
        values: marks on the axis of values.
        times: marks on the axis of times.
        left, right, top, bottom: the edges of the plot.
    """

    line: str
    points: list[Point]
    values: list[AxisMark]
    times: list[AxisMark]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def make_chart(values: Sequence[tuple[datetime, float]]) -> Chart | None:
    """Return the chart of numbers at times, the oldest first; None with fewer than two.

    >>> days = [datetime(2026, 5, day, tzinfo=UTC) for day in (1, 2)]
    >>> [mark.words for mark in make_chart(list(zip(days, [9.5, 8.5]))).values]
    ['8.5', '9', '9.5']
    """
    known = [(time.timestamp(), value) for time, value in values if math.isfinite(value)]
    if len(known) < 2:  # noqa: PLR2004 - one point is not a line
        return None
    first, last = known[0][0], max(known[-1][0], known[0][0] + 1)
    marks = _ticks(min(value for _, value in known), max(value for _, value in known))
    low, high = marks[0], marks[-1]

    def x(time: float) -> float:
        return round(LEFT + (time - first) / (last - first) * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    points = [Point(x(time), y(value), f"{_number(value)}, {_day(time)}") for time, value in known]
    steps = [f"M{points[0].x} {points[0].y}", *(f"H{each.x}V{each.y}" for each in points[1:])]
    return Chart(
        line="".join(steps),
        points=points if len(points) <= 100 else points[-1:],  # noqa: PLR2004 - else a blot
        values=[AxisMark(y(value), _number(value)) for value in marks],
        times=[AxisMark(x(time), _day(time)) for time in (first, first + (last - first) / 2, last)],
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers around values."""
    span = high - low or abs(high) or 1.0
    rough = span / _MARKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((n * power for n in (1, 2, 5, 10) if n * power >= rough * 0.999), 10 * power)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return [round(n * step, 12) for n in range(first, last + 1)]


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _day(time: float, span_s: float = math.inf) -> str:
    """Return a time; without the day if the whole chart is shorter than one."""
    spelling = "%H:%M:%S" if span_s < _A_DAY_S else "%Y-%m-%d" if span_s < math.inf else _WHOLE
    return datetime.fromtimestamp(time, UTC).strftime(spelling)

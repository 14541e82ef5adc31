"""The calendar of an address: years, months and days with captures."""

from __future__ import annotations

from calendar import monthcalendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from quire.archive.browsing import Capture

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar: its number, and its captures."""

    number: int
    count: int = 0
    timestamp: str = ""


@dataclass(frozen=True, slots=True)
class Month:
    """A month with captures: its name, and its weeks, with None for days of other months."""

    name: str
    weeks: list[list[Day | None]]


def months(captures: Sequence[Capture], year: int) -> list[Month]:
    """Return the months of a year that have captures.

    >>> from datetime import UTC, datetime
    >>> capture = Capture("", "", datetime(2026, 5, 3, tzinfo=UTC), 200, "", 0, b"")
    >>> [(month.name, month.weeks[0][-1]) for month in months([capture], 2026)]
    [('May', Day(number=3, count=1, timestamp='20260503000000'))]
    """
    by_day: dict[date, list[Capture]] = {}
    for each in captures:
        if each.time.year == year:
            by_day.setdefault(each.time.date(), []).append(each)
    found = []
    for month in sorted({day.month for day in by_day}):
        weeks: list[list[Day | None]] = []
        for week in monthcalendar(year, month):
            days: list[Day | None] = []
            for number in week:
                there = by_day.get(date(year, month, number), []) if number else []
                stamp = there[-1].timestamp if there else ""
                days.append(Day(number, len(there), stamp) if number else None)
            weeks.append(days)
        found.append(Month(MONTHS[month - 1], weeks))
    return found


def years(captures: Sequence[Capture]) -> list[tuple[int, int]]:
    """Return the years that have captures, with their number."""
    counts: dict[int, int] = {}
    for each in captures:
        counts[each.time.year] = counts.get(each.time.year, 0) + 1
    return sorted(counts.items())

"""Schedules: when the next check of a page is due.

All arithmetic is on instants in UTC. Local time matters only in cron expressions and windows, which
follow their time zone through changes of daylight saving time: an hour that does not exist is
skipped, an hour that exists twice is one window.

Checks that were missed (the service was off, the clock jumped) are not made up for: the next check
is one interval after now, never a burst.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from quire.errors import MissingExtra
from quire.sentinels.form.watch import WEEKDAYS, Schedule, Window

#: Days that are searched for an open window. A week is enough, and a changed clock needs one more.
DAYS_AHEAD = 9
#: A page that did not change slows down by this factor at each check, if it may.
SLOWING = 1.5


def next_check(
    schedule: Schedule, now: datetime, quiet_checks: int = 0, chance: random.Random | None = None
) -> datetime:
    """Return when the next check is due, after one at ``now``.

    >>> noon = datetime(2026, 5, 17, 12, tzinfo=UTC)
    >>> next_check(Schedule(every=timedelta(hours=2)), noon).isoformat()
    '2026-05-17T14:00:00+00:00'

    Args:
        schedule: the schedule.
        now: the time of the last check.
        quiet_checks: how many checks in a row found nothing; for schedules that slow down.
        chance: where jitter comes from.
    """
    cron = _next_cron(schedule, now) if schedule.cron else None
    due = cron or now + _interval(schedule, quiet_checks)
    if schedule.jitter:
        drawn = (chance or random).random()
        due += schedule.jitter * drawn
    return next_open(schedule.windows, schedule.zone, due)


def next_open(windows: tuple[Window, ...], zone: str, at: datetime) -> datetime:
    """Return the first instant from ``at`` on that is in a window.

    >>> from datetime import time
    >>> night = datetime(2026, 5, 17, 23, tzinfo=UTC)  # a Sunday
    >>> office = Window(("mon", "tue"), time(9), time(17))
    >>> next_open((office,), "Europe/Berlin", night).isoformat()
    '2026-05-18T07:00:00+00:00'
    """
    if not windows:
        return at
    place = ZoneInfo(zone)
    first_day = at.astimezone(place).date() - timedelta(days=1)
    best: datetime | None = None
    for ahead in range(DAYS_AHEAD):
        day = first_day + timedelta(days=ahead)
        for window in windows:
            if WEEKDAYS[day.weekday()] not in window.days:
                continue
            start = datetime.combine(day, window.start, place).astimezone(UTC)
            last = day + timedelta(days=window.end <= window.start)
            end = datetime.combine(last, window.end, place).astimezone(UTC)
            if end > at and (best is None or max(start, at) < best):
                best = max(start, at)
        if best is not None and best <= at + timedelta(days=ahead):
            break
    return at if best is None else best


def is_open(windows: tuple[Window, ...], zone: str, at: datetime) -> bool:
    """Tell whether an instant is in a window; without windows, no instant is.

    >>> from datetime import time
    >>> is_open((Window(start=time(22), end=time(7)),), "UTC", datetime(2026, 5, 17, 3, tzinfo=UTC))
    True
    """
    return bool(windows) and next_open(windows, zone, at) == at


def next_closed(windows: tuple[Window, ...], zone: str, at: datetime) -> datetime | None:
    """Return the first instant from ``at`` on that is in no window; None if there is none.

    >>> from datetime import time
    >>> night = Window(start=time(22), end=time(7))
    >>> next_closed((night,), "UTC", datetime(2026, 5, 17, 3, tzinfo=UTC)).isoformat()
    '2026-05-17T07:00:00+00:00'
    """
    place = ZoneInfo(zone)
    last = at + timedelta(days=DAYS_AHEAD)
    while at <= last:
        today = at.astimezone(place).date()
        ends = []
        for day in (today - timedelta(days=1), today):
            for window in windows:
                if WEEKDAYS[day.weekday()] in window.days:
                    start = datetime.combine(day, window.start, place).astimezone(UTC)
                    end_day = day + timedelta(days=window.end <= window.start)
                    end = datetime.combine(end_day, window.end, place).astimezone(UTC)
                    if start <= at < end:
                        ends.append(end)
        if not ends:
            return at
        at = max(ends)
    return None


def _interval(schedule: Schedule, quiet_checks: int) -> timedelta:
    every = schedule.every or timedelta(hours=1)
    if schedule.slow_down is None or schedule.slow_down <= every:
        return every
    steps = min(quiet_checks, 64)  # 1.5 to the 64th is longer than any interval
    # As numbers: an interval may be longer than a timedelta can be.
    longest = schedule.slow_down.total_seconds()
    return timedelta(seconds=min(longest, every.total_seconds() * SLOWING**steps))


def _next_cron(schedule: Schedule, now: datetime) -> datetime:
    try:
        from cronsim import CronSim  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("cron expressions need cronsim", extra="serve") from None
    local = now.astimezone(ZoneInfo(schedule.zone))
    return next(CronSim(schedule.cron, local)).astimezone(UTC)

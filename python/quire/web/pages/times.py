"""Times as people say them: "3 min ago", "in 2 h". The script ``times.js`` keeps them true."""

from __future__ import annotations

from datetime import UTC, datetime

_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"))
#: From here on the date says more.
_LONGEST_S = 14 * 86_400


def relative(time: datetime | None, now: datetime | None = None) -> str:
    """Return how long ago a time was, or in how long it will be.

    >>> noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    >>> relative(datetime(2026, 5, 1, 11, 57, tzinfo=UTC), noon)
    '3 min ago'
    >>> relative(datetime(2026, 5, 1, 14, tzinfo=UTC), noon), relative(None, noon)
    ('in 2 h', 'never')
    >>> relative(datetime(2026, 3, 1, tzinfo=UTC), noon)
    '2026-03-01'
    """
    if time is None:
        return "never"
    seconds = ((now or datetime.now(UTC)) - time).total_seconds()
    length = abs(seconds)
    if length >= _LONGEST_S:
        return time.strftime("%Y-%m-%d")
    if length < 1:
        return "now"
    words = f"{length // 86_400:.0f} d"
    for most, unit_s, unit in _STEPS:
        if length < most:
            words = f"{length // unit_s:.0f} {unit}"
            break
    return f"{words} ago" if seconds > 0 else f"in {words}"


def due_words(time: datetime, now: datetime | None = None) -> str:
    """Return when something is due: "now" if it should have been.

    >>> noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    >>> [due_words(datetime(2026, 5, 1, hour, tzinfo=UTC), noon) for hour in (11, 14)]
    ['now', 'in 2 h']
    """
    now = now or datetime.now(UTC)
    return relative(max(time, now), now)

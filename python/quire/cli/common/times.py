"""Parse the times people type: a full or partial date, as its first or last moment."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from quire.cli.common.terminal import Refusal
from quire.sources.capture import parse_time

_DIGITS = {4: "year", 6: "month", 8: "day", 10: "hour", 12: "minute", 14: "second"}
_STEPS = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
_DECEMBER = 12


def start_of(text: str | None) -> datetime | None:
    """Return the first moment of a time: for 2026-05, the beginning of May.

    >>> start_of("2026-05").isoformat()
    '2026-05-01T00:00:00+00:00'

    Raises:
        Refusal: the text is not a time.
    """
    if text is None:
        return None
    found = parse_time(text)
    if found is None:
        raise Refusal(
            f"{text}: not a time", hint="use 2026-05-17, 2026-05-17T11:02:33 or 20260517110233"
        )
    return found


def end_of(text: str | None) -> datetime | None:
    """Return the last moment of a time: for 2026-05, the end of May.

    >>> end_of("2026-05").isoformat(), end_of("20260517110233").isoformat()
    ('2026-05-31T23:59:59.999999+00:00', '2026-05-17T11:02:33.999999+00:00')

    Raises:
        Refusal: the text is not a time.
    """
    start = start_of(text)
    if start is None or text is None or "." in text:
        return start
    digits = len(re.sub(r"\D", "", re.sub(r"[+]00:?00$", "", text.strip())))
    unit = _DIGITS.get(digits, "second")
    try:
        if unit == "year":
            after = start.replace(year=start.year + 1)
        elif unit == "month":
            is_last = start.month == _DECEMBER
            after = start.replace(
                year=start.year + is_last, month=1 if is_last else start.month + 1
            )
        else:
            after = start + _STEPS[unit]
        return after - timedelta(microseconds=1)
    except (OverflowError, ValueError):  # the last moments of the calendar
        return datetime.max.replace(tzinfo=UTC)

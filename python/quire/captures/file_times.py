"""Times in the names of files: many tools save versions of a page as ``20260131T093000Z.html``."""

from __future__ import annotations

import dataclasses
import re
from datetime import UTC, datetime
from pathlib import PurePath

from quire.sources import Capture

#: A date, and a time of day if there is one, with or without signs between the numbers, to the
#: second or to a fraction of it. If the time of day cannot be read, the date alone does not count:
#: all captures of a day would be of midnight.
_TIME = re.compile(
    r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)"
    r"(?:[T _-]?(\d\d)[:.-]?(\d\d)(?:[:.-]?(\d\d)(?:[.,](\d{1,9})|[_-]?(\d{3}|\d{6}|\d{9}))?)?)?"
    r"(?!T?\d)"
)


def time_in(name: str) -> datetime | None:
    """Read the time in a file name, as UTC; None if there is none.

    >>> time_in("20260131T093000Z.html")
    datetime.datetime(2026, 1, 31, 9, 30, tzinfo=datetime.timezone.utc)
    >>> time_in("20260131T093000250Z.html").microsecond, time_in("20260131T93Z.html")
    (250000, None)
    >>> time_in("2026-01-31.html").date().isoformat(), time_in("home.html")
    ('2026-01-31', None)
    """
    for found in _TIME.finditer(name):
        try:
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
            micros = int((found[7] or found[8] or "").ljust(6, "0")[:6])
            return datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        except ValueError:
            continue
    return None


def as_version(capture: Capture) -> Capture:
    """Turn a file with a time in its name into a version of a page, whose address is the folder.

    Other captures stay as they are.

    >>> name = "news/2026-01-31.html"
    >>> page = as_version(Capture(name, name, None, b"", b"<p>Rain"))
    >>> page.url, page.time.day
    ('news', 31)
    """
    name = PurePath(capture.name)
    time = time_in(name.name)
    if time is None or capture.time is not None:
        return capture
    return dataclasses.replace(capture, url=str(name.parent), time=time)

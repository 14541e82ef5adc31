"""Waiting in tests: until something is so, never for a fixed time.

The patience is far more than any machine needs, and costs nothing if a condition holds at once. So
a test fails if something does not happen, not if it happens late.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: How long tests wait for one thing.
PATIENCE_S = 90.0
PATIENCE_MS = 90_000


def sleep_a_moment() -> None:
    """Let others work, between two looks."""
    time.sleep(0.02)


def wait_until(is_so: Callable[[], bool], pause: Callable[[], object] = sleep_a_moment) -> None:
    """Wait until something is so.

    Args:
        is_so: tells whether it is.
        pause: called between two looks.
    """
    ends = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends, f"not so after {PATIENCE_S:.0f} s"
        pause()


def becomes(
    read: Callable[[], object], expected: object, pause: Callable[[], object] = sleep_a_moment
) -> None:
    """Wait until a reading is as expected; fail with the last reading.

    Args:
        read: reads the value.
        expected: the value that it should have in the end.
        pause: called between two readings.
    """
    ends = time.monotonic() + PATIENCE_S
    found = read()
    while found != expected and time.monotonic() < ends:
        pause()
        found = read()
    assert found == expected, f"{found!r} after {PATIENCE_S:.0f} s, not {expected!r}"

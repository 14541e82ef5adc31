"""Slows down guessing of passwords: after some failures, log-ins have to wait.

Failures are counted for the client's address and for the name of the account. They are kept in
memory: a restart forgets them, and every process counts for itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic

#: Failures that cost nothing; each further one doubles the pause.
FREE_FAILURES = 5
SHORTEST_PAUSE_S = 2.0
LONGEST_PAUSE_S = 900.0
#: Failures are forgotten after this time without another one.
FORGOTTEN_AFTER_S = 3600.0
#: Addresses and names that are remembered; the oldest are forgotten first.
MOST_KEYS = 20_000


@dataclass(slots=True)
class _Record:
    failures: int
    last: float


class Throttle:
    """Counts failed log-ins.

    >>> throttle = Throttle(clock=lambda: 100.0)
    >>> for _ in range(6):
    ...     throttle.failed("192.0.2.1", "admin")
    >>> throttle.wait_s("192.0.2.1", "someone"), throttle.wait_s("192.0.2.2", "someone")
    (2.0, 0.0)

    Args:
        clock: the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._records: OrderedDict[tuple[str, str], _Record] = OrderedDict()
        self._lock = Lock()

    def wait_s(self, address: str, name: str) -> float:
        """Return how long a client has to wait before it may try again; 0 for not at all."""
        with self._lock:
            return max(self._wait_s(key) for key in _keys(address, name))

    def failed(self, address: str, name: str) -> None:
        """Count a failure."""
        now = self._clock()
        with self._lock:
            for key in _keys(address, name):
                record = self._records.pop(key, None)
                if record is None or now - record.last > FORGOTTEN_AFTER_S:
                    record = _Record(0, now)
                record.failures += 1
                record.last = now
                self._records[key] = record
            while len(self._records) > MOST_KEYS:
                self._records.popitem(last=False)

    def succeeded(self, address: str, name: str) -> None:
        """Forget the failures of a client that knows the password."""
        with self._lock:
            for key in _keys(address, name):
                self._records.pop(key, None)

    def _wait_s(self, key: tuple[str, str]) -> float:
        record = self._records.get(key)
        if record is None or record.failures <= FREE_FAILURES:
            return 0.0
        doublings = min(record.failures - FREE_FAILURES - 1, 20)
        pause: float = min(SHORTEST_PAUSE_S * 2.0**doublings, LONGEST_PAUSE_S)
        return max(0.0, record.last + pause - self._clock())


def _keys(address: str, name: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("address", address[:100]), ("name", name[:200])

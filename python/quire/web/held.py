"""Results that are held for a while, within limits, under keys that cannot be guessed.

They are in the memory of this process, so a restart forgets them.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Any

#: How many results are held, how many bytes, and for how long.
MOST = 40
MOST_BYTES = 120_000_000
SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class _Entry:
    value: Any
    size: int
    ends: float
    forget: Callable[[], object]


class Held:
    """Results by their keys. The oldest go first when there are too many.

    >>> held = Held()
    >>> key = held.put("a result", 8)
    >>> held.get(key), held.get("a guess"), len(key)
    ('a result', None, 32)

    Args:
        most: how many results to hold.
        most_bytes: how many bytes of results to hold.
        seconds: how long to hold each.
        now: tells the time.
    """

    def __init__(
        self,
        most: int = MOST,
        most_bytes: int = MOST_BYTES,
        seconds: float = SECONDS,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._most, self._most_bytes, self._seconds, self._now = most, most_bytes, seconds, now
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def put(self, value: Any, size: int, forget: Callable[[], object] = lambda: None) -> str:  # noqa: ANN401 - any result
        """Hold a result, and return its key.

        Args:
            value: the result.
            size: its size in bytes.
            forget: called when it is not held any more, such as to delete its files.
        """
        key = secrets.token_urlsafe(24)
        with self._lock:
            self._entries[key] = _Entry(value, size, self._now() + self._seconds, forget)
            self._bytes += size
            gone = self._drop()
        for each in gone:
            each.forget()
        return key

    @property
    def size(self) -> int:
        """The bytes of all results."""
        return self._bytes

    def resize(self, key: str, size: int) -> None:
        """Note that a result has another size now. The oldest results go if it is too much.

        >>> held = Held(most_bytes=10)
        >>> first, second = held.put("one", 1), held.put("two", 1)
        >>> held.resize(second, 10)
        >>> held.get(first), held.get(second)
        (None, 'two')
        """
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._bytes += size - found.size
                self._entries[key] = replace(found, size=size)
            gone = self._drop()
        for each in gone:
            each.forget()

    def get(self, key: str) -> Any:  # noqa: ANN401 - any result
        """Return a result; None if it is not held."""
        with self._lock:
            gone = self._drop()
            found = self._entries.get(key)
        for each in gone:
            each.forget()
        return None if found is None else found.value

    def _drop(self) -> list[_Entry]:
        """Take out the oldest results while there are too many, and those that are too old."""
        now, gone = self._now(), []
        while self._entries:
            key, first = next(iter(self._entries.items()))
            is_much = len(self._entries) > self._most or self._bytes > self._most_bytes
            if first.ends > now and not (is_much and len(self._entries) > 1):
                break
            del self._entries[key]
            self._bytes -= first.size
            gone.append(first)
        return gone

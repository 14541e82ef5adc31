"""Files that were uploaded and shown, and wait for a yes.

They wait in memory, because they can have secrets: few at a time, one for each account, and not for
long.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic

from quire.sentinels.imports import Tool

#: Files that wait, and for how long.
MOST_WAITING = 5
WAITING_S = 900.0


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A file that waits: the account that uploaded it, its bytes, and the tool that wrote it."""

    account: int
    data: bytes
    tool: Tool | None
    key: str
    until: float


class PendingFiles:
    """The files that wait.

    Args:
        clock: the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._files: dict[int, PendingFile] = {}
        self._lock = Lock()

    def put(self, account: int, data: bytes, tool: Tool | None) -> str:
        """Let a file wait, in place of an earlier one of the account; return its key."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._drop_old()
            self._files.pop(account, None)
            while len(self._files) >= MOST_WAITING:
                del self._files[next(iter(self._files))]
            self._files[account] = PendingFile(account, data, tool, key, self._clock() + WAITING_S)
        return key

    def take(self, account: int, key: str) -> PendingFile | None:
        """Return a file and let it go; None if it does not wait any more."""
        with self._lock:
            self._drop_old()
            found = self._files.get(account)
            if found is None or not secrets.compare_digest(found.key.encode(), key.encode()):
                return None
            return self._files.pop(account)

    def _drop_old(self) -> None:
        now = self._clock()
        self._files = {name: each for name, each in self._files.items() if each.until > now}

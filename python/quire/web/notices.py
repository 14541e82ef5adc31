"""Notices, as far as the web needs them: dead letters, tests and feeds.

``Service`` has these methods; anything else that has them can stand in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

#: Opens the gate that test messages go through.
OpenGate: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]


class Notices(Protocol):
    """What the routes about notices call."""

    def dead_letters(self, most: int) -> Any:  # noqa: ANN401 - data classes
        """Return notices that were given up, the newest first."""

    def resend(self, ids: Sequence[str]) -> int:
        """Send dead letters again, and return how many."""

    async def send_test(self, name: Any, gate: Any) -> Any:  # noqa: ANN401 - data classes
        """Send a test message to the targets of a watch."""

    def feed(self, watch: Any = None, tag: str | None = None) -> bytes:  # noqa: ANN401
        """Return the Atom feed of a watch or of a tag."""

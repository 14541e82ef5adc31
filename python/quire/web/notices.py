"""Notices, as far as the web needs them: dead letters, tests and feeds.

``Service`` has these methods; anything else that has them can stand in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NoReturn, Protocol, TypeAlias, runtime_checkable

from quire.web.answers import Problem

#: Opens the gate that test messages go through.
OpenGate: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]


@runtime_checkable
class Notices(Protocol):
    """What the routes about notices call."""

    def dead_letters(self, most: int) -> Any:  # noqa: ANN401 - data classes
        """Return notices that were given up, the newest first."""

    def resend(self, ids: Sequence[str]) -> int:
        """Send dead letters again, and return how many."""

    async def send_test(self, name: Any, gate: Any) -> Any:  # noqa: ANN401 - data classes
        """Send a test message to the targets of a watch."""

    def refused_targets(self, targets: Sequence[str]) -> dict[str, str]:
        """Return the targets that the operator does not allow, and why."""

    def feed(self, watch: Any = None, tag: str | None = None) -> bytes:  # noqa: ANN401
        """Return the Atom feed of a watch or of a tag."""


class NoNotices:
    """Stands in where notices are not set up: every call says so."""

    def dead_letters(self, most: int) -> NoReturn:
        """Refuse."""
        _refuse(most)

    def resend(self, ids: Sequence[str]) -> NoReturn:
        """Refuse."""
        _refuse(ids)

    async def send_test(self, name: Any, gate: Any) -> NoReturn:  # noqa: ANN401 - as above
        """Refuse."""
        _refuse(name, gate)

    def refused_targets(self, targets: Sequence[str]) -> dict[str, str]:
        """Refuse none."""
        del targets
        return {}

    def feed(self, watch: Any = None, tag: str | None = None) -> NoReturn:  # noqa: ANN401
        """Refuse."""
        _refuse(watch, tag)


def _refuse(*_: object) -> NoReturn:
    raise Problem(501, "notices are not set up in this service")

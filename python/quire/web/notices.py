"""Notices, as far as the web needs them: dead letters, tests and feeds.

``Service`` has these methods; anything else that has them can stand in for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol, runtime_checkable

from quire.web.answers import Problem


@runtime_checkable
class Notices(Protocol):
    """What the routes about notices call. Methods may also be coroutines."""

    def dead_letters(self, most: int) -> Any:  # noqa: ANN401 - plain data or data classes
        """Return notices that were given up, the newest first."""

    def resend(self, ids: Sequence[int]) -> Any:  # noqa: ANN401 - how many
        """Send dead letters again."""

    def send_test(self, name: Any) -> Any:  # noqa: ANN401 - what happened
        """Send a test notice to the targets of a watch."""

    def feed(self, watch: Any = None, tag: str | None = None) -> Any:  # noqa: ANN401 - Atom
        """Return the feed of a watch or of a tag."""


class NoNotices:
    """Stands in where notices are not set up: every call says so."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        del args, kwargs
        raise Problem(501, "notices are not set up in this service")

    dead_letters = resend = send_test = feed = _refuse

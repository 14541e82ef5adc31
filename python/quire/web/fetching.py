"""Fetching, as far as the web needs it: the application gets a function that goes through the gate.

Nothing in this package reaches the network by itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias


class FetchedPage(Protocol):
    """An answer of the gate, as far as the web uses it."""

    @property
    def url(self) -> str:
        """The address that answered, after redirects."""

    @property
    def body(self) -> bytes:
        """The decoded body."""

    def header(self, name: str) -> str | None:
        """Return a header field."""


#: Fetches one page that a person asked for; raises ``FetchFailed``.
FetchPage: TypeAlias = Callable[[str], Awaitable[FetchedPage]]

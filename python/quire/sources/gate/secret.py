"""Secrets: passwords, cookies and tokens that must not appear in logs, messages and exports."""

from __future__ import annotations

from typing import Final


class Secret:
    """A text that does not show itself: not in ``repr``, ``str``, formats, pickles or JSON.

    >>> token = Secret("abc")
    >>> token, f"{token}"
    (Secret(…), '…')
    >>> token.reveal()
    'abc'
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text: Final = text

    def reveal(self) -> str:
        """Return the text, to send it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __str__(self) -> str:
        return "…"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret cannot be pickled; send its text on purpose, with reveal()")

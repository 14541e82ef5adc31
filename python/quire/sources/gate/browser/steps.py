"""Steps: what the browser does on a page before it is read, for cookie walls and logins.

A selector is CSS, or XPath if it starts with ``/``, ``(`` or ``xpath:``. ``within_s`` is how long a
step may take, in seconds; the limit of the browser if None.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from quire.sources.gate.secret import Secret
from quire.sources.gate.urls import parse

# Longer than any person's patience with a login page.
MOST_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Open:
    """Open another page in the same window."""

    url: str
    within_s: float | None = None

    def __post_init__(self) -> None:
        parse(self.url)


@dataclass(frozen=True, slots=True)
class Click:
    """Click on the first element that matches a selector."""

    selector: str
    within_s: float | None = None


@dataclass(frozen=True, slots=True)
class Type:
    """Fill a field with a text, which may be a secret."""

    selector: str
    text: str | Secret
    within_s: float | None = None


@dataclass(frozen=True, slots=True)
class Press:
    """Press a key, such as ``Enter``, in the element that has the focus."""

    key: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait until an element matches a selector, or for some seconds."""

    selector: str | None = None
    seconds: float = field(default=0.0)
    within_s: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seconds <= MOST_WAIT_S:
            raise ValueError(f"seconds is {self.seconds}; expected 0 to {MOST_WAIT_S:g}")


Step = Open | Click | Type | Press | Wait

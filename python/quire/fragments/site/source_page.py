"""A page as bytes with its name and address: what plans and boilerplate removal take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page that goes into a plan.

    Attributes:
        name: what it is called where it came from.
        url: its address, where that is known; else its name.
        body: its bytes.
        content_type: what it was served as.
    """

    name: str
    url: str
    body: bytes
    content_type: str | None = None

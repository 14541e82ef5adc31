"""A page as bytes with its name and address: the input of plans and of boilerplate removal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page.

    Attributes:
        name: its name where it came from.
        url: its address if known, else its name.
        body: its bytes.
        content_type: the type it was served as.
    """

    name: str
    url: str
    body: bytes
    content_type: str | None = None

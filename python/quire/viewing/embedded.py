"""Style sheets, images and fonts that are written into a document, because it loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Sheet:
    """A style sheet.

    Attributes:
        text: its text.
        url: the address that others in it are relative to.
    """

    text: str
    url: str


class Looks(Protocol):
    """Gives style sheets, images and fonts by their absolute addresses, without fragments."""

    def sheet(self, url: str) -> Sheet | None:
        """Return a style sheet; None if there is none."""

    def image(self, url: str) -> str | None:
        """Return an image as a ``data:`` address; None if there is none."""

    def font(self, url: str) -> str | None:
        """Return a font as a ``data:`` address; None if there is none."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Looks that are known beforehand.

    Attributes:
        styles: the texts of style sheets.
        images: images, each as a ``data:`` address.
        fonts: fonts, likewise.
    """

    styles: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    fonts: Mapping[str, str] = field(default_factory=dict)

    def sheet(self, url: str) -> Sheet | None:
        """Return a style sheet; None if there is none."""
        return Sheet(self.styles[url], url) if url in self.styles else None

    def image(self, url: str) -> str | None:
        """Return an image; None if there is none."""
        return self.images.get(url)

    def font(self, url: str) -> str | None:
        """Return a font; None if there is none."""
        return self.fonts.get(url)


#: For documents that show only styles and images inside their pages.
NOTHING = Embedded()

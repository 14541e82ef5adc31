"""Style sheets and images that are written into a document, because it loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Embedded:
    """Style sheets and images by their absolute addresses, without fragments.

    Attributes:
        styles: the texts of style sheets.
        images: images, each as a ``data:`` address.
    """

    styles: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)


#: For documents that show only styles and images inside their pages.
NOTHING = Embedded()

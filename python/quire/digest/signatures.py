"""Signatures: 128 bits that stand for a whole facet of a page.

Two pages with equal signatures of a facet are equal in that facet. What a facet
compares is what a reader would compare: character references decoded, quoting and
the order of attributes ignored (see ``docs/concepts/digest.md``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, repr=False)
class Signatures:
    """The signatures of a page, one for its bytes and one for each facet.

    >>> Signatures(1, 2, 3, 4, 5, 6, 7)
    Signatures(source=0x00000000000000000000000000000001, ...
               images=0x00000000000000000000000000000007)

    Attributes:
        source: the bytes of the page.
        structure: child counts.
        tags: names, and which node has which.
        attributes: names and values, as a reader compares them.
        content: decoded texts.
        links: addresses in ``href``, ``action`` and the like.
        images: addresses of images.
    """

    source: int
    structure: int
    tags: int
    attributes: int
    content: int
    links: int
    images: int

    @classmethod
    def of(cls, values: Iterable[int]) -> Self:
        """Name signatures that come in the order they are stored."""
        return cls(*values)

    def __repr__(self) -> str:
        fields = (
            f"{field.name}={getattr(self, field.name):#034x}" for field in dataclasses.fields(self)
        )
        return f"Signatures({', '.join(fields)})"

"""Signatures: a 128-bit hash of each facet of a page.

If two pages have the same signature of a facet, they are equal in that facet. Facets are compared
as a reader would compare them: character references are decoded, and quoting and the order of
attributes are ignored (see ``docs/concepts/digest.md``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, repr=False)
class Signatures:
    """The signatures of a page: one of its bytes and one of each facet.

    >>> Signatures(1, 2, 3, 4, 5, 6, 7)
    Signatures(source=0x00000000000000000000000000000001, ...
               images=0x00000000000000000000000000000007)

    Attributes:
        source: the bytes of the page.
        structure: child counts.
        tags: the tag name of every node.
        attributes: attribute names and decoded values.
        content: decoded texts.
        links: addresses in ``href``, ``action`` and similar attributes.
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
        """Make signatures from values in the order in which a digest stores them."""
        return cls(*values)

    def __repr__(self) -> str:
        fields = (
            f"{field.name}={getattr(self, field.name):#034x}" for field in dataclasses.fields(self)
        )
        return f"Signatures({', '.join(fields)})"

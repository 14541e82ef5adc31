"""Facets, statuses and kinds of change: the vocabulary of every comparison."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from typing import Literal, TypeAlias, get_args

from quire.digest.signatures import Signatures

Facet: TypeAlias = Literal["structure", "tags", "attributes", "content", "links", "images"]
ChangeKind: TypeAlias = Literal["inserted", "deleted", "moved", "renamed", "updated", "layout"]

ALL_FACETS: tuple[Facet, ...] = get_args(Facet)


class Status(IntFlag):
    """What happened to a node, as bits; 0 for an unchanged node.

    >>> Status(18)
    <Status.MOVED|CONTENT: 18>

    Attributes:
        ALONE: the node has no partner: it was deleted (old page) or inserted (new page).
        MOVED: the node moved, together with everything below it.
        TAG: its tag name changed.
        ATTRIBUTES: its attributes changed.
        CONTENT: its own content changed.
        LAYOUT: white space between elements that changed, was added or was removed.
        OUTSIDE: the node was not compared.
        LINKS: its link target changed, or it was added or removed and has a link.
        IMAGES: its images changed, or it was added or removed and has images.
    """

    ALONE = 1
    MOVED = 2
    TAG = 4
    ATTRIBUTES = 8
    CONTENT = 16
    LAYOUT = 32
    OUTSIDE = 64
    LINKS = 128
    IMAGES = 256


def check_facets(facets: Iterable[Facet] | Facet) -> tuple[Facet, ...]:
    """Return facets in their usual order, without duplicates.

    >>> check_facets(["links", "content", "links"]), check_facets("tags")
    (('content', 'links'), ('tags',))

    Raises:
        ValueError: a facet does not exist.
    """
    asked = {facets} if isinstance(facets, str) else set(facets)
    unknown = sorted(asked.difference(ALL_FACETS), key=repr)
    if unknown:
        raise ValueError(f"unknown facet {unknown[0]!r}; expected {', '.join(ALL_FACETS)}")
    return tuple(facet for facet in ALL_FACETS if facet in asked)


def differing(
    old: Signatures, new: Signatures, facets: Iterable[Facet] = ALL_FACETS
) -> tuple[Facet, ...]:
    """Return those of the facets that two pages have different signatures of.

    >>> import quire
    >>> old, new = quire.encode(b"<p id=a>x"), quire.encode(b"<p id=b>x")
    >>> differing(old.signatures, new.signatures)
    ('attributes',)
    """
    return tuple(facet for facet in facets if getattr(old, facet) != getattr(new, facet))

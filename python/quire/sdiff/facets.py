"""Facets, statuses and kinds of change: the words that everything about changes is said in."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from typing import Literal, TypeAlias, get_args

Facet: TypeAlias = Literal["structure", "tags", "attributes", "content", "links", "images"]
ChangeKind: TypeAlias = Literal["inserted", "deleted", "moved", "renamed", "updated", "layout"]

ALL_FACETS: tuple[Facet, ...] = get_args(Facet)


class Status(IntFlag):
    """What became of a node, as bits; none for a node that did not change.

    >>> Status(18)
    <Status.MOVED|CONTENT: 18>

    Attributes:
        ALONE: it has no partner: deleted on the old page, inserted on the new one.
        MOVED: it is somewhere else now, and with it all below it.
        TAG: its name changed.
        ATTRIBUTES: its attributes changed.
        CONTENT: its own content changed.
        LAYOUT: white space that only lays the source out, and changed, came or went.
        OUTSIDE: it was not compared.
        LINKS: what it links to changed, or it came or went with a link.
        IMAGES: the images it shows changed, or it came or went with some.
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
    """Give facets in their usual order, each once.

    >>> check_facets(["links", "content", "links"]), check_facets("tags")
    (('content', 'links'), ('tags',))

    Raises:
        ValueError: one is not known.
    """
    asked = {facets} if isinstance(facets, str) else set(facets)
    unknown = sorted(asked.difference(ALL_FACETS), key=repr)
    if unknown:
        raise ValueError(f"facet {unknown[0]!r} is not known; known are {', '.join(ALL_FACETS)}")
    return tuple(facet for facet in ALL_FACETS if facet in asked)

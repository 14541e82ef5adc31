"""A sentinel: what to watch on a page, and when to fire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from quire.sdiff.facets import Facet
from quire.sentinels.conditions.conditions import (
    All,
    AnyOf,
    Changed,
    Condition,
    Fired,
    NeverSeen,
    NewRecord,
    Not,
    Number,
    State,
    Text,
    Unchanged,
)
from quire.sentinels.parts.location import Location
from quire.sentinels.parts.part import Part

#: Conditions that can become true although no watched part changed.
TIMELY = (Unchanged, State, Fired)


@dataclass(frozen=True, slots=True)
class Sentinel:
    """What to watch on a page, and when to fire.

    It fires if one of its parts changed and its condition holds. A condition about time, about the
    state of the page or about other sentinels is judged at every check.

    >>> from quire.sentinels.parts import Location, Part
    >>> Sentinel("price", (Part(Location(("#price",))),)).is_timely
    False

    Attributes:
        name: unique on its page.
        parts: what must change.
        when: the condition; None for any change.
        every: checks it takes part in: every one, every second one and so on.
    """

    name: str
    parts: tuple[Part, ...]
    when: Condition | None = None
    every: int = 1

    @property
    def is_timely(self) -> bool:
        """Whether its condition is judged at every check, whatever changed."""
        return self.when is not None and any(isinstance(each, TIMELY) for each in walk(self.when))

    @property
    def facets(self) -> frozenset[Facet]:
        """The facets of the page that its parts depend on."""
        return frozenset().union(*(part.facets for part in self.parts))

    @property
    def condition(self) -> Condition:
        """The condition, also if none was given."""
        if self.when is not None:
            return self.when
        changed = tuple(Changed(part) for part in self.parts)
        return changed[0] if len(changed) == 1 else AnyOf(changed)


def relocated(sentinel: Sentinel, part: int, selector: str) -> Sentinel:
    """Return a sentinel that looks for one of its parts at another place.

    Conditions about the same location look there too.

    >>> from quire.sentinels.parts import Location, Part
    >>> moved = relocated(Sentinel("a", (Part(Location(("#price",))),)), 0, "b.price")
    >>> moved.parts[0].location.where
    ('b.price',)
    """
    old = sentinel.parts[part].location
    new = Location((selector,), old.without)

    def of(each: Part) -> Part:
        return replace(each, location=new) if each.location == old else each

    def condition(each: Condition) -> Condition:
        if isinstance(each, All | AnyOf):
            return replace(each, conditions=tuple(condition(one) for one in each.conditions))
        if isinstance(each, Not):
            return replace(each, condition=condition(each.condition))
        if isinstance(each, Changed | Text | Number | NeverSeen | NewRecord):
            return replace(each, part=of(each.part))
        return each

    return replace(
        sentinel,
        parts=tuple(of(each) for each in sentinel.parts),
        when=None if sentinel.when is None else condition(sentinel.when),
    )


def walk(condition: Condition) -> Iterator[Condition]:
    """Return a condition and all conditions inside it.

    >>> from quire.sentinels.conditions import Count
    >>> [str(each) for each in walk(Not(Count("li")))]
    ['not: count("li") >= 1', 'count("li") >= 1']
    """
    left = [condition]
    while left:
        each = left.pop()
        yield each
        if isinstance(each, All | AnyOf):
            left.extend(each.conditions)
        elif isinstance(each, Not):
            left.append(each.condition)

"""Places: where a node is on a page, in a way that finds it on other versions of the page.

A place is a path of steps from the root, or from an element with an id, down to an element; and for
a text, which of the texts of that element it is. A step names the element, its id, its classes, and
which of its siblings with the same names it is, so that siblings of other kinds can come and go.

A place is made from two versions, and only names that both have are used: many sites make up ids and
classes anew for every response.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from quire.digest.page import Digest
from quire.errors import SelectorError

#: Steps of the longest place.
MOST_STEPS = 40
#: Children of an element with more of them have no place: looking through them would take too long.
MOST_SIBLINGS = 2_000
#: In ``Step.nth``: all siblings with these names.
ALL = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One step down from an element to one of its children.

    Attributes:
        tag: the name of the child.
        ident: its id; empty if it has none that lasts.
        classes: those of its classes that last, sorted.
        nth: which of the children with these names it is, from 1; ``ALL`` for all of them.
    """

    tag: str
    ident: str
    classes: tuple[str, ...]
    nth: int

    def __str__(self) -> str:
        """Return the step much as CSS would write it."""
        names = self.tag + (f"#{self.ident}" if self.ident else "")
        names += "".join(f".{name}" for name in self.classes)
        return f"{names}[{self.nth}]" if self.nth > 1 else names


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node is.

    Attributes:
        steps: the way to its element.
        text: which text of the element it is, from 1; 0 for the element itself.
    """

    steps: tuple[Step, ...]
    text: int = 0

    def __str__(self) -> str:
        """Return the place for people.

        >>> str(Place((Step("div", "top", (), 1), Step("b", "", ("clock",), 2))))
        'div#top > b.clock[2]'
        """
        return " > ".join(map(str, self.steps))

    def to_json(self) -> list[Any]:
        """Return the place as JSON."""
        steps = [[each.tag, each.ident, list(each.classes), each.nth] for each in self.steps]
        return [steps, self.text]

    @classmethod
    def from_json(cls, data: list[Any]) -> Place:
        """Return a place from JSON."""
        steps, text = data
        return cls(
            tuple(Step(tag, ident, tuple(classes), nth) for tag, ident, classes, nth in steps), text
        )


#: Nodes with a text of their own: texts, and values of JSON.
TEXTS = frozenset({"#text", "#string", "#number", "#true", "#false", "#null"})


class Map:
    """One version of a page, for making and finding places."""

    def __init__(self, page: Digest) -> None:
        self.page: Digest = page
        self._names: list[str] = [str(name) for name in page.tags]
        self._ids: dict[str, list[int]] = {}
        self._tags = page.tag
        self._sizes = page.size
        self._children: dict[int, list[int]] = {}
        self._by_name: dict[int, dict[tuple[str, str], list[int]]] = {}
        self._known: dict[int, tuple[str, frozenset[str]]] = {}

    def tag(self, node: int) -> str:
        """Return the name of a node."""
        return self._names[int(self._tags[node])]

    def ident(self, node: int) -> str:
        """Return the id of an element."""
        return self._named(node)[0]

    def classes(self, node: int) -> frozenset[str]:
        """Return the classes of an element."""
        return self._named(node)[1]

    def children(self, node: int) -> list[int]:
        """Return the children of a node; none if there are very many."""
        found = self._children.get(node)
        if found is None:
            found = []
            child, end = node + 1, node + int(self._sizes[node])
            while child < end and len(found) <= MOST_SIBLINGS:
                found.append(child)
                child += int(self._sizes[child])
            if len(found) > MOST_SIBLINGS:
                found = []
            self._children[node] = found
        return found

    def texts(self, node: int) -> list[int]:
        """Return the texts of an element that are not blank."""
        return [
            child
            for child in self.children(node)
            if self.tag(child) in TEXTS and self.page.text(child).strip()
        ]

    def is_element(self, node: int) -> bool:
        """Tell whether a node is an element; objects, arrays and names of JSON are."""
        tag = self.tag(node)
        return not tag.startswith("#") or tag in ("#object", "#array")

    def matching(self, parent: int, step: Step) -> list[int]:
        """Return the children of a node that have the names of a step."""
        by_name = self._by_name.get(parent)
        if by_name is None:
            by_name = self._by_name[parent] = {}
            for child in self.children(parent):
                tag = self.tag(child)
                for name in ("", *self.classes(child)):
                    by_name.setdefault((tag, name), []).append(child)
        name = step.classes[0] if step.classes else ""
        found = by_name.get((step.tag, name), [])
        if len(step.classes) <= 1 and not step.ident:
            return found
        return [child for child in found if self._matches(child, step)]

    def find(self, place: Place) -> list[int]:
        """Return the nodes at a place; several only if a step means all siblings."""
        found = self._start(place.steps[0]) if place.steps else []
        for step in place.steps[1:]:
            found = [child for node in found for child in self._down(node, step)]
        if not place.text:
            return found
        nodes = []
        for node in found:
            texts = self.texts(node)
            nodes += texts[place.text - 1 : place.text]
        return nodes

    def _start(self, step: Step) -> list[int]:
        if step.ident:
            return [node for node in self._with_id(step.ident) if self._matches(node, step)][:1]
        return self._down(0, step)

    def _down(self, node: int, step: Step) -> list[int]:
        found = self.matching(node, step)
        return found if step.nth == ALL else found[step.nth - 1 : step.nth]

    def _with_id(self, ident: str) -> list[int]:
        found = self._ids.get(ident)
        if found is None:
            try:
                found = self.page.select(f"[id={json.dumps(ident, ensure_ascii=False)}]").tolist()
            except SelectorError:  # an id that cannot be written in a selector
                found = []
            self._ids[ident] = found
        return found

    def _matches(self, node: int, step: Step) -> bool:
        if self.tag(node) != step.tag:
            return False
        if step.ident and self.ident(node) != step.ident:
            return False
        return not step.classes or self.classes(node).issuperset(step.classes)

    def _named(self, node: int) -> tuple[str, frozenset[str]]:
        found = self._known.get(node)
        if found is None:
            attributes = self.page.attributes(node) if self.page.attr[node] >= 0 else {}
            found = (attributes.get("id", ""), frozenset(attributes.get("class", "").split()))
            self._known[node] = found
        return found


def place_of(one: Map, node: int, other: Map, partner: int) -> Place | None:
    """Return the place of a node that two versions have; None if there is none that finds both.

    >>> import quire
    >>> old, new = (Map(quire.encode(b"<p class=%d><b>%d</b>" % (n, n))) for n in (1, 2))
    >>> str(place_of(old, 5, new, 5))
    'html > body > p > b'

    Args:
        one: a version.
        node: a node of it: an element, or a text.
        other: another version.
        partner: the same node there.
    """
    text = 0
    if not one.is_element(node):
        above, beside = int(one.page.parent[node]), int(other.page.parent[partner])
        texts, others = one.texts(above), other.texts(beside)
        if node not in texts or partner not in others:
            return None
        text = texts.index(node) + 1
        if others.index(partner) + 1 != text:
            return None
        node, partner = above, beside
    steps: list[Step] = []
    here, there = node, partner
    while here > 0 and there > 0:
        step = _step(one, here, other, there)
        if step is None or len(steps) >= MOST_STEPS:
            return None
        steps.append(step)
        if step.ident and len(one.find(Place((step,)))) == 1:
            break
        here, there = int(one.page.parent[here]), int(other.page.parent[there])
    place = Place(tuple(reversed(steps)))
    is_found = one.find(place) == [node] and other.find(place) == [partner]
    return Place(place.steps, text) if is_found else None


def _step(one: Map, here: int, other: Map, there: int) -> Step | None:
    tag = one.tag(here)
    if other.tag(there) != tag:
        return None
    ident = one.ident(here) if one.ident(here) == other.ident(there) else ""
    classes = tuple(sorted(one.classes(here) & other.classes(there)))
    above, beside = int(one.page.parent[here]), int(other.page.parent[there])
    for names in (classes, ()) if classes else ((),):
        step = Step(tag, ident, names, ALL)
        mine, others = one.matching(above, step), other.matching(beside, step)
        if here not in mine or there not in others:
            return None
        nth = mine.index(here) + 1
        if others.index(there) + 1 == nth:
            return Step(tag, ident, names, nth)
    return None

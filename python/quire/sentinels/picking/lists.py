"""Lists: the elements that are like the chosen one, such as all prices in a list of products."""

from __future__ import annotations

from dataclasses import dataclass

from quire.digest.page import Digest
from quire.errors import SelectorError
from quire.sentinels.picking.names import Cost, simple_selectors
from quire.sentinels.picking.selectors import MOST_ABOVE, SelectorMaker

#: Fewer items are not a list.
LEAST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class Alike:
    """Elements that are like the chosen one, each in its item of a list.

    Attributes:
        selector: finds all of them.
        count: how many there are.
        items: how many items the list has.
        node: the list itself.
    """

    selector: str
    count: int
    items: int
    node: int


def alike(make: SelectorMaker, node: int) -> Alike | None:
    """Return the elements that are like this one; None if it is not in a list.

    >>> import quire
    >>> page = quire.encode(b"<ul class=menu><li>Fish <b>9</b><li>Chips <b>4</b><li>Peas <b>2</b></ul>")
    >>> alike(SelectorMaker(page), 7)
    Alike(selector='ul.menu b', count=3, items=3, node=4)
    """
    page = make.page
    at, steps = node, []
    for _ in range(MOST_ABOVE):
        above = int(page.parent[at])
        if above <= 0:
            return None
        steps.append(_step(make, at))
        items = _items(page, above, at)
        if len(items) >= LEAST_ITEMS:
            selector = " > ".join([make.selector(above), *reversed(steps)])
            found = _found(page, selector)
            if selector[0] not in "/(" and node in found and len(found) >= LEAST_ITEMS:
                short = _shorter(make, node, above, found) or selector
                return Alike(short, len(found), len(items), above)
        at = above
    return None


def _shorter(make: SelectorMaker, node: int, above: int, found: list[int]) -> str | None:
    """Return a selector of two names that finds the same elements, if there is one."""
    own = _step(make, node)
    for _ in range(MOST_ABOVE):
        if above <= 0:
            return None
        outer = make.step(above)
        if outer != make.name(above) and _found(make.page, f"{outer} {own}") == found:
            return f"{outer} {own}"
        above = int(make.page.parent[above])
    return None


def _step(make: SelectorMaker, node: int) -> str:
    """Return an element as a step that also fits its likes: no ids, no places."""
    attributes = make.page.attributes(node) if make.page.attr[node] >= 0 else {}
    for each in simple_selectors(make.name(node), attributes):
        if Cost.TELLING <= each.cost <= Cost.TAG:
            return each.css
    return make.name(node)


def _items(page: Digest, above: int, node: int) -> list[int]:
    """Return the children of an element with the tag, and a class, of one of them."""
    classes = _classes(page, node)
    found = []
    child, end = above + 1, above + int(page.size[above])
    while child < end:
        if page.tag[child] == page.tag[node]:
            others = _classes(page, child)
            if classes & others or not classes or not others:
                found.append(child)
        child += int(page.size[child])
    return found


def _classes(page: Digest, node: int) -> set[str]:
    attributes = page.attributes(node) if page.attr[node] >= 0 else {}
    return set(attributes.get("class", "").split())


def _found(page: Digest, selector: str) -> list[int]:
    try:
        found: list[int] = page.select(selector).tolist()
    except SelectorError:
        return []
    return found

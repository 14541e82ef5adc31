"""Locations: selectors that choose nodes of a page, and the subtrees they cover.

A subtree is a slice of the columns, so a location is a list of slices: ascending, and without
slices inside other slices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.digest.files import encode
from quire.digest.page import Digest

#: Numbers of nodes, ascending.
Roots = NDArray[np.int64]

WHOLE: Roots = np.zeros(1, np.int64)
WHOLE.flags.writeable = False
NONE: Roots = np.zeros(0, np.int64)
NONE.flags.writeable = False


class WrongLocation(ValueError):
    """A selector gives something other than nodes, such as a number or a text."""


@dataclass(frozen=True, slots=True)
class Location:
    """Selectors that choose parts of a page.

    A selector is CSS. It is XPath if it starts with ``/``, ``(`` or ``xpath:``. In JSON, a selector
    that starts with ``/`` is a JSON Pointer.

    >>> import quire
    >>> page = quire.encode(b"<ul><li>a<li>b<b>c</b></ul>")
    >>> Location(("li",)).roots(page).tolist(), Location(("//li[2]", "b")).roots(page).tolist()
    ([5, 7], [7])

    Attributes:
        where: selectors of what is inside; empty for the whole page.
        without: selectors of what is left out again.
    """

    where: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether this is the whole page, whatever is on it."""
        return not self.where and not self.without

    def roots(self, page: Digest) -> Roots:
        """Return the outermost nodes that are inside.

        Raises:
            SelectorError: a selector is not valid.
            SelectorBudgetExceeded: a selector took too many steps on this page.
            WrongLocation: an expression gives something other than nodes.
        """
        return found_by(page, self.where) if self.where else WHOLE

    def left_out(self, page: Digest) -> Roots:
        """Return the outermost nodes that are left out. Raises the same errors as ``roots``."""
        return found_by(page, self.without) if self.without else NONE


EVERYWHERE = Location()


def found_by(page: Digest, selectors: tuple[str, ...]) -> Roots:
    """Return the outermost nodes that any of the selectors finds."""
    found = [matches(page, selector) for selector in selectors]
    return outermost(page, found[0] if len(found) == 1 else np.concatenate(found))


def outermost(page: Digest, nodes: NDArray[np.integer]) -> Roots:
    """Return those of some nodes that are not below another one, ascending.

    >>> import quire
    >>> outermost(quire.encode(b"<p><b>a</b><p>c"), np.array([6, 4, 5])).tolist()
    [4]
    """
    if len(nodes) <= 1:
        return nodes.astype(np.int64)
    ascending = np.unique(nodes.astype(np.int64))
    ends = np.maximum.accumulate(ascending + page.size[ascending])
    is_outer = np.ones(len(ascending), np.bool_)
    is_outer[1:] = ascending[1:] >= ends[:-1]
    return ascending[is_outer]


def matches(page: Digest, selector: str) -> NDArray[np.integer]:
    """Return all nodes that a selector finds. Raises the same errors as ``Location.roots``."""
    if page.kind == "json" and (selector.startswith("/") or not selector):
        return _pointed(page, selector)
    if selector.startswith(("/", "(", "xpath:")):
        found = page.xpath(selector.removeprefix("xpath:"))
        if isinstance(found, np.ndarray):
            return found
        raise WrongLocation(
            f"{selector!r} gives {type(found).__name__}, expected nodes; "
            "select the element and watch its attributes instead"
        )
    return page.select(selector)


def check_selector(selector: str) -> None:
    """Raise if a selector can never be used.

    >>> check_selector("li:nth-child(")
    Traceback (most recent call last):
    quire.errors.SelectorError: ...

    Raises:
        SelectorError: the selector is not valid.
        WrongLocation: the expression gives something other than nodes.
    """
    matches(encode(b"", kind="html"), selector)


def _pointed(page: Digest, pointer: str) -> NDArray[np.integer]:
    """Follow a JSON Pointer (RFC 6901); nothing if it leads nowhere."""
    at = 1 if page.n > 1 else 0
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        child = _child(page, at, name)
        if child is None:
            return NONE
        at = child
    return np.array([at], np.int64)


def _child(page: Digest, node: int, name: str) -> int | None:
    """Return the value of a member of an object, or an item of an array."""
    child, end = node + 1, node + int(page.size[node])
    is_array = str(page.tags[page.tag[node]]) == "#array"
    place = 0
    while child < end:
        if is_array:
            if str(place) == name:
                return child
        elif str(page.tags[page.tag[child]]) == name:
            return child + 1
        place += 1
        child += int(page.size[child])
    return None

"""Locations: selectors that choose nodes of a page, and the subtrees they cover.

A subtree is a slice of the columns, so a location is a list of slices: ascending, and without
slices inside other slices.

An XPath expression can also give texts: the values of attributes (``//a/@href``), or the result of
a function (``xpath:string(//h1)``). Texts have no subtree; they are read as they are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.digest.files import encode
from quire.digest.page import Digest
from quire.sentinels.parts.feeds import feed_entries

#: Numbers of nodes, ascending.
Roots = NDArray[np.int64]

WHOLE: Roots = np.zeros(1, np.int64)
WHOLE.flags.writeable = False
NONE: Roots = np.zeros(0, np.int64)
NONE.flags.writeable = False

#: A page for trying selectors.
EMPTY_PAGE = encode(b"", kind="html")


#: The entries of a feed, and what identifies them.
FEED_ENTRIES = "feed:entries"
FEED_KEYS = "feed:keys"
FEED_SELECTORS = (FEED_ENTRIES, FEED_KEYS)

# A step along the attributes at the end of an expression, perhaps with predicates behind it.
_ENDS_IN_ATTRIBUTE = re.compile(
    r"(?:@|attribute\s*::)\s*(?:\*|[\w.-]+(?:\s*:\s*[\w.*-]+)?|node\(\s*\))\s*"
    r"(?:\[[^\]]*\]\s*|\)\s*)*"
)
_ALL_ATTRIBUTES = re.compile(r"(?:@|attribute\s*::)\s*(?:[\w.-]+\s*:\s*)?(?:\*|node\()")
# XPath has no name that starts with a digit, so this can only be a JSON Pointer into an array.
_POINTER = re.compile(r"(?:/[^/\[\]@()|]*)*?/[0-9]+(?:/[^/]*)*")


class WrongLocation(ValueError):
    """A selector gives texts, where nodes are needed."""


@dataclass(frozen=True, slots=True)
class Location:
    """Selectors that choose parts of a page.

    A selector is CSS. It is XPath if it starts with ``/``, ``(`` or ``xpath:``. In JSON, a selector
    that starts with ``/`` or ``json:`` is a JSON Pointer. In feeds, ``feed:entries`` gives the title
    and the address of each entry, and ``feed:keys`` what identifies each.

    >>> import quire
    >>> page = quire.encode(b"<ul><li>a<li>b<b>c</b></ul><a href=/d>")
    >>> Location(("li",)).roots(page).tolist(), Location(("//li[2]", "b")).roots(page).tolist()
    ([5, 7], [7])
    >>> Location(("//a/@href", "xpath:count(//li)")).texts(page)
    ('/d', '2')

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
        """
        return self.read(page)[0]

    def texts(self, page: Digest) -> tuple[str, ...]:
        """Return the texts that are given by selectors. Raises the same errors as ``roots``."""
        return self.read(page)[1]

    def read(self, page: Digest) -> tuple[Roots, tuple[str, ...]]:
        """Return the outermost nodes and the texts. Raises the same errors as ``roots``."""
        if not self.where:
            return WHOLE, ()
        nodes: list[NDArray[np.integer]] = []
        texts: list[str] = []
        for selector in self.where:
            found = evaluate(page, selector)
            if isinstance(found, np.ndarray):
                nodes.append(found)
            else:
                texts += found
        return _joined(page, nodes), tuple(texts)

    def left_out(self, page: Digest) -> Roots:
        """Return the outermost nodes that are left out.

        Raises:
            SelectorError: a selector is not valid.
            SelectorBudgetExceeded: a selector took too many steps on this page.
            WrongLocation: an expression gives texts.
        """
        if not self.without:
            return NONE
        return _joined(page, [matches(page, selector) for selector in self.without])


EVERYWHERE = Location()


def _joined(page: Digest, found: list[NDArray[np.integer]]) -> Roots:
    if not found:
        return NONE
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


def inside(page: Digest, nodes: NDArray[np.integer], roots: Roots) -> NDArray[np.bool_]:
    """Tell for each node whether it is one of the roots or below one.

    >>> import quire
    >>> inside(quire.encode(b"<p><b>a</b><p>c"), np.array([4, 5, 7]), np.array([4])).tolist()
    [True, True, False]
    """
    if not len(roots):
        return np.zeros(len(nodes), np.bool_)
    before = np.searchsorted(roots, nodes, side="right") - 1
    ends = roots + page.size[roots]
    found: NDArray[np.bool_] = (before >= 0) & (nodes < ends[np.maximum(before, 0)])
    return found


def evaluate(page: Digest, selector: str) -> NDArray[np.integer] | list[str]:
    """Return all nodes that a selector finds, or the texts that it gives.

    Texts have no white space around them, and none is empty. Values of all attributes (``@*``) are
    sorted, because the order of attributes means nothing.

    Raises:
        SelectorError: the selector is not valid.
        SelectorBudgetExceeded: the selector took too many steps on this page.
    """
    if selector in FEED_SELECTORS:
        entries = feed_entries(page) or []
        texts = [each.line if selector == FEED_ENTRIES else each.key for each in entries]
        return [text for text in texts if text]
    pointer = _as_pointer(selector)
    if page.kind == "json" and (pointer is not None or selector.startswith("/") or not selector):
        return _pointed(page, selector if pointer is None else pointer)
    if pointer is not None:
        return NONE
    if not selector.startswith(("/", "(", "xpath:")):
        return page.select(selector)
    found = page.xpath(selector.removeprefix("xpath:"))
    if isinstance(found, np.ndarray):
        return found
    texts = found if isinstance(found, list) else [_written(found)]
    stripped = [" ".join(text.split()) for text in texts]
    kept = [text for text in stripped if text]
    return sorted(kept) if _ALL_ATTRIBUTES.search(selector) else kept


def matches(page: Digest, selector: str) -> NDArray[np.integer]:
    """Return all nodes that a selector finds.

    Raises:
        SelectorError: the selector is not valid.
        SelectorBudgetExceeded: the selector took too many steps on this page.
        WrongLocation: the expression gives texts.
    """
    found = evaluate(page, selector)
    if isinstance(found, np.ndarray):
        return found
    raise WrongLocation(f"{selector!r} gives texts; expected a selector of elements")


def gives_texts(selector: str) -> bool:
    """Tell whether a selector gives texts, as far as that can be seen without a page.

    >>> gives_texts("//a/@href"), gives_texts("xpath:count(//a)"), gives_texts("//a[@href]")
    (True, True, False)

    Raises:
        SelectorError: the selector is not valid.
    """
    if not isinstance(evaluate(EMPTY_PAGE, selector), np.ndarray):
        return True
    is_xpath = selector.startswith(("/", "(", "xpath:")) and _as_pointer(selector) is None
    return is_xpath and any(
        _ENDS_IN_ATTRIBUTE.fullmatch(selector, at.start())
        for at in re.finditer("@|attribute", selector)
    )


def check_selector(selector: str, *, elements: bool = False) -> None:
    """Raise if a selector can never be used.

    >>> check_selector("li:nth-child(")
    Traceback (most recent call last):
    quire.errors.SelectorError: ...

    Args:
        selector: the selector.
        elements: whether it must find elements.

    Raises:
        SelectorError: the selector is not valid.
        WrongLocation: it gives texts, and ``elements`` are needed.
    """
    if gives_texts(selector) and elements:
        raise WrongLocation(f"{selector!r} gives texts; expected a selector of elements")


def _written(value: str | float | bool) -> str:  # noqa: FBT001 - whatever the expression gives
    """Return a value as the function ``string`` of XPath writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if math.isfinite(value) else str(value)


def _as_pointer(selector: str) -> str | None:
    """Return a selector that can only be a JSON Pointer, without ``json:``."""
    if selector.startswith("json:"):
        return selector.removeprefix("json:")
    return selector if selector.startswith("/") and _POINTER.fullmatch(selector) else None


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

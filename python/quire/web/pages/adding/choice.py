"""The choice so far: which parts are watched and ignored. It is in the address of the page.

So the back button undoes a click, a reload changes nothing, and the server keeps no state for it.
An item is a node of the page, all nodes that are alike, or a selector that someone wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlencode

import numpy as np

from quire.digest.page import Digest
from quire.errors import SelectorError
from quire.sentinels.parts.location import evaluate
from quire.sentinels.picking import SelectorMaker, alike, element_of

#: Items of one choice.
MOST_ITEMS = 40
_ITEM = re.compile(r"(s?)([0-9]{1,9})(a?)")


class Mode(StrEnum):
    """What a click does."""

    ONE = "one"
    MORE = "more"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Item:
    """One chosen thing.

    Attributes:
        number: the number of a node, or of a selector of the draft.
        is_alike: all elements that are like the node.
        is_written: a selector that someone wrote.
    """

    number: int
    is_alike: bool = False
    is_written: bool = False

    def __str__(self) -> str:
        """Write it as in an address: ``12``, ``12a`` or ``s0``."""
        return f"{'s' if self.is_written else ''}{self.number}{'a' if self.is_alike else ''}"


def read_items(text: str) -> tuple[Item, ...]:
    """Read items from an address; those that are not valid are left out.

    >>> [str(item) for item in read_items("12.40a.s0.x.12")]
    ['12', '40a', 's0']
    """
    found: dict[Item, None] = {}
    for each in text.split(".")[:MOST_ITEMS]:
        match = _ITEM.fullmatch(each)
        if match is not None and not (match[1] and match[3]):
            found[Item(int(match[2]), bool(match[3]), bool(match[1]))] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Choice:
    """Everything that was chosen so far.

    Attributes:
        watch: what is watched; nothing for the whole page.
        ignore: what is left out.
        mode: what the next click does.
        at: the element that was clicked last; it can be widened, and narrowed again.
        plain: whether the page is shown without its own styles.
    """

    watch: tuple[Item, ...] = ()
    ignore: tuple[Item, ...] = ()
    mode: Mode = Mode.ONE
    at: int | None = None
    plain: bool = False

    @classmethod
    def read(
        cls,
        watch: str = "",
        ignore: str = "",
        mode: str = "",
        at: int | None = None,
        plain: int = 0,
    ) -> Choice:
        """Read a choice from the parameters of an address."""
        known = Mode(mode) if mode in set(Mode) else Mode.ONE
        return cls(read_items(watch), read_items(ignore), known, at, bool(plain))

    def query(self, **more: object) -> str:
        """Return the parameters of an address with this choice.

        >>> Choice((Item(5),), mode=Mode.IGNORE).query(click=7)
        'watch=5&mode=ignore&click=7'
        """
        values: dict[str, object] = {
            "watch": ".".join(map(str, self.watch)),
            "ignore": ".".join(map(str, self.ignore)),
            "mode": "" if self.mode is Mode.ONE else self.mode.value,
            "at": self.at,
            "plain": 1 if self.plain else None,
            **more,
        }
        return urlencode({key: value for key, value in values.items() if value not in ("", None)})

    def clicked(self, node: int) -> Choice:
        """Return the choice after a click on an element.

        >>> Choice((Item(5),)).clicked(7).query(), Choice((Item(5),), mode=Mode.MORE).clicked(5).query()
        ('watch=7&at=7', 'mode=more&at=5')
        """
        item = Item(node)
        if self.mode is Mode.ONE:
            return replace(self, watch=(item,), at=node)
        if self.mode is Mode.MORE:
            return replace(self, watch=_toggled(self.watch, item), at=node)
        return replace(self, ignore=_toggled(self.ignore, item), at=node)

    def with_current(self, item: Item) -> Choice:
        """Return the choice with another item in place of the one that was chosen last."""
        if self.mode is Mode.IGNORE:
            return replace(self, ignore=(*self.ignore[:-1], item))
        return replace(self, watch=(*self.watch[:-1], item))

    def without(self, item: Item) -> Choice:
        """Return the choice without an item."""
        return replace(
            self,
            watch=tuple(each for each in self.watch if each != item),
            ignore=tuple(each for each in self.ignore if each != item),
        )

    @property
    def current(self) -> Item | None:
        """The item that was chosen last."""
        items = self.ignore if self.mode is Mode.IGNORE else self.watch
        return items[-1] if items else None


def _toggled(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    if item in items:
        return tuple(each for each in items if each != item)
    return (*items, item)[-MOST_ITEMS:]


class Chooser:
    """A page, and what a choice means on it.

    Args:
        page: the page.
        written: selectors that someone wrote.
    """

    def __init__(self, page: Digest, written: tuple[str, ...] = ()) -> None:
        self.page: Digest = page
        self.make: SelectorMaker = SelectorMaker(page)
        self._written = written

    def element(self, number: int) -> int | None:
        """Return the element with a number, or around it; None if the page has no such node."""
        return element_of(self.page, number) if 0 <= number < self.page.n else None

    def selector(self, item: Item) -> str | None:
        """Return the selector of an item; None if there is no such item."""
        if item.is_written:
            return self._written[item.number] if item.number < len(self._written) else None
        node = self.element(item.number)
        if node is None:
            return None
        if item.is_alike:
            found = alike(self.make, node)
            return None if found is None else found.selector
        return self.make.selector(node)

    def selectors(self, items: Iterable[Item]) -> list[str]:
        """Return the selectors of items, each once."""
        found = (self.selector(item) for item in items)
        return list(dict.fromkeys(each for each in found if each is not None))

    def nodes(self, item: Item) -> list[int]:
        """Return the elements that an item means."""
        selector = self.selector(item)
        if selector is None:
            return []
        try:
            found = evaluate(self.page, selector)
        except SelectorError:
            return []
        return [int(node) for node in found] if isinstance(found, np.ndarray) else []

"""Wishes of a visitor of the list, read from an address or a form and written to one.

Values that make no sense count as not given: an old bookmark shows a list, not an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar
from urllib.parse import urlencode

from quire.sentinels.store.overview.watch_rows import Order, Show, Wanted
from quire.web.pages.forms import whole_number

#: Rows of a page.
MOST_ROWS = 50
#: Characters of a text to search for.
LONGEST_TEXT = 500
#: A tag of any length can be searched for, but not one that no address can have.
LONGEST_TAG = 10_000
_LAST_PAGE = 1_000_000

E = TypeVar("E", bound=Enum)


@dataclass(frozen=True, slots=True)
class Asked:
    """A page of the list.

    Attributes:
        wanted: which watches, and in which order.
        page: which page, from 1.
    """

    wanted: Wanted = field(default_factory=Wanted)
    page: int = 1

    @property
    def offset(self) -> int:
        """How many rows are before this page."""
        return (self.page - 1) * MOST_ROWS

    @property
    def is_plain(self) -> bool:
        """Whether all watches are wanted."""
        return not self.wanted.text and not self.wanted.tag and self.wanted.show is Show.ALL

    def fields(self) -> dict[str, str]:
        """Return the values that are not the usual ones."""
        usual = Wanted()
        found = {
            "text": self.wanted.text,
            "tag": self.wanted.tag,
            "show": "" if self.wanted.show is usual.show else self.wanted.show.value,
            "order": "" if self.wanted.order is usual.order else self.wanted.order.value,
            "page": "" if self.page == 1 else str(self.page),
        }
        return {name: value for name, value in found.items() if value}

    def address(self, **more: str) -> str:
        """Return the address of this page of the list."""
        query = urlencode({**self.fields(), **more}, errors="replace")
        return f"/?{query}" if query else "/"

    def other(
        self, *, show: Show | None = None, order: Order | None = None, tag: str | None = None
    ) -> str:
        """Return the address of the first page of a list with other choices."""
        wanted = replace(
            self.wanted,
            show=show or self.wanted.show,
            order=order or self.wanted.order,
            tag=self.wanted.tag if tag is None else tag,
        )
        return Asked(wanted).address()

    def turned(self, page: int) -> str:
        """Return the address of another page of the same list."""
        return replace(self, page=page).address()


def asked(get: Callable[[str], str | None]) -> Asked:
    """Read which page of the list is asked for.

    >>> asked({"text": " fish ", "show": "paused", "page": "x"}.get).address()
    '/?text=fish&show=paused'

    Args:
        get: returns the value of a field; None if it was not given.
    """
    page = whole_number(get("page")) or 1
    return Asked(
        Wanted(
            text=plain(get("text"), LONGEST_TEXT),
            tag=plain(get("tag"), LONGEST_TAG),
            show=_choice(Show, get("show"), Show.ALL),
            order=_choice(Order, get("order"), Order.CHANGED),
        ),
        min(page, _LAST_PAGE),
    )


def plain(text: str | None, most: int) -> str:
    """Return a text that databases can compare with."""
    usable = (text or "")[:most].replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return usable.strip()


def _choice(kind: type[E], given: str | None, default: E) -> E:
    return next((each for each in kind if each.value == given), default)

"""A row of the list of watches, in words."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from quire.sentinels.store.overview.watch_rows import RowState, WatchRow
from quire.sentinels.store.plain import instant
from quire.web.pages.page import environment
from quire.web.pages.watches import sparkline

#: Characters of an error, and tags of a row.
LONGEST_ERROR = 200
LONGEST_NAME = 120
LONGEST_TAG = 40
MOST_TAGS = 6

#: What states are called, and how much they matter: the class of their badge.
STATES: dict[RowState, tuple[str, str]] = {
    RowState.FINE: ("fine", "good"),
    RowState.MISSING: ("part not found", "warn"),
    RowState.HALF: ("half a page", "warn"),
    RowState.EMPTY: ("empty page", "warn"),
    RowState.BLOCKED: ("blocked", "warn"),
    RowState.ERROR: ("error page", "bad"),
    RowState.GONE: ("page gone", "bad"),
    RowState.FAILING: ("cannot be fetched", "bad"),
    RowState.NEW: ("not checked yet", ""),
    RowState.PAUSED: ("paused", ""),
}


@dataclass(frozen=True, slots=True)
class ShownTag:
    """A tag: its whole name, and the one that fits."""

    name: str
    short: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row as the template shows it."""

    id: int
    name: str
    url: str
    more_pages: int
    tags: tuple[ShownTag, ...]
    more_tags: int
    state: str
    badge: str
    error: str
    asks: bool
    checked: datetime | None
    due: datetime | None
    fired: datetime | None
    spark_path: str
    spark_width: int
    spark_words: str
    changes: int
    mark: str


def shown(row: WatchRow) -> ShownRow:
    """Return a row in words."""
    state, badge = STATES[row.state]
    return ShownRow(
        id=row.id,
        name=short(row.name, LONGEST_NAME),
        url=short(row.url, LONGEST_ERROR),
        more_pages=max(0, row.pages - 1),
        tags=tuple(ShownTag(each, short(each, LONGEST_TAG)) for each in row.tags[:MOST_TAGS]),
        more_tags=max(0, len(row.tags) - MOST_TAGS),
        state=state,
        badge=badge,
        error=short(row.error, LONGEST_ERROR),
        asks=row.asks,
        checked=_time(row.checked),
        due=_time(row.due),
        fired=_time(row.fired),
        spark_path=sparkline.path(row.changes),
        spark_width=sparkline.width(row.changes),
        spark_words=sparkline.words(row.changes),
        changes=sum(row.changes),
        mark=mark(row),
    )


def row_html(row: WatchRow, *, may_edit: bool) -> str:
    """Return a row as HTML, as the list has it."""
    template = environment().get_template("watches/row.html")
    return template.render(row=shown(row), may_edit=may_edit)


def mark(row: WatchRow) -> str:
    """Return what tells a row from how it was before."""
    return hashlib.blake2b(repr(row).encode("utf-8", "replace"), digest_size=5).hexdigest()


def short(text: str, most: int) -> str:
    """Return a text that is not longer than a row should be."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _time(value: float | None) -> datetime | None:
    return None if value is None else instant(value)

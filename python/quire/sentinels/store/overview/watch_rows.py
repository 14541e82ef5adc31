"""One row for each watch: its state, when it was checked, and how often it changed lately.

A watch can have many pages; its row shows the worst of them. Rows are chosen, sorted and counted by
the database, so a page of the list takes five queries, however many watches there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Row,
    Select,
    Text,
    and_,
    case,
    cast,
    false,
    func,
    or_,
    select,
    true,
)

from quire.sentinels.store.overview.tags import tagged, tags_of
from quire.sentinels.store.tables import event, member, page, watch

#: What "lately" means, in seconds.
LATELY_S = 86_400.0
#: The days that a row counts changes of, one number each.
DAYS = 30
DAY_S = 86_400.0


class RowState(Enum):
    """How a watch is doing: that of its worst page. Later ones are worse."""

    FINE = 0
    MISSING = 1
    """A watched part is not on its page."""
    HALF = 2
    EMPTY = 3
    BLOCKED = 4
    ERROR = 5
    GONE = 6
    FAILING = 7
    """A page cannot be fetched."""
    NEW = 8
    """Nothing was checked yet."""
    PAUSED = 9


class Show(Enum):
    """Which watches a list has."""

    ALL = "all"
    CHANGED = "changed"
    """Watches that fired lately."""
    ASKING = "asking"
    """Watches with a question about a part that moved."""
    TROUBLE = "trouble"
    """Watches with a page that cannot be read, or without their part."""
    PAUSED = "paused"
    NEW = "new"
    FINE = "fine"


class Order(Enum):
    """How a list of watches is sorted."""

    CHANGED = "changed"
    """The last change first."""
    CHECKED = "checked"
    """The last check first."""
    DUE = "due"
    """The next check first."""
    NAME = "name"
    ADDED = "added"
    """The newest watch first."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which watches a list has, and how it is sorted.

    Attributes:
        text: a part of the name or of an address.
        tag: a tag.
        show: which states.
        order: how it is sorted.
    """

    text: str = ""
    tag: str = ""
    show: Show = Show.ALL
    order: Order = Order.CHANGED


@dataclass(frozen=True, slots=True)
class WatchRow:
    """A row of the list of watches. Times are seconds since 1970.

    Attributes:
        id: the number of the watch.
        name: its name.
        url: its first address.
        pages: how many pages it has, lists included.
        tags: its tags.
        state: how it is doing.
        error: why a page cannot be fetched; empty if all can.
        asks: whether it has a question.
        checked: when a page of it was last checked; None for never.
        due: when the next check is due; None if it is paused.
        fired: when it last fired.
        changes: changes on each of the last days, the oldest first.
    """

    id: int
    name: str
    url: str
    pages: int
    tags: tuple[str, ...]
    state: RowState
    error: str
    asks: bool
    checked: float | None
    due: float | None
    fired: float | None
    changes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WatchRows:
    """A page of the list of watches.

    Attributes:
        rows: its rows.
        total: how many watches the whole list has.
        counts: how many watches there would be for each choice of states.
    """

    rows: list[WatchRow]
    total: int
    counts: dict[Show, int]


def list_rows(
    connection: Connection, wanted: Wanted, now: float, *, offset: int = 0, most: int = 50
) -> WatchRows:
    """Return a page of the list of watches."""
    whole = _whole(wanted).cte()  # used twice, so the database makes it once
    counted = select(
        *(
            func.coalesce(func.sum(case((_shows(whole, show, now), 1), else_=0)), 0).label(
                f"count_{show.value}"
            )
            for show in Show
        )
    ).subquery()
    chosen = select(whole).where(_shows(whole, wanted.show, now))
    page_of = chosen.order_by(*_order(whole, wanted.order)).offset(offset).limit(most).subquery()
    query = select(counted, page_of).outerjoin(page_of, true())
    found = connection.execute(query.order_by(*_order(page_of, wanted.order))).all()
    counts = {show: int(getattr(found[0], f"count_{show.value}")) for show in Show}
    rows = [row for row in found if row.id is not None]  # an empty page has counts only
    return WatchRows(_rows(connection, rows, now), counts[wanted.show], counts)


def rows_of(connection: Connection, numbers: Sequence[int], now: float) -> list[WatchRow]:
    """Return the rows of some watches, by number. Watches that do not exist have none."""
    whole = _whole(Wanted(), numbers).subquery()
    found = connection.execute(select(whole).order_by(whole.c.id)).all()
    return _rows(connection, found, now)


def matching(connection: Connection, wanted: Wanted, now: float, most: int) -> list[int]:
    """Return the numbers of the watches that a list has, up to ``most``."""
    whole = _whole(wanted).subquery()
    query = select(whole.c.id).where(_shows(whole, wanted.show, now)).order_by(whole.c.id)
    return list(connection.execute(query.limit(most)).scalars())


def _whole(wanted: Wanted, numbers: Sequence[int] | None = None) -> Select[Any]:
    """Return watches with what their pages say together."""
    bad = {state.name.lower(): state.value for state in RowState}
    severity = case(
        (page.c.error.is_not(None), RowState.FAILING.value),
        *((page.c.state == name, bad[name]) for name in ("gone", "error", "blocked", "empty")),
        (page.c.state == "half", RowState.HALF.value),
        (member.c.missing, RowState.MISSING.value),
        else_=RowState.FINE.value,
    )
    asks = func.coalesce(cast(member.c.proposal, Text), "null") != "null"
    of_pages = select(
        member.c.watch,
        func.count().label("pages"),
        func.max(page.c.checked).label("checked"),
        func.min(member.c.due).label("due"),
        func.max(member.c.fired).label("fired"),
        func.max(severity).label("severity"),
        func.max(case((asks, 1), else_=0)).label("asks"),
    ).join(page, page.c.id == member.c.page)
    if numbers is not None:
        of_pages = of_pages.where(member.c.watch.in_(numbers))
    grouped = of_pages.group_by(member.c.watch).subquery()
    state = case(
        (watch.c.paused, RowState.PAUSED.value),
        (grouped.c.checked.is_(None), RowState.NEW.value),
        else_=grouped.c.severity,
    )
    query: Select[Any] = (
        select(
            watch.c.id,
            watch.c.name,
            func.coalesce(grouped.c.pages, 0).label("pages"),
            grouped.c.checked,
            case((watch.c.paused, None), else_=grouped.c.due).label("due"),
            grouped.c.fired,
            func.coalesce(grouped.c.asks, 0).label("asks"),
            state.label("state"),
        )
        .select_from(watch)
        .outerjoin(grouped, grouped.c.watch == watch.c.id)
    )
    if numbers is not None:
        query = query.where(watch.c.id.in_(numbers))
    if wanted.text:
        query = query.where(_has_text(wanted.text))
    if wanted.tag:
        query = query.where(watch.c.id.in_(tagged(wanted.tag)))
    return query


def _has_text(text: str) -> ColumnElement[bool]:
    lower = text.lower()
    pages = (
        select(member.c.watch)
        .join(page, page.c.id == member.c.page)
        .where(func.lower(page.c.url).contains(lower, autoescape=True))
    )
    return or_(func.lower(watch.c.name).contains(lower, autoescape=True), watch.c.id.in_(pages))


def _shows(whole: FromClause, show: Show, now: float) -> ColumnElement[bool]:
    state = whole.c.state
    if show is Show.CHANGED:
        return func.coalesce(whole.c.fired, 0.0) >= now - LATELY_S
    if show is Show.ASKING:
        return whole.c.asks > 0
    if show is Show.TROUBLE:
        return and_(state >= RowState.MISSING.value, state <= RowState.FAILING.value)
    if show is Show.ALL:
        return whole.c.id > 0
    chosen = {
        Show.PAUSED: RowState.PAUSED,
        Show.NEW: RowState.NEW,
        Show.FINE: RowState.FINE,
    }.get(show)
    return false() if chosen is None else state == chosen.value


def _order(whole: FromClause, order: Order) -> Iterable[ColumnElement[Any]]:
    if order is Order.NAME:
        return (func.lower(whole.c.name), whole.c.id)
    if order is Order.ADDED:
        return (whole.c.id.desc(),)
    if order is Order.DUE:
        return (whole.c.due.asc().nulls_last(), whole.c.id)
    column = whole.c.checked if order is Order.CHECKED else whole.c.fired
    return (column.desc().nulls_last(), whole.c.id.desc())


def _rows(connection: Connection, found: Sequence[Row[Any]], now: float) -> list[WatchRow]:
    numbers = [row.id for row in found]
    if not numbers:
        return []
    forms = {
        row.id: row.form
        for row in connection.execute(
            select(watch.c.id, watch.c.form).where(watch.c.id.in_(numbers))
        )
    }
    failed = (
        select(member.c.watch, func.max(page.c.error).label("error"))
        .join(page, page.c.id == member.c.page)
        .where(member.c.watch.in_(numbers), page.c.error.is_not(None))
        .group_by(member.c.watch)
    )
    errors = {row.watch: row.error for row in connection.execute(failed)}
    tags = tags_of(connection, numbers)
    changes = _changes(connection, numbers, now)
    return [
        WatchRow(
            id=row.id,
            name=row.name,
            url=_first_url(forms[row.id]),
            pages=row.pages,
            tags=tags.get(row.id, ()),
            state=RowState(row.state),
            error=errors.get(row.id, ""),
            asks=bool(row.asks),
            checked=row.checked,
            due=row.due,
            fired=row.fired,
            changes=changes.get(row.id, (0,) * DAYS),
        )
        for row in found
    ]


def _first_url(form: dict[str, Any]) -> str:
    url = form.get("url") or next(iter(form.get("urls") or ()), "")
    return str(url)


def _changes(connection: Connection, numbers: list[int], now: float) -> dict[int, tuple[int, ...]]:
    """Count the changes of watches on each of the last days."""
    start = now - DAYS * DAY_S
    days = (event.c.time - start) / DAY_S
    # PostgreSQL rounds when it makes a whole number; SQLite cuts, and may not know floor().
    is_sqlite = connection.dialect.name == "sqlite"
    day = cast(days if is_sqlite else func.floor(days), Integer).label("day")
    rows = connection.execute(
        select(event.c.watch, day, func.count().label("count"))
        .where(event.c.watch.in_(numbers), event.c.time >= start, event.c.kind == "change")
        .group_by(event.c.watch, day)
    )
    found: dict[int, list[int]] = {}
    for row in rows:
        counted = found.setdefault(row.watch, [0] * DAYS)
        counted[min(row.day, DAYS - 1)] += row[2]
    return {number: tuple(counted) for number, counted in found.items()}

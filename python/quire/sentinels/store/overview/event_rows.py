"""Events of all watches, the newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, or_, select

from quire.errors import NotStored
from quire.sentinels.notices.event import EventKind
from quire.sentinels.store.overview.tags import tagged
from quire.sentinels.store.tables import event


@dataclass(frozen=True, slots=True)
class WantedEvents:
    """Which events a list has.

    Attributes:
        watch: only those of this watch.
        tag: only those of watches with this tag.
        kind: only those of this kind.
        before: only those before this time, in seconds since 1970.
    """

    watch: int | None = None
    tag: str = ""
    kind: EventKind | None = None
    before: float | None = None


def list_events(
    connection: Connection, wanted: WantedEvents, *, following: str = "", most: int = 50
) -> Sequence[Row[Any]]:
    """Return events, the newest first.

    Args:
        connection: the database.
        wanted: which events.
        following: only events that follow this one in the list, by its id.
        most: the most events to return.

    Raises:
        NotStored: the event does not exist.
    """
    query = select(event).order_by(event.c.time.desc(), event.c.id).limit(most)
    if wanted.watch is not None:
        query = query.where(event.c.watch == wanted.watch)
    if wanted.tag:
        query = query.where(event.c.watch.in_(tagged(wanted.tag)))
    if wanted.kind is not None:
        query = query.where(event.c.kind == wanted.kind)
    if wanted.before is not None:
        query = query.where(event.c.time < wanted.before)
    if following:
        at = connection.execute(select(event.c.time).where(event.c.id == following)).scalar()
        if at is None:
            raise NotStored(f"there is no event {following!r}")
        rest = and_(event.c.time == at, event.c.id > following)
        query = query.where(or_(event.c.time < at, rest))
    return connection.execute(query).all()

"""Counts of everything in the store, for status pages and metrics."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, Connection, func, select

from quire.sentinels.store.tables import event, notice, page, version, visit, watch


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is.

    Attributes:
        watches: watches that are checked.
        paused: watches that are paused.
        pages: pages, each fetched once for all its watches.
        due: pages that are due now.
        versions: stored versions of pages.
        stored_bytes: bytes that these versions take.
        events: events by their kind.
        notices: notices by their state: ``waiting``, ``sent`` or ``dead``.
        checks: checks by their outcome.
    """

    watches: int
    paused: int
    pages: int
    due: int
    versions: int
    stored_bytes: int
    events: dict[str, int]
    notices: dict[str, int]
    checks: dict[str, int]


def count_all(connection: Connection, now: float) -> Counts:
    """Count everything. This reads whole tables: ask rarely."""
    by_pause = _by(connection, watch.c.paused)
    length = func.coalesce(func.sum(func.length(version.c.data)), 0)
    versions, stored = connection.execute(select(func.count(), length).select_from(version)).one()
    due = select(func.count()).select_from(page).where(page.c.due <= now)
    return Counts(
        watches=by_pause.get("False", 0),
        paused=by_pause.get("True", 0),
        pages=connection.execute(select(func.count()).select_from(page)).scalar_one(),
        due=connection.execute(due).scalar_one(),
        versions=versions,
        stored_bytes=int(stored),
        events=_by(connection, event.c.kind),
        notices=_by(connection, notice.c.state),
        checks=_by(connection, visit.c.outcome),
    )


def _by(connection: Connection, column: Column[str] | Column[bool]) -> dict[str, int]:
    """Count the rows of a table by the values of one column."""
    rows = connection.execute(select(column, func.count()).group_by(column))
    return {str(value): count for value, count in rows}

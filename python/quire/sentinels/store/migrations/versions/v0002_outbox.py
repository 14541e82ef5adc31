"""Queues of notices, and events in the form in which they are sent.

Notices that wait go on waiting, in the order in which they were made. Events get the fields of
``quire-event/1``; the lines that were added and removed become their differences. This file uses
nothing of the rest of quire, which changes while this must not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_CHUNK = 500
_MOST_ENTRIES = 100
_MOST_CHARACTERS = 50_000
_STATES = ("sent", "dead")

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_event = sa.table(
    "event",
    sa.column("id", sa.String()),
    sa.column("watch", sa.BigInteger()),
    sa.column("page", sa.BigInteger()),
    sa.column("kind", sa.String()),
    sa.column("time", sa.Float()),
    sa.column("old", sa.Integer()),
    sa.column("new", sa.Integer()),
    sa.column("body", sa.JSON()),
)
_watch = sa.table("watch", sa.column("id", sa.BigInteger()), sa.column("form", sa.JSON()))
_version = sa.table(
    "version",
    sa.column("page", sa.BigInteger()),
    sa.column("number", sa.Integer()),
    sa.column("time", sa.Float()),
)
_queue = sa.table(
    "queue",
    sa.column("id", sa.BigInteger()),
    sa.column("key", sa.String()),
    sa.column("watch", sa.BigInteger()),
    sa.column("target", sa.Text()),
    sa.column("fence", sa.BigInteger()),
    sa.column("last_place", sa.BigInteger()),
    sa.column("recent", sa.JSON()),
)
_notice = sa.table(
    "notice",
    sa.column("id", sa.BigInteger()),
    sa.column("key", sa.String()),
    sa.column("event", sa.String()),
    sa.column("queue", sa.BigInteger()),
    sa.column("state", sa.String()),
    sa.column("made", sa.Float()),
    sa.column("parcel", sa.String()),
    sa.column("tries", sa.Integer()),
    sa.column("ended", sa.Float()),
    sa.column("reason", sa.Text()),
)
_older = sa.table(
    "notice_0001",
    sa.column("id", sa.BigInteger()),
    sa.column("event", sa.String()),
    sa.column("target", sa.Text()),
    sa.column("state", sa.String()),
    sa.column("tries", sa.Integer()),
    sa.column("due", sa.Float()),
    sa.column("sent", sa.Float()),
    sa.column("error", sa.Text()),
)


def upgrade() -> None:
    """Make the tables anew, and carry all rows over."""
    connection = op.get_bind()
    connection.execute(sa.text("CREATE TABLE notice_0001 AS SELECT * FROM notice"))
    op.drop_table("notice")
    _create_tables()
    for rows in _in_chunks(connection, _event):
        for row in rows:
            connection.execute(
                sa.update(_event).where(_event.c.id == row.id).values(body=_body(connection, row))
            )
    for rows in _in_chunks(connection, _older):
        connection.execute(sa.insert(_notice), [_carried(connection, row) for row in rows])
    op.drop_table("notice_0001")
    if connection.dialect.name == "postgresql":
        connection.execute(
            sa.text(
                "SELECT setval(pg_get_serial_sequence('notice', 'id'),"
                " (SELECT COALESCE(MAX(id), 0) + 1 FROM notice), false)"
            )
        )


def _create_tables() -> None:
    op.create_table(
        "queue",
        sa.Column("id", _ID, nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("watch", _ID, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("due", sa.Float(precision=53), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Float(precision=53), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("last_place", sa.BigInteger(), nullable=False),
        sa.Column("recent", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["watch"], ["watch.id"], name=op.f("fk_queue_watch_watch"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_queue")),
        sa.UniqueConstraint("key", name=op.f("uq_queue_key")),
    )
    op.create_index(op.f("ix_queue_watch"), "queue", ["watch"], unique=False)
    op.create_index(op.f("ix_queue_due"), "queue", ["due"], unique=False)
    op.create_table(
        "notice",
        sa.Column("id", _ID, nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("event", sa.String(length=64), nullable=False),
        sa.Column("queue", _ID, nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("made", sa.Float(precision=53), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=True),
        sa.Column("parcel", sa.String(length=64), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(precision=53), nullable=True),
        sa.Column("ended", sa.Float(precision=53), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["event"], ["event.id"], name=op.f("fk_notice_event_event"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["queue"], ["queue.id"], name=op.f("fk_notice_queue_queue"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notice")),
        sa.UniqueConstraint("key", name=op.f("uq_notice_key")),
    )
    op.create_index(op.f("ix_notice_event"), "notice", ["event"], unique=False)
    op.create_index(op.f("ix_notice_queue"), "notice", ["queue", "state", "place"], unique=False)
    op.create_index(op.f("ix_notice_state"), "notice", ["state", "queue"], unique=False)


def _in_chunks(connection: sa.Connection, table: sa.TableClause) -> Iterator[list[sa.Row[Any]]]:
    """Read a table in the order of its ids; it may change in between."""
    last = None
    while True:
        query = sa.select(table).order_by(table.c.id).limit(_CHUNK)
        if last is not None:
            query = query.where(table.c.id > last)
        rows = list(connection.execute(query))
        if not rows:
            return
        last = rows[-1].id
        yield rows


def _carried(connection: sa.Connection, row: sa.Row[Any]) -> dict[str, Any]:
    watch = connection.execute(
        sa.select(_event.c.watch).where(_event.c.id == row.event)
    ).scalar_one()
    key = _hash(str(watch), row.target)
    find = sa.select(_queue.c.id).where(_queue.c.key == key)
    number = connection.execute(find).scalar()
    if number is None:
        connection.execute(
            sa.insert(_queue).values(
                key=key, watch=watch, target=row.target, fence=0, last_place=0, recent=[]
            )
        )
        number = connection.execute(find).scalar_one()
    return {
        "id": row.id,
        "key": _hash(row.event, row.target),
        "event": row.event,
        "queue": number,
        "state": row.state if row.state in _STATES else "new",
        "made": row.due,
        "parcel": "",
        "tries": row.tries,
        "ended": row.sent,
        "reason": row.error,
    }


def _hash(one: str, target: str) -> str:
    data = f"{one}\n{target}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]


def _body(connection: sa.Connection, row: sa.Row[Any]) -> dict[str, Any]:
    was = row.body
    form = connection.execute(sa.select(_watch.c.form).where(_watch.c.id == row.watch)).scalar_one()
    tags = form.get("tags") or []
    return {
        "schema": "quire-event/1",
        "id": row.id,
        "kind": row.kind,
        "watch": str(row.watch),
        "name": was.get("watch", ""),
        "url": was.get("url", ""),
        "time": _time(row.time),
        "old": {"version": row.old, "time": _version_time(connection, row.page, row.old)},
        "new": {"version": row.new, "time": _version_time(connection, row.page, row.new)},
        "aspects": was.get("changed", []),
        "reason": was.get("message", ""),
        "finding": was.get("finding"),
        "differences": _differences(was.get("removed", []), was.get("added", [])),
        "tags": [tags] if isinstance(tags, str) else list(tags),
    }


def _version_time(connection: sa.Connection, page: int, number: int | None) -> str | None:
    time = connection.execute(
        sa.select(_version.c.time).where(_version.c.page == page, _version.c.number == number)
    ).scalar()
    return None if time is None else _time(time)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _differences(removed: list[str], added: list[str]) -> dict[str, Any]:
    lines = [("deleted", line) for line in removed] + [("inserted", line) for line in added]
    entries: list[dict[str, Any]] = []
    left = _MOST_CHARACTERS
    for kind, line in lines[:_MOST_ENTRIES]:
        left -= len(line)
        if left < 0:
            break
        is_old = kind == "deleted"
        entries.append(
            {
                "kind": kind,
                "path": "",
                "what": "text",
                "before": line if is_old else None,
                "after": None if is_old else line,
            }
        )
    return {"entries": entries, "left_out": len(lines) - len(entries)}

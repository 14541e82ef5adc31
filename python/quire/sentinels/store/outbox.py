"""The outbox in the database: notices wait here until they are sent.

``quire.sentinels.notices.outbox`` says what an outbox has to do. Two choices worth knowing:

* Adding a notice changes no row that another transaction may hold: a new notice has the state
  ``new``, and a queue with such notices is due. So checks of many pages by many workers, which
  write in any order, neither wait for each other nor for a sender.
* A claim gives new notices their places, under the lock of their queue. Places, not the ids of
  rows, are the order of a queue: transactions do not commit in the order of the ids they drew, and
  a notice that appears late must not come between two that were packed together.

When and how to send is read from the form of the watch at each claim, so edits take effect on
notices that wait already. Those for a target that the watch does not have any more are dropped.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    case,
    func,
    insert,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from quire.errors import StaleClaim, WatchError
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Notify
from quire.sentinels.notices.event import EVENT_KINDS, Event, EventKind
from quire.sentinels.notices.outbox import MOST_CLAIMED, Claim, DeadLetter
from quire.sentinels.notices.policy import LIMIT_PERIOD, Notice, Parcel, is_wanted, notice_id
from quire.sentinels.store.database import Database
from quire.sentinels.store.plain import instant, seconds
from quire.sentinels.store.tables import event, notice, queue, watch

T = TypeVar("T")

#: Why a notice was dropped.
NO_TARGET = "the watch does not have this target any more"

_COLUMNS: list[ColumnElement[Any]] = [
    notice.c.key,
    notice.c.made,
    notice.c.parcel,
    notice.c.tries,
    notice.c.not_before,
    event.c.id.label("event_id"),
    event.c.watch,
    event.c.kind,
    event.c.time,
    event.c.body,
]


class SqlOutbox:
    """An outbox in SQLite or PostgreSQL. Any number of processes can share one.

    Args:
        database: the database.
        owner: the name of this process in leases; unique.
    """

    def __init__(self, database: Database, owner: str = "") -> None:
        self._database = database
        self._owner = owner or f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        # One thread, as in workers: SQLite has one writer.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="quire-outbox")

    def close(self) -> None:
        """End the thread of the outbox."""
        self._thread.shutdown()

    async def claim(self, now: datetime, lease: timedelta, most: int) -> list[Claim]:
        """Claim up to ``most`` queues that are due, the longest due first."""
        return await self._write(
            lambda connection: claim_queues(connection, self._owner, now, lease, most)
        )

    async def pack(self, claim: Claim, parcel: Parcel) -> None:
        """Remember which notices a parcel has, before it is sent for the first time."""
        await self._change(claim, parcel, {"parcel": parcel.id})

    async def sent(self, claim: Claim, parcel: Parcel, now: datetime) -> None:
        """Remember that a parcel was sent."""
        await self._change(
            claim, parcel, {"state": "sent", "ended": seconds(now), "reason": None}, sent=now
        )

    async def failed(self, claim: Claim, parcel: Parcel, reason: str, again: datetime) -> None:
        """Remember that a parcel was not sent, and when to try again; counts as one try."""
        values = {
            "tries": notice.c.tries + 1,
            "not_before": seconds(again),
            "reason": _storable(reason),
        }
        await self._change(claim, parcel, values)

    async def bury(self, claim: Claim, parcel: Parcel, reason: str, now: datetime) -> None:
        """Make the notices of a parcel dead letters."""
        values = {"state": "dead", "ended": seconds(now), "reason": _storable(reason)}
        await self._change(claim, parcel, values)

    async def release(self, claim: Claim, due: datetime | None) -> None:
        """Give a queue back, and say when it is due again; None if nothing waits."""
        await self._write(lambda connection: _release(connection, claim, due))

    async def dead_letters(self, most: int) -> list[DeadLetter]:
        """List notices that could not be sent, the newest first."""

        def work() -> list[DeadLetter]:
            with self._database.read() as connection:
                return list_dead(connection, most)

        return await self._call(work)

    async def resend(self, notices: Iterable[str], now: datetime) -> int:
        """Let dead letters wait again, by the ids of their notices; return how many."""
        del now  # new notices are due at once
        wanted = list(notices)
        return await self._write(lambda connection: resend(connection, wanted))

    async def _change(
        self,
        claim: Claim,
        parcel: Parcel,
        values: dict[str, Any],
        sent: datetime | None = None,
    ) -> None:
        await self._write(lambda connection: _change(connection, claim, parcel, values, sent))

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await self._call(partial(self._in_transaction, work))

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _in_transaction(self, work: Callable[[Connection], T]) -> T:
        with self._database.write() as connection:
            return work(connection)


def _storable(text: str) -> str:
    """Replace characters that databases refuse: a mail server can answer with anything."""
    return (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )


# ------------------------------------------------------------ adding


def add_queues(connection: Connection, watch_id: int, targets: Iterable[str]) -> None:
    """Make the queues of a watch that do not exist yet."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    for target in targets:
        connection.execute(
            dialect.insert(queue)
            .values(key=notice_id(str(watch_id), target), watch=watch_id, target=target, recent=[])
            .on_conflict_do_nothing()
        )


def look_again(connection: Connection, watch_id: int, now: float) -> None:
    """Let the queues of a watch be due at once, because its rules changed."""
    connection.execute(
        update(queue).where(queue.c.watch == watch_id, queue.c.due > now).values(due=now)
    )


def add_notices(
    connection: Connection, watch_id: int, new: Event, rules: Notify, now: float
) -> None:
    """Add the notices of an event, one for each target, in the transaction that stores the event."""
    targets = list(dict.fromkeys(rules.targets)) if is_wanted(new, rules) else []
    if not targets:
        return
    keys = {notice_id(str(watch_id), target): target for target in targets}
    find = select(queue.c.key, queue.c.id).where(queue.c.key.in_(keys))
    known = {row.key: row.id for row in connection.execute(find)}
    if len(known) < len(keys):
        add_queues(connection, watch_id, targets)
        known = {row.key: row.id for row in connection.execute(find)}
    connection.execute(
        insert(notice),
        [
            {
                "key": notice_id(new.id, target),
                "event": new.id,
                "queue": known[key],
                "state": "new",
                "made": now,
            }
            for key, target in keys.items()
        ],
    )


# ------------------------------------------------------------ claims


def claim_queues(
    connection: Connection, owner: str, now: datetime, lease: timedelta, most: int
) -> list[Claim]:
    """Claim up to ``most`` queues that are due, the longest due first.

    Call this in a transaction for writing, and commit before anything is sent.
    """
    while most > 0:
        rows = _lock_due(connection, seconds(now), most)
        if not rows:
            break
        found = [_claim(connection, row, owner, now, lease) for row in rows]
        claims = [each for each in found if each is not None]
        if claims:
            return claims
    return []


def _lock_due(connection: Connection, now: float, most: int) -> list[Row[Any]]:
    ready = union_all(
        select(queue.c.id, queue.c.due.label("since")).where(queue.c.due <= now),
        select(notice.c.queue, func.min(notice.c.made))
        .where(notice.c.state == "new")
        .group_by(notice.c.queue),
    ).subquery()
    first = select(ready.c.id, func.min(ready.c.since).label("since")).group_by(ready.c.id)
    due = first.subquery()
    return list(
        connection.execute(
            select(queue, watch.c.form)
            .join(due, due.c.id == queue.c.id)
            .join(watch, watch.c.id == queue.c.watch)
            .where(or_(queue.c.lease_until.is_(None), queue.c.lease_until <= now))
            .order_by(due.c.since, queue.c.id)
            .limit(most)
            # SQLite has one writer and leaves this out. Rows stay open to new notices (key share).
            .with_for_update(of=queue, skip_locked=True, key_share=True)
        )
    )


def _claim(
    connection: Connection, row: Row[Any], owner: str, now: datetime, lease: timedelta
) -> Claim | None:
    """Claim a queue that is locked; None if its target was taken from the watch."""
    rules = _rules(row.form, row.target)
    if row.target not in rules.targets:
        _drop(connection, row.id, seconds(now))
        return None
    until = now + lease
    recent = [time for time in row.recent if time > seconds(now - LIMIT_PERIOD)]
    connection.execute(
        update(queue)
        .where(queue.c.id == row.id)
        .values(
            lease_owner=owner,
            lease_until=seconds(until),
            fence=row.fence + 1,
            due=seconds(now),  # if this process dies, the queue is due when the lease ends
            last_place=_place_new(connection, row.id, row.last_place),
            recent=recent,
        )
    )
    waiting = connection.execute(
        select(*_COLUMNS)
        .join(event, event.c.id == notice.c.event)
        .where(notice.c.queue == row.id, notice.c.state == "waiting")
        .order_by(notice.c.place)
        .limit(MOST_CLAIMED)
    )
    return Claim(
        queue=row.key,
        target=row.target,
        rules=rules,
        waiting=tuple(_notice(each) for each in waiting),
        recent=tuple(instant(time) for time in recent),
        fence=row.fence + 1,
        lease_until=until,
    )


def _rules(form: dict[str, Any], target: str) -> Notify:
    try:
        return read_watch(form).notify
    except WatchError:  # of a form that this version does not read; a plain notice is better
        return Notify(targets=(target,))


def _drop(connection: Connection, queue_id: int, now: float) -> None:
    connection.execute(
        update(notice)
        .where(notice.c.queue == queue_id, notice.c.state.in_(["new", "waiting"]))
        .values(state="dropped", ended=now, reason=NO_TARGET)
    )
    connection.execute(update(queue).where(queue.c.id == queue_id).values(due=None))


def _place_new(connection: Connection, queue_id: int, last: int) -> int:
    """Give new notices their places behind all others; return the last place."""
    new = connection.execute(
        select(notice.c.id)
        .where(notice.c.queue == queue_id, notice.c.state == "new")
        .order_by(notice.c.id)
    ).scalars()
    for number in new.all():
        last += 1
        connection.execute(
            update(notice).where(notice.c.id == number).values(state="waiting", place=last)
        )
    return last


def _notice(row: Row[Any]) -> Notice:
    return Notice(
        id=row.key,
        event=_event(row),
        made=instant(row.made),
        parcel=row.parcel,
        tries=row.tries,
        not_before=None if row.not_before is None else instant(row.not_before),
    )


def _event(row: Row[Any]) -> Event:
    try:
        return Event.from_dict(row.body)
    except ValueError:  # one damaged row must not hold up all others
        kind: EventKind = next((each for each in EVENT_KINDS if each == row.kind), "error")
        return Event(
            id=row.event_id,
            kind=kind,
            watch=str(row.watch),
            name=f"watch {row.watch}",
            url="",
            time=instant(row.time),
            reason="the details of this event cannot be read from the database",
        )


# ------------------------------------------------------------ while a claim lasts


def _held(connection: Connection, claim: Claim) -> Row[Any]:
    """Lock the queue of a claim.

    Raises:
        StaleClaim: another worker has claimed it, or the watch was removed; roll back.
    """
    row = connection.execute(
        select(queue).where(queue.c.key == claim.queue).with_for_update(key_share=True)
    ).one_or_none()
    if row is None:
        raise StaleClaim(f"queue {claim.queue}: its watch was removed")
    if row.fence != claim.fence:
        raise StaleClaim(f"queue {claim.queue}: another worker has claimed it")
    return row


def _change(
    connection: Connection,
    claim: Claim,
    parcel: Parcel,
    values: dict[str, Any],
    sent: datetime | None,
) -> None:
    row = _held(connection, claim)
    keys = [each.id for each in parcel.notices]
    connection.execute(
        update(notice).where(notice.c.queue == row.id, notice.c.key.in_(keys)).values(values)
    )
    if sent is not None:
        connection.execute(
            update(queue).where(queue.c.id == row.id).values(recent=[*row.recent, seconds(sent)])
        )


def _release(connection: Connection, claim: Claim, due: datetime | None) -> None:
    row = _held(connection, claim)
    form = connection.execute(select(watch.c.form).where(watch.c.id == row.watch)).scalar_one()
    if _rules(form, row.target) != claim.rules:  # edited meanwhile: look again at once
        due = claim.lease_until - timedelta(days=1)
    if due is None:  # there may be more than a claim lists
        time = connection.execute(
            select(notice.c.made)
            .where(notice.c.queue == row.id, notice.c.state == "waiting")
            .order_by(notice.c.place)
            .limit(1)
        ).scalar()
    else:
        time = seconds(due)
    connection.execute(
        update(queue)
        .where(queue.c.id == row.id)
        .values(lease_owner=None, lease_until=None, due=time)
    )


# ------------------------------------------------------------ dead letters, and looking


def list_dead(connection: Connection, most: int) -> list[DeadLetter]:
    """List notices that could not be sent, the newest first."""
    columns = [*_COLUMNS, queue.c.key.label("queue"), notice.c.reason, notice.c.ended]
    rows = connection.execute(
        select(*columns)
        .join(event, event.c.id == notice.c.event)
        .join(queue, queue.c.id == notice.c.queue)
        .where(notice.c.state == "dead")
        .order_by(notice.c.ended.desc(), notice.c.id.desc())
        .limit(most)
    )
    return [
        DeadLetter(_notice(row), row.queue, row.reason or "", instant(row.ended)) for row in rows
    ]


def resend(connection: Connection, keys: Iterable[str]) -> int:
    """Let dead letters wait again, behind all others of their queue; return how many."""
    count = 0
    for key in keys:
        changed = connection.execute(
            update(notice)
            .where(notice.c.key == key, notice.c.state == "dead")
            .values(
                state="new",
                place=None,
                parcel="",
                tries=0,
                not_before=None,
                ended=None,
                reason=None,
            )
        )
        count += changed.rowcount
    return count


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice and what became of it.

    Attributes:
        id: the notice.
        watch: the number of the watch.
        target: the address of the target, with its secrets.
        state: ``new``, ``waiting``, ``sent``, ``dead`` or ``dropped``.
        event: the event.
        made: when it was made.
        tries: how often sending it failed.
        not_before: when it may be sent again, after a failure.
        ended: when it was sent, or given up.
        reason: why the last try failed; empty if none did.
    """

    id: str
    watch: int
    target: str = field(repr=False)
    state: str
    event: Event
    made: datetime
    tries: int
    not_before: datetime | None
    ended: datetime | None
    reason: str


def list_notices(
    connection: Connection, *, state: str | None = None, watch_id: int | None = None, most: int
) -> list[StoredNotice]:
    """List notices, the newest first.

    Args:
        connection: the database.
        state: only those in this state; ``waiting`` includes new ones.
        watch_id: only those of this watch.
        most: how many at most.
    """
    columns = [*_COLUMNS, queue.c.target, notice.c.state, notice.c.ended, notice.c.reason]
    query = (
        select(*columns)
        .join(event, event.c.id == notice.c.event)
        .join(queue, queue.c.id == notice.c.queue)
        .order_by(notice.c.id.desc())
        .limit(most)
    )
    if state is not None:
        query = query.where(notice.c.state.in_([state, "new"] if state == "waiting" else [state]))
    if watch_id is not None:
        query = query.where(queue.c.watch == watch_id)
    return [
        StoredNotice(
            id=row.key,
            watch=row.watch,
            target=row.target,
            state=row.state,
            event=_event(row),
            made=instant(row.made),
            tries=row.tries,
            not_before=None if row.not_before is None else instant(row.not_before),
            ended=None if row.ended is None else instant(row.ended),
            reason=row.reason or "",
        )
        for row in connection.execute(query)
    ]


def next_due_queue(connection: Connection, now: float) -> float | None:
    """Return when the next queue can be claimed; None if nothing waits."""
    fresh = select(notice.c.queue).where(notice.c.state == "new")
    later = case((queue.c.lease_until > queue.c.due, queue.c.lease_until), else_=queue.c.due)
    soonest = [
        connection.execute(select(func.min(later)).where(queue.c.due.is_not(None))).scalar(),
        connection.execute(
            select(func.min(func.coalesce(queue.c.lease_until, now))).where(queue.c.id.in_(fresh))
        ).scalar(),
    ]
    return min((time for time in soonest if time is not None), default=None)

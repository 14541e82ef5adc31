"""The outbox: where notices wait until they are sent.

``Outbox`` lists all that the sender needs of a store. A store adds notices in the transaction that
stores their event, so that neither exists without the other. It makes one notice for each target
of the watch if ``is_wanted`` says so, with ``notice_id`` as its unique id. ``MemoryOutbox`` is an
outbox for one process, without a database.

What every outbox has to do:

* A claim gives one worker the whole queue (one watch and one target) until its lease ends, so that
  order is kept. Each claim of a queue has a larger fence than the one before. All other methods
  raise ``StaleClaim``, and change nothing, if the queue was claimed again since.
* ``release`` says when the queue is due again. If notices wait that the claim did not list, because
  they were added later or there were too many, the queue is due at once.
* A dead letter that is sent again is packed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from quire.errors import StaleClaim
from quire.sentinels.form.watch import Notify
from quire.sentinels.notices.event import Event
from quire.sentinels.notices.policy import LIMIT_PERIOD, Notice, Parcel, is_wanted, notice_id

#: Notices that a claim lists. The others follow when these are sent.
MOST_CLAIMED = 500


@dataclass(frozen=True, slots=True)
class Claim:
    """A queue that a worker may send from until the lease ends.

    Attributes:
        queue: the queue.
        target: the address of the target.
        rules: when to send, and the text.
        waiting: the first notices that were not sent yet, in order.
        recent: when parcels were sent in the last hour.
        fence: larger than that of all earlier claims of the queue.
        lease_until: the end of the lease.
    """

    queue: str
    target: str = field(repr=False)
    rules: Notify
    waiting: tuple[Notice, ...]
    recent: tuple[datetime, ...]
    fence: int
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A notice that could not be sent.

    Attributes:
        notice: the notice.
        queue: its queue.
        reason: why the last try failed.
        time: when that was.
    """

    notice: Notice
    queue: str
    reason: str
    time: datetime


class Outbox(Protocol):
    """Where notices wait. The module says what every outbox has to do."""

    async def claim(self, now: datetime, lease: timedelta, most: int) -> Sequence[Claim]:
        """Claim up to ``most`` queues that are due, the longest due first."""
        ...

    async def pack(self, claim: Claim, parcel: Parcel) -> None:
        """Remember which notices a parcel has, before it is sent for the first time."""
        ...

    async def sent(self, claim: Claim, parcel: Parcel, now: datetime) -> None:
        """Remember that a parcel was sent."""
        ...

    async def failed(self, claim: Claim, parcel: Parcel, reason: str, again: datetime) -> None:
        """Remember that a parcel was not sent, and when to try again; counts as one try."""
        ...

    async def bury(self, claim: Claim, parcel: Parcel, reason: str, now: datetime) -> None:
        """Make the notices of a parcel dead letters."""
        ...

    async def release(self, claim: Claim, due: datetime | None) -> None:
        """Give a queue back, and say when it is due again; None if nothing waits."""
        ...

    async def dead_letters(self, most: int) -> Sequence[DeadLetter]:
        """List notices that could not be sent, the newest first."""
        ...

    async def resend(self, notices: Iterable[str], now: datetime) -> int:
        """Let dead letters wait again, by the ids of their notices; return how many."""
        ...


@dataclass(slots=True)
class _Queue:
    target: str
    rules: Notify
    due: datetime | None = None
    fence: int = 0
    lease_until: datetime | None = None
    waiting: list[Notice] = field(default_factory=list)
    recent: list[datetime] = field(default_factory=list)
    added_since_claim: bool = False


class MemoryOutbox:
    """An outbox in memory, for tests and for checks without a service."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}
        self._known: set[str] = set()
        self._dead: dict[str, DeadLetter] = {}

    def add(self, event: Event, rules: Notify, now: datetime) -> None:
        """Add the notices of an event, one for each target. Known ones are ignored."""
        for target in rules.targets if is_wanted(event, rules) else ():
            ident = notice_id(event.id, target)
            if ident in self._known:
                continue
            self._known.add(ident)
            name = notice_id(event.watch, target)
            queue = self._queues.setdefault(name, _Queue(target, rules))
            queue.rules = rules
            queue.waiting.append(Notice(ident, event, now))
            queue.due = now if queue.due is None else min(queue.due, now)
            queue.added_since_claim = True

    async def claim(self, now: datetime, lease: timedelta, most: int) -> list[Claim]:
        """Claim up to ``most`` queues that are due, the longest due first."""
        due = [
            (queue.due, name)
            for name, queue in self._queues.items()
            if queue.due is not None
            and queue.due <= now
            and (queue.lease_until is None or queue.lease_until <= now)
        ]
        claims = []
        for _, name in sorted(due)[:most]:
            queue = self._queues[name]
            queue.fence += 1
            queue.lease_until = now + lease
            queue.added_since_claim = False
            queue.recent = [each for each in queue.recent if each > now - LIMIT_PERIOD]
            claims.append(
                Claim(
                    name,
                    queue.target,
                    queue.rules,
                    tuple(queue.waiting[:MOST_CLAIMED]),
                    tuple(queue.recent),
                    queue.fence,
                    queue.lease_until,
                )
            )
        return claims

    async def pack(self, claim: Claim, parcel: Parcel) -> None:
        """Remember which notices a parcel has."""
        self._change(claim, parcel, lambda notice: replace(notice, parcel=parcel.id))

    async def sent(self, claim: Claim, parcel: Parcel, now: datetime) -> None:
        """Remember that a parcel was sent."""
        self._change(claim, parcel, lambda _: None)
        self._queues[claim.queue].recent.append(now)

    async def failed(self, claim: Claim, parcel: Parcel, reason: str, again: datetime) -> None:
        """Remember that a parcel was not sent, and when to try again."""
        del reason
        self._change(
            claim,
            parcel,
            lambda notice: replace(notice, tries=notice.tries + 1, not_before=again),
        )

    async def bury(self, claim: Claim, parcel: Parcel, reason: str, now: datetime) -> None:
        """Make the notices of a parcel dead letters."""

        def dead(notice: Notice) -> None:
            self._dead[notice.id] = DeadLetter(notice, claim.queue, reason, now)

        self._change(claim, parcel, dead)

    async def release(self, claim: Claim, due: datetime | None) -> None:
        """Give a queue back, and say when it is due again."""
        queue = self._held(claim)
        queue.lease_until = None
        if due is None and queue.waiting:  # more than a claim lists
            queue.due = queue.waiting[0].made
        elif not queue.added_since_claim:
            queue.due = due

    async def dead_letters(self, most: int) -> list[DeadLetter]:
        """List notices that could not be sent, the newest first."""
        return sorted(self._dead.values(), key=lambda each: each.time, reverse=True)[:most]

    async def resend(self, notices: Iterable[str], now: datetime) -> int:
        """Let dead letters wait again."""
        count = 0
        for ident in notices:
            letter = self._dead.pop(ident, None)
            if letter is not None:
                queue = self._queues[letter.queue]
                waiting = replace(letter.notice, parcel="", tries=0, not_before=None)
                queue.waiting.append(waiting)
                queue.due = now if queue.due is None else min(queue.due, now)
                queue.added_since_claim = True
                count += 1
        return count

    def is_empty(self) -> bool:
        """Tell whether nothing waits; dead letters do not."""
        return not any(queue.waiting for queue in self._queues.values())

    def next_due(self) -> datetime | None:
        """Return when the next queue is due, or its lease ends; None if none is."""
        times = [
            max(queue.due, queue.lease_until or queue.due)
            for queue in self._queues.values()
            if queue.due is not None
        ]
        return min(times, default=None)

    def _held(self, claim: Claim) -> _Queue:
        queue = self._queues[claim.queue]
        if queue.fence != claim.fence:
            raise StaleClaim(f"queue {claim.queue}: another worker has claimed it")
        return queue

    def _change(
        self, claim: Claim, parcel: Parcel, change: Callable[[Notice], Notice | None]
    ) -> None:
        queue = self._held(claim)
        inside = {notice.id for notice in parcel.notices}
        changed = [change(notice) if notice.id in inside else notice for notice in queue.waiting]
        queue.waiting = [notice for notice in changed if notice is not None]

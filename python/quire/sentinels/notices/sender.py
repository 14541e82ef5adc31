"""The sender: takes notices out of the outbox and sends them, whatever happens on the way.

For each parcel: pack it in the outbox, send it, mark it as sent. A crash between any two of these
steps loses nothing: the lease ends, and another worker sends the same parcel with the same id. A
receiver may therefore get a parcel twice, and recognises it by its id. Sending exactly once is not
possible: no one can tell a lost answer from a lost message.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from quire.errors import NoticeFailed, StaleClaim
from quire.sentinels.notices.outbox import Claim, Outbox
from quire.sentinels.notices.policy import DEFAULT_RETRYING, Parcel, Retrying, next_try, plan

_LOG = logging.getLogger(__name__)

#: The longest reason that is stored with a failed notice.
MOST_REASON = 500


class Deliver(Protocol):
    """Sends a parcel to a target, with the text of the user; see ``Channels.deliver``."""

    async def __call__(self, target: str, parcel: Parcel, text: str) -> None:
        """Send a parcel; raises ``NoticeFailed`` if it was not sent."""
        ...


@dataclass(slots=True)
class Tally:
    """Counts of a sender.

    Attributes:
        sent: parcels that were sent.
        failed: failures after which a parcel is sent again.
        buried: parcels that became dead letters.
    """

    sent: int = 0
    failed: int = 0
    buried: int = 0


class Sender:
    """Sends the due notices of an outbox. Any number of senders can share one.

    Args:
        outbox: the outbox.
        deliver: sends a parcel.
        concurrent: how many queues are sent from at the same time.
        lease: how long a claim lasts. It must be longer than ``timeout_s``.
        timeout_s: how long sending one parcel may take, in seconds.
        poll_s: the pause before an outbox without due notices is asked again, in seconds.
        retrying: how failed parcels are sent again.
        clock: the time.
        chance: where jitter comes from.
    """

    def __init__(
        self,
        outbox: Outbox,
        deliver: Deliver,
        *,
        concurrent: int = 8,
        lease: timedelta = timedelta(minutes=5),
        timeout_s: float = 60.0,
        poll_s: float = 1.0,
        retrying: Retrying = DEFAULT_RETRYING,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: random.Random | None = None,
    ) -> None:
        if lease.total_seconds() <= timeout_s:
            raise ValueError(f"lease is {lease}; expected more than timeout_s, {timeout_s} s")
        self.tally: Tally = Tally()
        self._outbox = outbox
        self._deliver = deliver
        self._concurrent = concurrent
        self._lease = lease
        self._timeout_s = timeout_s
        self._poll_s = poll_s
        self._retrying = retrying
        self._clock = clock
        self._chance = chance or random.SystemRandom()

    async def run(self, stop: asyncio.Event) -> None:
        """Send until ``stop`` is set, then finish the messages that are on their way."""
        tasks: set[asyncio.Task[None]] = set()
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                claims = await self._claims(self._concurrent - len(tasks))
                tasks |= {asyncio.create_task(self._guarded(claim)) for claim in claims}
                # A full house waits for a free place, everyone else for the next poll.
                timeout = None if len(tasks) >= self._concurrent else self._poll_s
                await asyncio.wait(
                    {*tasks, stopping}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
                )
                tasks = {task for task in tasks if not task.done()}
            if tasks:
                await asyncio.wait(tasks)
        finally:
            stopping.cancel()
            for task in tasks:
                task.cancel()

    async def run_once(self) -> int:
        """Send all that is due now; return the number of claimed queues."""
        claims = await self._outbox.claim(self._clock(), self._lease, self._concurrent)
        await asyncio.gather(*(self._send_from(claim) for claim in claims))
        return len(claims)

    async def _claims(self, most: int) -> list[Claim]:
        try:
            return list(await self._outbox.claim(self._clock(), self._lease, most))
        except Exception:  # noqa: BLE001 - the database is away; it may come back
            _LOG.exception("the outbox cannot be read; trying again in %s s", self._poll_s)
            return []

    async def _guarded(self, claim: Claim) -> None:
        try:
            await self._send_from(claim)
        except Exception:  # noqa: BLE001 - other queues go on
            # The lease ends, and the queue is claimed again.
            _LOG.exception("sending from queue %s stopped", claim.queue)

    async def _send_from(self, claim: Claim) -> None:
        try:
            due = await self._send_parcels(claim)
            await self._outbox.release(claim, due)
        except StaleClaim:
            _LOG.warning("queue %s was taken over by another worker", claim.queue)

    async def _send_parcels(self, claim: Claim) -> datetime | None:
        """Send the due notices of a queue; return when it is due again."""
        todo = plan(claim.waiting, claim.rules, claim.recent, self._clock())
        for parcel in todo.parcels:
            now = self._clock()
            if (claim.lease_until - now).total_seconds() <= self._timeout_s:
                return now  # the rest needs a new lease
            await self._outbox.pack(claim, parcel)
            failure = await self._send(claim, parcel)
            if failure is None:
                self.tally.sent += 1
                await self._outbox.sent(claim, parcel, self._clock())
                continue
            again = await self._fail(claim, parcel, failure)
            if again is not None:
                return again
        return todo.waits_until

    async def _send(self, claim: Claim, parcel: Parcel) -> NoticeFailed | None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._deliver(claim.target, parcel, claim.rules.text)
        except NoticeFailed as failure:
            return failure
        except TimeoutError:
            return NoticeFailed(f"not sent after {self._timeout_s:g} s")
        except Exception as error:  # noqa: BLE001 - of a library; it may quote secrets
            _LOG.error("parcel %s: %s while sending", parcel.id, type(error).__name__)
            return NoticeFailed(f"an unexpected error ({type(error).__name__})")
        return None

    async def _fail(self, claim: Claim, parcel: Parcel, failure: NoticeFailed) -> datetime | None:
        """Note a failure; return when to try again, or None if the parcel is a dead letter now."""
        now = self._clock()
        reason = str(failure)[:MOST_REASON]
        again = next_try(
            parcel.tries + 1,
            now,
            retry_after_s=failure.retry_after_s,
            retrying=self._retrying,
            chance=self._chance,
        )
        if again is None or failure.is_final:
            self.tally.buried += 1
            _LOG.warning("parcel %s is a dead letter: %s", parcel.id, reason)
            await self._outbox.bury(claim, parcel, reason, now)
            return None
        self.tally.failed += 1
        await self._outbox.failed(claim, parcel, reason, again)
        return again

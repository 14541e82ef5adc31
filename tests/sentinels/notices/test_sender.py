"""Nothing is lost, whatever fails: crashes at any step, workers that stop, targets that refuse."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from datetime import datetime, timedelta

import pytest

from quire.errors import NoticeFailed, StaleClaim
from quire.sentinels.form.watch import Notify
from quire.sentinels.notices import Claim, MemoryOutbox, Outbox, Parcel, Retrying, Sender
from quire.sentinels.notices.outbox import MOST_CLAIMED
from quire.sentinels.notices.sender import Deliver
from quire.sentinels.store import Database
from tests.sentinels.notices.crashes import (
    LEASE,
    Clock,
    CrashingOutbox,
    InDatabase,
    InMemory,
    World,
)
from tests.sentinels.notices.events import START, event


@pytest.mark.parametrize("seed", range(20))
def test_no_event_is_lost_or_doubled_by_crashes_between_any_two_steps(seed: int) -> None:
    check_world(World(seed, InMemory()))


@pytest.mark.parametrize("seed", range(4))
def test_the_same_is_true_of_databases(seed: int, database: Database) -> None:
    check_world(World(seed, InDatabase(database), events=100), crashes=15)


def check_world(world: World, crashes: int = 50) -> None:
    """Let everything be sent, and compare what came with what happened."""
    world.run()
    received, repeated = world.received()

    assert received == world.expected
    assert asyncio.run(world.store.is_empty())
    assert world.crashes.total() >= crashes
    # A parcel is repeated for each that was on its way at a crash, or if its answer was lost.
    assert repeated <= 3 * world.crashes.total() + 0.2 * len(world.receivers.got)


def test_crashes_happen_at_every_step() -> None:
    """The test above is about all steps: count where its crashes are."""
    places: Counter[str] = Counter()
    store, clock = MemoryOutbox(), Clock()
    outbox: Outbox = CrashingOutbox(store, lambda place: places.update([place]))  # type: ignore[assignment]  # each method
    results = iter([None, NoticeFailed("no"), NoticeFailed("never", is_final=True)])

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, parcel, text
        failure = next(results)
        if failure:
            raise failure

    async def main() -> None:
        sender = Sender(outbox, deliver, clock=clock)
        for number in range(2):
            store.add(event(number), Notify(targets=("a:1",)), clock.now)
            while await sender.run_once():
                clock.move(store.next_due())

    asyncio.run(main())

    steps = {place.split()[1] for place in places}
    assert steps == {"claim", "pack", "sent", "failed", "bury", "release"}
    assert {f"{when} {step}" for when in ("before", "after") for step in steps} == set(places)


def run(
    store: MemoryOutbox,
    deliver: Deliver,
    clock: Clock,
    retrying: Retrying | None = None,
    timeout_s: float = 60.0,
) -> Sender:
    """Send until nothing is due any more, and move the clock from due time to due time."""

    async def main() -> Sender:
        sender = Sender(
            store, deliver, clock=clock, retrying=retrying or Retrying(), timeout_s=timeout_s
        )
        while store.next_due() is not None:
            clock.move(store.next_due())
            await sender.run_once()
        return sender

    return asyncio.run(main())


def test_a_target_that_never_accepts_becomes_a_visible_dead_letter_that_can_be_sent_again() -> None:
    store, clock = MemoryOutbox(), Clock()
    store.add(event(1), Notify(targets=("a:1",)), clock.now)
    store.add(event(2), Notify(targets=("a:1",)), clock.now)
    got: list[str] = []
    works = False

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, text
        if not works:
            raise NoticeFailed("status 500")
        got.append(parcel.id)

    sender = run(store, deliver, clock, Retrying(tries=3))
    letters = asyncio.run(store.dead_letters(10))

    assert [(letter.notice.event.id, letter.reason) for letter in letters] == [
        (event(2).id, "status 500"),  # the newest first
        (event(1).id, "status 500"),
    ]
    assert (sender.tally.sent, sender.tally.failed, sender.tally.buried) == (0, 4, 2)

    works = True
    again = asyncio.run(store.resend([letters[0].notice.id, "unknown"], clock.now))
    run(store, deliver, clock)

    assert again == 1
    assert got == [letters[0].notice.event.id]
    assert len(asyncio.run(store.dead_letters(10))) == 1


def test_a_final_failure_holds_up_nothing_behind_it() -> None:
    store, clock = MemoryOutbox(), Clock()
    for number in range(3):
        store.add(event(number), Notify(targets=("a:1",)), clock.now)
    got: list[str] = []

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, text
        if parcel.id == event(0).id:
            raise NoticeFailed("too large", is_final=True)
        got.append(parcel.id)

    run(store, deliver, clock)

    assert got == [event(1).id, event(2).id]
    assert clock.now == START
    assert len(asyncio.run(store.dead_letters(10))) == 1


def test_a_failure_keeps_the_order_of_everything_behind_it() -> None:
    store, clock = MemoryOutbox(), Clock()
    for number in range(3):
        store.add(event(number), Notify(targets=("a:1",)), clock.now)
    tried: list[str] = []

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, text
        tried.append(parcel.id)
        if len(tried) < 3:
            raise NoticeFailed("busy", retry_after_s=700)

    run(store, deliver, clock)

    assert tried == [event(n).id for n in (0, 0, 0, 1, 2)]
    assert clock.now >= START + timedelta(seconds=1_400)


def test_a_target_that_hangs_is_given_up_after_the_time_limit_and_tried_again() -> None:
    store, clock = MemoryOutbox(), Clock()
    store.add(event(1), Notify(targets=("a:1",)), clock.now)
    tries = 0

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        nonlocal tries
        del target, parcel, text
        tries += 1
        if tries == 1:
            await asyncio.Event().wait()

    sender = run(store, deliver, clock, timeout_s=0.05)

    assert tries == 2
    assert (sender.tally.failed, sender.tally.sent) == (1, 1)


def test_an_unexpected_error_is_tried_again_and_its_text_is_not_stored_or_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, clock = MemoryOutbox(), Clock()
    store.add(event(1), Notify(targets=("slack://hush",)), clock.now)

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del parcel, text
        raise RuntimeError(f"cannot reach {target}")

    with caplog.at_level(logging.DEBUG):
        run(store, deliver, clock, Retrying(tries=2))
    (letter,) = asyncio.run(store.dead_letters(10))

    assert letter.reason == "an unexpected error (RuntimeError)"
    assert "hush" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_a_worker_that_was_stopped_past_its_lease_changes_nothing_any_more() -> None:
    store, clock = MemoryOutbox(), Clock()
    store.add(event(1), Notify(targets=("a:1",)), clock.now)
    got: list[str] = []

    async def main() -> None:
        stopped, resume = asyncio.Event(), asyncio.Event()

        async def slow(target: str, parcel: Parcel, text: str) -> None:
            del target, text
            got.append(f"slow {parcel.id}")
            stopped.set()
            await resume.wait()
            raise NoticeFailed("never", is_final=True)

        async def fast(target: str, parcel: Parcel, text: str) -> None:
            del target, text
            got.append(f"fast {parcel.id}")

        first = asyncio.create_task(Sender(store, slow, lease=LEASE, clock=clock).run_once())
        await stopped.wait()
        other = Sender(store, fast, lease=LEASE, clock=clock)
        assert await other.run_once() == 0  # leased
        clock.now += LEASE
        assert await other.run_once() == 1
        resume.set()
        await first

    asyncio.run(main())

    assert got == [f"slow {event(1).id}", f"fast {event(1).id}"]
    assert store.is_empty()
    assert asyncio.run(store.dead_letters(10)) == []


def test_every_step_with_a_stale_claim_is_refused() -> None:
    store = MemoryOutbox()
    store.add(event(1), Notify(targets=("a:1",)), START)

    async def main() -> None:
        (old,) = await store.claim(START, LEASE, 10)
        (new,) = await store.claim(START + LEASE, LEASE, 10)
        parcel = Parcel("p", new.waiting)
        steps = [
            store.pack(old, parcel),
            store.sent(old, parcel, START),
            store.failed(old, parcel, "r", START),
            store.bury(old, parcel, "r", START),
            store.release(old, None),
        ]
        for step in steps:
            with pytest.raises(StaleClaim):
                await step
        (after,) = await store.claim(START + 2 * LEASE, LEASE, 10)
        assert after.waiting == new.waiting
        assert new.fence > old.fence

    asyncio.run(main())


def test_a_notice_that_comes_while_its_queue_is_claimed_is_not_forgotten() -> None:
    store, clock = MemoryOutbox(), Clock()
    rules = Notify(targets=("a:1",))
    store.add(event(1), rules, clock.now)
    got: list[str] = []

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, text
        if not got:
            store.add(event(2), rules, clock.now)
        got.append(parcel.id)

    run(store, deliver, clock)

    assert got == [event(1).id, event(2).id]


def test_more_notices_than_a_claim_lists_are_all_sent() -> None:
    store, clock = MemoryOutbox(), Clock()
    count = MOST_CLAIMED + 20
    for number in range(count):
        store.add(event(number), Notify(targets=("a:1",)), clock.now)
    got: list[str] = []

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, text
        got.append(parcel.id)

    run(store, deliver, clock)

    assert got == [event(n).id for n in range(count)]


def test_a_long_queue_gets_a_new_lease_before_the_old_one_ends() -> None:
    store, clock = MemoryOutbox(), Clock()
    for number in range(20):
        store.add(event(number), Notify(targets=("a:1",)), clock.now)
    claims: list[Claim] = []
    late: list[str] = []

    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, text
        clock.now += timedelta(seconds=59)  # each send takes nearly its whole time
        if clock.now >= claims[-1].lease_until:
            late.append(parcel.id)

    original = store.claim

    async def claim(now: datetime, lease: timedelta, most: int) -> list[Claim]:
        found = await original(now, lease, most)
        claims.extend(found)
        return found

    store.claim = claim  # type: ignore[method-assign]
    run(store, deliver, clock)

    assert store.is_empty()
    assert late == []
    assert len(claims) > 3


def test_the_loop_sends_what_comes_and_stops_when_asked_even_if_the_outbox_fails_at_times(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryOutbox()
    got: list[str] = []
    failures = [0]

    class Flaky(MemoryOutbox):
        async def claim(self, now: datetime, lease: timedelta, most: int) -> list[Claim]:
            failures[0] += 1
            if failures[0] % 2:
                raise OSError("the database is away")
            return await store.claim(now, lease, most)

        def __getattribute__(self, name: str) -> object:
            own = name in {"claim", "__class__"}
            return object.__getattribute__(self, name) if own else getattr(store, name)

    async def main() -> None:
        stop, done = asyncio.Event(), asyncio.Event()

        async def deliver(target: str, parcel: Parcel, text: str) -> None:
            del target, text
            got.append(parcel.id)
            if len(got) == 20:
                done.set()

        sender = Sender(Flaky(), deliver, poll_s=0.001, concurrent=2)
        loop = asyncio.create_task(sender.run(stop))
        for number in range(20):
            store.add(event(number, watch=f"w{number % 5}"), Notify(targets=("a:1",)), START)
            await asyncio.sleep(0.002)
        await asyncio.wait_for(done.wait(), 240)
        stop.set()
        await asyncio.wait_for(loop, 240)

    asyncio.run(main())

    assert sorted(got) == sorted(event(n).id for n in range(20))
    assert store.is_empty()
    assert "the outbox cannot be read" in caplog.text


def test_a_target_that_hangs_holds_up_no_other_target() -> None:
    store = MemoryOutbox()
    store.add(event(1, watch="slow"), Notify(targets=("hang:1",)), START)
    for number in range(2, 30):
        store.add(event(number, watch=f"w{number}"), Notify(targets=("a:1",)), START)
    got: list[str] = []

    async def main() -> None:
        stop, released, others = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def deliver(target: str, parcel: Parcel, text: str) -> None:
            del text
            if target == "hang:1":
                await released.wait()
            got.append(parcel.id)
            if len(got) == 28:
                others.set()

        loop = asyncio.create_task(Sender(store, deliver, concurrent=2, poll_s=0.01).run(stop))
        await asyncio.wait_for(others.wait(), 240)
        assert event(1).id not in got
        stop.set()  # the message on its way is finished first
        await asyncio.sleep(0.01)
        released.set()
        await asyncio.wait_for(loop, 240)

    asyncio.run(main())

    assert got[-1] == event(1).id
    assert store.is_empty()


def test_a_lease_shorter_than_one_send_is_refused() -> None:
    async def deliver(target: str, parcel: Parcel, text: str) -> None:
        del target, parcel, text

    with pytest.raises(ValueError, match="expected more than timeout_s"):
        Sender(MemoryOutbox(), deliver, lease=timedelta(seconds=60), timeout_s=60)


def test_a_queue_is_due_at_once_if_notices_were_added_since_the_claim() -> None:
    store = MemoryOutbox()
    store.add(event(1), Notify(targets=("a:1",), bundle="weekly"), START)

    async def main() -> None:
        (claim,) = await store.claim(START, LEASE, 10)
        store.add(event(2), Notify(targets=("a:1",)), START)  # the user wants to hear sooner
        await store.release(claim, START + timedelta(days=5))

    asyncio.run(main())

    assert store.next_due() == START


@pytest.mark.parametrize("kind", ["error", "recovered", "lost", "moved"])
def test_errors_become_notices_unless_the_user_does_not_want_them(kind: str) -> None:
    for errors, expected in ((True, 1), (False, 0)):
        store = MemoryOutbox()
        store.add(event(1, kind=kind), Notify(targets=("a:1",), errors=errors), START)
        claims = asyncio.run(store.claim(START, LEASE, 10))

        assert len(claims) == expected

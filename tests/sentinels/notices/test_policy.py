"""When notices are sent: none is lost, order is kept, limits and quiet hours hold."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.sentinels.form.watch import WEEKDAYS, Notify, Window
from quire.sentinels.notices import Notice, Parcel, Retrying, next_try, plan
from quire.sentinels.notices.policy import (
    LIMIT_PERIOD,
    MOST_TOGETHER,
    bundle_time,
    notice_id,
    pack,
)
from quire.sentinels.schedule import is_open, next_closed
from tests.sentinels.notices.events import START, event

HOUR = timedelta(hours=1)
# One that changes its clock in spring and autumn, one with a half hour, one far away.
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns"])
CLOCKS = st.builds(time, st.integers(0, 23), st.sampled_from([0, 30, 59]))
# At most six of seven days are quiet, so that there is an end.
WINDOWS = st.lists(
    st.builds(
        Window,
        st.lists(st.sampled_from(WEEKDAYS[:6]), min_size=1, max_size=6, unique=True).map(tuple),
        CLOCKS,
        CLOCKS,
    ),
    max_size=3,
).map(tuple)
RULES = st.builds(
    Notify,
    bundle=st.sampled_from(["now", "now", "hourly", "daily", "weekly"]),
    quiet=WINDOWS,
    zone=ZONES,
    at_most=st.integers(0, 4),
)
# Bursts, and pauses around an hour and longer, where limits and bundles could go wrong.
PAUSES = st.lists(
    st.sampled_from([0, 0, 0, 1, 60, 3_599, 3_600, 3_601, 40_000, 200_000]).map(
        lambda seconds: timedelta(seconds=seconds)
    ),
    min_size=1,
    max_size=40,
)
# Days on which clocks change, and an ordinary one.
STARTS = st.sampled_from(
    [START, datetime(2026, 3, 28, 22, 30, tzinfo=UTC), datetime(2026, 10, 24, 22, 59, tzinfo=UTC)]
)


def notice(number: int, made: datetime = START) -> Notice:
    made_event = event(number)
    return Notice(notice_id(made_event.id, "t"), made_event, made)


def simulate(
    rules: Notify, start: datetime, pauses: Sequence[timedelta], chance: random.Random
) -> list[tuple[datetime, Parcel]]:
    """Run a queue until it is empty; some sends fail. Returns the parcels and when they were sent."""
    arrivals: list[Notice] = []
    at = start
    for number, pause in enumerate(pauses):
        at += pause
        arrivals.append(notice(number, at))
    waiting: list[Notice] = []
    sent: list[tuple[datetime, Parcel]] = []
    now = start
    while arrivals or waiting:
        while arrivals and arrivals[0].made <= now:
            waiting.append(arrivals.pop(0))
        todo = plan(waiting, rules, [when for when, _ in sent], now)
        wake = todo.waits_until
        for parcel in todo.parcels:
            inside = {each.id for each in parcel.notices}
            if chance.random() < 0.2:  # it fails: everything behind it waits
                wake = now + timedelta(seconds=chance.randint(1, 5_000))
                waiting = [
                    replace(each, parcel=parcel.id, tries=each.tries + 1, not_before=wake)
                    if each.id in inside
                    else each
                    for each in waiting
                ]
                break
            sent.append((now, parcel))
            waiting = [each for each in waiting if each.id not in inside]
        if waiting:
            assert wake is not None
            assert wake > now, "a loop without a pause"
        times = [each for each in (wake, arrivals[0].made if arrivals else None) if each]
        if times:
            now = max(now, min(times))
    return sent


@given(RULES, STARTS, PAUSES, st.integers(0, 2**32))
def test_every_notice_is_sent_once_in_order_within_the_limit_and_never_in_quiet_hours(
    rules: Notify, start: datetime, pauses: list[timedelta], seed: int
) -> None:
    sent = simulate(rules, start, pauses, random.Random(seed))
    notices = [each for _, parcel in sent for each in parcel.notices]

    assert [each.id for each in notices] == [notice(n).id for n in range(len(pauses))]
    assert all(len(parcel.notices) <= MOST_TOGETHER for _, parcel in sent)
    assert not any(is_open(rules.quiet, rules.zone, when) for when, _ in sent)
    if rules.at_most:
        times = [when for when, _ in sent]
        for first, last in zip(times, times[rules.at_most :], strict=False):
            assert last - first >= LIMIT_PERIOD
    for when, parcel in sent:
        for each in parcel.notices:
            assert when >= bundle_time(rules.bundle, rules.zone, each.made)


@given(RULES, STARTS, PAUSES)
def test_a_plan_is_the_same_for_the_same_notices(
    rules: Notify, start: datetime, pauses: list[timedelta]
) -> None:
    waiting = [notice(number, start) for number in range(len(pauses))]
    recent = [start - each for each in pauses]

    assert plan(waiting, rules, recent, start) == plan(waiting, rules, list(recent), start)


def sizes(parcels: Sequence[Parcel]) -> list[int]:
    return [len(parcel.notices) for parcel in parcels]


def test_without_rules_each_notice_is_sent_alone_and_at_once() -> None:
    todo = plan([notice(n) for n in range(5)], Notify(), [], START)

    assert sizes(todo.parcels) == [1, 1, 1, 1, 1]
    assert [parcel.id for parcel in todo.parcels] == [event(n).id for n in range(5)]
    assert todo.waits_until is None


def test_the_last_parcel_of_an_hour_holds_all_that_wait() -> None:
    todo = plan([notice(n) for n in range(10)], Notify(at_most=3), [], START)

    assert sizes(todo.parcels) == [1, 1, 8]
    assert todo.waits_until is None


@pytest.mark.parametrize(("count", "expected"), [(2, [1, 1]), (3, [1, 1, 1]), (4, [1, 1, 2])])
def test_notices_up_to_the_limit_are_sent_alone(count: int, expected: list[int]) -> None:
    todo = plan([notice(n) for n in range(count)], Notify(at_most=3), [], START)

    assert sizes(todo.parcels) == expected


def test_notices_beyond_the_limit_gather_until_there_is_room() -> None:
    recent = [START - timedelta(minutes=50), START - timedelta(minutes=10)]
    waiting = [notice(n) for n in range(4)]
    rules = Notify(at_most=2)
    now = plan(waiting, rules, recent, START)
    later = plan(waiting, rules, recent, START + timedelta(minutes=10))

    assert now.parcels == ()
    assert now.waits_until == START + timedelta(minutes=10)
    assert sizes(later.parcels) == [4]


def test_a_clock_that_was_set_back_does_not_stop_notices() -> None:
    recent = [START + timedelta(days=30)] * 2
    todo = plan([notice(1)], Notify(at_most=2), recent, START)

    assert todo.waits_until == START + HOUR


def test_more_notices_than_fit_into_one_parcel_make_several() -> None:
    made = [notice(n) for n in range(2 * MOST_TOGETHER + 1)]
    todo = plan(made, Notify(bundle="hourly"), [], START + HOUR)
    limited = plan(made, Notify(bundle="hourly", at_most=2), [], START + HOUR)

    assert sizes(todo.parcels) == [MOST_TOGETHER, MOST_TOGETHER, 1]
    assert sizes(limited.parcels) == [MOST_TOGETHER, MOST_TOGETHER]
    assert limited.waits_until == START + 2 * HOUR


def test_a_bundle_waits_for_its_time_and_holds_all_notices_until_then() -> None:
    waiting = [notice(1, START), notice(2, START + timedelta(minutes=20))]
    rules = Notify(bundle="hourly")
    early = plan(waiting, rules, [], START + timedelta(minutes=29))
    due = plan([*waiting, notice(3, START + timedelta(minutes=40))], rules, [], START + HOUR)

    assert early.parcels == ()
    assert early.waits_until == datetime(2026, 5, 17, 10, tzinfo=UTC)
    assert sizes(due.parcels) == [2]
    assert due.waits_until == datetime(2026, 5, 17, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("bundle", "zone", "made", "expected"),
    [
        ("hourly", "Asia/Kolkata", "2026-05-17T09:00:00+00:00", "2026-05-17T09:30:00+00:00"),
        ("hourly", "UTC", "2026-05-17T09:00:00+00:00", "2026-05-17T10:00:00+00:00"),
        ("daily", "UTC", "2026-05-17T07:59:59+00:00", "2026-05-17T08:00:00+00:00"),
        ("daily", "UTC", "2026-05-17T08:00:00+00:00", "2026-05-18T08:00:00+00:00"),
        # The night in which clocks go forward has 23 hours.
        ("daily", "Europe/Berlin", "2026-03-28T08:00:00+00:00", "2026-03-29T06:00:00+00:00"),
        ("weekly", "UTC", "2026-05-18T07:00:00+00:00", "2026-05-18T08:00:00+00:00"),
        ("weekly", "UTC", "2026-05-18T08:00:00+00:00", "2026-05-25T08:00:00+00:00"),
    ],
)
def test_bundles_go_out_at_the_time_that_people_expect(
    bundle: str, zone: str, made: str, expected: str
) -> None:
    found = bundle_time(bundle, zone, datetime.fromisoformat(made))  # type: ignore[arg-type]  # one of them

    assert found.isoformat() == expected


def test_notices_of_quiet_hours_are_sent_afterwards() -> None:
    night = (Window(start=time(22), end=time(7)),)
    rules = Notify(quiet=night, zone="Europe/Berlin")
    late = datetime(2026, 5, 17, 21, 30, tzinfo=UTC)  # 23:30 in Berlin
    todo = plan([notice(1, late)], rules, [], late)

    assert todo.parcels == ()
    assert todo.waits_until == datetime(2026, 5, 18, 5, tzinfo=UTC)
    assert sizes(plan([notice(1, late)], rules, [], todo.waits_until).parcels) == [1]


def test_quiet_hours_without_an_end_do_not_swallow_notices() -> None:
    todo = plan([notice(1)], Notify(quiet=(Window(),)), [], START)

    assert next_closed((Window(),), "UTC", START) is None
    assert sizes(todo.parcels) == [1]


@given(WINDOWS, ZONES, STARTS, st.integers(0, 10_000))
def test_the_end_of_quiet_hours_is_the_first_minute_outside(
    windows: tuple[Window, ...], zone: str, start: datetime, minutes: int
) -> None:
    at = start + timedelta(minutes=minutes)
    end = next_closed(windows, zone, at)

    assert end is not None
    assert not is_open(windows, zone, end)
    while at < end:
        assert is_open(windows, zone, at)
        at += timedelta(minutes=30)


def test_a_parcel_that_failed_goes_out_again_as_it_was_before_all_others() -> None:
    first = pack([notice(1), notice(2)])
    again = START + HOUR
    failed = [replace(each, parcel=first.id, tries=1, not_before=again) for each in first.notices]
    waiting = [*failed, notice(3), notice(4)]
    early, due = (plan(waiting, Notify(), [], when) for when in (START, again))

    assert (early.parcels, early.waits_until) == ((), again)
    assert [parcel.id for parcel in due.parcels] == [first.id, event(3).id, event(4).id]
    assert due.parcels[0].tries == 1


def test_pauses_grow_up_to_the_longest_and_then_the_parcel_is_a_dead_letter() -> None:
    retrying = Retrying(first=timedelta(seconds=10), longest=timedelta(seconds=100), tries=8)
    least, most = random.Random(), random.Random()
    least.random = lambda: 1.0  # type: ignore[method-assign]
    most.random = lambda: 0.0  # type: ignore[method-assign]

    def pauses(chance: random.Random) -> list[float | None]:
        found = [next_try(n, START, retrying=retrying, chance=chance) for n in range(1, 9)]
        return [None if each is None else (each - START).total_seconds() for each in found]

    assert pauses(most) == [10, 20, 40, 80, 100, 100, 100, None]
    assert pauses(least) == [5, 10, 20, 40, 50, 50, 50, None]


def test_a_target_is_left_alone_for_as_long_as_it_asks_up_to_a_limit() -> None:
    chance = random.Random(1)
    asked = [0.0, -5.0, 1_000.0, 10.0**12]
    found = [next_try(1, START, retry_after_s=each, chance=chance) for each in asked]
    pauses = [(each - START).total_seconds() for each in found if each]

    assert all(15 <= pause <= 30 for pause in pauses[:2])
    assert pauses[2:] == [1_000, 86_400]


@given(st.integers(1, 10**9))
def test_any_number_of_failures_has_an_answer(failures: int) -> None:
    retrying = Retrying(tries=2**62)
    found = next_try(failures, START, retrying=retrying)

    assert found is not None
    assert timedelta(0) < found - START <= retrying.longest


def test_the_default_pauses_take_two_to_three_days() -> None:
    now, failures = START, 0
    while (again := next_try(failures := failures + 1, now, chance=random.Random(1))) is not None:
        now = again

    assert timedelta(days=1.5) < now - START < timedelta(days=3)


def test_parcels_of_the_same_events_have_the_same_id() -> None:
    three = [notice(n) for n in range(3)]
    ids = {pack(three[:n]).id for n in (1, 2, 3)}

    assert pack(three).id == pack([replace(each, tries=4) for each in three]).id
    assert len(ids | {pack(three[::-1]).id}) == 4
    assert all(a != b for a, b in pairwise(sorted(ids)))

"""When notices are sent, and which ones together. Pure functions: notices and a time go in.

A *queue* holds the notices of one watch for one target, in the order in which they were made. They
leave it in this order. A *parcel* is one message: a notice, or several that are sent together. Once
packed, a parcel keeps its id and its notices, also when sending it fails, so that receivers can
recognise repeats.

* Bundles: ``hourly`` parcels go out at the full hour, ``daily`` ones at 8:00, ``weekly`` ones on
  Monday at 8:00, in the time zone of the watch.
* In quiet hours nothing is sent. Afterwards everything is.
* With a limit of n parcels an hour, each notice is sent alone as long as there is room for it. The
  last parcel holds all notices that still wait. Later ones gather until there is room again.
* A failed parcel is sent again, later and later, and everything behind it waits for it. After
  ``Retrying.tries`` failures, or a failure that cannot go away, it becomes a dead letter, which
  people can see and send again.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import groupby, takewhile
from zoneinfo import ZoneInfo

from quire.sentinels.form.watch import Bundle, Notify
from quire.sentinels.notices.event import ID_DIGITS, Event
from quire.sentinels.schedule import next_closed

#: Notices in one parcel.
MOST_TOGETHER = 100
#: When daily and weekly parcels go out.
MORNING = time(8)
#: The time in which ``Notify.at_most`` parcels are sent.
LIMIT_PERIOD = timedelta(hours=1)

_CHANCE = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Notice:
    """An event on its way to one target.

    Attributes:
        id: see ``notice_id``.
        event: the event.
        made: when the notice was made.
        parcel: the id of its parcel; empty until it is packed.
        tries: how often sending it failed.
        not_before: when it may be sent again, after a failure.
    """

    id: str
    event: Event
    made: datetime
    parcel: str = ""
    tries: int = 0
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Parcel:
    """Notices that are sent as one message.

    Attributes:
        id: the id of the event if there is one, else a hash of all of them.
        notices: the notices, in order.
    """

    id: str
    notices: tuple[Notice, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the notices."""
        return tuple(notice.event for notice in self.notices)

    @property
    def tries(self) -> int:
        """How often sending it failed."""
        return max(notice.tries for notice in self.notices)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a queue.

    Attributes:
        parcels: what to send now, in this order.
        waits_until: when to look at the rest; None if nothing is left.
    """

    parcels: tuple[Parcel, ...]
    waits_until: datetime | None


@dataclass(frozen=True, slots=True)
class Retrying:
    """How failed parcels are sent again.

    Attributes:
        first: the pause after the first failure.
        factor: how much longer each pause is than the one before.
        longest: the longest pause.
        tries: failures until a parcel becomes a dead letter. With the other defaults, this takes
            two to three days.
        most_asked: the longest Retry-After that is obeyed.
    """

    first: timedelta = timedelta(seconds=30)
    factor: float = 2.0
    longest: timedelta = timedelta(hours=6)
    tries: int = 20
    most_asked: timedelta = timedelta(days=1)


DEFAULT_RETRYING = Retrying()


def is_wanted(event: Event, rules: Notify) -> bool:
    """Tell whether an event becomes notices: changes always do, errors if the user wants them."""
    return event.kind in {"change", "test"} or rules.errors


def notice_id(event: str, target: str) -> str:
    """Return the id of a notice: a hash of the event and the address of the target."""
    data = f"{event}\n{target}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:ID_DIGITS]


def pack(notices: Sequence[Notice]) -> Parcel:
    """Put notices into a parcel. Parcels of the same events have the same id."""
    ids = [notice.event.id for notice in notices]
    if len(ids) == 1:
        return Parcel(ids[0], tuple(notices))
    data = "\n".join(ids).encode("utf-8", "surrogatepass")
    return Parcel(hashlib.sha256(data).hexdigest()[:ID_DIGITS], tuple(notices))


def plan(
    waiting: Sequence[Notice], rules: Notify, recent: Sequence[datetime], now: datetime
) -> Plan:
    """Say what to send now, and when to look at the rest.

    Args:
        waiting: the notices of a queue that were not sent yet, in order.
        rules: the rules of the watch.
        recent: when parcels of this queue were sent, at least those of the last hour.
        now: the time.
    """
    if not waiting:
        return Plan((), None)
    # Quiet hours without an end are a mistake, and a notice too early is better than none.
    opens = next_closed(rules.quiet, rules.zone, now) or now
    if opens > now:
        return Plan((), opens)
    room = _Room(rules.at_most, recent, now)
    parcels: list[Parcel] = []
    loose: list[Notice] = []
    for ident, group in groupby(waiting, key=lambda notice: notice.parcel):
        notices = tuple(group)
        if not ident:
            loose += notices
            continue
        # Packed before, and perhaps received: goes out again as it was.
        wait = max((each.not_before for each in notices if each.not_before), default=now)
        if wait > now:
            return Plan(tuple(parcels), wait)
        if not room.left:
            return Plan(tuple(parcels), room.next_free())
        room.take()
        parcels.append(Parcel(ident, notices))
    return _plan_loose(loose, rules, room, parcels, now)


def _plan_loose(
    loose: Sequence[Notice], rules: Notify, room: _Room, parcels: list[Parcel], now: datetime
) -> Plan:
    due = list(
        takewhile(lambda each: bundle_time(rules.bundle, rules.zone, each.made) <= now, loose)
    )
    at = 0
    while at < len(due):
        if not room.left:
            return Plan(tuple(parcels), room.next_free())
        alone = rules.bundle == "now" and (room.left > 1 or len(due) - at == 1)
        size = 1 if alone else MOST_TOGETHER
        parcels.append(pack(due[at : at + size]))
        room.take()
        at += size
    later = loose[len(due) :]
    until = bundle_time(rules.bundle, rules.zone, later[0].made) if later else None
    return Plan(tuple(parcels), until)


class _Room:
    """How many parcels may still be sent."""

    def __init__(self, at_most: int, recent: Sequence[datetime], now: datetime) -> None:
        self._at_most = at_most
        self._now = now
        # Times after now are those of a clock that was set back.
        self._sent = sorted(min(each, now) for each in recent if each > now - LIMIT_PERIOD)

    @property
    def left(self) -> int:
        if not self._at_most:
            return 1_000_000_000
        return max(self._at_most - len(self._sent), 0)

    def take(self) -> None:
        self._sent.append(self._now)

    def next_free(self) -> datetime:
        return self._sent[len(self._sent) - self._at_most] + LIMIT_PERIOD


def bundle_time(bundle: Bundle, zone: str, made: datetime) -> datetime:
    """Return when the parcel goes out that holds a notice.

    >>> made = datetime(2026, 5, 17, 12, 30, tzinfo=UTC)  # a Sunday
    >>> bundle_time("hourly", "UTC", made).isoformat()
    '2026-05-17T13:00:00+00:00'
    >>> bundle_time("weekly", "Europe/Berlin", made).isoformat()
    '2026-05-18T06:00:00+00:00'
    """
    if bundle == "now":
        return made
    local = made.astimezone(ZoneInfo(zone))
    if bundle == "hourly":
        since = timedelta(
            minutes=local.minute, seconds=local.second, microseconds=local.microsecond
        )
        return (made - since + timedelta(hours=1)).astimezone(UTC)
    day = local.date()
    while True:
        at = datetime.combine(day, MORNING, ZoneInfo(zone)).astimezone(UTC)
        if at > made and (bundle == "daily" or day.weekday() == 0):
            return at
        day += timedelta(days=1)


def next_try(
    failures: int,
    now: datetime,
    *,
    retry_after_s: float | None = None,
    retrying: Retrying = DEFAULT_RETRYING,
    chance: random.Random = _CHANCE,
) -> datetime | None:
    """Return when to send a parcel again; None if it is a dead letter now.

    Args:
        failures: how often sending it failed, this time included.
        now: the time.
        retry_after_s: how long the target asked to wait, in seconds.
        retrying: the pauses, and the limit.
        chance: where jitter comes from: a pause is cut by up to a half, so that targets that were
            down do not get everything at the same moment.
    """
    if failures >= retrying.tries:
        return None
    steps = min(failures - 1, 64)  # longer than any pause
    pause = min(retrying.longest, retrying.first * min(retrying.factor**steps, 1e6))
    pause *= 1 - chance.random() / 2
    if retry_after_s is not None and retry_after_s > 0:
        asked = timedelta(seconds=min(retry_after_s, retrying.most_asked.total_seconds()))
        pause = max(pause, asked)
    return now + pause

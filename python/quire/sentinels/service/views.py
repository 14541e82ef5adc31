"""What the service shows: plain values about watches, pages, events and notices."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from quire.sentinels.notices.event import Event
from quire.sentinels.parts.reading import Reading
from quire.sentinels.store.plain import instant
from quire.sentinels.store.watches import (
    StoredWatch,
)


@dataclass(frozen=True, slots=True)
class PageStatus:
    """How a watched page is doing.

    Attributes:
        id: the page.
        url: its address.
        state: what the last fetch found.
        checked: when it was fetched last; None for never.
        changed: when it changed last.
        due: when it is due.
        versions: how many versions are stored.
        error: why fetches fail; empty if they do not.
        missing: whether the watched part is not on the page.
        fired: when the watch last fired on it.
        is_list: whether it is a list in which the watch finds its pages.
        unlisted: since when its list does not have it any more; None if it does.
    """

    id: int
    url: str
    state: str
    checked: datetime | None
    changed: datetime | None
    due: datetime | None
    versions: int
    error: str
    missing: bool
    fired: datetime | None
    is_list: bool = False
    unlisted: datetime | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a page that is left out, because it changes at every fetch.

    Attributes:
        url: the page.
        kind: what it is: ``text``, ``links``, ``images``, ``attribute``, ``region`` (everything in
            an element), or ``order`` (of the children of an element).
        place: where it is.
        name: the name of the attribute.
        samples: two values that it had.
        since: when it was found.
        evidence: how: by a second fetch (``probe``), or by the ``history`` of the page.
    """

    url: str
    kind: str
    place: str
    name: str
    samples: tuple[str, ...]
    since: datetime
    evidence: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question about a part that is not where its selector looks.

    Attributes:
        url: the page.
        where: what became of the part: ``moved``, ``lost`` or ``doubtful``.
        part: the name of the part; empty if the watch has only one.
        selector: the selectors that used to find it.
        path: a selector for the place that is proposed; empty if there is none.
        score: how much that place is like the part, from 0 to 1.
        before: what the part said before.
        after: what the proposed place says.
        used: whether the part is watched there until you decide.
        since: when it was found.
    """

    url: str
    where: str
    part: str
    selector: tuple[str, ...]
    path: str
    score: float
    before: str
    after: str
    used: bool
    since: datetime


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something that a watch told about.

    Attributes:
        id: the event.
        watch: the number of the watch.
        page: the page.
        kind: what happened.
        time: when it was found.
        old: the number of the version before.
        new: the number of the version in which it was found.
        body: the event as plain values; see ``notices.Event``.
    """

    id: str
    watch: int
    page: int
    kind: str
    time: datetime
    old: int | None
    new: int | None
    body: dict[str, Any]

    @property
    def event(self) -> Event:
        """The event."""
        return Event.from_dict(self.body)


def stored_event(row: Row[Any]) -> StoredEvent:
    """Return an event from its row in the database."""
    return StoredEvent(
        row.id, row.watch, row.page, row.kind, instant(row.time), row.old, row.new, row.body
    )


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice, as people see it.

    Attributes:
        id: the notice.
        state: ``waiting``, ``sent``, ``dead`` (it could not be sent) or ``dropped`` (its target was
            taken from the watch).
        watch: the number of the watch.
        name: the name of the watch when it was made.
        event: the event.
        kind: what happened.
        target: the target, without its secrets.
        made: when it was made.
        tries: how often sending it failed.
        not_before: when it is sent again, after a failure.
        ended: when it was sent, or given up.
        reason: why the last try failed; empty if none did.
    """

    id: str
    state: str
    watch: int
    name: str
    event: str
    kind: str
    target: str
    made: datetime
    tries: int
    not_before: datetime | None
    ended: datetime | None
    reason: str


@dataclass(frozen=True, slots=True)
class TestedTarget:
    """The result of a test message.

    Attributes:
        target: the target, without its secrets.
        error: why it was not sent; empty if it was.
        key: for webhooks, the key that messages to it are signed with.
    """

    target: str
    error: str
    key: str


@dataclass(frozen=True, slots=True)
class TargetInUse:
    """A target of notices that watches have.

    Attributes:
        key: identifies it; the target itself is a secret.
        target: the target, without its secrets.
        watches: how many watches have it.
        waiting: notices that wait for it.
        dead: notices that could not be sent to it.
        sent: when the last one was sent; None for never.
    """

    key: str
    target: str
    watches: int
    waiting: int
    dead: int
    sent: datetime | None


@dataclass(frozen=True, slots=True)
class Health:
    """How the service is doing, as far as the database tells.

    Attributes:
        database_bytes: how long the database is.
        free_bytes: how much room its disk has; None if it is on another machine.
        workers: workers that are checking pages at this moment.
        checking: pages that they are checking.
        checked: when a page was last checked; None for never.
        overdue: since when the longest overdue page is due; None if none is.
        waiting: notices that wait to be sent.
        dead: notices that could not be sent.
    """

    database_bytes: int
    free_bytes: int | None
    workers: int
    checking: int
    checked: datetime | None
    overdue: datetime | None
    waiting: int
    dead: int


@dataclass(frozen=True, slots=True)
class StoredState:
    """One version of a watched page, and what the watched parts said on it, if that was asked."""

    number: int
    time: datetime
    status: int
    length: int
    readings: dict[str, Reading]


@dataclass(frozen=True, slots=True)
class Added:
    """Watches that were added together.

    Attributes:
        watches: the watches.
        taken: names of watches that were left out, because their name is taken.
        notes: what was left out, for people.
    """

    watches: list[StoredWatch] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

"""Members of a page as a group, and the result of a check, written in one transaction.

A change and the notices about it commit together: there is no moment in which a change is known and
its notice can be lost. Events have stable ids, so a check that is repeated after a crash gives the
same events, and the second copy is not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from quire.digest.page import Digest
from quire.errors import NotStored, StaleClaim
from quire.sentinels.conditions.conditions import Fired
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Notify, Watch
from quire.sentinels.groups.group import Group, Member, Version
from quire.sentinels.notices.event import Event
from quire.sentinels.parts.part import Part
from quire.sentinels.sentinel import Sentinel, relocated, walk
from quire.sentinels.store.claims import ClaimedPage, release_page
from quire.sentinels.store.outbox import add_notices
from quire.sentinels.store.plain import (
    instant,
    parts_from_bytes,
    parts_to_bytes,
    signatures_from_bytes,
)
from quire.sentinels.store.tables import event, member, version, visit, watch
from quire.sentinels.versions.deltas import StoredVersion, VersionReader
from quire.sentinels.versions.page_reading import read_page

# Statements that every check uses. Making one takes longer than running it.
_MEMBERS = (
    select(member, watch.c.form)
    .join(watch, watch.c.id == member.c.watch)
    .where(member.c.page == bindparam("b_page"), watch.c.paused.is_(False))
    .order_by(member.c.watch)
)
_BASES = select(version.c.number, version.c.signatures).where(
    version.c.page == bindparam("b_page"),
    version.c.number.in_(bindparam("b_numbers", expanding=True)),
)
_VERSION = select(version).where(
    version.c.page == bindparam("b_page"), version.c.number == bindparam("b_number")
)
_UPDATE_MEMBER = update(member).where(
    member.c.watch == bindparam("b_watch"), member.c.page == bindparam("b_page")
)
_ADD_VISIT = insert(visit)


@dataclass(slots=True)
class PageMember:
    """A watch on a page, as a worker keeps it.

    Attributes:
        id: the watch.
        watch: the watch.
        due: when it is due next.
        installed: when it was added to the page.
        changed: when its parts last changed.
        fired: when it last fired.
        quiet_checks: how many checks in a row found no change.
        fingerprint: what is remembered of its part, as plain data.
        proposal: where its part may be now, as plain data; waits for the user.
        checked: when it was last judged; None for never. For a list: when it was last read.
        list_level: 0 for a list of pages, 1 and more for a list that was found in one; None for a
            page that is watched.
        heard: when the watches that it asks about last fired, as far as it knows.
        asks: the names of the watches that its condition asks about.
    """

    id: int
    watch: Watch
    due: float
    installed: float
    changed: float | None
    fired: float | None
    quiet_checks: int
    fingerprint: Any
    proposal: Any
    checked: float | None = None
    list_level: int | None = None
    heard: dict[str, float] | None = None
    asks: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        condition = self.watch.sentinel.when
        inside = () if condition is None else walk(condition)
        self.asks = frozenset(each.sentinel for each in inside if isinstance(each, Fired))


@dataclass(slots=True)
class PageGroup:
    """A page with its members, as a worker keeps it between checks.

    Attributes:
        revision: the revision of the members; another one in the database means: read again.
        group: the sentinels.
        members: the rest of what is known about them, by the same names.
        lists: watches for which the page is a list of pages, by number.
        seen: hashes of the lines that earlier versions of a part had, if a condition asked.
    """

    revision: int
    group: Group
    members: dict[str, PageMember]
    lists: dict[str, PageMember] = field(default_factory=dict)
    seen: dict[Part, set[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to store."""

    stored: StoredVersion
    signatures: bytes
    status: int
    content_type: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to store.

    Attributes:
        watch: the number of its watch.
        event: the event.
        rules: whom to tell.
    """

    watch: int
    event: Event
    rules: Notify


@dataclass(slots=True)
class CheckResult:
    """What a check of a page found.

    Attributes:
        time: when.
        outcome: in one word: ``same``, ``changed``, ``failed`` or a state of the page.
        seconds: how long the fetch took.
        bytes: how many bytes came over the wire.
        page: columns of the page to set.
        version: the version to store, if there is a new one.
        members: names of the members whose rows changed.
        events: events to store.
        detail: a message for people.
        wants_probe: whether nothing is settled before the page is fetched once more.
    """

    time: float
    outcome: str
    seconds: float = 0.0
    bytes: int = 0
    page: dict[str, Any] = field(default_factory=dict)
    version: NewVersion | None = None
    members: set[str] = field(default_factory=set)
    events: list[NewEvent] = field(default_factory=list)
    detail: str = ""
    wants_probe: bool = False


def load_group(
    connection: Connection, claimed: ClaimedPage, load: Callable[[int], Digest]
) -> PageGroup:
    """Read the members of a page, except paused ones."""
    group = Group(load)
    members: dict[str, PageMember] = {}
    lists: dict[str, PageMember] = {}
    for row in connection.execute(_MEMBERS, {"b_page": claimed.id}):
        found = read_watch(row.form)
        name = str(row.watch)
        known = PageMember(
            row.watch,
            found,
            row.due,
            row.installed,
            row.changed,
            row.fired,
            row.quiet_checks,
            row.fingerprint,
            row.proposal,
            row.checked,
            row.list_level,
            row.heard,
        )
        if row.list_level is not None:
            lists[name] = known
            continue
        sentinel = Sentinel(name, found.sentinel.parts, found.sentinel.when)
        if row.proposal is not None and row.proposal["used"]:
            sentinel = relocated(sentinel, row.proposal["part"], row.proposal["path"])
        widths = [len(part.watch) for part in sentinel.parts]
        group.members[name] = Member(
            sentinel,
            -1 if row.base is None else row.base,
            parts_from_bytes(row.signatures, widths),
            row.missing,
        )
        members[name] = known
    bases = {each.base for each in group.members.values() if each.base >= 0}
    for row in connection.execute(_BASES, {"b_page": claimed.id, "b_numbers": list(bases)}):
        group.versions[row.number] = Version(row.number, signatures_from_bytes(row.signatures))
    return PageGroup(claimed.revision, group, members, lists)


def last_firings(connection: Connection, names: Iterable[str]) -> dict[str, float]:
    """Return when watches last fired, on any of their pages, by name."""
    rows = connection.execute(
        select(watch.c.name, func.max(member.c.fired))
        .join(member, member.c.watch == watch.c.id)
        .where(watch.c.name.in_(sorted(names)), member.c.fired.is_not(None))
        .group_by(watch.c.name)
    )
    return {row.name: row[1] for row in rows}


def version_numbers(connection: Connection, page_id: int) -> list[int]:
    """Return the numbers of the stored versions of a page, ascending."""
    rows = connection.execute(
        select(version.c.number).where(version.c.page == page_id).order_by(version.c.number)
    )
    return list(rows.scalars())


def version_reader(connection: Connection, page_id: int, name: str) -> VersionReader:
    """Return a reader for the versions of a page; it uses the connection."""

    def get(number: int) -> StoredVersion:
        row = connection.execute(_VERSION, {"b_page": page_id, "b_number": number}).one_or_none()
        if row is None:
            raise NotStored(f"version {number} of {name} is not stored")
        return StoredVersion(row.number, row.base, row.length, row.checksum % 2**64, row.data)

    return VersionReader(get, name)


def load_page(connection: Connection, page_id: int, name: str, number: int) -> Digest:
    """Return a version of a page as a digest.

    Raises:
        NotStored: the version was never stored, or was removed since.
    """
    body, kind = load_body(connection, page_id, name, number)
    return read_page(body, kind)


def load_body(connection: Connection, page_id: int, name: str, number: int) -> tuple[bytes, str]:
    """Return the bytes of a version of a page, and their content type.

    Raises:
        NotStored: the version was never stored, or was removed since.
    """
    kind = connection.execute(
        select(version.c.content_type).where(version.c.page == page_id, version.c.number == number)
    ).scalar_one_or_none()
    if kind is None:
        raise NotStored(f"{name} has no version {number}")
    return version_reader(connection, page_id, name).read(number), kind


def write_result(
    connection: Connection, claimed: ClaimedPage, found: PageGroup, result: CheckResult
) -> None:
    """Write the result of a check and end the claim.

    Raises:
        StaleClaim: another worker has claimed the page since; roll back.
    """
    everyone = [*found.members.values(), *found.lists.values()]
    due = min((each.due for each in everyone), default=None)
    values = {**result.page, "due": due}
    if result.members:
        values["revision"] = found.revision = claimed.revision + 1
    if not release_page(connection, claimed, values):
        raise StaleClaim(f"the check of {claimed.url} took longer than its lease")
    if result.version is not None:
        _insert_version(connection, claimed.id, result.time, result.version)
    _update_members(connection, claimed.id, found, result.members)
    insert_events(connection, claimed.id, result)
    connection.execute(
        _ADD_VISIT,
        {
            "page": claimed.id,
            "time": result.time,
            "outcome": result.outcome,
            "seconds": result.seconds,
            "bytes": result.bytes,
            "detail": result.detail or None,
        },
    )


def signed(checksum: int) -> int:
    """Return a checksum as databases store it: they have signed numbers only."""
    return checksum - 2**64 if checksum >= 2**63 else checksum


def _insert_version(connection: Connection, page_id: int, time: float, new: NewVersion) -> None:
    stored = new.stored
    connection.execute(
        insert(version).values(
            page=page_id,
            number=stored.number,
            time=time,
            signatures=new.signatures,
            base=stored.base,
            length=stored.length,
            checksum=signed(stored.checksum),
            data=stored.data,
            status=new.status,
            content_type=new.content_type,
            headers=new.headers,
        )
    )


def _update_members(
    connection: Connection, page_id: int, found: PageGroup, names: set[str]
) -> None:
    lists = [found.lists[name] for name in names if name in found.lists]
    for known in lists:
        connection.execute(
            update(member)
            .where(member.c.watch == known.id, member.c.page == page_id)
            .values(due=known.due, checked=known.checked, quiet_checks=known.quiet_checks)
        )
    rows = []
    for name in names.difference(found.lists):
        known, core = found.members[name], found.group.members[name]
        rows.append(
            {
                "b_watch": known.id,
                "b_page": page_id,
                "due": known.due,
                "base": None if core.base < 0 else core.base,
                "signatures": parts_to_bytes(core.signatures),
                "missing": core.missing,
                "changed": known.changed,
                "fired": known.fired,
                "quiet_checks": known.quiet_checks,
                "fingerprint": known.fingerprint,
                "proposal": known.proposal,
                "checked": known.checked,
                "heard": known.heard,
            }
        )
    if rows:
        connection.execute(_UPDATE_MEMBER, rows)


def insert_events(connection: Connection, page_id: int, result: CheckResult) -> None:
    """Store events and their notices; those that are there already stay as they are."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    times = _version_times(connection, page_id, result.events)
    for new in result.events:
        told = replace(
            new.event,
            old_time=times.get(new.event.old_version, new.event.old_time),
            new_time=times.get(new.event.new_version, new.event.new_time),
        )
        added = connection.execute(
            dialect.insert(event)
            .values(
                id=told.id,
                watch=new.watch,
                page=page_id,
                kind=told.kind,
                time=result.time,
                old=told.old_version,
                new=told.new_version,
                body=told.to_dict(),
            )
            .on_conflict_do_nothing()
            .returning(event.c.id)  # psycopg does not count the rows of such a statement
        )
        if added.first() is not None:
            add_notices(connection, new.watch, told, new.rules, result.time)


def _version_times(
    connection: Connection, page_id: int, events: list[NewEvent]
) -> dict[int | None, datetime]:
    """Return when the versions of events were fetched."""
    numbers = {
        number
        for new in events
        for number in (new.event.old_version, new.event.new_version)
        if number is not None
    }
    if not numbers:
        return {}
    rows = connection.execute(
        select(version.c.number, version.c.time).where(
            version.c.page == page_id, version.c.number.in_(numbers)
        )
    )
    return {row.number: instant(row.time) for row in rows}

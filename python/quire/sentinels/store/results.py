"""Members of a page as a group, and the result of a check, written in one transaction.

A change and the notices about it commit together: there is no moment in which a change is known and
its notice can be lost. Events have stable ids, so a check that is repeated after a crash gives the
same events, and the second copy is not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from quire.digest.page import Digest
from quire.errors import StaleClaim, StoreError
from quire.sentinels.conditions.conditions import Fired
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Watch
from quire.sentinels.groups.group import Group, Member, Version
from quire.sentinels.parts.part import Part
from quire.sentinels.sentinel import Sentinel, walk
from quire.sentinels.store.claims import ClaimedPage, release_page
from quire.sentinels.store.plain import (
    parts_from_bytes,
    parts_to_bytes,
    signatures_from_bytes,
)
from quire.sentinels.store.tables import event, member, notice, page, version, visit, watch
from quire.sentinels.versions.deltas import StoredVersion, VersionReader
from quire.sentinels.versions.page_reading import read_page


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
    """An event to store, with the targets to tell and when to tell them."""

    id: str
    watch: int
    kind: str
    old: int | None
    new: int | None
    body: dict[str, Any]
    targets: dict[str, float] = field(default_factory=dict)


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


def load_group(
    connection: Connection, claimed: ClaimedPage, load: Callable[[int], Digest]
) -> PageGroup:
    """Read the members of a page, except paused ones."""
    group = Group(load)
    members: dict[str, PageMember] = {}
    lists: dict[str, PageMember] = {}
    rows = connection.execute(
        select(member, watch.c.form)
        .join(watch, watch.c.id == member.c.watch)
        .where(member.c.page == claimed.id, watch.c.paused.is_(False))
        .order_by(member.c.watch)
    )
    for row in rows:
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
        widths = [len(part.watch) for part in sentinel.parts]
        group.members[name] = Member(
            sentinel,
            -1 if row.base is None else row.base,
            parts_from_bytes(row.signatures, widths),
            row.missing,
        )
        members[name] = known
    bases = {each.base for each in group.members.values() if each.base >= 0}
    for row in connection.execute(
        select(version.c.number, version.c.signatures).where(
            version.c.page == claimed.id, version.c.number.in_(bases)
        )
    ):
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
        row = connection.execute(
            select(version).where(version.c.page == page_id, version.c.number == number)
        ).one_or_none()
        if row is None:
            raise StoreError(f"version {number} of {name} is not stored")
        return StoredVersion(row.number, row.base, row.length, row.checksum % 2**64, row.data)

    return VersionReader(get, name)


def load_page(connection: Connection, page_id: int, name: str, number: int) -> Digest:
    """Return a version of a page as a digest."""
    kind = connection.execute(
        select(version.c.content_type).where(version.c.page == page_id, version.c.number == number)
    ).scalar_one()
    return read_page(version_reader(connection, page_id, name).read(number), kind)


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
    _insert_events(connection, claimed.id, result)
    connection.execute(
        insert(visit).values(
            page=claimed.id,
            time=result.time,
            outcome=result.outcome,
            seconds=result.seconds,
            bytes=result.bytes,
            detail=result.detail or None,
        )
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
    if not rows:
        return
    connection.execute(
        update(member).where(
            member.c.watch == bindparam("b_watch"), member.c.page == bindparam("b_page")
        ),
        rows,
    )


def _insert_events(connection: Connection, page_id: int, result: CheckResult) -> None:
    """Store events and their notices; those that are there already stay as they are."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    for new in result.events:
        added = connection.execute(
            dialect.insert(event)
            .values(
                id=new.id,
                watch=new.watch,
                page=page_id,
                kind=new.kind,
                time=result.time,
                old=new.old,
                new=new.new,
                body=new.body,
            )
            .on_conflict_do_nothing()
        )
        if added.rowcount:
            for target, due in new.targets.items():
                connection.execute(
                    insert(notice).values(event=new.id, target=target, due=due, state="waiting")
                )


def count_rows(connection: Connection) -> dict[str, int]:
    """Count pages, versions, watches, events and notices, for metrics."""
    tables = {
        "pages": page,
        "versions": version,
        "watches": watch,
        "events": event,
        "notices": notice,
    }
    return {
        name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for name, table in tables.items()
    }

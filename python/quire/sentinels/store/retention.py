"""Deleting versions and events that no watch wants any more, in the database.

An event goes if it is older than its watch keeps versions, with its notices; one with a notice that
still has to be sent stays, and so does one with a dead letter. Everything about one page happens in one transaction: readers see all its versions or the kept ones,
and every version that they see can be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from quire.sentinels.form.reading import read_watch
from quire.sentinels.store.claims import end_claim
from quire.sentinels.store.results import signed, version_reader
from quire.sentinels.store.tables import event, member, notice, page, setting, version, watch
from quire.sentinels.versions.retention import (
    DEFAULT_KEEP,
    Keep,
    VersionSize,
    kept_versions,
    stored_again,
)

#: The name of the setting of the service, and numbers in one query.
SETTING = "keep"
CHUNK = 500


@dataclass(frozen=True, slots=True)
class Pruned:
    """What retention deleted.

    Attributes:
        versions: how many versions.
        bytes: how many bytes of the database they and their differences took.
    """

    versions: int = 0
    bytes: int = 0


def keep_setting(connection: Connection) -> Keep:
    """Return what the service keeps for watches that do not say it."""
    found = connection.execute(select(setting.c.value).where(setting.c.name == SETTING)).scalar()
    return DEFAULT_KEEP if found is None else _read(found)


def set_keep(connection: Connection, value: dict[str, object]) -> Keep:
    """Set what the service keeps, written as in a watch.

    Raises:
        WatchError: it is not valid.
    """
    keep = _read(value)
    connection.execute(delete(setting).where(setting.c.name == SETTING))
    connection.execute(insert(setting).values(name=SETTING, value=value))
    return keep


def policies_of(connection: Connection, page_id: int) -> list[Keep]:
    """Return what the watches of a page want."""
    forms = connection.execute(
        select(watch.c.form)
        .join(member, member.c.watch == watch.c.id)
        .where(member.c.page == page_id, member.c.list_level.is_(None))
    ).scalars()
    default = keep_setting(connection)
    return [read_watch(form).keep or default for form in forms]


def prune_page(
    connection: Connection,
    page_id: int,
    now: float,
    policies: Iterable[Keep] | None = None,
    *,
    is_claimed: bool = True,
) -> Pruned:
    """Delete the versions of a page that no watch wants.

    Args:
        connection: in a transaction for writing.
        page_id: the page.
        now: the time, in seconds since 1970.
        policies: what to keep, in place of what its watches want.
        is_claimed: whether the caller has claimed the page. Otherwise the check that another worker
            may be making is given up, because its new version could need one that is deleted here.
    """
    wanted = policies_of(connection, page_id) if policies is None else list(policies)
    if not wanted:
        return Pruned()
    if policies is None:
        _delete_events(connection, page_id, now)
    needed = _needed(connection, page_id)
    before = _sizes(connection, page_id)
    sizes, deleted = before, 0
    while True:
        kept = kept_versions(sizes, wanted, needed, now)
        gone = [each.number for each in sizes if each.number not in kept]
        if not gone:
            break
        if not is_claimed:
            end_claim(connection, page_id)
        _delete(connection, page_id, gone, kept)
        deleted += len(gone)
        # Versions that were stored again may be longer than before.
        sizes = _sizes(connection, page_id)
    freed = sum(each.bytes for each in before) - sum(each.bytes for each in sizes)
    return Pruned(deleted, freed)


def _delete_events(connection: Connection, page_id: int, now: float) -> None:
    """Delete the events of a page that are older than their watches keep versions."""
    forms = connection.execute(
        select(watch.c.id, watch.c.form)
        .join(member, member.c.watch == watch.c.id)
        .where(member.c.page == page_id)
    ).all()
    default = keep_setting(connection)
    for row in forms:
        keep = read_watch(row.form).keep or default
        if keep.age is None:
            continue
        open_notices = select(notice.c.id).where(
            notice.c.event == event.c.id, notice.c.state.in_(["new", "waiting", "dead"])
        )
        connection.execute(
            delete(event).where(
                event.c.watch == row.id,
                event.c.page == page_id,
                event.c.time < now - keep.age.total_seconds(),
                ~open_notices.exists(),
            )
        )


def _needed(connection: Connection, page_id: int) -> set[int]:
    bases = connection.execute(
        select(member.c.base).where(member.c.page == page_id, member.c.base.is_not(None))
    ).scalars()
    latest = connection.execute(
        select(page.c.latest).where(page.c.id == page_id).with_for_update()
    ).scalar_one()
    return {*bases, latest}


def _sizes(connection: Connection, page_id: int) -> list[VersionSize]:
    rows = connection.execute(
        select(version.c.number, version.c.time, func.length(version.c.data))
        .where(version.c.page == page_id)
        .order_by(version.c.number)
    )
    return [VersionSize(*row) for row in rows]


def _delete(connection: Connection, page_id: int, gone: list[int], kept: set[int]) -> None:
    url = connection.execute(select(page.c.url).where(page.c.id == page_id)).scalar_one()
    rows = connection.execute(
        select(version.c.number, version.c.base).where(version.c.page == page_id)
    )
    bases = {row.number: row.base for row in rows}
    reader = version_reader(connection, page_id, url)
    for new in stored_again(kept, bases, reader.read):
        connection.execute(
            update(version)
            .where(version.c.page == page_id, version.c.number == new.number)
            .values(base=new.base, data=new.data, length=new.length, checksum=signed(new.checksum))
        )
    for at in range(0, len(gone), CHUNK):
        connection.execute(
            delete(version).where(
                version.c.page == page_id, version.c.number.in_(gone[at : at + CHUNK])
            )
        )


def _read(value: dict[str, object]) -> Keep:
    form = {"url": "https://example.org/", "keep": value}
    return read_watch(form).keep or Keep()

"""The service: everything that people can do with watches, for command line, API and web pages.

These functions take and return plain values. They know nothing of terminals, requests or HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

from sqlalchemy import Connection, Row, func, select

from quire.digest.page import Digest
from quire.errors import StoreError
from quire.sentinels.checking.replay import Capture, Replay, replay
from quire.sentinels.checking.worker import Fetcher, Tally, Worker
from quire.sentinels.conditions.comparison import Circumstances, Comparison
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Watch
from quire.sentinels.parts.reading import PageReader, Reading
from quire.sentinels.store import backup as backups
from quire.sentinels.store.database import Database
from quire.sentinels.store.exporting import export_versions
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import load_page, version_numbers, version_reader
from quire.sentinels.store.retention import Pruned, prune_page, set_keep
from quire.sentinels.store.tables import event, member, page, version
from quire.sentinels.store.watches import (
    StoredWatch,
    add_watch,
    edit_watch,
    find_watch,
    list_watches,
    refresh_pages,
    remove_watch,
)
from quire.sentinels.versions.retention import Keep


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
class StoredEvent:
    """Something that a watch told about."""

    id: str
    watch: int
    page: int
    kind: str
    time: datetime
    old: int | None
    new: int | None
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredState:
    """One version of a watched page, and what the watched parts said on it."""

    number: int
    time: datetime
    status: int
    length: int
    readings: dict[str, Reading]


class Service:
    """Watches in a database.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self.database: Database = database

    # ------------------------------------------------------------ watches

    def add(self, form: dict[str, Any], owner: int | None = None) -> StoredWatch:
        """Add a watch. Its pages are due at once."""
        with self.database.write() as connection:
            return add_watch(connection, form, time(), owner)

    def edit(self, name: str, form: dict[str, Any]) -> StoredWatch:
        """Replace the form of a watch."""
        with self.database.write() as connection:
            return edit_watch(connection, find_watch(connection, name).id, form, time())

    def remove(self, name: str) -> None:
        """Remove a watch with its events, and pages that no other watch has."""
        with self.database.write() as connection:
            remove_watch(connection, find_watch(connection, name).id)

    def find(self, name: str) -> StoredWatch:
        """Return a watch by its name or number."""
        with self.database.read() as connection:
            return find_watch(connection, name)

    def watches(self, *, after: int = 0, most: int = 100, text: str = "") -> list[StoredWatch]:
        """Return watches, a page at a time."""
        with self.database.read() as connection:
            return list_watches(connection, after=after, most=most, text=text)

    def make_due(self, name: str) -> None:
        """Let a watch be checked at once."""
        with self.database.write() as connection:
            found = find_watch(connection, name)
            now = time()
            connection.execute(member.update().where(member.c.watch == found.id).values(due=now))
            pages = connection.execute(select(member.c.page).where(member.c.watch == found.id))
            refresh_pages(connection, list(pages.scalars()))

    # ------------------------------------------------------------ looking

    def pages(self, name: str) -> list[PageStatus]:
        """Return how the pages of a watch are doing."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            count = (
                select(func.count())
                .select_from(version)
                .where(version.c.page == page.c.id)
                .scalar_subquery()
            )
            rows = connection.execute(
                select(
                    page,
                    member.c.missing,
                    member.c.fired,
                    member.c.list_level,
                    member.c.unlisted,
                    count.label("versions"),
                )
                .join(member, member.c.page == page.c.id)
                .where(member.c.watch == found.id)
                .order_by(page.c.url)
            )
            return [_status(row) for row in rows]

    def events(
        self, name: str | None = None, *, before: float | None = None, most: int = 50
    ) -> list[StoredEvent]:
        """Return what watches told about, the newest first."""
        with self.database.read() as connection:
            query = select(event).order_by(event.c.time.desc(), event.c.id).limit(most)
            if name is not None:
                query = query.where(event.c.watch == find_watch(connection, name).id)
            if before is not None:
                query = query.where(event.c.time < before)
            return [
                StoredEvent(
                    row.id,
                    row.watch,
                    row.page,
                    row.kind,
                    instant(row.time),
                    row.old,
                    row.new,
                    row.body,
                )
                for row in connection.execute(query)
            ]

    def history(self, name: str, url: str | None = None, most: int = 100) -> list[StoredState]:
        """Return what the watched parts said on each stored version, the oldest first."""
        with self._page(name, url) as (connection, found, row):
            rows = connection.execute(
                select(version)
                .where(version.c.page == row.id)
                .order_by(version.c.number.desc())
                .limit(most)
            ).all()
            states = []
            for each in reversed(rows):
                reader = PageReader(load_page(connection, row.id, row.url, each.number))
                readings = {part: reader.read(what) for part, what in found.watch.parts.items()}
                states.append(
                    StoredState(each.number, instant(each.time), each.status, each.length, readings)
                )
            return states

    def versions(
        self, name: str, url: str | None, old: int | datetime | None, new: int | datetime | None
    ) -> tuple[Digest, Digest]:
        """Return two versions of a page, by number or by time; the last two by default.

        Raises:
            StoreError: there are not that many versions.
        """
        with self._page(name, url) as (connection, _, row):
            after = find_version(connection, row, row.latest if new is None else new)
            before = _before(connection, row, after) if old is None else old
            before = find_version(connection, row, before)
            one = load_page(connection, row.id, row.url, before)
            return one, load_page(connection, row.id, row.url, after)

    def explain(self, name: str, url: str | None = None) -> Finding:
        """Return, condition by condition, what a watch finds on the last two versions."""
        with self._page(name, url) as (connection, found, row):
            numbers = version_numbers(connection, row.id)
            if len(numbers) < 2:  # noqa: PLR2004 - two to compare
                raise StoreError(f"{row.url} has only one version so far; nothing to compare")
            old, new = (
                PageReader(load_page(connection, row.id, row.url, number))
                for number in numbers[-2:]
            )
            now = instant(time())
            about = Circumstances(now, instant(found.created), state=row.state)
            return found.watch.sentinel.condition.judge(
                Comparison(lambda: old, new, about), explain=True
            )

    def replay(self, form: dict[str, Any] | str, url: str | None = None) -> Replay:
        """Run a watch, stored or not, over the stored history of a page."""
        watch = self.find(form).watch if isinstance(form, str) else read_watch(form)
        with self.database.read() as connection:
            address = url or watch.pages.urls[0]
            found = connection.execute(
                select(page.c.id)
                .where(page.c.url == address)
                .order_by(page.c.latest.desc())
                .limit(1)
            ).scalar()
            if found is None:
                raise StoreError(f"there are no versions of {address}")
            return replay(watch, _captures(connection, found, address), address)

    # ------------------------------------------------------------ running

    async def run_due(self, fetch: Fetcher) -> Tally:
        """Check everything that is due, once."""
        worker = Worker(self.database, fetch)
        try:
            await worker.run_due()
        finally:
            worker.close()
        return worker.tally

    def prune(
        self, names: Iterable[str] = (), keep: Keep | None = None, *, vacuum: bool = True
    ) -> Pruned:
        """Delete versions that no watch wants any more.

        Args:
            names: watches; all pages if there are none.
            keep: what to keep, in place of what watches and the service say.
            vacuum: give the room back to the disk.
        """
        with self.database.read() as connection:
            query = select(page.c.id).where(page.c.latest >= 0)
            chosen = [find_watch(connection, name).id for name in names]
            if chosen:
                on = select(member.c.page).where(member.c.watch.in_(chosen))
                query = query.where(page.c.id.in_(on))
            pages = list(connection.execute(query).scalars())
        versions = freed = 0
        for each in pages:  # one transaction each: workers go on meanwhile
            with self.database.write() as connection:
                policies = None if keep is None else [keep]
                found = prune_page(connection, each, time(), policies, is_claimed=False)
            versions, freed = versions + found.versions, freed + found.bytes
        if versions and vacuum:
            self.database.vacuum()
        return Pruned(versions, freed)

    def set_keep(self, value: dict[str, Any]) -> Keep:
        """Set what is kept for watches that do not say it, written as in a watch."""
        with self.database.write() as connection:
            return set_keep(connection, value)

    def export_versions(self, name: str, path: Path, url: str | None = None) -> int:
        """Write the versions of a watch to a new archive or WARC file; return how many.

        Raises:
            StoreError: the path exists, or the watch has no versions.
        """
        with self.database.read() as connection:
            found = find_watch(connection, name)
            return export_versions(connection, found.id, path, url)

    def backup(self, path: Path) -> int:
        """Write everything to a new file; return the number of rows."""
        return backups.backup(self.database, path)

    def restore(self, path: Path) -> int:
        """Copy a backup into this database, which must be empty; return the number of rows."""
        return backups.restore(self.database, path)

    @contextmanager
    def _page(
        self, name: str, url: str | None
    ) -> Iterator[tuple[Connection, StoredWatch, Row[Any]]]:
        """Find a page of a watch: the only one, or the one with this address."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            query = select(page).join(member, member.c.page == page.c.id)
            query = query.where(member.c.watch == found.id, member.c.list_level.is_(None))
            if url is not None:
                query = query.where(page.c.url == url)
            rows = connection.execute(query.limit(2)).all()
            if not rows:
                raise StoreError(f"the watch {name!r} has no page {url or ''}".rstrip())
            if len(rows) > 1:
                raise StoreError(f"the watch {name!r} has several pages; give the address of one")
            yield connection, found, rows[0]


def find_version(connection: Connection, row: Row[Any], wanted: int | datetime) -> int:
    """Return the number of a version of a page: this one, or the one at this time.

    Raises:
        StoreError: it is not stored.
    """
    numbers = version_numbers(connection, row.id)
    if isinstance(wanted, datetime):
        found = connection.execute(
            select(func.max(version.c.number)).where(
                version.c.page == row.id, version.c.time <= wanted.timestamp()
            )
        ).scalar()
        if found is None:
            raise StoreError(f"{row.url} has no version from {wanted:%Y-%m-%d %H:%M} or before")
        return int(found)
    if wanted not in numbers:
        first, last = (numbers[0], numbers[-1]) if numbers else (0, -1)
        missing = last - first + 1 - len(numbers)
        gaps = f", {missing:,} of them deleted" if missing else ""
        raise StoreError(
            f"{row.url} has no version {wanted}; its versions are {first} to {last}{gaps}"
        )
    return wanted


def _before(connection: Connection, row: Row[Any], number: int) -> int:
    older = [each for each in version_numbers(connection, row.id) if each < number]
    return older[-1] if older else number - 1


def _status(row: Row[Any]) -> PageStatus:
    return PageStatus(
        id=row.id,
        url=row.url,
        state=row.state,
        checked=_time(row.checked),
        changed=_time(row.changed),
        due=_time(row.due),
        versions=row.versions,
        error=row.error or "",
        missing=bool(row.missing),
        fired=_time(row.fired),
        is_list=row.list_level is not None,
        unlisted=_time(row.unlisted),
    )


def _time(value: float | None) -> datetime | None:
    return None if value is None else instant(value)


def _captures(connection: Connection, page_id: int, name: str) -> Iterator[Capture]:
    reader = version_reader(connection, page_id, name)
    rows = connection.execute(
        select(version.c.number, version.c.time, version.c.content_type, version.c.status)
        .where(version.c.page == page_id)
        .order_by(version.c.number)
    ).all()
    for row in rows:
        yield Capture(instant(row.time), reader.read(row.number), row.content_type, row.status)


__all__ = ["PageStatus", "Service", "StoredEvent", "StoredState", "Watch"]

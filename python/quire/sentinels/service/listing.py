"""Listing: all watches and all events, a page at a time, and actions on many watches at once."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from time import time

from sqlalchemy import Connection, select

from quire.errors import WatchError
from quire.sentinels.service.base import Base
from quire.sentinels.service.views import StoredEvent, stored_event
from quire.sentinels.store.overview.event_rows import WantedEvents, list_events
from quire.sentinels.store.overview.tags import all_tags
from quire.sentinels.store.overview.watch_rows import (
    Wanted,
    WatchRow,
    WatchRows,
    list_rows,
    matching,
    rows_of,
)
from quire.sentinels.store.tables import member
from quire.sentinels.store.tables import watch as watches
from quire.sentinels.store.watches import (
    StoredWatch,
    edit_watch,
    get_watch,
    pages_of,
    refresh_pages,
    remove_watch,
)

#: Watches that are changed in one transaction; others get their turn to write in between.
CHUNK = 100


class BulkAction(Enum):
    """What can be done to many watches at once."""

    CHECK = "check"
    """Let them be checked at once."""
    PAUSE = "pause"
    RESUME = "resume"
    TAG = "tag"
    UNTAG = "untag"
    DELETE = "delete"


class Listing(Base):
    """Lists watches and events."""

    def watch_rows(self, wanted: Wanted, *, offset: int = 0, most: int = 50) -> WatchRows:
        """Return a page of the list of watches."""
        with self.database.read() as connection:
            return list_rows(connection, wanted, time(), offset=offset, most=most)

    def rows_of(self, numbers: Sequence[int]) -> list[WatchRow]:
        """Return the rows of some watches in that list, by number; those that exist."""
        with self.database.read() as connection:
            return rows_of(connection, numbers, time())

    def matching(self, wanted: Wanted, most: int) -> list[int]:
        """Return the numbers of the watches in that list, up to ``most``."""
        with self.database.read() as connection:
            return matching(connection, wanted, time(), most)

    def tags(self) -> list[tuple[str, int]]:
        """Return the tags that most watches have, with the number of watches, by name."""
        with self.database.read() as connection:
            return all_tags(connection)

    def changes(
        self, wanted: WantedEvents, *, following: str = "", most: int = 50
    ) -> list[StoredEvent]:
        """Return what watches told about, the newest first.

        Args:
            wanted: which events.
            following: only events that follow this one in the list, by its id.
            most: the most events to return.

        Raises:
            NotStored: the event does not exist.
        """
        with self.database.read() as connection:
            rows = list_events(connection, wanted, following=following, most=most)
            return [stored_event(row) for row in rows]

    def taken_names(self, names: Sequence[str]) -> set[str]:
        """Return those names that watches have already."""
        found: set[str] = set()
        with self.database.read() as connection:
            for at in range(0, len(names), CHUNK):
                query = select(watches.c.name).where(watches.c.name.in_(names[at : at + CHUNK]))
                found |= set(connection.execute(query).scalars())
        return found

    def act(self, numbers: Sequence[int], action: BulkAction, tag: str = "") -> int:
        """Do something to many watches; return to how many. Numbers that do not exist are ignored.

        Args:
            numbers: the watches.
            action: what to do.
            tag: the tag to add or to remove.

        Raises:
            WatchError: the tag is empty.
        """
        tag = tag.strip()
        if action in (BulkAction.TAG, BulkAction.UNTAG) and not tag:
            raise WatchError("tag: expected a tag", path="tag")
        done = 0
        for at in range(0, len(numbers), CHUNK):
            with self.database.write() as connection:
                some = set(numbers[at : at + CHUNK])
                known = select(watches.c.id).where(watches.c.id.in_(some)).order_by(watches.c.id)
                for number in connection.execute(known).scalars().all():
                    done += _act(connection, number, action, tag, time())
        return done


def _act(connection: Connection, number: int, action: BulkAction, tag: str, now: float) -> bool:
    """Do something to a watch; return whether that changed anything."""
    if action is BulkAction.DELETE:
        remove_watch(connection, number)
        return True
    if action is BulkAction.CHECK:
        connection.execute(member.update().where(member.c.watch == number).values(due=now))
        refresh_pages(connection, pages_of(connection, number))
        return True
    found = get_watch(connection, number)
    if action in (BulkAction.PAUSE, BulkAction.RESUME):
        paused = action is BulkAction.PAUSE
        if found.paused is not paused:
            edit_watch(connection, number, {**found.form, "paused": paused}, now)
        return found.paused is not paused
    return _retag(connection, found, action, tag, now)


def _retag(
    connection: Connection, found: StoredWatch, action: BulkAction, tag: str, now: float
) -> bool:
    tags = [each for each in found.watch.tags if each != tag]
    if action is BulkAction.TAG:
        tags = [*found.watch.tags] if tag in found.watch.tags else [*tags, tag]
    if tuple(tags) == found.watch.tags:
        return False
    edit_watch(connection, found.id, {**found.form, "tags": tags}, now)
    return True

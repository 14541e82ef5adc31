"""What all parts of the service share: the database, and how to find a page of a watch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Row, select

from quire.errors import NotStored, PageNotNamed
from quire.sentinels.sending import (
    NoticeOptions,
)
from quire.sentinels.store.database import Database
from quire.sentinels.store.tables import member, page
from quire.sentinels.store.watches import (
    StoredWatch,
    find_watch,
)


class Base:
    """A database with watches.

    Args:
        database: the database.
        notices: what the operator set up for notices (default: from the environment).
    """

    def __init__(self, database: Database, notices: NoticeOptions | None = None) -> None:
        self.database: Database = database
        self.options: NoticeOptions = notices or NoticeOptions.from_environment()

    def find(self, name: str | int) -> StoredWatch:
        """Return a watch by its name or number; an int is always a number."""
        with self.database.read() as connection:
            return find_watch(connection, name)

    @contextmanager
    def _page(
        self, name: str | int, url: str | None
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
                raise NotStored(f"the watch {name!r} has no page {url or ''}".rstrip())
            if len(rows) > 1:
                raise PageNotNamed(f"the watch {name!r} has several pages; give the address of one")
            yield connection, found, rows[0]

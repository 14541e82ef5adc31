"""Backup and restore: everything in one SQLite file, whatever database it came from.

A backup is a database itself: it can be opened, looked into, and used in place of the original.
Restoring copies it into an empty database. So this is also the way from SQLite to PostgreSQL.
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import Connection, func, insert, select, text

from quire.errors import StoreError
from quire.sentinels.store.database import Database
from quire.sentinels.store.tables import metadata

#: Rows copied at once.
CHUNK = 500


def backup(database: Database, path: Path) -> int:
    """Write everything to a new file; return the number of rows.

    The copy is of one moment: it is read in one transaction.

    Raises:
        StoreError: the file exists.
    """
    try:
        # Never through a link, and never over a file that is there.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise StoreError(f"{path} exists; choose another name for the backup") from None
    try:
        copy = Database.open(path)
        try:
            with _snapshot(database) as source, copy.write() as target:
                return _copy(source, target)
        finally:
            copy.close()
    except BaseException:
        path.unlink(missing_ok=True)  # half a backup is worse than none
        raise


def restore(database: Database, path: Path) -> int:
    """Copy a backup into an empty database; return the number of rows.

    Raises:
        StoreError: there is no such file, or the database is not empty.
    """
    if not path.is_file() or not path.stat().st_size:
        raise StoreError(f"there is no backup {path}")
    copy = Database.open(path)
    try:
        with copy.read() as source, database.write() as target:
            for table in metadata.sorted_tables:
                if target.execute(select(func.count()).select_from(table)).scalar_one():
                    raise StoreError("the database has watches already; restore into an empty one")
            rows = _copy(source, target)
            _continue_numbers(target)
            return rows
    finally:
        copy.close()


def _snapshot(database: Database) -> Connection:
    connection = database.engine.connect()
    if not database.is_sqlite:
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
    else:
        connection.exec_driver_sql("BEGIN")
    return connection


def _copy(source: Connection, target: Connection) -> int:
    copied = 0
    for table in metadata.sorted_tables:  # parents before children
        rows = source.execute(select(table).execution_options(yield_per=CHUNK))
        for chunk in rows.mappings().partitions():
            target.execute(insert(table), [dict(row) for row in chunk])
            copied += len(chunk)
    return copied


def _continue_numbers(connection: Connection) -> None:
    """Let PostgreSQL number new rows after the copied ones."""
    if connection.dialect.name != "postgresql":
        return
    for table in metadata.sorted_tables:
        if "id" in table.c and table.c.id.autoincrement and table.name != "event":
            # Names of our own tables: nothing here comes from a user.
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'),"  # noqa: S608
                    f' (SELECT COALESCE(MAX(id), 0) + 1 FROM "{table.name}"), false)'
                )
            )

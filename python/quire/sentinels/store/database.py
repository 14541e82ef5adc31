"""The database: SQLite in one file, or PostgreSQL.

SQLite runs in WAL mode with ``synchronous=FULL``: a commit that returned survives power loss. Write
transactions begin with ``BEGIN IMMEDIATE``, so that two writers wait for each other instead of
failing half way. PostgreSQL runs at its default isolation; claims use ``SKIP LOCKED``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, ProgrammingError

from quire.errors import MissingExtra, StoreError
from quire.sentinels.store.tables import metadata

#: How long a writer of SQLite waits for another one.
BUSY_SECONDS = 30.0
#: The schema that this version of quire reads and writes.
SCHEMA = "0006"


class Database:
    """A database with the tables of the service.

    >>> database = Database.open("sqlite://")
    >>> database.is_sqlite
    True

    Attributes:
        engine: the connections.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine

    @classmethod
    def open(cls, where: str | os.PathLike[str]) -> Database:
        """Open a database, and create its tables if it is new.

        Args:
            where: the path of a file for SQLite, or an address such as
                ``postgresql://user@host/name``.

        Raises:
            StoreError: the address is not valid, or the database is damaged, cannot be reached,
                belongs to another program, or has the schema of a newer quire.
            MissingExtra: the driver is not installed.
        """
        database = cls(_engine(where))
        try:
            database.upgrade()
        except BaseException:
            database.close()
            raise
        return database

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite."""
        return self.engine.dialect.name == "sqlite"

    def upgrade(self) -> None:
        """Create the tables, or bring those of an older version up to date."""
        from quire.sentinels.store.migrations import upgrade  # noqa: PLC0415 - alembic is heavy

        with self._explained():
            upgrade(self.engine)
            if self.is_sqlite:
                # Kept in the file, so only once it is known to be ours.
                with self.engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode=WAL")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction for reading."""
        with self._explained(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction for writing; it commits if the block ends without an error."""
        with self._explained(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            try:
                connection.commit()
            except BaseException:
                # The pool would hand it out again with the transaction still open.
                connection.invalidate()
                raise

    def vacuum(self) -> None:
        """Give the room of deleted rows back to the disk."""
        with self._explained(), self.engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            alone.exec_driver_sql("VACUUM")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn failures of the database (damaged, full, not reachable) into ours.

        Errors that only a bug can cause, such as a violated constraint, are left as they are.
        """
        try:
            yield
        except (IntegrityError, ProgrammingError):
            raise
        except DBAPIError as error:
            reason = str(_first(error).orig).strip().partition("\n")[0]
            name = self.engine.url.render_as_string(hide_password=True)
            raise StoreError(f"database {name.removeprefix('sqlite:///')}: {reason}") from error


def _first(error: DBAPIError) -> DBAPIError:
    """Return the failure that led to this one: SQLite ends a transaction when the disk is full."""
    found, at = error, error.__context__
    while at is not None:
        found, at = at if isinstance(at, DBAPIError) else found, at.__context__
    return found


def _engine(where: str | os.PathLike[str]) -> Engine:
    url = _url(where)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url)
    if url.get_backend_name() != "postgresql":
        raise StoreError(
            f"cannot keep watches in {url.get_backend_name()}; expected a file for SQLite, "
            "or an address such as postgresql://user@host/name"
        )
    try:
        return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError:
        raise MissingExtra("PostgreSQL needs psycopg", extra="postgres") from None


def _url(where: str | os.PathLike[str]) -> URL:
    text = os.fspath(where)
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text)))
    try:
        return make_url(text)
    except ArgumentError:
        raise StoreError(
            "the address of the database is not valid; expected a path, or an address such as "
            "postgresql://user@host/name"
        ) from None


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: object, _: object) -> None:
        # Python's own transaction handling would begin transactions too late.
        connection.isolation_level = None  # type: ignore[attr-defined]
        cursor = connection.cursor()  # type: ignore[attr-defined]
        for pragma in ("synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def has_tables(engine: Engine) -> bool:
    """Tell whether the tables of the service exist."""
    return set(metadata.tables) <= set(inspect(engine).get_table_names())

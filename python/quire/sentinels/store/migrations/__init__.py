"""Changes of the schema, one file each, applied in order by alembic.

A database is brought up to date whenever it is opened, in one transaction: a process that is killed
meanwhile leaves the old schema, and a second process waits. A database of a newer quire is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect

from quire.errors import StoreError

HERE = Path(__file__).parent

# Any number that other programs are unlikely to use.
_LOCK = 7_118_101_114


def scripts() -> tuple[Config, ScriptDirectory]:
    """Return the changes, as alembic wants them."""
    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    return config, ScriptDirectory.from_config(config)


def upgrade(engine: Engine, to: str = "head") -> None:
    """Apply all changes of the schema that a database does not have yet.

    Args:
        engine: the database.
        to: the schema to stop at, for tests of upgrades.

    Raises:
        StoreError: the database was written by a newer version of quire, or by another program.
    """
    config, script = scripts()
    newest = script.get_current_head()
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
        connection.rollback()
        if found == newest:
            return
        _wait_for_others(connection)
        found = MigrationContext.configure(connection).get_current_revision()
        if found == newest:
            return
        if found is None and inspect(connection).get_table_names():
            raise StoreError(
                "the database has tables of another program; expected an empty database, or one "
                "that quire made"
            )
        if found is not None and found not in {each.revision for each in script.walk_revisions()}:
            raise StoreError(
                f"the database has schema {found}, and this version of quire knows {newest}; "
                "upgrade quire"
            )
        _apply(connection, config, script, to)
        connection.commit()


def _wait_for_others(connection: Connection) -> None:
    """Begin a transaction that only one process at a time can have."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")


def _apply(connection: Connection, config: Config, script: ScriptDirectory, to: str) -> None:
    def steps(revision: Any, _: Any) -> Any:  # noqa: ANN401 - alembic's own types
        return script._upgrade_revs(to, revision)  # noqa: SLF001 - as alembic's command does

    with EnvironmentContext(config, script, fn=steps, destination_rev=to) as environment:
        environment.configure(connection=connection, render_as_batch=True, transactional_ddl=True)
        with environment.begin_transaction():
            environment.run_migrations()

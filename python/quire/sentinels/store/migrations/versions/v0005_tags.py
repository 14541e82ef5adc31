"""Tags of watches as rows, so that they can be searched, and accounts that are disabled."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

#: Watches that are read at once.
CHUNK = 500


def upgrade() -> None:
    """Add the table of tags and fill it from the forms of watches."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    tag = op.create_table(
        "tag",
        sa.Column("watch", number, nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("watch", "key", name=op.f("pk_tag")),
        sa.ForeignKeyConstraint(
            ["watch"], ["watch.id"], name=op.f("fk_tag_watch_watch"), ondelete="CASCADE"
        ),
    )
    op.create_index(op.f("ix_tag_key"), "tag", ["key"])
    op.add_column(
        "account",
        sa.Column("disabled", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    _fill(op.get_bind(), tag)


def _fill(connection: sa.Connection, tag: sa.Table) -> None:
    watch = sa.table("watch", sa.column("id", sa.BigInteger), sa.column("form", sa.JSON))
    after = 0
    while True:
        query = sa.select(watch).where(watch.c.id > after).order_by(watch.c.id).limit(CHUNK)
        rows = connection.execute(query).all()
        if not rows:
            return
        found = [
            {"watch": row.id, "key": _key(name), "name": name}
            for row in rows
            for name in dict.fromkeys(_names(row.form))
        ]
        if found:
            connection.execute(sa.insert(tag), found)
        after = rows[-1].id


def _names(form: dict[str, Any]) -> list[str]:
    tags = form.get("tags")
    given = tags if isinstance(tags, list) else [tags]
    return [each for each in given if isinstance(each, str)]


def _key(name: str) -> str:
    return hashlib.sha256(json.dumps(name).encode("ascii")).hexdigest()[:32]

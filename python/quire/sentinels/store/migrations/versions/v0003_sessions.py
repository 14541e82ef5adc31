"""Sessions of people who logged in, and passwords that have to be changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table of sessions, and the mark of passwords that work only once."""
    op.create_table(
        "session",
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("account", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created", sa.Float(precision=53), nullable=False),
        sa.Column("used", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_session")),
        sa.ForeignKeyConstraint(
            ["account"],
            ["account.id"],
            name=op.f("fk_session_account_account"),
            ondelete="CASCADE",
        ),
    )
    op.create_index(op.f("ix_session_account"), "session", ["account"])
    op.add_column(
        "account",
        sa.Column("one_time", sa.Boolean(), nullable=False, server_default=sa.false()),
    )

"""Style sheets, images and fonts of pages, and drafts of watches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "resource",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("type", sa.String(length=100), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_resource")),
    )
    op.create_table(
        "address",
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("resource", sa.String(length=64), nullable=True),
        sa.Column("fetched", sa.Float(precision=53), nullable=False),
        sa.Column("used", sa.Float(precision=53), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_address")),
        sa.ForeignKeyConstraint(
            ["resource"], ["resource.hash"], name=op.f("fk_address_resource_resource")
        ),
    )
    op.create_index(op.f("ix_address_resource"), "address", ["resource"])
    op.create_index(op.f("ix_address_used"), "address", ["used"])
    op.create_table(
        "draft",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("account", _ID, nullable=False),
        sa.Column("watch", _ID, nullable=True),
        sa.Column("made", sa.Float(precision=53), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("final_url", sa.Text(), nullable=False),
        sa.Column("fetch", sa.JSON(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("selectors", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_draft")),
        sa.ForeignKeyConstraint(
            ["account"], ["account.id"], name=op.f("fk_draft_account_account"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["watch"], ["watch.id"], name=op.f("fk_draft_watch_watch"), ondelete="CASCADE"
        ),
    )
    op.create_index(op.f("ix_draft_account"), "draft", ["account"])
    op.create_index(op.f("ix_draft_watch"), "draft", ["watch"])

"""Members that are lists of pages, pages that were found in them, and firings that were heard of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add columns to members."""
    op.add_column("member", sa.Column("checked", sa.Float(precision=53), nullable=True))
    op.add_column("member", sa.Column("heard", sa.JSON(), nullable=True))
    op.add_column("member", sa.Column("list_level", sa.Integer(), nullable=True))
    op.add_column("member", sa.Column("list", sa.BigInteger(), nullable=True))
    op.add_column("member", sa.Column("unlisted", sa.Float(precision=53), nullable=True))

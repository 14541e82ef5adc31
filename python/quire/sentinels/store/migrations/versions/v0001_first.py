"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "account",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("created", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("name", name=op.f("uq_account_name")),
    )
    op.create_table(
        "page",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("fetching", sa.JSON(), nullable=False),
        sa.Column("due", sa.Float(precision=53), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Float(precision=53), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("source", sa.LargeBinary(length=16), nullable=True),
        sa.Column("content", sa.LargeBinary(length=48), nullable=True),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=True),
        sa.Column("latest", sa.Integer(), nullable=False),
        sa.Column("checked", sa.Float(precision=53), nullable=True),
        sa.Column("changed", sa.Float(precision=53), nullable=True),
        sa.Column("quiet_checks", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("error_since", sa.Float(precision=53), nullable=True),
        sa.Column("noise", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page")),
        sa.UniqueConstraint("key", name=op.f("uq_page_key")),
    )
    op.create_index(op.f("ix_page_due"), "page", ["due"], unique=False)
    op.create_table(
        "setting",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_setting")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created", sa.Float(precision=53), nullable=False),
        sa.Column("used", sa.Float(precision=53), nullable=True),
        sa.ForeignKeyConstraint(
            ["account"], ["account.id"], name=op.f("fk_token_account_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_token_hash")),
    )
    op.create_table(
        "version",
        sa.Column("page", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("time", sa.Float(precision=53), nullable=False),
        sa.Column("signatures", sa.LargeBinary(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=True),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["page"], ["page.id"], name=op.f("fk_version_page_page"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page", "number", name=op.f("pk_version")),
    )
    op.create_table(
        "visit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("page", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("time", sa.Float(precision=53), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("seconds", sa.Float(precision=53), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["page"], ["page.id"], name=op.f("fk_visit_page_page"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_visit")),
    )
    op.create_index(op.f("ix_visit_page"), "visit", ["page", "time"], unique=False)
    op.create_table(
        "watch",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.Column("form", sa.JSON(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Float(precision=53), nullable=False),
        sa.Column("updated", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner"], ["account.id"], name=op.f("fk_watch_owner_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch")),
        sa.UniqueConstraint("name", name=op.f("uq_watch_name")),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("watch", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("page", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("time", sa.Float(precision=53), nullable=False),
        sa.Column("old", sa.Integer(), nullable=True),
        sa.Column("new", sa.Integer(), nullable=True),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["page"], ["page.id"], name=op.f("fk_event_page_page"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["watch"], ["watch.id"], name=op.f("fk_event_watch_watch"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_time"), "event", ["time"], unique=False)
    op.create_index(op.f("ix_event_watch"), "event", ["watch", "time"], unique=False)
    op.create_table(
        "member",
        sa.Column("watch", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("page", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("due", sa.Float(precision=53), nullable=False),
        sa.Column("installed", sa.Float(precision=53), nullable=False),
        sa.Column("base", sa.Integer(), nullable=True),
        sa.Column("signatures", sa.LargeBinary(), nullable=True),
        sa.Column("missing", sa.Boolean(), nullable=True),
        sa.Column("changed", sa.Float(precision=53), nullable=True),
        sa.Column("fired", sa.Float(precision=53), nullable=True),
        sa.Column("quiet_checks", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.JSON(), nullable=True),
        sa.Column("proposal", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["page"], ["page.id"], name=op.f("fk_member_page_page"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["watch"], ["watch.id"], name=op.f("fk_member_watch_watch"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("watch", "page", name=op.f("pk_member")),
    )
    op.create_index(op.f("ix_member_page"), "member", ["page"], unique=False)
    op.create_table(
        "notice",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("event", sa.String(length=64), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(precision=53), nullable=False),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Float(precision=53), nullable=True),
        sa.Column("sent", sa.Float(precision=53), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["event"], ["event.id"], name=op.f("fk_notice_event_event"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notice")),
        sa.UniqueConstraint("event", "target", name=op.f("uq_notice_event")),
    )
    op.create_index(op.f("ix_notice_state"), "notice", ["state", "due"], unique=False)

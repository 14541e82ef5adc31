"""The tables of the service. SQLite and PostgreSQL have the same ones.

    account ── token, session                 who may do what
    watch ──┬── tag
            ├── member ──┬── page ── version  what is watched, where, and what it looked like
            ├── event ───┐
            └── queue ───┴── notice           what happened, and who was told
    address ── resource                       style sheets, images and fonts of pages
    draft                                     pages of watches that are being made
    visit, setting                            past checks of pages; options of the service

* A *page* is one address with one way to fetch it. All watches of it share its fetches and versions.
  Its key is a hash of both: an address can be longer than an index allows.
* A *member* is one watch on one page: what its sentinel saw last. If ``list_level`` is set, the page
  is a list of pages (a sitemap, a feed, a page with links): 0 for lists that the user named, 1 and
  more for lists that were found in lists. A page that was found has the number of its list in
  ``list``; ``unlisted`` is since when the list does not have it any more.
* Times are seconds since 1970 in UTC, as floating point numbers: both databases compare them.
* ``page.fence`` grows with every claim. A worker that lost its lease has an old number, and its
  writes are refused.
* A *queue* is one watch and one target: its notices leave in order. ``queue.fence`` is like that of
  a page. Its key, and that of a notice, is a hash: addresses of targets can be long.
* A *resource* is stored once, by the hash of its bytes. An *address* is a place on the web where it
  was found; without a resource, fetching it failed. Both are here and not in files beside the
  database, so that all workers and web servers see them, and a backup has them.
* A *draft* is a page that someone fetched to make a watch for it. Its key is a hash of what the
  address of the draft has in it, so a copy of the database opens no drafts.
* A *tag* is one tag of one watch, as its form has it; its key is a hash too. Forms are JSON, in which
  the databases have no common way to search.
* ``page.revision`` grows whenever members change, so that workers know when to read them again.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

# Names for all constraints, so that later changes of the schema can refer to them.
metadata: MetaData = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only if the column is INTEGER.
_ID = BigInteger().with_variant(Integer, "sqlite")

account: Table = Table(
    "account",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("password", Text, nullable=False),
    Column("role", String(20), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("one_time", Boolean, nullable=False, default=False, server_default=false()),
    Column("disabled", Boolean, nullable=False, default=False, server_default=false()),
)

token: Table = Table(
    "token",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account", ForeignKey("account.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("hash", LargeBinary(32), nullable=False, unique=True),
    Column("scopes", JSON, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("used", Float(53)),
)

session: Table = Table(
    "session",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),
    Column("account", ForeignKey("account.id", ondelete="CASCADE"), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("used", Float(53), nullable=False),
    Index(None, "account"),
)

page: Table = Table(
    "page",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", String(64), nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("fetching", JSON, nullable=False),
    Column("due", Float(53)),
    Column("lease_owner", String(200)),
    Column("lease_until", Float(53)),
    Column("fence", BigInteger, nullable=False, default=0),
    Column("revision", BigInteger, nullable=False, default=0),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("source", LargeBinary(16)),
    Column("content", LargeBinary(48)),
    Column("state", String(20), nullable=False, default="fine"),
    Column("facts", JSON),
    Column("latest", Integer, nullable=False, default=-1),
    Column("checked", Float(53)),
    Column("changed", Float(53)),
    Column("quiet_checks", Integer, nullable=False, default=0),
    Column("error", Text),
    Column("error_since", Float(53)),
    Column("noise", JSON),
    Index(None, "due"),
)

version: Table = Table(
    "version",
    metadata,
    Column("page", ForeignKey("page.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("time", Float(53), nullable=False),
    Column("signatures", LargeBinary, nullable=False),
    Column("base", Integer),
    Column("length", BigInteger, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("status", Integer, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("headers", JSON, nullable=False),
)

watch: Table = Table(
    "watch",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("owner", ForeignKey("account.id", ondelete="CASCADE")),
    Column("name", String(500), nullable=False),
    Column("form", JSON, nullable=False),
    Column("paused", Boolean, nullable=False, default=False),
    Column("created", Float(53), nullable=False),
    Column("updated", Float(53), nullable=False),
    UniqueConstraint("name"),
)

tag: Table = Table(
    "tag",
    metadata,
    Column("watch", ForeignKey("watch.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Index(None, "key"),
)

member: Table = Table(
    "member",
    metadata,
    Column("watch", ForeignKey("watch.id", ondelete="CASCADE"), primary_key=True),
    Column("page", ForeignKey("page.id", ondelete="CASCADE"), primary_key=True),
    Column("due", Float(53), nullable=False),
    Column("installed", Float(53), nullable=False),
    Column("base", Integer),
    Column("signatures", LargeBinary),
    Column("missing", Boolean),
    Column("changed", Float(53)),
    Column("fired", Float(53)),
    Column("quiet_checks", Integer, nullable=False, default=0),
    Column("fingerprint", JSON),
    Column("proposal", JSON),
    Column("checked", Float(53)),
    Column("heard", JSON),
    Column("list_level", Integer),
    Column("list", BigInteger),
    Column("unlisted", Float(53)),
    Index(None, "page"),
)

event: Table = Table(
    "event",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("watch", ForeignKey("watch.id", ondelete="CASCADE"), nullable=False),
    Column("page", ForeignKey("page.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("time", Float(53), nullable=False),
    Column("old", Integer),
    Column("new", Integer),
    Column("body", JSON, nullable=False),
    Index(None, "watch", "time"),
    Index(None, "time"),
)

queue: Table = Table(
    "queue",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", String(32), nullable=False, unique=True),
    Column("watch", ForeignKey("watch.id", ondelete="CASCADE"), nullable=False),
    Column("target", Text, nullable=False),
    Column("due", Float(53)),
    Column("lease_owner", String(200)),
    Column("lease_until", Float(53)),
    Column("fence", BigInteger, nullable=False, default=0),
    Column("last_place", BigInteger, nullable=False, default=0),
    Column("recent", JSON, nullable=False),
    Index(None, "watch"),
    Index(None, "due"),
)

#: States of a notice: ``new`` (not seen by a sender), ``waiting``, ``sent``, ``dead`` (could not be
#: sent), ``dropped`` (its target was taken from the watch).
notice: Table = Table(
    "notice",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", String(32), nullable=False, unique=True),
    Column("event", ForeignKey("event.id", ondelete="CASCADE"), nullable=False),
    Column("queue", ForeignKey("queue.id", ondelete="CASCADE"), nullable=False),
    Column("state", String(20), nullable=False, default="new"),
    Column("made", Float(53), nullable=False),
    Column("place", BigInteger),
    Column("parcel", String(64), nullable=False, default=""),
    Column("tries", Integer, nullable=False, default=0),
    Column("not_before", Float(53)),
    Column("ended", Float(53)),
    Column("reason", Text),
    Index(None, "event"),
    Index(None, "queue", "state", "place"),
    Index(None, "state", "queue"),
)

visit: Table = Table(
    "visit",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("page", ForeignKey("page.id", ondelete="CASCADE"), nullable=False),
    Column("time", Float(53), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("seconds", Float(53), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("detail", Text),
    Index(None, "page", "time"),
)

resource: Table = Table(
    "resource",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("type", String(100), nullable=False),
    Column("data", LargeBinary, nullable=False),
)

address: Table = Table(
    "address",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("url", Text, nullable=False),
    Column("resource", ForeignKey("resource.hash")),
    Column("fetched", Float(53), nullable=False),
    Column("used", Float(53), nullable=False),
    Column("error", Text),
    Index(None, "resource"),
    Index(None, "used"),
)

draft: Table = Table(
    "draft",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("account", ForeignKey("account.id", ondelete="CASCADE"), nullable=False),
    Column("watch", ForeignKey("watch.id", ondelete="CASCADE")),
    Column("made", Float(53), nullable=False),
    Column("url", Text, nullable=False),
    Column("final_url", Text, nullable=False),
    Column("fetch", JSON, nullable=False),
    Column("status", Integer, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("selectors", JSON, nullable=False),
    Index(None, "account"),
    Index(None, "watch"),
)

setting: Table = Table(
    "setting",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("value", JSON, nullable=False),
)

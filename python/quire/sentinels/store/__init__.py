"""The store: watches, pages, versions, events and notices in SQLite or PostgreSQL."""

from __future__ import annotations

from quire.sentinels.store.claims import ClaimedPage, claim_pages, next_due, renew_leases
from quire.sentinels.store.database import Database
from quire.sentinels.store.results import (
    CheckResult,
    NewEvent,
    NewVersion,
    PageGroup,
    PageMember,
    load_group,
    load_page,
    write_result,
)
from quire.sentinels.store.watches import (
    StoredWatch,
    add_watch,
    edit_watch,
    find_watch,
    get_watch,
    list_watches,
    remove_watch,
)

__all__ = [
    "CheckResult",
    "ClaimedPage",
    "Database",
    "NewEvent",
    "NewVersion",
    "PageGroup",
    "PageMember",
    "StoredWatch",
    "add_watch",
    "claim_pages",
    "edit_watch",
    "find_watch",
    "get_watch",
    "list_watches",
    "load_group",
    "load_page",
    "next_due",
    "remove_watch",
    "renew_leases",
    "write_result",
]

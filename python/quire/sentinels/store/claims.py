"""Claims: which worker checks which pages.

A page is due at a time. A worker claims due pages in batches, each under a lease. When the lease
ends without a result (the worker died, or hangs) others may claim the page again. Every claim gives
the page a new fence number; results are written only if the number is still the same, so a worker
that comes back after its lease cannot overwrite newer results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Update, bindparam, or_, select, update

from quire.sentinels.store.tables import page


@dataclass(frozen=True, slots=True)
class ClaimedPage:
    """A page that a worker may check until its lease ends.

    Attributes:
        id: the page.
        url: its address.
        fetching: how to fetch it, as plain data.
        fence: the number of the claim.
        revision: grows whenever the members of the page change.
        due: when it was due.
        etag: for conditional requests.
        last_modified: for conditional requests.
        source: hash of the bytes that were fetched last.
        state: what the last fetch found.
        facts: facts of the last good version, as plain data.
        latest: the number of the last version; -1 for none.
        quiet_checks: how many checks in a row found no change.
        error_since: since when fetches fail; None if the last one worked.
        content: signature of the text, links and images of the last version.
        noise: learned noise, as plain data.
    """

    id: int
    url: str
    fetching: dict[str, Any]
    fence: int
    revision: int
    due: float
    etag: str | None
    last_modified: str | None
    source: bytes | None
    state: str
    facts: dict[str, Any] | None
    latest: int
    quiet_checks: int
    error_since: float | None
    content: bytes | None
    noise: Any


_COLUMNS = [page.c[name] for name in ClaimedPage.__dataclass_fields__]


def claim_pages(
    connection: Connection, owner: str, now: float, lease_seconds: float, most: int
) -> list[ClaimedPage]:
    """Claim up to ``most`` pages that are due, the longest overdue first.

    Call this in a transaction for writing, and commit before the work begins.
    """
    is_free = or_(page.c.lease_until.is_(None), page.c.lease_until <= now)
    due = (
        select(page.c.id)
        .where(page.c.due <= now, is_free)
        .order_by(page.c.due)
        .limit(most)
        .with_for_update(skip_locked=True)  # SQLite has one writer and leaves this out
    )
    claimed = connection.execute(
        update(page)
        .where(page.c.id.in_(due.scalar_subquery()))
        .values(lease_owner=owner, lease_until=now + lease_seconds, fence=page.c.fence + 1)
        .returning(*_COLUMNS)
    )
    found = [ClaimedPage(*row) for row in claimed]
    return sorted(found, key=lambda each: each.due)


def renew_leases(
    connection: Connection, claimed: Sequence[ClaimedPage], now: float, lease_seconds: float
) -> set[int]:
    """Extend the leases of pages that are still being checked; return those that still hold."""
    held = set()
    for each in claimed:
        changed = connection.execute(
            update(page)
            .where(page.c.id == each.id, page.c.fence == each.fence)
            .values(lease_until=now + lease_seconds)
        )
        if changed.rowcount:
            held.add(each.id)
    return held


def release_page(connection: Connection, claimed: ClaimedPage, values: dict[str, Any]) -> bool:
    """Write the result of a check and end the lease; False if the claim is no longer valid.

    If it returns False, roll back: another worker has claimed the page since.
    """
    given = {f"new_{name}": value for name, value in values.items()}
    changed = connection.execute(
        _release(tuple(values)), {"page_id": claimed.id, "page_fence": claimed.fence, **given}
    )
    return changed.rowcount == 1


@cache
def _release(columns: tuple[str, ...]) -> Update:
    """Return the statement that sets some columns; making it takes longer than running it."""
    is_valid = (page.c.id == bindparam("page_id"), page.c.fence == bindparam("page_fence"))
    given = {name: bindparam(f"new_{name}", type_=page.c[name].type) for name in columns}
    return update(page).where(*is_valid).values(lease_owner=None, lease_until=None, **given)


def end_claim(connection: Connection, page_id: int) -> None:
    """Give up the check that a worker is making of a page; others may claim it at once."""
    connection.execute(
        update(page)
        .where(page.c.id == page_id)
        .values(lease_owner=None, lease_until=None, fence=page.c.fence + 1)
    )


def next_due(connection: Connection) -> float | None:
    """Return when the next page is due; None if there is none."""
    return connection.execute(
        select(page.c.due).where(page.c.due.is_not(None)).order_by(page.c.due).limit(1)
    ).scalar()

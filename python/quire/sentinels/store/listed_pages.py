"""Pages that were found in lists: which ones a watch has, which are new, which are gone.

A page that is missing in its list is told at the next check of that list, if it is still missing
then: sites move pages from one sitemap to another. After that it stays watched until its place is
needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, or_, select, update

from quire.sentinels.form.watch import Fetching, Watch
from quire.sentinels.listings.sorting import Sorted
from quire.sentinels.store.plain import page_key
from quire.sentinels.store.tables import member, page
from quire.sentinels.store.watches import add_pages, remove_pages

#: Lists that one watch reads, those in lists included, and how deep lists are nested.
MOST_LISTS = 200
MOST_LEVELS = 2
#: Numbers in one query; databases have limits.
CHUNK = 500


@dataclass(frozen=True, slots=True)
class ListChange:
    """What became of the pages of a watch.

    Attributes:
        new: addresses of pages that are watched from now on.
        gone: addresses of pages that are no longer in the list.
        left_over: how many pages are not watched because there are too many.
    """

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    left_over: int = 0


def update_listed(
    connection: Connection,
    watch_id: int,
    watch: Watch,
    *,
    list_id: int,
    found: Sorted,
    now: float,
    level: int,
    is_first: bool,
) -> ListChange:
    """Let a watch have the pages of a list that was read.

    Args:
        connection: in a transaction for writing.
        watch_id: the number of the watch.
        watch: the watch.
        list_id: the page that is the list.
        found: the addresses of the list.
        now: the time.
        level: the level of the list.
        is_first: whether the watch reads it for the first time.
    """
    known = _found_pages(connection, watch_id)
    by_key = {key: number for number, key in known.items()}
    keys = {page_key(url, watch.fetching): url for url in found.own}
    keys |= {page_key(url, public(watch.fetching)): url for url in found.foreign}
    listed = [by_key[key] for key in keys if key in by_key]
    for chunk in _chunks(listed):
        connection.execute(
            update(member)
            .where(member.c.watch == watch_id, member.c.page.in_(chunk))
            .values(list=list_id, unlisted=None)
        )
    gone = told_gone(connection, watch_id, watch, list_id=list_id, now=now)
    _mark_unlisted(connection, watch_id, list_id, set(listed), now)
    new = [key for key in keys if key not in by_key]
    room = _make_room(connection, watch_id, watch.pages.most, len(known), len(new))
    added, left_over = new[:room], max(0, len(new) - room)
    own = set(found.own)
    for is_own, fetching in ((True, watch.fetching), (False, public(watch.fetching))):
        urls = [keys[key] for key in added if (keys[key] in own) is is_own]
        add_pages(connection, watch_id, urls, fetching, now, list_id=list_id)
    if level < MOST_LEVELS:
        checked = None if is_first else 0.0
        _add_lists(
            connection, watch_id, watch, found.lists, now=now, level=level + 1, checked=checked
        )
    return ListChange(tuple(keys[key] for key in added), gone, left_over)


def told_gone(
    connection: Connection, watch_id: int, watch: Watch, *, list_id: int, now: float
) -> tuple[str, ...]:
    """Return pages that were missing in a list before, and still are. They are told once."""
    missing = (
        select(member.c.page, page.c.url)
        .join(page, page.c.id == member.c.page)
        .where(
            member.c.watch == watch_id,
            member.c.list == list_id,
            member.c.unlisted < now,
        )
        .order_by(page.c.url)
    )
    rows = connection.execute(missing).all()
    for chunk in _chunks([row.page for row in rows]):
        connection.execute(
            update(member)
            .where(member.c.watch == watch_id, member.c.page.in_(chunk))
            .values(list=None)
        )
    return () if watch.pages.finder == "feed" else tuple(row.url for row in rows)


def public(fetching: Fetching) -> Fetching:
    """Return how to fetch pages that must not get credentials."""
    harmless = {
        name: value for name, value in fetching.headers.items() if name.lower() in _HARMLESS
    }
    return replace(fetching, headers=harmless, cookies={}, user="", password="", steps=())


_HARMLESS = frozenset({"accept", "accept-language", "user-agent"})


def _found_pages(connection: Connection, watch_id: int) -> dict[int, str]:
    """Return the keys of the found pages of a watch, by number."""
    rows = connection.execute(
        select(page.c.id, page.c.key)
        .join(member, member.c.page == page.c.id)
        .where(member.c.watch == watch_id, member.c.list_level.is_(None))
    )
    return {row.id: row.key for row in rows}


def _mark_unlisted(
    connection: Connection, watch_id: int, list_id: int, listed: set[int], now: float
) -> None:
    rows = connection.execute(
        select(member.c.page).where(
            member.c.watch == watch_id, member.c.list == list_id, member.c.unlisted.is_(None)
        )
    )
    for chunk in _chunks([number for number in rows.scalars() if number not in listed]):
        connection.execute(
            update(member)
            .where(member.c.watch == watch_id, member.c.page.in_(chunk))
            .values(unlisted=now)
        )


def _make_room(connection: Connection, watch_id: int, most: int, known: int, wanted: int) -> int:
    """Return how many pages can be added; pages that lists lost longest ago make room."""
    room = most - known
    if wanted > room:
        rows = connection.execute(
            select(member.c.page)
            .where(member.c.watch == watch_id, member.c.unlisted.is_not(None))
            .where(or_(member.c.list.is_(None), member.c.list_level.is_(None)))
            .order_by(member.c.unlisted, member.c.page)
            .limit(wanted - max(room, 0))
        ).scalars()
        gone = list(rows)
        for chunk in _chunks(gone):
            remove_pages(connection, watch_id, chunk)
        room += len(gone)
    return max(room, 0)


def _add_lists(
    connection: Connection,
    watch_id: int,
    watch: Watch,
    urls: Iterable[str],
    *,
    now: float,
    level: int,
    checked: float | None,
) -> None:
    has = connection.execute(
        select(func.count())
        .select_from(member)
        .where(member.c.watch == watch_id, member.c.list_level.is_not(None))
    ).scalar_one()
    known = {
        row.key
        for row in connection.execute(
            select(page.c.key)
            .join(member, member.c.page == page.c.id)
            .where(member.c.watch == watch_id, member.c.list_level.is_not(None))
        )
    }
    new = [url for url in urls if page_key(url, watch.fetching) not in known]
    add_pages(
        connection,
        watch_id,
        new[: max(0, MOST_LISTS - has)],
        watch.fetching,
        now,
        list_level=level,
        # The pages of a list that appears later are new; those of the first reading are not.
        checked=checked,
    )


def _chunks(numbers: list[int]) -> Iterable[list[int]]:
    return (numbers[at : at + CHUNK] for at in range(0, len(numbers), CHUNK))

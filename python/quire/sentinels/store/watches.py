"""Watches and their members: what is watched, on which pages.

The form of a watch is stored as the user wrote it, so nothing is lost when quire learns new fields.
Pages are shared: a page exists as long as any watch has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, func, insert, select, update

from quire import _core
from quire.errors import NameTaken, NotStored
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Fetching, Watch
from quire.sentinels.store.outbox import add_queues, look_again
from quire.sentinels.store.overview.tags import set_tags, tagged
from quire.sentinels.store.plain import fetching_to_json, page_key
from quire.sentinels.store.tables import member, page, watch


@dataclass(frozen=True, slots=True)
class StoredWatch:
    """A watch in the database.

    Attributes:
        id: the number of the watch.
        form: the form as the user wrote it.
        watch: the form, read and checked.
        paused: whether no checks are made.
        created: when it was added.
        updated: when it was last edited.
    """

    id: int
    form: dict[str, Any]
    watch: Watch
    paused: bool
    created: float
    updated: float


def add_watch(
    connection: Connection, form: dict[str, Any], now: float, owner: int | None = None
) -> StoredWatch:
    """Add a watch; its pages are due at once.

    Raises:
        WatchError: the form is not valid.
        NameTaken: there is a watch with this name.
    """
    found = read_watch(form)
    _check_name(connection, found.name, None)
    number = connection.execute(
        insert(watch)
        .values(
            owner=owner,
            name=found.name,
            form=form,
            paused=found.paused,
            created=now,
            updated=now,
        )
        .returning(watch.c.id)
    ).scalar_one()
    set_tags(connection, number, found.tags)
    add_queues(connection, number, found.notify.targets)
    _add_named(connection, number, found, now)
    return StoredWatch(number, form, found, found.paused, now, now)


def edit_watch(
    connection: Connection, number: int, form: dict[str, Any], now: float
) -> StoredWatch:
    """Replace the form of a watch. It keeps its history; parts that changed are read anew.

    Raises:
        WatchError: the form is not valid.
        NotStored: there is no such watch.
        NameTaken: there is another watch with this name.
    """
    before = get_watch(connection, number)
    found = read_watch(form)
    _check_name(connection, found.name, number)
    connection.execute(
        update(watch)
        .where(watch.c.id == number)
        .values(name=found.name, form=form, paused=found.paused, updated=now)
    )
    if found.tags != before.watch.tags:
        set_tags(connection, number, found.tags)
    if found.notify != before.watch.notify:
        add_queues(connection, number, found.notify.targets)
        look_again(connection, number, now)
    if found.pages != before.watch.pages or found.fetching != before.watch.fetching:
        remove_pages(connection, number, _dropped(connection, number, before.watch, found))
        _add_named(connection, number, found, now)
    if found.sentinel.parts != before.watch.sentinel.parts:
        connection.execute(
            update(member)
            .where(member.c.watch == number)
            .values(signatures=None, missing=None, fingerprint=None, proposal=None)
        )
    if found.learn_noise != before.watch.learn_noise:  # signatures were read with other noise
        connection.execute(update(member).where(member.c.watch == number).values(signatures=None))
    connection.execute(
        update(member).where(member.c.watch == number).values(due=now, quiet_checks=0)
    )
    refresh_pages(connection, pages_of(connection, number))
    return StoredWatch(number, form, found, found.paused, before.created, now)


def remove_watch(connection: Connection, number: int) -> None:
    """Remove a watch with its events, and pages that no other watch has.

    Raises:
        NotStored: there is no such watch.
    """
    get_watch(connection, number)
    pages = pages_of(connection, number)
    connection.execute(delete(watch).where(watch.c.id == number))
    _drop_orphans(connection, pages)
    refresh_pages(connection, pages)


def get_watch(connection: Connection, number: int) -> StoredWatch:
    """Return a watch by its number.

    Raises:
        NotStored: there is no such watch.
    """
    row = connection.execute(select(watch).where(watch.c.id == number)).one_or_none()
    if row is None:
        raise NotStored(f"there is no watch number {number}")
    return _stored(row)


def find_watch(connection: Connection, name: str | int) -> StoredWatch:
    """Return a watch by its name or number. A text is a name first: names can be digits.

    Raises:
        NotStored: there is no such watch; the message names similar ones.
    """
    if isinstance(name, int):
        return get_watch(connection, name)
    found = connection.execute(select(watch.c.id).where(watch.c.name == name)).scalar()
    if found is None and name.isdecimal() and len(name) < 19:  # noqa: PLR2004 - fits 64 bits
        found = connection.execute(select(watch.c.id).where(watch.c.id == int(name))).scalar()
    if found is None:
        like = func.lower(watch.c.name).contains(name.lower(), autoescape=True)
        near = connection.execute(select(watch.c.name).where(like).limit(3)).scalars().all()
        hint = f"; there are {', '.join(map(repr, near))}" if near else ""
        raise NotStored(f"there is no watch {name!r}{hint}")
    return get_watch(connection, found)


def list_watches(
    connection: Connection, *, after: int = 0, most: int = 100, text: str = "", tag: str = ""
) -> list[StoredWatch]:
    """Return watches in the order in which they were added, a page at a time."""
    query = select(watch).where(watch.c.id > after).order_by(watch.c.id).limit(most)
    if text:
        query = query.where(func.lower(watch.c.name).contains(text.lower(), autoescape=True))
    if tag:
        query = query.where(watch.c.id.in_(tagged(tag)))
    return [_stored(row) for row in connection.execute(query)]


def _stored(row: Row[Any]) -> StoredWatch:
    return StoredWatch(row.id, row.form, read_watch(row.form), row.paused, row.created, row.updated)


# ------------------------------------------------------------ pages of a watch


def _add_named(connection: Connection, number: int, found: Watch, now: float) -> None:
    """Let a watch have the pages that its form names: lists if it has a finder."""
    level = None if found.pages.finder is None else 0
    add_pages(connection, number, found.pages.urls, found.fetching, now, list_level=level)


def _dropped(connection: Connection, number: int, before: Watch, after: Watch) -> list[int]:
    """Return the pages that a watch loses when it is edited.

    Found pages stay if the same lists would still give them. Lists in lists are found again.
    """
    named = {page_key(url, after.fetching) for url in after.pages.urls}
    same = (
        after.pages.finder is not None
        and (after.pages.finder, after.pages.urls) == (before.pages.finder, before.pages.urls)
        and after.fetching == before.fetching
        and (after.pages.elsewhere or not before.pages.elsewhere)
    )
    pattern = _core.Pattern(after.pages.pattern) if after.pages.pattern else None
    rows = connection.execute(
        select(page.c.id, page.c.key, page.c.url, member.c.list_level)
        .join(member, member.c.page == page.c.id)
        .where(member.c.watch == number)
    )
    return [
        row.id
        for row in rows
        if row.key not in named
        and not (same and row.list_level is None and (pattern is None or pattern.is_match(row.url)))
    ]


def add_pages(
    connection: Connection,
    number: int,
    urls: Iterable[str],
    fetching: Fetching,
    now: float,
    *,
    list_level: int | None = None,
    list_id: int | None = None,
    checked: float | None = None,
) -> None:
    """Let a watch have these pages too. New pages are due at once.

    Args:
        connection: in a transaction for writing.
        number: the watch.
        urls: addresses of the pages.
        fetching: how to fetch them.
        now: the time.
        list_level: the level of lists of pages; None for pages that are watched.
        list_id: the list in which they were found.
        checked: when lists were read before, if they count as read.
    """
    known = set(pages_of(connection, number))
    plain = fetching_to_json(fetching)
    for url in dict.fromkeys(urls):
        key = page_key(url, fetching)
        found = connection.execute(select(page.c.id).where(page.c.key == key)).scalar()
        if found is None:
            values = {"key": key, "url": url, "fetching": plain, "due": now}
            found = connection.execute(
                insert(page).values(values).returning(page.c.id)
            ).scalar_one()
        role = {"list_level": list_level, "list": list_id, "unlisted": None, "checked": checked}
        if found not in known:
            connection.execute(
                insert(member).values(watch=number, page=found, due=now, installed=now, **role)
            )
            known.add(found)
        elif list_level is not None or list_id is None:
            connection.execute(
                update(member).where(member.c.watch == number, member.c.page == found).values(role)
            )
        if list_level is not None:
            # The list must be read, whether it changed or not.
            connection.execute(
                update(page)
                .where(page.c.id == found)
                .values(etag=None, last_modified=None, source=None)
            )
        refresh_pages(connection, [found])


def remove_pages(connection: Connection, number: int, pages: Iterable[int]) -> None:
    """Take pages from a watch, and remove those that no other watch has."""
    gone = list(pages)
    connection.execute(delete(member).where(member.c.watch == number, member.c.page.in_(gone)))
    _drop_orphans(connection, gone)
    refresh_pages(connection, gone)


def pages_of(connection: Connection, number: int) -> list[int]:
    """Return the pages of a watch."""
    return list(connection.execute(select(member.c.page).where(member.c.watch == number)).scalars())


def refresh_pages(connection: Connection, pages: Iterable[int]) -> None:
    """Set when pages are due from their members, and tell workers to read the members again."""
    soonest = (
        select(func.min(member.c.due))
        .join(watch, watch.c.id == member.c.watch)
        .where(member.c.page == page.c.id, watch.c.paused.is_(False))
        .scalar_subquery()
    )
    for each in pages:
        connection.execute(
            update(page).where(page.c.id == each).values(due=soonest, revision=page.c.revision + 1)
        )


def _drop_orphans(connection: Connection, pages: Iterable[int]) -> None:
    has_members = exists().where(member.c.page == page.c.id)
    connection.execute(delete(page).where(page.c.id.in_(list(pages)), ~has_members))


def _check_name(connection: Connection, name: str, number: int | None) -> None:
    found = connection.execute(select(watch.c.id).where(watch.c.name == name)).scalar()
    if found is not None and found != number:
        raise NameTaken(f"there is already a watch {name!r}; choose another name")

"""Tags of watches: written with the form of a watch, and read to search for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Select, delete, func, insert, select

from quire.sentinels.store.tables import tag

#: Tags that a list of all of them has.
MOST_TAGS = 200


def tag_key(name: str) -> str:
    """Return what identifies a tag: names can be longer than an index allows.

    >>> tag_key("shop")
    '690848f6824adb47d2212cede03fca5b'
    """
    return hashlib.sha256(json.dumps(name).encode("ascii")).hexdigest()[:32]


def set_tags(connection: Connection, watch_id: int, names: Iterable[str]) -> None:
    """Give a watch these tags and no others."""
    connection.execute(delete(tag).where(tag.c.watch == watch_id))
    rows = [
        {"watch": watch_id, "key": tag_key(name), "name": name} for name in dict.fromkeys(names)
    ]
    if rows:
        connection.execute(insert(tag), rows)


def tagged(name: str) -> Select[tuple[int]]:
    """Return a query for the numbers of the watches that have a tag."""
    return select(tag.c.watch).where(tag.c.key == tag_key(name))


def tags_of(connection: Connection, watches: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return the tags of some watches, by the number of the watch."""
    rows = connection.execute(
        select(tag.c.watch, tag.c.name).where(tag.c.watch.in_(watches)).order_by(tag.c.name)
    )
    found: dict[int, tuple[str, ...]] = {}
    for row in rows:
        found[row.watch] = (*found.get(row.watch, ()), row.name)
    return found


def all_tags(connection: Connection, most: int = MOST_TAGS) -> list[tuple[str, int]]:
    """Return the tags that most watches have, with the number of watches, by name."""
    rows = connection.execute(
        select(func.min(tag.c.name), func.count())
        .group_by(tag.c.key)
        .order_by(func.count().desc(), tag.c.key)
        .limit(most)
    )
    return sorted((name, count) for name, count in rows)

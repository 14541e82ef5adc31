"""The store of resources: bytes once by their hash, and the addresses where they were found.

An address of the store has a key, made from the address on the web, and a signature, so that only
documents of ours lead to it: the frame of a stranger's page has no cookies, and cannot log in.

Retention: an address that no page needed for ``UNUSED_S`` is forgotten, and so are those that were
used the longest time ago if all resources together are larger than ``MOST_BYTES``. Bytes go with the
last address that leads to them. A backup has all of it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from quire.sentinels.sending import master_secret
from quire.sentinels.store.database import Database
from quire.sentinels.store.tables import address, resource
from quire.sources.gate.secret import Secret
from quire.viewing import Place, Use

#: A stored resource is not fetched again for so long; one that failed, for this long.
FRESH_S = 86_400.0
FAILED_S = 3_600.0
#: Addresses that no page needed for so long are forgotten.
UNUSED_S = 30 * 86_400.0
#: All resources together.
MOST_BYTES = 1_000_000_000
#: ``used`` is written at most this often, because reading a page should not write much.
USED_STEP_S = 3_600.0

PATH = "/resources/"
_NAME = re.compile(r"([0-9a-f]{32})-([0-9a-f]{32})")
_CHUNK = 400


@dataclass(frozen=True, slots=True)
class Resource:
    """A stored style sheet, image or font.

    Attributes:
        type: the type to serve it with.
        data: its bytes.
        url: the address on the web that answered.
    """

    type: str
    data: bytes
    url: str


@dataclass(frozen=True, slots=True)
class Found:
    """The result of fetching a resource, to be stored.

    Attributes:
        url: its address.
        type: its type; empty if it failed.
        data: its bytes.
        final_url: the address that answered; others in a style sheet are relative to it.
        error: why it failed.
    """

    url: str
    type: str = ""
    data: bytes = b""
    final_url: str = ""
    error: str = ""


def key_of(url: str) -> str:
    """Return the key of an address.

    >>> key_of("https://example.org/a.css")
    'b81b71d443aa8c8491ae3432fa2e6f5d'
    """
    return hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:32]


class Resources:
    """The store of resources in a database."""

    def __init__(self, database: Database) -> None:
        self.database: Database = database
        self._secret: Secret | None = None

    def path(self, key: str) -> str:
        """Return the signed path of an address of the store."""
        return f"{PATH}{key}-{self._signature(key)}"

    def open(self, name: str) -> Resource | None:
        """Return a resource by the last part of its path; None if the path is not ours."""
        match = _NAME.fullmatch(name)
        if match is None or not hmac.compare_digest(self._signature(match[1]), match[2]):
            return None
        return self._stored(match[1])

    def at(self, url: str) -> Resource | None:
        """Return the resource of an address on the web."""
        return self._stored(key_of(url))

    def _stored(self, key: str) -> Resource | None:
        query = (
            select(resource.c.type, resource.c.data, address.c.url)
            .join(address, address.c.resource == resource.c.hash)
            .where(address.c.key == key)
        )
        with self.database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else Resource(row.type, row.data, row.url)

    def hashes(self, urls: Iterable[str]) -> dict[str, str]:
        """Return the hashes of those addresses on the web whose resources are stored."""
        by_key = {key_of(url): url for url in urls}
        keys = list(by_key)
        found: dict[str, str] = {}
        with self.database.read() as connection:
            for at in range(0, len(keys), _CHUNK):
                some = address.c.key.in_(keys[at : at + _CHUNK])
                query = select(address.c.key, address.c.resource).where(some)
                for row in connection.execute(query.where(address.c.resource.is_not(None))):
                    found[by_key[row.key]] = row.resource
        return found

    def placer(self) -> Place:
        """Return the function that gives documents their addresses: only of stored resources."""
        known: dict[str, bool] = {}

        def place(url: str, use: Use) -> str | None:
            if use not in (Use.IMAGE, Use.STYLE, Use.FONT):
                return None
            key = key_of(url)
            if key not in known:
                with self.database.read() as connection:
                    query = select(address.c.resource).where(address.c.key == key)
                    known[key] = connection.execute(query).scalar() is not None
            return self.path(key) if known[key] else None

        return place

    def wanted(self, urls: Iterable[str], now: float) -> list[str]:
        """Return those addresses that should be fetched: not known, or not fresh any more.

        All of them count as used.
        """
        by_key = {key_of(url): url for url in urls}
        keys = list(by_key)
        fresh: set[str] = set()
        stale: list[str] = []
        with self.database.read() as connection:
            for at in range(0, len(keys), _CHUNK):
                rows = connection.execute(
                    select(
                        address.c.key, address.c.resource, address.c.fetched, address.c.used
                    ).where(address.c.key.in_(keys[at : at + _CHUNK]))
                )
                for row in rows:
                    lasts = FAILED_S if row.resource is None else FRESH_S
                    if now - row.fetched < lasts:
                        fresh.add(row.key)
                    if now - row.used > USED_STEP_S:
                        stale.append(row.key)
        if stale:
            with self.database.write() as connection:
                for at in range(0, len(stale), _CHUNK):
                    some = address.c.key.in_(stale[at : at + _CHUNK])
                    connection.execute(update(address).where(some).values(used=now))
        return [url for key, url in by_key.items() if key not in fresh]

    def keep(self, found: Iterable[Found], now: float) -> None:
        """Store what fetches found. A failure does not replace a resource that is stored."""
        with self.database.write() as connection:
            for each in found:
                self._keep(connection, each, now)

    def _keep(self, connection: Connection, found: Found, now: float) -> None:
        insert = (sqlite if self.database.is_sqlite else postgresql).insert
        key = key_of(found.url)
        values = {"fetched": now, "used": now, "error": found.error or None}
        values["url"] = found.final_url or found.url
        if found.type:
            values["resource"] = hashlib.sha256(found.data).hexdigest()
            new = {"hash": values["resource"], "type": found.type, "data": found.data}
            connection.execute(insert(resource).values(new).on_conflict_do_nothing())
        connection.execute(
            insert(address)
            .values(key=key, **values)
            .on_conflict_do_update(index_elements=["key"], set_=values)
        )

    def prune(self, now: float, most_bytes: int = MOST_BYTES) -> int:
        """Forget what no page needs any more; return how many bytes that freed."""
        with self.database.write() as connection:
            before = _size(connection)
            connection.execute(delete(address).where(address.c.used < now - UNUSED_S))
            _drop_orphans(connection)
            left = _size(connection)
            if left > most_bytes:
                length = func.length(resource.c.data)
                rows = connection.execute(
                    select(address.c.key, length)
                    .join(resource, resource.c.hash == address.c.resource)
                    .order_by(address.c.used)
                ).all()
                gone = []
                for key, size in rows:
                    if left <= most_bytes:
                        break
                    gone.append(key)
                    left -= size
                for at in range(0, len(gone), _CHUNK):
                    some = address.c.key.in_(gone[at : at + _CHUNK])
                    connection.execute(delete(address).where(some))
                _drop_orphans(connection)
            return before - _size(connection)

    def _signature(self, key: str) -> str:
        if self._secret is None:
            self._secret = master_secret(self.database)
        data = b"resource\n" + key.encode("ascii")
        return hmac.digest(self._secret.reveal().encode(), data, hashlib.sha256).hex()[:32]


def _size(connection: Connection) -> int:
    total = select(func.coalesce(func.sum(func.length(resource.c.data)), 0))
    return int(connection.execute(total).scalar_one())


def _drop_orphans(connection: Connection) -> None:
    used = select(address.c.resource).where(address.c.resource.is_not(None))
    connection.execute(delete(resource).where(resource.c.hash.not_in(used)))

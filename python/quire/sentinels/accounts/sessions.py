"""Sessions of people who logged in with a browser.

The browser has a random key in a cookie; the database has its hash. So a copy of the database does
not open any session, and ending a session ends it on every machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from dataclasses import dataclass
from time import time

from sqlalchemy import delete, insert, select, update

from quire.errors import StoreError
from quire.sentinels.accounts.rights import Identity, level_of_role
from quire.sentinels.store.database import Database
from quire.sentinels.store.tables import account, session

#: Bytes of a key.
KEY_BYTES = 32
#: Uses are written down at most this often.
NOTE_USE_S = 300.0


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long sessions last.

    Attributes:
        unused_s: a session ends if it was not used for this long.
        whole_s: a session ends after this time, used or not.
    """

    unused_s: float = 12 * 3600.0
    whole_s: float = 7 * 86400.0


class Sessions:
    """The sessions in a database.

    Args:
        database: the database.
        lifetimes: how long sessions last.
    """

    def __init__(self, database: Database, lifetimes: Lifetimes | None = None) -> None:
        self.database: Database = database
        self.lifetimes: Lifetimes = lifetimes or Lifetimes()

    def begin(self, number: int) -> str:
        """Begin a session of an account, and return its key. Old sessions are cleared away."""
        key = secrets.token_urlsafe(KEY_BYTES)
        now = time()
        with self.database.write() as connection:
            connection.execute(
                delete(session).where(
                    (session.c.used < now - self.lifetimes.unused_s)
                    | (session.c.created < now - self.lifetimes.whole_s)
                )
            )
            connection.execute(
                insert(session).values(hash=hash_key(key), account=number, created=now, used=now)
            )
        return key

    def identify(self, key: str) -> Identity | None:
        """Return who has the session with this key; None if it does not exist or has ended."""
        hashed, now = hash_key(key), time()
        query = (
            select(session, account.c.name, account.c.role, account.c.one_time)
            .join(account, account.c.id == session.c.account)
            .where(session.c.hash == hashed, account.c.disabled.is_(False))
        )
        with self.database.read() as connection:
            row = connection.execute(query).first()
        if row is None or not secrets.compare_digest(row.hash, hashed):
            return None
        limits = self.lifetimes
        if now - row.used > limits.unused_s or now - row.created > limits.whole_s:
            return None
        if now - row.used > min(NOTE_USE_S, limits.unused_s / 10):
            self._note_use(hashed, now)
        return Identity(
            row.account,
            row.name,
            row.role,
            level_of_role(row.role),
            session=hashed,
            must_change_password=bool(row.one_time),
        )

    def is_open(self, hashed: bytes) -> bool:
        """Tell whether a session goes on, given the hash of its key. This is not a use of it."""
        now = time()
        query = (
            select(session.c.used, session.c.created)
            .join(account, account.c.id == session.c.account)
            .where(session.c.hash == hashed, account.c.disabled.is_(False))
        )
        with self.database.read() as connection:
            row = connection.execute(query).first()
        limits = self.lifetimes
        return row is not None and (
            now - row.used <= limits.unused_s and now - row.created <= limits.whole_s
        )

    def end(self, hashed: bytes) -> None:
        """End a session, given the hash of its key."""
        with self.database.write() as connection:
            connection.execute(delete(session).where(session.c.hash == hashed))

    def _note_use(self, hashed: bytes, now: float) -> None:
        # A database that cannot be written now can still be read.
        with contextlib.suppress(StoreError), self.database.write() as connection:
            connection.execute(update(session).where(session.c.hash == hashed).values(used=now))


def hash_key(key: str) -> bytes:
    """Return the hash of a key or a token, as the database has it."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()

"""Tokens: keys for programs. Each belongs to an account and has scopes; only its hash is stored."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from time import time

from sqlalchemy import delete, insert, select, update

from quire.errors import AccountError, NotStored, StoreError
from quire.sentinels.accounts.rights import SCOPES, Identity, level_of_token
from quire.sentinels.accounts.sessions import KEY_BYTES, NOTE_USE_S, hash_key
from quire.sentinels.store.database import Database
from quire.sentinels.store.plain import instant
from quire.sentinels.store.tables import account, token

#: Every token begins like this, so that people and programs recognise one that leaked.
PREFIX = "quire_"
#: Tokens of one account.
MOST = 100
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token, without the token itself.

    Attributes:
        id: its number.
        account: the account that it belongs to.
        name: its purpose.
        scopes: its rights.
        created: when it was made.
        used: when it was last used, give or take five minutes; None for never.
    """

    id: int
    account: int
    name: str
    scopes: tuple[str, ...]
    created: datetime
    used: datetime | None


class Tokens:
    """The tokens in a database.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self.database: Database = database

    def all(self, number: int | None = None) -> list[StoredToken]:
        """Return all tokens, or those of one account."""
        query = select(token).order_by(token.c.id)
        if number is not None:
            query = query.where(token.c.account == number)
        with self.database.read() as connection:
            return [
                StoredToken(
                    row.id,
                    row.account,
                    row.name,
                    tuple(row.scopes),
                    instant(row.created),
                    None if row.used is None else instant(row.used),
                )
                for row in connection.execute(query)
            ]

    def add(self, number: int, name: str, scopes: Sequence[str]) -> tuple[int, str]:
        """Make a token for an account; return its number and the token, which is not stored.

        Raises:
            NotStored: the account does not exist.
            AccountError: the name or the scopes are not valid, or there are too many tokens.
        """
        name = name.strip()
        if not 1 <= len(name) <= _LONGEST or not name.isprintable():
            raise AccountError(
                f"name: expected 1 to {_LONGEST} characters that can be printed", field="name"
            )
        if not scopes or not set(scopes) <= set(SCOPES):
            raise AccountError(f"scopes: expected some of {', '.join(SCOPES)}", field="scopes")
        made = PREFIX + secrets.token_urlsafe(KEY_BYTES)
        with self.database.write() as connection:
            if not connection.execute(select(account.c.id).where(account.c.id == number)).first():
                raise NotStored(f"account number {number} does not exist")
            mine = select(token.c.id).where(token.c.account == number).limit(MOST)
            if len(connection.execute(mine).all()) >= MOST:
                raise AccountError(f"the account has {MOST} tokens; remove some", field="account")
            added = insert(token).values(
                account=number,
                name=name,
                hash=hash_key(made),
                scopes=[each for each in SCOPES if each in scopes],
                created=time(),
            )
            found: int = connection.execute(added.returning(token.c.id)).scalar_one()
        return found, made

    def remove(self, number: int, account_number: int | None = None) -> None:
        """Remove a token; with an account, only if it belongs to that account.

        Raises:
            NotStored: the token does not exist.
        """
        query = delete(token).where(token.c.id == number)
        if account_number is not None:
            query = query.where(token.c.account == account_number)
        with self.database.write() as connection:
            if not connection.execute(query).rowcount:
                raise NotStored(f"token number {number} does not exist")

    def identify(self, given: str) -> Identity | None:
        """Return the account and the rights of a token; None if it does not exist."""
        if not given.startswith(PREFIX) or len(given) > _LONGEST:
            return None
        hashed, now = hash_key(given), time()
        query = (
            select(token, account.c.name.label("owner"), account.c.role, account.c.one_time)
            .join(account, account.c.id == token.c.account)
            .where(token.c.hash == hashed, account.c.disabled.is_(False))
        )
        with self.database.read() as connection:
            row = connection.execute(query).first()
        if row is None or not secrets.compare_digest(row.hash, hashed):
            return None
        if row.used is None or now - row.used > NOTE_USE_S:
            # A database that cannot be written now can still be read.
            with contextlib.suppress(StoreError), self.database.write() as connection:
                connection.execute(update(token).where(token.c.id == row.id).values(used=now))
        return Identity(
            row.account, row.owner, row.role, level_of_token(row.role, row.scopes), token=row.id
        )

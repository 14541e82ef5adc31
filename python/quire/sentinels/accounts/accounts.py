"""Accounts: people with a name, a password and a role."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from time import time
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from quire.errors import AccountError, NameTaken, NotStored
from quire.sentinels.accounts.passwords import Hasher, new_password
from quire.sentinels.accounts.rights import ROLES
from quire.sentinels.store.database import Database
from quire.sentinels.store.plain import instant
from quire.sentinels.store.tables import account, session, watch

#: Characters of a name.
LONGEST_NAME = 200
#: The name of the account that the first start makes.
FIRST_NAME = "admin"


@dataclass(frozen=True, slots=True)
class Account:
    """An account, without its password.

    Attributes:
        id: its number.
        name: its name.
        role: ``viewer``, ``editor`` or ``admin``.
        created: when it was made.
        must_change_password: whether its password works only for choosing another one.
        disabled: whether logging in and its tokens are switched off.
    """

    id: int
    name: str
    role: str
    created: datetime
    must_change_password: bool
    disabled: bool = False


class Accounts:
    """The accounts in a database.

    Args:
        database: the database.
        hasher: hashes passwords.
    """

    def __init__(self, database: Database, hasher: Hasher | None = None) -> None:
        self.database: Database = database
        self.hasher: Hasher = hasher or Hasher()

    def make_first(self) -> str | None:
        """Make an administrator for a database without accounts.

        Returns:
            The password, which is not stored and works only for choosing another one; None if
            there are accounts.
        """
        password = new_password()
        hashed = self.hasher.hash(password)
        try:
            with self.database.write() as connection:
                if connection.execute(select(account.c.id).limit(1)).first() is not None:
                    return None
                _add(connection, FIRST_NAME, hashed, "admin", one_time=True)
        except IntegrityError:  # another process was faster
            return None
        return password

    def all(self) -> list[Account]:
        """Return all accounts, by name."""
        with self.database.read() as connection:
            rows = connection.execute(select(account).order_by(account.c.name))
            return [_account(row) for row in rows]

    def get(self, number: int) -> Account:
        """Return an account.

        Raises:
            NotStored: the account does not exist.
        """
        with self.database.read() as connection:
            return _account(_row(connection, number))

    def add(self, name: str, password: str, role: str, *, one_time: bool = False) -> Account:
        """Add an account.

        Args:
            name: its name.
            password: its password.
            role: its role.
            one_time: whether the password works only for choosing another one.

        Raises:
            AccountError: the name, the password or the role is not valid.
            NameTaken: there is an account with this name.
        """
        name = _name(name)
        _check_role(role)
        hashed = self.hasher.hash(password)
        try:
            with self.database.write() as connection:
                number = _add(connection, name, hashed, role, one_time=one_time)
        except IntegrityError:
            raise NameTaken(f"there is already an account {name!r}; choose another name") from None
        return self.get(number)

    def set_role(self, number: int, role: str) -> Account:
        """Give an account another role. Its tokens and sessions follow at once.

        Raises:
            NotStored: the account does not exist.
            AccountError: the role does not exist, or this is the last administrator.
        """
        _check_role(role)
        with self.database.write() as connection:
            found = _row(connection, number)
            if role != "admin":
                _keep_an_administrator(connection, found)
            connection.execute(update(account).where(account.c.id == number).values(role=role))
        return self.get(number)

    def set_disabled(self, number: int, *, disabled: bool) -> Account:
        """Disable an account, or let it be used again. Disabling ends all its sessions.

        Its tokens do not work while it is disabled.

        Raises:
            NotStored: the account does not exist.
            AccountError: this is the last administrator.
        """
        with self.database.write() as connection:
            found = _row(connection, number)
            if disabled:
                _keep_an_administrator(connection, found)
                connection.execute(delete(session).where(session.c.account == number))
            connection.execute(
                update(account).where(account.c.id == number).values(disabled=disabled)
            )
        return self.get(number)

    def set_password(self, number: int, password: str, *, one_time: bool = False) -> None:
        """Set the password of an account, and end all its sessions.

        Raises:
            NotStored: the account does not exist.
            AccountError: the password cannot be used.
        """
        hashed = self.hasher.hash(password)
        with self.database.write() as connection:
            _row(connection, number)
            connection.execute(
                update(account)
                .where(account.c.id == number)
                .values(password=hashed, one_time=one_time)
            )
            connection.execute(delete(session).where(session.c.account == number))

    def remove(self, number: int) -> None:
        """Remove an account with its tokens and sessions. Its watches stay.

        Raises:
            NotStored: the account does not exist.
            AccountError: this is the last administrator.
        """
        with self.database.write() as connection:
            _keep_an_administrator(connection, _row(connection, number))
            connection.execute(update(watch).where(watch.c.owner == number).values(owner=None))
            connection.execute(delete(account).where(account.c.id == number))

    def with_password(self, name: str, password: str) -> Account | None:
        """Return the account with this name if the password is right; None if not."""
        with self.database.read() as connection:
            row = None
            if "\0" not in name and len(name) <= LONGEST_NAME:
                row = connection.execute(select(account).where(account.c.name == name)).first()
        if not self.hasher.is_right(None if row is None else row.password, password):
            return None
        if row is None or row.disabled:
            return None
        if self.hasher.is_outdated(row.password):
            self._hash_again(row, password)
        return _account(row)

    def _hash_again(self, row: Row[Any], password: str) -> None:
        hashed = self.hasher.hash(password)
        same = (account.c.id == row.id) & (account.c.password == row.password)
        with self.database.write() as connection:
            connection.execute(update(account).where(same).values(password=hashed))


def _add(connection: Connection, name: str, hashed: str, role: str, *, one_time: bool) -> int:
    values = {"name": name, "password": hashed, "role": role, "one_time": one_time}
    added = insert(account).values(**values, created=time()).returning(account.c.id)
    number: int = connection.execute(added).scalar_one()
    return number


def _row(connection: Connection, number: int) -> Row[Any]:
    found = connection.execute(select(account).where(account.c.id == number)).first()
    if found is None:
        raise NotStored(f"account number {number} does not exist")
    return found


def _keep_an_administrator(connection: Connection, row: Row[Any]) -> None:
    # Locked, so that two administrators cannot remove each other at the same moment.
    active = (account.c.role == "admin") & account.c.disabled.is_(False)
    query = select(account.c.id).where(active).with_for_update()
    if row.role == "admin" and not set(connection.execute(query).scalars()) - {row.id}:
        raise AccountError(
            f"{row.name!r} is the last administrator; make another one first", field="role"
        )


def _name(name: str) -> str:
    name = unicodedata.normalize("NFC", name.strip())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise AccountError(
            f"name: expected 1 to {LONGEST_NAME} characters that can be printed", field="name"
        )
    return name


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise AccountError(f"role: expected one of {', '.join(ROLES)}", field="role")


def _account(row: Row[Any]) -> Account:
    return Account(
        row.id, row.name, row.role, instant(row.created), bool(row.one_time), bool(row.disabled)
    )

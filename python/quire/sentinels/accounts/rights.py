"""Rights: what roles of accounts and scopes of tokens allow.

There is one scale for both. A route of the API needs a level; an account has the level of its role;
a token has the level of its largest scope, and never more than its account.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, TypeAlias, get_args

Role: TypeAlias = Literal["viewer", "editor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)

Scope: TypeAlias = Literal["feed", "read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


class Level(IntEnum):
    """How much someone may do; each level includes those before it."""

    NOTHING = 0
    """Nothing."""
    FEED = 1
    """Read feeds."""
    READ = 2
    """Read everything but secrets and accounts."""
    WRITE = 3
    """Add, edit, run and remove watches."""
    ADMIN = 4
    """Manage accounts and tokens, and download backups and secrets."""


_OF_ROLE: dict[Role, Level] = {
    "viewer": Level.READ,
    "editor": Level.WRITE,
    "admin": Level.ADMIN,
}
_OF_SCOPE: dict[Scope, Level] = {
    "feed": Level.FEED,
    "read": Level.READ,
    "write": Level.WRITE,
    "admin": Level.ADMIN,
}


def level_of_role(role: str) -> Level:
    """Return the level of a role; an unknown role may do nothing.

    >>> level_of_role("editor").name, level_of_role("Admin").name
    ('WRITE', 'NOTHING')
    """
    return next((level for name, level in _OF_ROLE.items() if name == role), Level.NOTHING)


def level_of_token(role: str, scopes: Iterable[str]) -> Level:
    """Return the level of a token of an account with this role.

    >>> level_of_token("viewer", ["read", "write"]).name, level_of_token("admin", ["feed"]).name
    ('READ', 'FEED')
    >>> level_of_token("admin", ["read write"]).name
    'NOTHING'
    """
    known = [level for name, level in _OF_SCOPE.items() if name in set(scopes)]
    return min(level_of_role(role), max(known, default=Level.NOTHING))


@dataclass(frozen=True, slots=True)
class Identity:
    """Someone who may do something.

    Attributes:
        account: the id of the account.
        name: its name.
        role: its role.
        level: how much it may do, the way it came.
        session: the hash of the session; None for tokens.
        token: the id of the token; None for sessions.
        must_change_password: whether nothing else is allowed before the password is changed.
    """

    account: int
    name: str
    role: str
    level: Level
    session: bytes | None = None
    token: int | None = None
    must_change_password: bool = False

"""Accounts: names and passwords, tokens and sessions go in, identities with their rights come out.

Secrets are stored as hashes only: passwords with Argon2, tokens and sessions, which are long and
random, with SHA-256.
"""

from __future__ import annotations

from quire.sentinels.accounts.accounts import Account, Accounts
from quire.sentinels.accounts.passwords import Hasher
from quire.sentinels.accounts.rights import ROLES, SCOPES, Identity, Level, Role, Scope
from quire.sentinels.accounts.sessions import Lifetimes, Sessions
from quire.sentinels.accounts.tokens import StoredToken, Tokens

__all__ = [
    "ROLES",
    "SCOPES",
    "Account",
    "Accounts",
    "Hasher",
    "Identity",
    "Level",
    "Lifetimes",
    "Role",
    "Scope",
    "Sessions",
    "StoredToken",
    "Tokens",
]

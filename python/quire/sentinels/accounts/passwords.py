"""Passwords: hashed with Argon2id, a few at a time.

A hash takes memory on purpose. Without a limit, a few dozen log-ins at once could take all of it.
"""

from __future__ import annotations

import secrets
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from quire.errors import AccountError

#: Characters of a password. Longer ones would only cost time.
SHORTEST = 10
LONGEST = 1000
#: Hashes that are calculated at the same time.
AT_ONCE = 2

# OWASP's second choice for Argon2id: 19 MiB, two passes, one thread.
MEMORY_KIB = 19 * 1024
PASSES = 2

# Letters and digits that cannot be mistaken for each other.
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


class Hasher:
    """Hashes passwords and checks them.

    >>> hasher = Hasher(memory_kib=8, passes=1)
    >>> stored = hasher.hash("correct horse")
    >>> hasher.is_right(stored, "correct horse"), hasher.is_right(stored, "wrong horse")
    (True, False)
    >>> hasher.is_right(None, "any password")
    False

    Args:
        memory_kib: memory that one hash takes.
        passes: how often the memory is filled.
    """

    def __init__(self, memory_kib: int = MEMORY_KIB, passes: int = PASSES) -> None:
        self._argon2 = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        self._turns = BoundedSemaphore(AT_ONCE)
        self._of_no_account = self._argon2.hash(secrets.token_hex())

    def hash(self, password: str) -> str:
        """Return the hash of a password.

        Raises:
            AccountError: the password is too short or too long.
        """
        check_password(password)
        with self._turns:
            return self._argon2.hash(password)

    def is_right(self, stored: str | None, password: str) -> bool:
        """Tell whether a password is the one that was hashed.

        Without a hash (the account does not exist) this takes as long as with one, so that the time
        does not tell which accounts exist.
        """
        if len(password) > LONGEST:
            return False
        with self._turns:
            try:
                self._argon2.verify(stored or self._of_no_account, password)
            except (VerificationError, InvalidHashError, UnicodeError):
                return False
        return stored is not None

    def is_outdated(self, stored: str) -> bool:
        """Tell whether a hash was made with other costs than today's."""
        return self._argon2.check_needs_rehash(stored)


def check_password(password: str) -> None:
    """Raise if a password cannot be used.

    Raises:
        AccountError: it is too short or too long, or has characters that cannot be typed.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise AccountError(
            f"password: expected {SHORTEST} to {LONGEST:,} characters, found {len(password):,}",
            field="password",
        )
    try:
        password.encode()
    except UnicodeEncodeError:
        raise AccountError(
            "password: expected text that is valid UTF-8", field="password"
        ) from None


def new_password() -> str:
    """Return a random password that is easy to copy: 100 bits in groups of four.

    >>> len(new_password())
    24
    """
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(5))
    return "-".join(groups)

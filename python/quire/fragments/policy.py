"""Policies: how long a cache may keep a fragment or a page, for which users, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

#: One hour, for files about which nothing is known.
DEFAULT_TTL_S = 3600
#: The reason of a default policy.
NO_HISTORY = "no history"
LONGEST_TTL_S = 10 * 365 * 24 * 3600
#: Whether all users get the same bytes. ``unknown`` if only one user was seen, or if the difference
#: may be a change over time.
Sharing = Literal["shared", "private", "unknown"]
#: Where a policy comes from: nothing is known, captures were compared, or the user set it.
PolicySource = Literal["default", "measured", "given"]
# The name of a header, without any character that could end a VCL string.
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")


@dataclass(frozen=True, slots=True, order=True)
class Policy:
    """How long a cache may keep a file, and for which users.

    >>> Policy(60, ("Cookie",)).is_cached, Policy(60, sharing="private").is_cached
    (True, False)
    >>> Policy(60, ('Cookie"; C{',))
    Traceback (most recent call last):
    ValueError: vary 'Cookie"; C{': expected the name of a header

    Attributes:
        ttl_s: seconds to keep it; 0 means fetch it for every request.
        vary: request headers that select between variants.
        sharing: ``private`` files never enter a shared cache. ``shared`` files are the same for
            every user, so cookies are ignored. ``unknown`` files are cached only for requests
            without cookies.
        source: where the policy comes from, for code.
        reason: the measurement or the setting behind it, in words.
    """

    ttl_s: int = DEFAULT_TTL_S
    vary: tuple[str, ...] = ()
    sharing: Sharing = "unknown"
    source: PolicySource = "default"
    reason: str = NO_HISTORY

    def __post_init__(self) -> None:
        if not 0 <= self.ttl_s <= LONGEST_TTL_S:
            raise ValueError(f"ttl_s {self.ttl_s}: expected 0 to {LONGEST_TTL_S} seconds")
        for header in self.vary:
            if _HEADER.fullmatch(header) is None:
                raise ValueError(f"vary {header!r}: expected the name of a header")
        for name, known in (("sharing", get_args(Sharing)), ("source", get_args(PolicySource))):
            if getattr(self, name) not in known:
                value = getattr(self, name)
                raise ValueError(f"{name} {value!r}: expected one of {', '.join(known)}")

    @property
    def why(self) -> str:
        """The source of the policy and the reason for it, in words.

        >>> Policy().why
        'default: no history'
        """
        return f"{self.source}: {self.reason}"

    @property
    def is_cached(self) -> bool:
        """Whether a shared cache keeps the file at all."""
        return self.ttl_s > 0 and self.sharing != "private"

"""Policies: how long a cache may keep a fragment, and by what it varies.

Above: ``plan``, ``vcl``, ``manifest``. Below: nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: What is not known is kept for an hour.
DEFAULT_TTL_S = 3600
_LONGEST_TTL_S = 10 * 365 * 24 * 3600
# A header's name, and nothing that could end a string of VCL.
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")


@dataclass(frozen=True, slots=True, order=True)
class Policy:
    """How long a fragment may be kept, and for whom.

    >>> Policy(60, ("Cookie",))
    Policy(ttl_s=60, vary=('Cookie',))
    >>> Policy(60, ('Cookie"; C{',))
    Traceback (most recent call last):
    ValueError: vary 'Cookie"; C{': expected the name of a header

    Attributes:
        ttl_s: seconds.
        vary: headers of the request that it differs by.
    """

    ttl_s: int = DEFAULT_TTL_S
    vary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.ttl_s <= _LONGEST_TTL_S:
            raise ValueError(f"ttl_s {self.ttl_s}: expected 0 to {_LONGEST_TTL_S} seconds")
        for header in self.vary:
            if _HEADER.fullmatch(header) is None:
                raise ValueError(f"vary {header!r}: expected the name of a header")

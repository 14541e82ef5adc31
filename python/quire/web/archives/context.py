"""The library that routes use, the person who asks, and addresses that cannot be guessed.

A replayed page is in a sandbox, so its images and style sheets are asked for without cookies. Their
addresses have a secret part instead, the pass: an end and its HMAC, with a key that only this process
has.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from time import time
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from quire.archive.browsing import Library
from quire.web.answers import Problem

#: How long the addresses of a replayed page work, in seconds.
LASTS_S = 12 * 3600
#: Passes begin at whole multiples of this, so that browsers can keep images for a while.
STEP_S = 3600


@dataclass(frozen=True, slots=True)
class Passes:
    """Makes and checks the secret parts of addresses.

    >>> passes = Passes()
    >>> passes.is_valid(passes.new()), passes.is_valid("9999999999-00"), passes.is_valid("x")
    (True, False, False)
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def new(self) -> str:
        """Return a pass."""
        end = (int(time()) // STEP_S) * STEP_S + LASTS_S
        return f"{end}-{self._sign(end)}"

    def is_valid(self, text: str) -> bool:
        """Tell whether a pass was made here and has not ended."""
        end, _, signature = text.partition("-")
        if not (end.isascii() and end.isdecimal() and len(end) <= len("9999999999")):
            return False
        return hmac.compare_digest(signature.encode(), self._sign(int(end)).encode()) and (
            int(end) >= time()
        )

    def _sign(self, end: int) -> str:
        return hmac.new(self.key, b"archive %d" % end, hashlib.sha256).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Browsing:
    """What the routes of the browser share.

    Attributes:
        library: the archives.
        passes: secret parts of addresses.
        has_accounts: whether people log in. Then links out of a replayed page need a detour: a
            browser sends no cookies with them, since a page in a sandbox belongs to no site.
    """

    library: Library
    passes: Passes = field(default_factory=Passes)
    has_accounts: bool = True


async def _get_any(request: Request) -> Browsing | None:
    found: Browsing | None = getattr(request.app.state, "browsing", None)
    return found


async def _get_browsing(request: Request) -> Browsing:
    found = await _get_any(request)
    if found is None:
        raise Problem(
            404, "this service has no archives; the operator names them: quire serve --archive PATH"
        )
    return found


async def _get_person(request: Request) -> dict[str, str]:
    """Return the values of the menu; none without accounts."""
    identity = request.scope.get("quire_identity")
    return {} if identity is None else {"person": identity.name}


InUseIfAny = Annotated[Browsing | None, Depends(_get_any)]
InUse = Annotated[Browsing, Depends(_get_browsing)]
Person = Annotated[dict[str, str], Depends(_get_person)]

"""The cookie that holds the key of a session."""

from __future__ import annotations

from starlette.responses import Response

from quire.web.protection.guard import Guard


def set_cookie(response: Response, guard: Guard, key: str) -> None:
    """Give a browser the key of a session: for our own pages only, and hidden from scripts."""
    response.set_cookie(
        guard.cookie,
        key,
        max_age=int(guard.settings.sessions.whole_s),
        path="/",
        secure=guard.settings.is_https,
        httponly=True,
        samesite="strict",
    )


def remove_cookie(response: Response, guard: Guard) -> None:
    """Make a browser forget the key of a session."""
    response.delete_cookie(
        guard.cookie, path="/", secure=guard.settings.is_https, httponly=True, samesite="strict"
    )

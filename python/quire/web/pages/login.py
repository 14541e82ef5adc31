"""Logging in and out, and changing one's password."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import AccountError
from quire.web.answers import Problem
from quire.web.api.accounts import change_password, check_login
from quire.web.api.context import App, Client, State, router
from quire.web.cookies import remove_cookie, set_cookie
from quire.web.logs import logger
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.page import page

routes: APIRouter = router()

# A path on this host: browsers take // and /\ for another one.
_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]{0,500}")


@routes.get("/login", include_in_schema=False)
def show_login(to: str = "/") -> Response:
    """Show the log-in page."""
    return page("login.html", to=_inside(to), name="", wrong="")


@routes.post("/login", include_in_schema=False)
async def log_in(request: Request, app: App) -> Response:
    """Log in with a name and a password."""
    fields = await read_fields(request)
    return await app.run_password(_log_in, request, app, fields)


@routes.post("/logout", include_in_schema=False)
def log_out(app: App, client: Client) -> Response:
    """End the session."""
    if client.session is not None:
        app.sessions.end(client.session)
    response = RedirectResponse("/login", 303)
    remove_cookie(response, app.guard)
    return response


@routes.get("/password", include_in_schema=False)
def show_password(client: Client) -> Response:
    """Show the page for another password."""
    return page("password.html", person=client.name, must=client.must_change_password, wrong="")


@routes.post("/password", include_in_schema=False)
async def set_password(request: Request, app: App, client: Client) -> Response:
    """Change one's password. This ends all other sessions."""
    fields = await read_fields(request)
    old, new = fields.get("old", ""), fields.get("new", "")
    try:
        key = await app.run_password(change_password, request, app, client, old, new)
    except (Problem, AccountError) as error:
        status = error.status_code if isinstance(error, Problem) else 422
        wrong = str(error.detail if isinstance(error, Problem) else error)
        return page(
            "password.html",
            status,
            person=client.name,
            must=client.must_change_password,
            wrong=wrong,
        )
    response = RedirectResponse("/", 303)
    set_cookie(response, app.guard, key)
    return response


def _log_in(request: Request, app: State, fields: Fields) -> Response:
    name, to = fields.get("name", ""), _inside(fields.get("to", "/"))
    status, wrong = 403, "The name or the password is not right."
    headers: Mapping[str, str] = {}
    try:
        account = check_login(request, app, name, fields.get("password", ""))
    except Problem as error:
        account = None
        status, wrong, headers = error.status_code, str(error.detail), error.headers or {}
    if account is None:
        logger().warning("log-in refused", name=name[:200], status=status)
        return page("login.html", status, headers, to=to, name=name[:200], wrong=wrong)
    old = request.cookies.get(app.guard.cookie)
    before = app.sessions.identify(old) if old else None
    if before is not None and before.session is not None:
        app.sessions.end(before.session)
    response = RedirectResponse(to, 303)
    set_cookie(response, app.guard, app.sessions.begin(account))
    return response


def _inside(to: str) -> str:
    """Return an address to go to, if it is one of ours."""
    return to if _PATH.fullmatch(to) else "/"

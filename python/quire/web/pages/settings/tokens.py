"""Tokens: one's own, and those of everyone for administrators. A token is shown once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import AccountError, NotStored
from quire.sentinels.accounts import Level
from quire.sentinels.accounts.rights import SCOPES, level_of_token
from quire.web.api.context import LARGEST, App, Client, State, router
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.settings.section import TOKENS, section_page

routes: APIRouter = router()

Number = Annotated[int, Path(ge=1, le=LARGEST)]

#: What each scope allows.
ALLOWS = {
    "feed": "read feeds",
    "read": "read everything but secrets",
    "write": "read, add, edit and run watches",
    "admin": "everything",
}


@routes.get("/settings/tokens", include_in_schema=False)
def show_tokens(request: Request, app: App, client: Client) -> Response:
    """Show tokens."""
    removed = request.query_params.get("done") == "removed"
    return _show(app, client, done="The token was removed." if removed else "")


@routes.post("/settings/tokens", include_in_schema=False)
async def add_token(request: Request, app: App, client: Client) -> Response:
    """Make a token for oneself."""
    fields = await read_fields(request)
    return await app.run_heavy(_add, app, client, fields)


@routes.post("/settings/tokens/{token}", include_in_schema=False)
async def remove_token(request: Request, app: App, client: Client, token: Number) -> Response:
    """Remove a token: one's own, or any for administrators."""
    await read_fields(request)
    return await app.run_heavy(_remove, app, client, token)


def _add(app: State, client: Client, fields: Fields) -> Response:
    try:
        _, made = app.tokens.add(client.account, fields.get("name"), [fields.get("scope")])
    except AccountError as error:
        return _show(app, client, wrong=str(error))
    return _show(app, client, made=(fields.get("name").strip(), made))


def _remove(app: State, client: Client, token: int) -> Response:
    only = None if client.level >= Level.ADMIN else client.account
    try:
        app.tokens.remove(token, only)
    except NotStored as error:
        return _show(app, client, wrong=str(error))
    return RedirectResponse("/settings/tokens?done=removed", 303)


def _show(
    app: State,
    client: Client,
    *,
    done: str = "",
    wrong: str = "",
    made: tuple[str, str] | None = None,
) -> Response:
    is_admin = client.level >= Level.ADMIN
    found = app.tokens.all(None if is_admin else client.account)
    names = {each.id: each.name for each in app.accounts.all()} if is_admin else {}
    scopes = [
        (each, ALLOWS[each]) for each in SCOPES if level_of_token("admin", [each]) <= client.level
    ]
    return section_page(
        TOKENS,
        "tokens.html",
        client,
        done=done,
        wrong=wrong,
        mine=[each for each in found if each.account == client.account],
        others=[
            (each, names.get(each.account, "")) for each in found if each.account != client.account
        ],
        scopes=scopes,
        allows=ALLOWS,
        made=made,
    )

"""Accounts: administrators add, change, disable and remove them.

Administrators do not choose passwords for others: a new account and a reset one get a password that
works once, which is shown once.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import AccountError, NameTaken, NotStored
from quire.sentinels.accounts.passwords import new_password
from quire.sentinels.accounts.rights import ROLES
from quire.web.answers import Problem
from quire.web.api.context import LARGEST, App, Client, State, router
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.settings.section import ACCOUNTS, section_page

routes: APIRouter = router()

Number = Annotated[int, Path(ge=1, le=LARGEST)]


class Change(Enum):
    """A change of an account."""

    ROLE = "role"
    RESET = "reset"
    DISABLE = "disable"
    ENABLE = "enable"
    REMOVE = "remove"


_DONE = {
    Change.ROLE: "The role was changed.",
    Change.DISABLE: "The account is disabled. Its sessions have ended.",
    Change.ENABLE: "The account can be used again.",
    Change.REMOVE: "The account was removed. Its watches stay.",
}


@routes.get("/settings/accounts", include_in_schema=False)
def show_accounts(request: Request, app: App, client: Client) -> Response:
    """Show all accounts."""
    change = _change(request.query_params.get("done"))
    return _show(app, client, done=_DONE.get(change, "") if change else "")


@routes.post("/settings/accounts", include_in_schema=False)
async def add_account(request: Request, app: App, client: Client) -> Response:
    """Add an account with a password that works once."""
    fields = await read_fields(request)
    return await app.run_password(_add, app, client, fields)


@routes.post("/settings/accounts/{account}", include_in_schema=False)
async def change_account(request: Request, app: App, client: Client, account: Number) -> Response:
    """Change, disable or remove an account."""
    fields = await read_fields(request)
    return await app.run_password(_apply, app, client, account, fields)


def _add(app: State, client: Client, fields: Fields) -> Response:
    password = new_password()
    try:
        added = app.accounts.add(fields.get("name"), password, fields.get("role"), one_time=True)
    except (AccountError, NameTaken) as error:
        return _show(app, client, wrong=str(error), name=fields.get("name")[:200])
    return _show(app, client, made=(added.name, password))


def _apply(app: State, client: Client, account: int, fields: Fields) -> Response:
    change = _change(fields.get("action"))
    if change is None:
        raise Problem(422, "action: expected one of the buttons of the page", field="action")
    try:
        found = app.accounts.get(account)
        if change is Change.ROLE:
            app.accounts.set_role(account, fields.get("role"))
        elif change is Change.RESET:
            password = new_password()
            app.accounts.set_password(account, password, one_time=True)
            return _show(app, client, made=(found.name, password))
        elif change is Change.REMOVE:
            if not fields.get("sure"):
                return section_page(ACCOUNTS, "remove_account.html", client, account=found)
            app.accounts.remove(account)
        else:
            app.accounts.set_disabled(account, disabled=change is Change.DISABLE)
    except (AccountError, NotStored) as error:
        return _show(app, client, wrong=str(error))
    return RedirectResponse(f"/settings/accounts?done={change.value}", 303)


def _change(given: str | None) -> Change | None:
    return next((each for each in Change if each.value == given), None)


def _show(
    app: State,
    client: Client,
    *,
    done: str = "",
    wrong: str = "",
    name: str = "",
    made: tuple[str, str] | None = None,
) -> Response:
    return section_page(
        ACCOUNTS,
        "accounts.html",
        client,
        done=done,
        wrong=wrong,
        accounts=app.accounts.all(),
        me=client.account,
        roles=ROLES,
        name=name,
        made=made,
    )

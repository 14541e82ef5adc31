"""Accounts and tokens: of everyone for administrators, and one's own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from quire.errors import AccountError
from quire.web.answers import Answer, Problem
from quire.web.api.context import LARGEST, PREFIX, PROBLEMS, App, Client, State, router
from quire.web.api.models import (
    AccountChange,
    AccountGiven,
    AccountShown,
    AccountTokenGiven,
    MeShown,
    NewTokenShown,
    PasswordChange,
    TokenGiven,
    TokenShown,
)
from quire.web.cookies import set_cookie

routes: APIRouter = router()

Number = Annotated[int, Path(ge=1, le=LARGEST)]


@routes.get(f"{PREFIX}/accounts", response_model=list[AccountShown], responses=PROBLEMS)
def list_accounts(app: App) -> Response:
    """List accounts."""
    return Answer(app.accounts.all())


@routes.post(f"{PREFIX}/accounts", status_code=201, response_model=AccountShown, responses=PROBLEMS)
def add_account(app: App, given: AccountGiven) -> Response:
    """Add an account. By default its password must be changed at the first log-in."""
    added = app.accounts.add(given.name, given.password, given.role, one_time=given.one_time)
    return Answer(added, 201)


@routes.patch(f"{PREFIX}/accounts/{{account}}", response_model=AccountShown, responses=PROBLEMS)
def change_account(app: App, account: Number, given: AccountChange) -> Response:
    """Change the role of an account, or its password, which then must be changed at log-in.

    A new password ends all sessions of the account, and so does disabling it. The tokens of an
    account do not work while it is disabled.
    """
    if given.password is not None:
        app.accounts.set_password(account, given.password, one_time=True)
    if given.role is not None:
        app.accounts.set_role(account, given.role)
    if given.disabled is not None:
        app.accounts.set_disabled(account, disabled=given.disabled)
    return Answer(app.accounts.get(account))


@routes.delete(f"{PREFIX}/accounts/{{account}}", status_code=204, responses=PROBLEMS)
def remove_account(app: App, account: Number) -> Response:
    """Remove an account with its tokens and sessions. Its watches stay."""
    app.accounts.remove(account)
    return Response(status_code=204)


@routes.get(f"{PREFIX}/tokens", response_model=list[TokenShown], responses=PROBLEMS)
def list_tokens(app: App) -> Response:
    """List the tokens of all accounts."""
    return Answer(app.tokens.all())


@routes.post(f"{PREFIX}/tokens", status_code=201, response_model=NewTokenShown, responses=PROBLEMS)
def add_token(app: App, given: AccountTokenGiven) -> Response:
    """Make a token for an account. It is shown once."""
    number, token = app.tokens.add(given.account, given.name, given.scopes)
    return Answer({"id": number, "token": token}, 201)


@routes.delete(f"{PREFIX}/tokens/{{token}}", status_code=204, responses=PROBLEMS)
def remove_token(app: App, token: Number) -> Response:
    """Remove a token."""
    app.tokens.remove(token)
    return Response(status_code=204)


# ------------------------------------------------------------ oneself


@routes.get(f"{PREFIX}/me", response_model=MeShown, responses=PROBLEMS)
def show_me(client: Client) -> Response:
    """Show who you are, and what you may do."""
    level = client.level.name.lower()
    return Answer(
        {"account": client.account, "name": client.name, "role": client.role, "level": level}
    )


@routes.post(f"{PREFIX}/me/password", status_code=204, responses=PROBLEMS)
async def change_my_password(
    request: Request, app: App, client: Client, given: PasswordChange
) -> Response:
    """Change your password. This ends all your other sessions."""
    key = await app.run_password(change_password, request, app, client, given.old, given.new)
    response = Response(status_code=204)
    set_cookie(response, app.guard, key)
    return response


@routes.get(f"{PREFIX}/me/tokens", response_model=list[TokenShown], responses=PROBLEMS)
def list_my_tokens(app: App, client: Client) -> Response:
    """List your tokens."""
    return Answer(app.tokens.all(client.account))


@routes.post(
    f"{PREFIX}/me/tokens", status_code=201, response_model=NewTokenShown, responses=PROBLEMS
)
def add_my_token(app: App, client: Client, given: TokenGiven) -> Response:
    """Make a token for yourself. It is shown once, and never allows more than your role."""
    number, token = app.tokens.add(client.account, given.name, given.scopes)
    return Answer({"id": number, "token": token}, 201)


@routes.delete(f"{PREFIX}/me/tokens/{{token}}", status_code=204, responses=PROBLEMS)
def remove_my_token(app: App, client: Client, token: Number) -> Response:
    """Remove one of your tokens."""
    app.tokens.remove(token, client.account)
    return Response(status_code=204)


def change_password(request: Request, app: State, client: Client, old: str, new: str) -> str:
    """Change the password of a client, and return the key of a new session.

    Raises:
        Problem: the old password is wrong, or there were too many attempts.
        AccountError: the new password cannot be used.
    """
    if check_login(request, app, client.name, old) is None:
        raise Problem(403, "old: the password is not right", field="old")
    if new == old:
        raise AccountError("new: expected another password than the old one", field="new")
    app.accounts.set_password(client.account, new)
    return app.sessions.begin(client.account)


def check_login(request: Request, app: State, name: str, password: str) -> int | None:
    """Return the account with this name and password; None if there is none.

    Raises:
        Problem: there were too many attempts.
    """
    address = request.client.host if request.client is not None else ""
    wait_s = app.throttle.wait_s(address, name)
    if wait_s > 0:
        raise Problem(
            429,
            "there were too many wrong passwords; try again later",
            headers={"Retry-After": str(int(wait_s) + 1)},
        )
    # Counted before the password is checked: requests at the same time must not slip through.
    app.throttle.failed(address, name)
    found = app.accounts.with_password(name, password)
    if found is None:
        return None
    app.throttle.succeeded(address, name)
    return found.id

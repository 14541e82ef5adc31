"""The list of watches, and actions on the watches that were chosen in it."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import WatchError
from quire.sentinels.accounts import Level
from quire.sentinels.service import BulkAction
from quire.sentinels.store.overview.watch_rows import Order, Show, WatchRows
from quire.web.answers import Problem
from quire.web.api.context import App, Client, State, router
from quire.web.pages.forms import Fields, read_fields, whole_number
from quire.web.pages.page import page
from quire.web.pages.watches.greeting import greeting
from quire.web.pages.watches.row import shown
from quire.web.pages.watches.wanted import MOST_ROWS, Asked, asked

routes: APIRouter = router()

#: Watches that one action changes.
MOST_BULK = 1_000

SHOWS = {
    Show.ALL: "All",
    Show.CHANGED: "Changed in 24 h",
    Show.ASKING: "With a question",
    Show.TROUBLE: "In trouble",
    Show.PAUSED: "Paused",
    Show.NEW: "Not checked yet",
    Show.FINE: "Fine",
}
ORDERS = {
    Order.CHANGED: "Last change",
    Order.NAME: "Name",
    Order.CHECKED: "Last check",
    Order.DUE: "Next check",
    Order.ADDED: "Newest",
}
#: The result of each action, after the number of watches.
DONE = {
    BulkAction.CHECK: "will be checked now",
    BulkAction.PAUSE: "paused",
    BulkAction.RESUME: "resumed",
    BulkAction.TAG: "got the tag",
    BulkAction.UNTAG: "lost the tag",
    BulkAction.DELETE: "deleted",
}


@routes.get("/", include_in_schema=False)
def home(request: Request, app: App, client: Client) -> Response:
    """Show the list of watches."""
    return _list(app, client, asked(request.query_params.get), done=_done(request))


@routes.get("/watches", include_in_schema=False)
def watches(request: Request, app: App, client: Client) -> Response:
    """Show the list of watches."""
    return _list(app, client, asked(request.query_params.get), done=_done(request))


@routes.post("/watches/bulk", include_in_schema=False)
async def bulk(request: Request, app: App, client: Client) -> Response:
    """Do something to the watches that were chosen; ask first whether to delete them."""
    fields = await read_fields(request, MOST_BULK + 20)
    return await app.run_heavy(_act, app, client, fields)


def _list(
    app: State, client: Client, wish: Asked, *, done: str = "", wrong: str = "", status: int = 200
) -> Response:
    found = app.service.watch_rows(wish.wanted, offset=wish.offset, most=MOST_ROWS)
    if not found.rows and found.total and wish.page > 1:
        return RedirectResponse(wish.turned(_pages(found)), 303)
    is_empty = wish.is_plain and not found.total
    return page(
        "watches/empty.html" if is_empty else "watches/list.html",
        status,
        person=client.name,
        here="Watches",
        may_edit=client.level >= Level.WRITE,
        may_administer=client.level >= Level.ADMIN,
        rows=[shown(each) for each in found.rows],
        total=found.total,
        wish=wish,
        pages=_pages(found),
        tags=[] if is_empty else app.service.tags(),
        shows=[
            (name, wish.other(show=show), found.counts[show], show is wish.wanted.show)
            for show, name in SHOWS.items()
            if found.counts[show] or show in (Show.ALL, wish.wanted.show)
        ],
        orders=[(each.value, name, each is wish.wanted.order) for each, name in ORDERS.items()],
        sorts={each.value: wish.other(order=each) for each in ORDERS},
        may_choose_all=MOST_ROWS < found.total <= MOST_BULK,
        done=done,
        wrong=wrong,
        greeting=greeting(app) if wish.is_plain and wish.page == 1 else None,
    )


def _pages(found: WatchRows) -> int:
    return max(1, math.ceil(found.total / MOST_ROWS))


def _done(request: Request) -> str:
    """Return a sentence about the result of the last action."""
    action = _action(request.query_params.get("done"))
    number = whole_number(request.query_params.get("count"))
    if action is None or number is None:
        return ""
    return f"{number:,} watch{'es' if number != 1 else ''} {DONE[action]}."


def _action(given: str | None) -> BulkAction | None:
    return next((each for each in BulkAction if each.value == given), None)


def _act(app: State, client: Client, fields: Fields) -> Response:
    wish = asked(fields.get)
    action = _action(fields.get("action"))
    if action is None:
        raise Problem(422, "action: expected one of the buttons of the list", field="action")
    chosen = fields.numbers("watch")[:MOST_BULK]
    if fields.get("all"):
        chosen = app.service.matching(wish.wanted, MOST_BULK)
    if not chosen:
        return _list(app, client, wish, wrong="Choose one or more watches first.", status=422)
    if action is BulkAction.DELETE and not fields.get("sure"):
        return _ask(app, client, wish, chosen)
    try:
        count = app.service.act(chosen, action, fields.get("new_tag"))
    except WatchError:
        wrong = "Write the tag to add or to remove into the field “Tag”."
        return _list(app, client, wish, wrong=wrong, status=422)
    more: dict[str, Any] = {"done": action.value, "count": str(count)}
    return RedirectResponse(wish.address(**more), 303)


def _ask(app: State, client: Client, wish: Asked, chosen: list[int]) -> Response:
    rows = app.service.rows_of(chosen)
    return page(
        "watches/delete.html",
        person=client.name,
        here="Watches",
        rows=[shown(each) for each in rows[:MOST_ROWS]],
        more=max(0, len(rows) - MOST_ROWS),
        numbers=[each.id for each in rows],
        fields=wish.fields(),
        back=wish.address(),
    )

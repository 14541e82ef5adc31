"""Editing a watch by clicking, and the question about a part that moved."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import NotStored, PageNotNamed, QuireError, SelectorError
from quire.sentinels.accounts import Level
from quire.sentinels.parts.location import evaluate
from quire.sentinels.service import Proposal
from quire.sentinels.service.drafting import selectors_of
from quire.viewing.pointing import HERE, Paint, Pointing
from quire.web.answers import Problem
from quire.web.api.context import App, Client, State, WatchNumber, router
from quire.web.pages.adding.choice import Choice, Item
from quire.web.pages.adding.picker import framed
from quire.web.pages.forms import read_fields
from quire.web.pages.one_watch.heading import Done, address
from quire.web.pages.page import page
from quire.web.pages.resources import prepare

routes: APIRouter = router()

Address = Annotated[str | None, Query(max_length=8000)]


class Side(StrEnum):
    """Where a part was, and where it may be now."""

    OLD = "old"
    NEW = "new"


@routes.get("/watches/{watch}/edit", include_in_schema=False)
def edit_watch(app: App, client: Client, watch: WatchNumber) -> Response:
    """Go on to the picker with the last version and the choice of the watch.

    Watches with several parts, or without a stored version, are edited as a form.
    """
    del client
    found = app.service.find(watch)
    as_form = address(watch, "form", {"done": Done.only_form.value})
    if list(found.watch.parts) != [""]:
        return RedirectResponse(as_form, 303)
    place = found.watch.parts[""].location
    selectors = selectors_of(found)
    try:
        key = app.service.draft_of(watch)
    except (NotStored, PageNotNamed):
        return RedirectResponse(as_form, 303)

    def items(found: tuple[str, ...]) -> tuple[Item, ...]:
        return tuple(Item(selectors.index(each), is_written=True) for each in found)

    choice = Choice(items(place.where), items(place.without))
    return RedirectResponse(f"/watches/new/{key}?{choice.query()}", 303)


@routes.get("/watches/{watch}/question", include_in_schema=False)
def show_question(app: App, client: Client, watch: WatchNumber, url: Address = None) -> Response:
    """Ask whether a part that was found again is the right one: both places side by side."""
    stored, asked = _asked(app, watch, url)
    return page(
        "adding/question.html",
        person=client.name,
        here="Watches",
        watch=stored,
        asked=asked,
        anchor=HERE,
        score=round(asked.score * 100),
        may_answer=client.level >= Level.WRITE,
        sides=_sides(app, watch, asked),
    )


@routes.get("/watches/{watch}/question/{side}", include_in_schema=False)
async def show_side(
    app: App, client: Client, watch: WatchNumber, side: Side, url: Address = None
) -> Response:
    """Show one of the two places in the page, for a frame."""
    del client
    _, asked = _asked(app, watch, url)
    number, selectors = _sides(app, watch, asked)[side.value]
    if number is None:
        raise Problem(404, "this version is not stored any more")
    _, new = await app.run_heavy(app.service.versions, watch, asked.url, number, number)
    await prepare(app, new, asked.url)
    nodes: list[int] = []
    for selector in selectors:
        try:
            found = evaluate(new, selector)
        except SelectorError:
            continue
        nodes += [int(node) for node in found] if isinstance(found, np.ndarray) else []
    painted = dict.fromkeys(nodes, Paint.CHOSEN)
    pointing = Pointing(None, painted, min(nodes, default=None))
    return await app.run_heavy(framed, app, new, asked.url, pointing)


@routes.post("/watches/{watch}/question", include_in_schema=False)
async def answer_question(
    request: Request, app: App, watch: WatchNumber, url: Address = None
) -> Response:
    """Take the answer: yes, watch it there; or no."""
    fields = await read_fields(request)
    try:
        if fields.get("answer").strip() == "yes":
            app.service.accept(watch, url)
        elif fields.get("answer").strip() == "no":
            app.service.reject(watch, url)
        else:
            raise Problem(422, "expected the answer yes or no", field="answer")
    except NotStored as error:
        raise Problem(404, str(error)) from None
    except QuireError as error:
        raise Problem(422, str(error)) from None
    return RedirectResponse(f"/watches/{watch}", 303)


def _asked(app: State, watch: int, url: str | None) -> tuple[Any, Proposal]:
    try:
        stored = app.service.find(watch)
        proposals = app.service.proposals(watch)
    except NotStored as error:
        raise Problem(404, str(error)) from None
    found = next((each for each in proposals if url in (None, each.url)), None)
    if found is None:
        raise Problem(404, "there is no question about this watch")
    return stored, found


def _sides(
    app: State, watch: int, asked: Proposal
) -> dict[str, tuple[int | None, tuple[str, ...]]]:
    """Return the versions to show: the last one before the part moved, and the newest one."""
    states = app.service.history(watch, asked.url, read=False)
    before = [each.number for each in states if each.time < asked.since]
    newest = states[-1].number if states else None
    new = (asked.path,) if asked.path else asked.selector
    return {
        Side.OLD: (before[-1] if before else None, asked.selector),
        Side.NEW: (newest, new),
    }

"""The first page: watches and the last changes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from quire.sentinels.service import PageStatus, StoredEvent
from quire.sentinels.store.watches import StoredWatch
from quire.web.api.context import LARGEST, App, Client, router
from quire.web.api.told import told
from quire.web.pages.page import page

routes: APIRouter = router()

MOST_WATCHES = 50
MOST_EVENTS = 20
#: Addresses and texts of one row.
MOST_TEXTS = 3
LONGEST_TEXT = 300


@routes.get("/", include_in_schema=False)
def home(app: App, client: Client, after: Annotated[int, Query(ge=0, le=LARGEST)] = 0) -> Response:
    """Show watches and the last changes."""
    watches = app.service.watches(after=after, most=MOST_WATCHES)
    events = app.service.events(most=MOST_EVENTS)
    return page(
        "home.html",
        person=client.name,
        here="Watches",
        watches=[_watch(each, app.service.pages(each.id)) for each in watches],
        next=watches[-1].id if len(watches) == MOST_WATCHES else None,
        events=[_event(each) for each in events],
    )


def _watch(stored: StoredWatch, pages: list[PageStatus]) -> dict[str, Any]:
    error = next((each.error for each in pages if each.error), "")
    state = next((each.state for each in pages if each.state != "fine"), "fine")
    if any(each.missing for each in pages):
        state = "part not found"
    if all(each.checked is None for each in pages):
        state = "not checked yet"
    return {
        "id": stored.id,
        "name": stored.watch.name,
        "urls": [each.url for each in pages[:MOST_TEXTS]],
        "state": "paused" if stored.paused else state,
        "error": _short(error),
        "checked": max((each.checked for each in pages if each.checked), default=None),
        "fired": max((each.fired for each in pages if each.fired), default=None),
    }


def _event(event: StoredEvent) -> dict[str, Any]:
    words = told(event)
    return {
        "time": event.time,
        "watch": words.name,
        "kind": event.kind,
        "added": [_short(each) for each in words.added[:MOST_TEXTS]],
        "removed": [_short(each) for each in words.removed[:MOST_TEXTS]],
        "message": _short(words.message),
    }


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"

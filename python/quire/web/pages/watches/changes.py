"""The list of changes: what watches told about, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from quire.errors import NotStored
from quire.sentinels.notices.event import EVENT_KINDS, EventKind
from quire.sentinels.service import StoredEvent
from quire.sentinels.store.overview.event_rows import WantedEvents
from quire.web.api.context import App, Client, router
from quire.web.api.told import told
from quire.web.pages.forms import whole_number
from quire.web.pages.page import page
from quire.web.pages.watches.row import short
from quire.web.pages.watches.wanted import LONGEST_TAG, plain

routes: APIRouter = router()

#: Events of a page.
MOST_EVENTS = 50
#: Texts of one event, and characters of each.
MOST_TEXTS = 3
LONGEST_TEXT = 300
LONGEST_NAME = 120

#: What kinds of events are called, and the class of their badge.
KINDS: dict[EventKind, tuple[str, str]] = {
    "change": ("changed", "good"),
    "error": ("trouble", "bad"),
    "recovered": ("is back", "good"),
    "lost": ("part not found", "warn"),
    "moved": ("part moved", "warn"),
}


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """An event as templates show it."""

    id: str
    watch: int
    name: str
    kind: str
    badge: str
    time: datetime
    removed: tuple[str, ...]
    added: tuple[str, ...]
    more: int
    message: str
    is_change: bool


@routes.get("/changes", include_in_schema=False)
def changes(request: Request, app: App, client: Client) -> Response:
    """Show what watches told about."""
    wanted, name = _wanted(request, app)
    after = request.query_params.get("after", "")[:64]
    gone = False
    try:
        found = app.service.changes(wanted, following=plain(after, 64), most=MOST_EVENTS + 1)
    except NotStored:  # its watch was deleted meanwhile
        gone, found = True, app.service.changes(wanted, most=MOST_EVENTS + 1)
    shown = found[:MOST_EVENTS]
    fields: dict[str, Any] = {
        "watch": wanted.watch or "",
        "tag": wanted.tag,
        "kind": wanted.kind or "",
    }
    fields = {key: value for key, value in fields.items() if value}
    older = shown[-1].id if len(found) > MOST_EVENTS else ""
    return page(
        "watches/changes.html",
        person=client.name,
        here="Changes",
        events=[shown_event(each) for each in shown],
        wanted=wanted,
        watch_name=name,
        kinds=[(kind, words, kind == wanted.kind) for kind, (words, _) in KINDS.items()],
        tags=app.service.tags(),
        older=f"/changes?{urlencode({**fields, 'after': older}, errors='replace')}"
        if older
        else "",
        newest=f"/changes?{urlencode(fields, errors='replace')}" if after and not gone else "",
        is_filtered=bool(fields),
    )


def shown_event(event: StoredEvent) -> ShownEvent:
    """Return an event in words."""
    words = told(event)
    kind, badge = KINDS.get(event.event.kind, (event.kind, ""))
    removed = tuple(short(each, LONGEST_TEXT) for each in words.removed[:MOST_TEXTS])
    added = tuple(short(each, LONGEST_TEXT) for each in words.added[:MOST_TEXTS])
    return ShownEvent(
        id=event.id,
        watch=event.watch,
        name=short(words.name, LONGEST_NAME),
        kind=kind,
        badge=badge,
        time=event.time,
        removed=removed,
        added=added,
        more=len(words.removed) + len(words.added) - len(removed) - len(added),
        message=short(words.message, LONGEST_TEXT),
        is_change=event.old is not None and event.new is not None and event.old != event.new,
    )


def _wanted(request: Request, app: App) -> tuple[WantedEvents, str]:
    """Read which events are wanted, and the name of the watch, if it is one."""
    given = request.query_params.get
    watch, name = whole_number(given("watch")), ""
    if watch is not None:
        try:
            name = app.service.find(watch).watch.name
        except NotStored:
            name = f"number {watch}"
    kind = next((each for each in EVENT_KINDS if each == given("kind")), None)
    return WantedEvents(watch, plain(given("tag"), LONGEST_TAG), kind), short(name, LONGEST_NAME)

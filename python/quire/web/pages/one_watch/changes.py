"""The changes of a watch: its events and the versions of its page, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from quire.sentinels.service import StoredEvent, StoredState
from quire.web.api.context import App, Client, Url, VersionNumber, WatchNumber, router
from quire.web.pages.one_watch.heading import Tab, find_shown, watch_page
from quire.web.pages.one_watch.said import said

routes: APIRouter = router()

#: Events and versions of one page.
MOST = 50


@routes.get("/watches/{watch}", include_in_schema=False)
def show_changes(
    *,
    app: App,
    client: Client,
    watch: WatchNumber,
    url: Url = None,
    before: VersionNumber = None,
    done: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show the events of a watch and the versions of its page."""
    shown = find_shown(app, watch, url)
    states: list[StoredState] = []
    if shown.page is not None:
        states = app.service.history(watch, shown.url, MOST, before=before, read=False)
    events = [
        each
        for each in app.service.events(watch, most=4 * MOST)
        if shown.page is None or each.page == shown.page.id
    ]
    if states and before is None:
        oldest: datetime | None = states[0].time if len(states) == MOST else None
        events = [each for each in events if oldest is None or each.time >= oldest]
    elif states:
        events = [each for each in events if states[0].time <= each.time <= states[-1].time]
    entries = [_version(each) for each in states] + [_event(each) for each in events]
    entries.sort(key=lambda each: (each["time"], each["is_event"]), reverse=True)
    return watch_page(
        app,
        client,
        shown,
        Tab.changes,
        done=done,
        entries=entries,
        versions=list(reversed(states)),
        older=states[0].number if len(states) == MOST else None,
    )


def _version(state: StoredState) -> dict[str, Any]:
    return {
        "is_event": False,
        "time": state.time,
        "number": state.number,
        "status": state.status,
        "length": state.length,
    }


def _event(event: StoredEvent) -> dict[str, Any]:
    return {
        "is_event": True,
        "time": event.time,
        "kind": event.kind,
        "old": event.old,
        "new": event.new,
        "said": said(event.event),
    }

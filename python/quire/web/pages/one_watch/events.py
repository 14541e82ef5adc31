"""The address of an event, which notices and feeds have: it leads to the change that was told."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import RedirectResponse, Response

from quire.web.api.context import App, router
from quire.web.pages.one_watch.heading import address

routes: APIRouter = router()


@routes.get("/events/{event}", include_in_schema=False)
def show_event(app: App, event: Annotated[str, Path(pattern="^[0-9a-f]{1,64}$")]) -> Response:
    """Lead to the change that an event is about, or to its watch if it is not about a change."""
    found = app.service.event(event)
    if found.old is None or found.new is None or found.old == found.new:
        return RedirectResponse(address(found.watch, "", {"url": found.event.url}), 303)
    versions = {"url": found.event.url, "old": found.old, "new": found.new}
    return RedirectResponse(address(found.watch, "diff", versions), 303)

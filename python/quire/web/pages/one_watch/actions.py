"""What the buttons of a watch do: check, pause, resume, remove, and answer its questions."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.web.api.context import App, Client, WatchNumber, router
from quire.web.pages.forms import read_fields
from quire.web.pages.one_watch.heading import Done, address
from quire.web.pages.page import page

routes: APIRouter = router()


@routes.post("/watches/{watch}/check", include_in_schema=False)
def check_now(app: App, watch: WatchNumber) -> Response:
    """Let the pages of a watch be checked as soon as possible."""
    app.service.make_due(watch)
    return _back(watch, Done.checked)


@routes.post("/watches/{watch}/pause", include_in_schema=False)
def pause(app: App, watch: WatchNumber) -> Response:
    """Pause a watch."""
    app.service.edit(watch, {**app.service.find(watch).form, "paused": True})
    return _back(watch, Done.paused)


@routes.post("/watches/{watch}/resume", include_in_schema=False)
def resume(app: App, watch: WatchNumber) -> Response:
    """Let a watch continue."""
    app.service.edit(watch, {**app.service.find(watch).form, "paused": False})
    return _back(watch, Done.resumed)


@routes.get("/watches/{watch}/remove", include_in_schema=False)
def confirm_removal(app: App, client: Client, watch: WatchNumber) -> Response:
    """Ask whether a watch is to be deleted."""
    stored = app.service.find(watch)
    pages = app.service.pages(watch)
    return page(
        "one_watch/remove.html",
        person=client.name,
        here="Watches",
        watch={"id": stored.id, "name": stored.watch.name},
        versions=sum(each.versions for each in pages),
        pages=len(pages),
    )


@routes.post("/watches/{watch}/remove", include_in_schema=False)
def remove(app: App, watch: WatchNumber) -> Response:
    """Delete a watch with its events; pages that no other watch has go too."""
    app.service.remove(watch)
    return RedirectResponse("/", 303)


@routes.post("/watches/{watch}/accept", include_in_schema=False)
async def accept(app: App, watch: WatchNumber, request: Request) -> Response:
    """Watch a part at the place that is proposed."""
    url = (await read_fields(request)).text("url") or None
    await run_in_threadpool(app.service.accept, watch, url)
    return _back(watch, Done.accepted)


@routes.post("/watches/{watch}/reject", include_in_schema=False)
async def reject(app: App, watch: WatchNumber, request: Request) -> Response:
    """Say that the proposed place is not the part."""
    url = (await read_fields(request)).text("url") or None
    await run_in_threadpool(app.service.reject, watch, url)
    return _back(watch, Done.rejected)


def _back(watch: int, done: Done) -> Response:
    return RedirectResponse(address(watch, "", {"done": done.value}), 303)

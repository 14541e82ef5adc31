"""The noise of a watch: parts that are left out of its page, and switches for it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import WatchError
from quire.web.api.context import App, Client, State, Url, WatchNumber, router
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.one_watch.heading import Done, Shown, Tab, address, find_shown, watch_page

routes: APIRouter = router()

KINDS = {
    "text": "words of a text",
    "links": "the address of a link",
    "images": "the address of an image",
    "attribute": "an attribute",
    "region": "a whole part",
    "order": "the order of a list",
}
EVIDENCE = {
    "probe": "two fetches right after each other differed here",
    "history": "it changed in nearly every version",
}


@routes.get("/watches/{watch}/noise", include_in_schema=False)
async def show_noise(
    app: App,
    client: Client,
    watch: WatchNumber,
    url: Url = None,
    done: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show the parts that are left out of the page of a watch."""
    return await run_in_threadpool(lambda: _show(app, client, find_shown(app, watch, url), done))


@routes.post("/watches/{watch}/noise", include_in_schema=False)
async def set_noise(app: App, client: Client, watch: WatchNumber, request: Request) -> Response:
    """Switch noise on or off, or leave out another part of the page."""
    posted = await read_fields(request)

    def work() -> Response:
        stored = app.service.find(watch)
        form = dict(stored.form)
        chosen = posted.text("url") or None
        if selector := posted.text("selector"):
            try:
                app.service.edit(watch, _without(form, selector))
            except WatchError as error:
                shown = find_shown(app, watch, chosen)
                return _show(app, client, shown, "", wrong=str(error), selector=selector)
            done = Done.left_out
        else:
            is_on = _switch(posted)
            app.service.edit(watch, {**form, "learn_noise": is_on})
            done = Done.noise_on if is_on else Done.noise_off
        to = address(watch, "noise", {"url": chosen, "done": done.value})
        return RedirectResponse(to, 303)

    return await run_in_threadpool(work)


def _show(
    app: State, client: Client, shown: Shown, done: str, *, wrong: str = "", selector: str = ""
) -> Response:
    found = [each for each in app.service.noise(shown.stored.id) if each.url == shown.url]
    parts = shown.stored.watch.parts.values()
    return watch_page(
        app,
        client,
        shown,
        Tab.noise,
        status=422 if wrong else 200,
        done=done,
        learns=shown.stored.watch.learn_noise,
        noise=[
            {
                "kind": KINDS.get(each.kind, each.kind),
                "place": each.place,
                "name": each.name,
                "samples": each.samples,
                "since": each.since,
                "evidence": EVIDENCE.get(each.evidence, each.evidence),
            }
            for each in found
        ],
        without=sorted({each for part in parts for each in part.location.without}),
        frame=shown.at("frame/noise", url=shown.url),
        wrong=wrong,
        selector=selector,
    )


def _switch(posted: Fields) -> bool:
    return posted.text("learn") == "on"


def _without(form: dict[str, Any], selector: str) -> dict[str, Any]:
    """Return a form in which all parts leave out a selector too."""
    if "parts" not in form:
        return {**form, "without": [*_listed(form.get("without")), selector]}
    parts = {
        name: {**part, "without": [*_listed(part.get("without")), selector]}
        for name, part in form["parts"].items()
    }
    return {**form, "parts": parts}


def _listed(value: object) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list) else [value]

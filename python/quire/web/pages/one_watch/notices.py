"""The notices of a watch: sent, waiting, and those that could not be sent."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.web.answers import Problem, plain
from quire.web.api.context import App, Client, State, Url, WatchNumber, router
from quire.web.api.notices import without_targets
from quire.web.pages.forms import read_fields
from quire.web.pages.one_watch.heading import Done, Tab, address, find_shown, watch_page

routes: APIRouter = router()

MOST = 100
MOODS = {"sent": "good", "waiting": "", "dead": "bad", "dropped": "warn"}


@routes.get("/watches/{watch}/notices", include_in_schema=False)
def show_notices(
    app: App,
    client: Client,
    watch: WatchNumber,
    url: Url = None,
    done: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show the notices of a watch, the newest first."""
    return _show(app, client, watch, url, done=done)


@routes.post("/watches/{watch}/test-notice", include_in_schema=False)
async def test_notice(app: App, client: Client, watch: WatchNumber, request: Request) -> Response:
    """Send a test message to all targets of a watch, and show what became of it."""
    posted = await read_fields(request)
    await run_in_threadpool(app.service.find, watch)
    if app.open_gate is None:
        raise Problem(501, "notices are not set up in this service")
    async with app.open_gate() as gate:
        found = await app.notices.send_test(watch, gate)
    tested: list[dict[str, Any]] = without_targets(plain(found))
    chosen = posted.text("url") or None
    return await run_in_threadpool(lambda: _show(app, client, watch, chosen, tested=tested))


@routes.post("/watches/{watch}/resend", include_in_schema=False)
async def resend(app: App, watch: WatchNumber, request: Request) -> Response:
    """Send the notices of a watch again that could not be sent."""
    posted = await read_fields(request)

    def work() -> Response:
        dead = {each.id for each in app.service.notices(state="dead", name=watch, most=500)}
        chosen = posted.text("notice")
        app.notices.resend([each for each in dead if not chosen or each == chosen])
        return RedirectResponse(address(watch, "notices", {"done": Done.resent.value}), 303)

    return await run_in_threadpool(work)


def _show(
    app: State,
    client: Client,
    watch: int,
    url: str | None,
    *,
    done: str = "",
    tested: list[dict[str, Any]] | None = None,
) -> Response:
    shown = find_shown(app, watch, url)
    found: list[dict[str, Any]] = []
    for each in app.service.notices(name=watch, most=MOST):
        hidden = without_targets(plain({"target": each.target, "reason": each.reason}))
        found.append(
            {
                "id": each.id,
                "state": each.state,
                "mood": MOODS.get(each.state, ""),
                "kind": each.kind,
                "event": each.event,
                "made": each.made,
                "ended": each.ended,
                "not_before": each.not_before,
                "tries": each.tries,
                **hidden,
            }
        )
    return watch_page(
        app,
        client,
        shown,
        Tab.notices,
        done=done,
        notices=found,
        dead=sum(each["state"] == "dead" for each in found),
        tested=tested,
    )

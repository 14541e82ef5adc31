"""Notices: the targets that watches have, tests of them, and dead letters to send again."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import NotStored
from quire.web.answers import plain
from quire.web.api.context import App, Client, State, router
from quire.web.api.notices import without_targets
from quire.web.logs import without_secrets
from quire.web.pages.forms import read_fields, whole_number
from quire.web.pages.settings.section import NOTICES, section_page

routes: APIRouter = router()

#: Dead letters of the page.
MOST_DEAD = 100


@routes.get("/settings/notices", include_in_schema=False)
def show_notices(request: Request, app: App, client: Client) -> Response:
    """Show targets and dead letters."""
    count = whole_number(request.query_params.get("resent"))
    done = "" if count is None else f"{count:,} will be sent again."
    return _show(app, client, done=done)


@routes.post("/settings/notices/test", include_in_schema=False)
async def test_target(request: Request, app: App, client: Client) -> Response:
    """Send a test message to a target."""
    key = (await read_fields(request)).get("key")
    done = wrong = ""
    if app.open_gate is None:
        wrong = "Notices are not set up in this service."
    else:
        try:
            async with app.open_gate() as gate:
                found = await app.service.test_target(key, gate)
            error = without_secrets(found.error)
            done = "" if error else f"A test message was sent to {found.target}."
            wrong = f"{found.target}: {error}" if error else ""
        except NotStored as error_found:
            wrong = str(error_found)
    return await run_in_threadpool(_show, app, client, done=done, wrong=wrong)


@routes.post("/settings/notices/resend", include_in_schema=False)
async def resend(request: Request, app: App, client: Client) -> Response:
    """Send dead letters again."""
    ids = [each[:64] for each in (await read_fields(request, MOST_DEAD + 5)).all("notice")]
    if not ids:
        wrong = "Choose one or more notices first."
        return await run_in_threadpool(_show, app, client, wrong=wrong)
    count = await run_in_threadpool(app.notices.resend, ids)
    return RedirectResponse(f"/settings/notices?resent={count}", 303)


def _show(app: State, client: Client, *, done: str = "", wrong: str = "") -> Response:
    return section_page(
        NOTICES,
        "notices.html",
        client,
        done=done,
        wrong=wrong,
        targets=app.service.targets(),
        dead=without_targets(plain(app.notices.dead_letters(MOST_DEAD))),
        mail=app.service.options.mail is not None,
    )

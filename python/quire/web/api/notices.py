"""Notices: dead letters, tests, and Atom feeds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from quire.sentinels.form.secrets import HIDDEN
from quire.web.answers import Answer, Problem, plain
from quire.web.api.context import (
    LARGEST,
    PREFIX,
    PROBLEMS,
    App,
    Most,
    PlainText,
    WatchNumber,
    router,
)
from quire.web.api.models import ResendGiven
from quire.web.logs import without_secrets

routes: APIRouter = router()

FEED_TYPE = "application/atom+xml; charset=utf-8"


@routes.get(f"{PREFIX}/notices/dead", response_model=list[dict[str, Any]], responses=PROBLEMS)
def list_dead_letters(app: App, most: Most = 100) -> Response:
    """List notices that could not be sent and were given up, the newest first."""
    return Answer(without_targets(plain(app.notices.dead_letters(most))))


@routes.post(f"{PREFIX}/notices/resend", responses=PROBLEMS)
def resend(app: App, given: ResendGiven) -> Response:
    """Send dead letters again."""
    return Answer({"sent_again": app.notices.resend(given.ids)})


@routes.post(f"{PREFIX}/watches/{{watch}}/test-notice", responses=PROBLEMS)
async def test_notice(app: App, watch: WatchNumber) -> Response:
    """Send a test message to all targets of a watch."""
    await run_in_threadpool(app.service.find, watch)
    if app.open_gate is None:
        raise Problem(501, "notices are not set up in this service")
    async with app.open_gate() as gate:
        found = await app.notices.send_test(watch, gate)
    return Answer({"targets": without_targets(plain(found))})


@routes.get(
    f"{PREFIX}/feed",
    response_class=Response,
    responses={200: {"content": {"application/atom+xml": {}}}, **PROBLEMS},
)
def get_feed(
    app: App,
    watch: Annotated[int | None, Query(ge=1, le=LARGEST, description="Number of a watch.")] = None,
    tag: PlainText = "",
    token: Annotated[str, Query(max_length=200, description="A token with the scope feed.")] = "",
) -> Response:
    """Return the Atom feed of a watch, or of all watches with a tag.

    Feed readers cannot send headers: a token with the scope `feed` may be in the address, and any
    token may be the password of Basic authentication.
    """
    del token  # the guard has read it
    if (watch is None) == (not tag):
        raise Problem(422, "expected either watch or tag", field="watch")
    if watch is not None:
        app.service.find(watch)
    elif not app.service.watches(tag=tag, most=1):
        raise Problem(404, f"no watch has the tag {tag!r}", field="tag")
    return Response(app.notices.feed(watch=watch, tag=tag or None), media_type=FEED_TYPE)


def without_targets(value: Any) -> Any:  # noqa: ANN401 - plain data
    """Hide targets, which usually hold a token, keys, and texts in errors that look like one."""
    if isinstance(value, dict):
        return {
            name: _scheme(each) if name == "target" else without_targets(each)
            for name, each in value.items()
            if name != "key"
        }
    if isinstance(value, list):
        return [without_targets(each) for each in value]
    return without_secrets(value) if isinstance(value, str) else value


def _scheme(target: object) -> str:
    return f"{str(target).partition(':')[0]}:{HIDDEN}"

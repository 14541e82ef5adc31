"""Notices: dead letters, tests, and Atom feeds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
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

routes = router()

FEED_TYPE = "application/atom+xml; charset=utf-8"


@routes.get(f"{PREFIX}/notices/dead", response_model=list[dict[str, Any]], responses=PROBLEMS)
async def list_dead_letters(app: App, most: Most = 100) -> Response:
    """List notices that could not be sent and were given up, the newest first."""
    found = plain(await _call(app.notices.dead_letters, most))
    return Answer([_without_target(each) for each in found])


@routes.post(f"{PREFIX}/notices/resend", responses=PROBLEMS)
async def resend(app: App, given: ResendGiven) -> Response:
    """Send dead letters again."""
    return Answer({"sent_again": plain(await _call(app.notices.resend, given.ids))})


@routes.post(f"{PREFIX}/watches/{{watch}}/test-notice", responses=PROBLEMS)
async def test_notice(app: App, watch: WatchNumber) -> Response:
    """Send a test notice to all targets of a watch."""
    await run_in_threadpool(app.service.find, watch)
    found = plain(await _call(app.notices.send_test, watch))
    return Answer({"result": _without_target(found)})


@routes.get(
    f"{PREFIX}/feed",
    response_class=Response,
    responses={200: {"content": {"application/atom+xml": {}}}, **PROBLEMS},
)
async def get_feed(
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
        await run_in_threadpool(app.service.find, watch)
    found = await _call(app.notices.feed, watch=watch, tag=tag or None)
    data = found.encode("utf-8", "replace") if isinstance(found, str) else found
    return Response(data, media_type=FEED_TYPE)


async def _call(work: Callable[..., Any], *args: object, **kwargs: object) -> Any:  # noqa: ANN401
    """Call a method that may be a coroutine."""
    if inspect.iscoroutinefunction(work):
        return await work(*args, **kwargs)
    found = await run_in_threadpool(work, *args, **kwargs)
    return await found if inspect.isawaitable(found) else found


def _without_target(value: Any) -> Any:  # noqa: ANN401 - plain data
    """Hide targets, which usually hold a token, and what looks like one in errors."""
    if isinstance(value, dict):
        return {
            name: _scheme(each) if name == "target" else _without_target(each)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [_without_target(each) for each in value]
    return without_secrets(value) if isinstance(value, str) else value


def _scheme(target: object) -> str:
    return f"{str(target).partition(':')[0]}:{HIDDEN}"

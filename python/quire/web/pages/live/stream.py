"""The connection of an open page: events until the page, the session or the service ends."""

from __future__ import annotations

import re

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from quire.web.answers import Problem
from quire.web.api.context import App, Client, router
from quire.web.pages.live.hub import MOST_ROWS, Hub, HubFull

routes: APIRouter = router()

_ROW = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{1,32})")


@routes.get("/live", include_in_schema=False)
async def live(request: Request, app: App, client: Client) -> Response:
    """Send changed rows and new events to a page, which says which rows it shows."""
    given = request.query_params.get("watches")
    session = client.session
    if given is None or session is None:
        raise Problem(422, "watches: expected the rows of the page", field="watches")
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    hub: Hub = request.app.state.live
    try:
        messages = hub.open(_marks(given), lambda: app.sessions.is_open(session))
    except HubFull:
        raise Problem(
            503, "too many pages are open; this one does not change by itself", headers=_LATER
        ) from None
    # Proxies must pass on what comes, when it comes.
    return StreamingResponse(
        messages, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


_LATER = {"Retry-After": "60"}


def _marks(text: str) -> dict[int, str]:
    """Return the marks of rows by number.

    Raises:
        Problem: the text is not such a list.
    """
    parts = text.split(",", MOST_ROWS) if text else []
    found = [_ROW.fullmatch(each) for each in parts[:MOST_ROWS]]
    if len(parts) > MOST_ROWS or not all(found):
        raise Problem(
            422, f"watches: expected up to {MOST_ROWS} rows such as 12:3f9a", field="watches"
        )
    return {int(each[1]): each[2] for each in found if each is not None}

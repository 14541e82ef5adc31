"""What watches found: events, versions, comparisons, explanations and replays."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from quire.errors import WatchError
from quire.sdiff import ALL_FACETS, annotate
from quire.sentinels.checking.replay import Replay, by_month
from quire.web.answers import Answer, Problem, plain
from quire.web.api.context import (
    PREFIX,
    PROBLEMS,
    App,
    Most,
    State,
    Url,
    VersionNumber,
    WatchNumber,
    router,
)
from quire.web.api.models import (
    EventsShown,
    FindingShown,
    ReplayGiven,
    ReplayShown,
    StateShown,
    VersionShown,
)
from quire.web.api.told import told
from quire.web.api.watches import with_secrets

routes: APIRouter = router()

#: Versions whose parts one request reads.
MOST_READ = 200

After = Annotated[
    str | None,
    Query(pattern="^[0-9a-f]{1,64}$", description="Only events that follow this one in the list."),
]


@routes.get(f"{PREFIX}/events", response_model=EventsShown, responses=PROBLEMS)
def list_events(app: App, after: After = None, most: Most = 50) -> Response:
    """List the events of all watches, the newest first."""
    return _events(app, None, after, most)


@routes.get(f"{PREFIX}/watches/{{watch}}/events", response_model=EventsShown, responses=PROBLEMS)
def list_events_of_watch(
    app: App, watch: WatchNumber, after: After = None, most: Most = 50
) -> Response:
    """List the events of a watch, the newest first."""
    return _events(app, watch, after, most)


@routes.get(
    f"{PREFIX}/watches/{{watch}}/versions", response_model=list[VersionShown], responses=PROBLEMS
)
def list_versions(
    app: App, watch: WatchNumber, url: Url = None, before: VersionNumber = None, most: Most = 100
) -> Response:
    """List stored versions of a page, the oldest first."""
    states = app.service.history(watch, url, most, before=before, read=False)
    return Answer(
        [
            {"number": each.number, "time": each.time, "status": each.status, "length": each.length}
            for each in states
        ]
    )


@routes.get(
    f"{PREFIX}/watches/{{watch}}/versions/{{number}}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}, **PROBLEMS},
)
def get_version(
    app: App,
    watch: WatchNumber,
    number: Annotated[int, Path(ge=0, le=2**31 - 1, description="Number of a version.")],
    url: Url = None,
) -> Response:
    """Download a stored version of a page, byte by byte."""
    body, content_type = app.service.body(watch, url, number)
    # A browser must never show a page of a stranger as one of ours.
    headers = {
        "Content-Disposition": f'attachment; filename="version-{number}.bin"',
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Original-Content-Type": re.sub(r"[^\x20-\x7e]", "?", content_type)[:200],
    }
    return Response(body, media_type="application/octet-stream", headers=headers)


@routes.get(
    f"{PREFIX}/watches/{{watch}}/history", response_model=list[StateShown], responses=PROBLEMS
)
async def show_history(
    app: App,
    watch: WatchNumber,
    url: Url = None,
    before: VersionNumber = None,
    most: Annotated[int, Query(ge=1, le=MOST_READ)] = 20,
) -> Response:
    """Show what the watched parts said on stored versions, the oldest first."""
    states = await app.run_heavy(app.service.history, watch, url, most, before=before)
    return Answer(
        [
            {
                "number": each.number,
                "time": each.time,
                "status": each.status,
                "length": each.length,
                "text": {part: reading.text for part, reading in each.readings.items()},
            }
            for each in states
        ]
    )


@routes.get(f"{PREFIX}/watches/{{watch}}/diff", response_model=dict[str, Any], responses=PROBLEMS)
async def compare_versions(
    app: App,
    watch: WatchNumber,
    url: Url = None,
    old: VersionNumber = None,
    new: VersionNumber = None,
) -> Response:
    """Compare two stored versions of a page; the last two by default.

    The answer is that of `quire diff --format json`.
    """

    def compare() -> dict[str, Any]:
        before, after = app.service.versions(watch, url, old, new)
        return annotate(before, after).to_dict(ALL_FACETS)

    return Answer(await app.run_heavy(compare))


@routes.get(f"{PREFIX}/watches/{{watch}}/explain", response_model=FindingShown, responses=PROBLEMS)
async def explain(app: App, watch: WatchNumber, url: Url = None) -> Response:
    """Explain, condition by condition, why a watch fires on the last two versions or not."""
    return Answer(await app.run_heavy(app.service.explain, watch, url))


@routes.get(f"{PREFIX}/watches/{{watch}}/replay", response_model=ReplayShown, responses=PROBLEMS)
async def replay_watch(app: App, watch: WatchNumber, url: Url = None) -> Response:
    """Run a watch over the stored versions of a page: what would it have reported?"""
    return _replay(await app.run_heavy(app.service.replay, watch, url))


@routes.post(f"{PREFIX}/replay", response_model=ReplayShown, responses=PROBLEMS)
async def replay_form(app: App, given: ReplayGiven) -> Response:
    """Run a watch that is not added yet over the stored versions of a page."""
    if given.url is not None and "\0" in given.url:
        raise Problem(422, "url: expected a text without NUL characters", field="url")

    def replay() -> Replay:
        form = given.form
        if given.watch is not None:
            form = with_secrets(app.service.find(given.watch), form)
        return app.service.replay(form, given.url)

    try:
        return _replay(await app.run_heavy(replay))
    except WatchError as error:
        path = f"form.{error.path}" if error.path else "form"
        raise WatchError(str(error), path=path) from None


def _events(app: State, watch: int | None, after: str | None, most: int) -> Response:
    events = app.service.events(watch, following=after, most=most)
    following = events[-1].id if len(events) == most else None
    shown = [{**plain(told(each)), **plain(each)} for each in events]
    return Answer({"events": shown, "next": following})


def _replay(found: Replay) -> Response:
    return Answer(
        {
            "captures": found.captures,
            "outcomes": found.outcomes,
            "months": by_month(found),
            "firings": [{**plain(told(each)), **plain(each)} for each in found.firings],
        }
    )

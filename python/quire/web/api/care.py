"""Care of a watch: what is left out of its pages, parts that moved, its notices and its versions."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from quire.web.answers import Answer, plain
from quire.web.api.context import PREFIX, PROBLEMS, App, Most, Url, WatchNumber, router
from quire.web.api.models import LeftOutShown, ProposalShown
from quire.web.api.notices import without_targets

routes: APIRouter = router()

_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}}},
    **PROBLEMS,
}


@routes.get(
    f"{PREFIX}/watches/{{watch}}/noise", response_model=list[LeftOutShown], responses=PROBLEMS
)
def list_noise(app: App, watch: WatchNumber) -> Response:
    """List what is left out of the pages of a watch, because it changes at every fetch."""
    return Answer(app.service.noise(watch))


@routes.get(
    f"{PREFIX}/watches/{{watch}}/proposals", response_model=list[ProposalShown], responses=PROBLEMS
)
def list_proposals(app: App, watch: WatchNumber) -> Response:
    """List questions about parts that are not where their selectors look."""
    return Answer(app.service.proposals(watch))


@routes.post(
    f"{PREFIX}/watches/{{watch}}/proposals/accept",
    response_model=ProposalShown,
    responses=PROBLEMS,
)
def accept_proposal(app: App, watch: WatchNumber, url: Url = None) -> Response:
    """Watch a part at the place that is proposed. `url` is needed if several pages ask."""
    return Answer(app.service.accept(watch, url))


@routes.post(
    f"{PREFIX}/watches/{{watch}}/proposals/reject",
    response_model=ProposalShown,
    responses=PROBLEMS,
)
def reject_proposal(app: App, watch: WatchNumber, url: Url = None) -> Response:
    """Say that the proposed place is not the part."""
    return Answer(app.service.reject(watch, url))


@routes.get(
    f"{PREFIX}/watches/{{watch}}/notices", response_model=list[dict[str, Any]], responses=PROBLEMS
)
def list_notices(
    app: App,
    watch: WatchNumber,
    state: Literal["waiting", "sent", "dead", "dropped"] | None = None,
    most: Most = 50,
) -> Response:
    """List the notices of a watch, the newest first."""
    found = app.service.notices(state=state, name=watch, most=most)
    return Answer(without_targets(plain(found)))


@routes.post(f"{PREFIX}/watches/{{watch}}/prune", responses=PROBLEMS)
async def prune(app: App, watch: WatchNumber) -> Response:
    """Delete versions of the pages of a watch that no watch wants to keep."""
    found = await app.run_heavy(lambda: app.service.prune([watch], vacuum=False))
    return Answer({"versions": found.versions, "bytes": found.bytes})


@routes.get(f"{PREFIX}/watches/{{watch}}/versions-file", response_class=Response, responses=_BINARY)
async def export_versions(app: App, watch: WatchNumber, url: Url = None) -> Response:
    """Download the versions of a watch as a WARC file."""
    folder = tempfile.TemporaryDirectory(prefix="quire-versions-")
    path = Path(folder.name) / f"watch-{watch}.warc.gz"
    try:
        await app.run_heavy(lambda: app.service.export_versions(watch, path, url))
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=path.name,
        background=BackgroundTask(folder.cleanup),
    )

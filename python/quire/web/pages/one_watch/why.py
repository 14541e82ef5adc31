"""Why a watch fired or not: its conditions, one by one, on two versions."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from quire.errors import NotStored
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.service import StoredState
from quire.web.api.context import App, Client, Url, VersionNumber, WatchNumber, router
from quire.web.pages.one_watch.heading import MOST_VERSIONS, Tab, find_shown, watch_page

routes: APIRouter = router()

MOST_FINDINGS = 500


@routes.get("/watches/{watch}/why", include_in_schema=False)
async def show_why(
    *,
    app: App,
    client: Client,
    watch: WatchNumber,
    url: Url = None,
    old: VersionNumber = None,
    new: VersionNumber = None,
) -> Response:
    """Explain, condition by condition, why a watch fires on two versions or not."""

    def work() -> Response:
        shown = find_shown(app, watch, url)
        versions: list[StoredState] = []
        finding, missing = None, "Nothing is stored yet."
        if shown.page is not None:
            versions = app.service.history(watch, shown.url, MOST_VERSIONS, read=False)
            try:
                finding = app.service.explain(watch, shown.url, old, new)
            except NotStored as error:
                missing = str(error)
        return watch_page(
            app,
            client,
            shown,
            Tab.why,
            versions=list(reversed(versions)),
            old=old,
            new=new,
            finding=None if finding is None else finding.holds,
            findings=[] if finding is None else _rows(finding),
            missing=missing,
        )

    return await app.run_heavy(work)


def _rows(finding: Finding) -> list[dict[str, Any]]:
    """List findings in order, with their depth; those inside of others follow them."""
    rows: list[dict[str, Any]] = []
    left = [(finding, 0)]
    while left and len(rows) < MOST_FINDINGS:
        each, depth = left.pop()
        rows.append(
            {
                "depth": min(depth, 8),
                "holds": each.holds,
                "condition": each.condition,
                "reason": each.reason,
            }
        )
        left += [(part, depth + 1) for part in reversed(each.parts)]
    return rows

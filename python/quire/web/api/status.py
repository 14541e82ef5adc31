"""The service itself: its health, its metrics, its status and its settings."""

from __future__ import annotations

import dataclasses
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from quire.errors import StoreError
from quire.version import version
from quire.web.answers import Answer, plain
from quire.web.api.context import PREFIX, PROBLEMS, App, router
from quire.web.api.models import StatusShown
from quire.web.metrics import CONTENT_TYPE

routes: APIRouter = router()


@routes.get("/healthz", include_in_schema=False)
def healthz(app: App) -> Response:
    """Tell whether the service can do its work."""
    try:
        with app.service.database.read() as connection:
            connection.exec_driver_sql("SELECT 1").one()
    except StoreError:
        return Answer({"status": "no database"}, 503)
    return Answer({"status": "ok"})


@routes.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    """Return metrics for Prometheus."""
    text = await run_in_threadpool(request.app.state.metrics.text)
    return Response(text, headers={"Content-Type": CONTENT_TYPE})


@routes.get(f"{PREFIX}/status", response_model=StatusShown, responses=PROBLEMS)
async def status(app: App) -> Response:
    """Show how much there is, and how it is doing."""
    counts = await app.run_heavy(app.service.counts)
    kind = "sqlite" if app.service.database.is_sqlite else "postgresql"
    return Answer({"version": version(), "database": kind, **plain(counts)})


@routes.get(f"{PREFIX}/settings", response_model=dict[str, Any], responses=PROBLEMS)
def settings(app: App) -> Response:
    """Show the settings that the service was started with."""
    return Answer(dataclasses.asdict(app.settings))

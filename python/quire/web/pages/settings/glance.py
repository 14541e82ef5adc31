"""The service at a glance: its health, its size, retention, and the options of the operator."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.display import format_bytes, format_duration
from quire.errors import StoreError, WatchError
from quire.sentinels.form.watch import DEFAULT_INTERVAL
from quire.sentinels.versions.retention import Keep
from quire.version import version
from quire.web.api.context import App, Client, State, router
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.settings.section import GLANCE, section_page

routes: APIRouter = router()

_DONE = "The limits were changed. Versions beyond them go at the next check of their page."


@routes.get("/settings", include_in_schema=False)
async def glance(request: Request, app: App, client: Client) -> Response:
    """Show how the service is doing."""
    done = _DONE if request.query_params.get("done") == "keep" else ""
    return await app.run_heavy(_show, request, app, client, done=done)


@routes.post("/settings/keep", include_in_schema=False)
async def set_keep(request: Request, app: App, client: Client) -> Response:
    """Change which versions are kept for watches without limits of their own."""
    fields = await read_fields(request)
    return await app.run_heavy(_set_keep, request, app, client, fields)


def _set_keep(request: Request, app: State, client: Client, fields: Fields) -> Response:
    given = {name: fields.get(name).strip() for name in ("versions", "age", "bytes")}
    value: dict[str, Any] = {name: text for name, text in given.items() if text}
    if value.get("versions", "").isdecimal():
        value["versions"] = int(value["versions"][:9])
    try:
        app.service.set_keep(value)
    except WatchError as error:
        wrong = str(error).removeprefix("keep.")
        return _show(request, app, client, wrong=wrong, keep=given)
    return RedirectResponse("/settings?done=keep", 303)


def _show(
    request: Request,
    app: State,
    client: Client,
    *,
    done: str = "",
    wrong: str = "",
    keep: dict[str, str] | None = None,
) -> Response:
    health, counts = app.service.health(), request.app.state.metrics.counts()
    return section_page(
        GLANCE,
        "glance.html",
        client,
        done=done,
        wrong=wrong,
        health=health,
        counts=counts,
        database="SQLite" if app.service.database.is_sqlite else "PostgreSQL",
        database_bytes=format_bytes(health.database_bytes),
        free_bytes=None if health.free_bytes is None else format_bytes(health.free_bytes),
        stored_bytes=format_bytes(counts.stored_bytes),
        options=app.options,
        interval=format_duration(DEFAULT_INTERVAL.total_seconds()),
        version_name=version(),
        keep=keep or _keep(app),
    )


def _keep(app: State) -> dict[str, str]:
    try:
        found = app.service.keep()
    except StoreError:
        found = Keep()
    return {
        "versions": "" if found.versions is None else str(found.versions),
        "age": "" if found.age is None else format_duration(found.age.total_seconds()),
        "bytes": "" if found.bytes is None else format_bytes(found.bytes).replace(".0 ", " "),
    }

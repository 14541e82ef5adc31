"""Files: the schema of forms, imports, exports and backups."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from quire.sentinels.form import watch_schema, watch_to_dict, watches_to_text
from quire.sentinels.imports import Tool, import_watches
from quire.sentinels.service import Added
from quire.web.answers import Answer
from quire.web.api.context import PREFIX, PROBLEMS, App, Client, State, router
from quire.web.api.models import ImportShown

routes: APIRouter = router()

#: Watches that an export reads at once.
CHUNK = 500
_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}}},
    **PROBLEMS,
}
FileFormat = Annotated[Literal["yaml", "json"], Query(alias="format")]


@routes.get(f"{PREFIX}/schema", response_model=dict[str, Any], responses=PROBLEMS)
def get_schema() -> Response:
    """Return the JSON Schema of watches."""
    return Answer(watch_schema())


@routes.post(
    f"{PREFIX}/import",
    response_model=ImportShown,
    responses=PROBLEMS,
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {}}}}
    },
)
async def import_file(
    app: App, client: Client, request: Request, tool: Tool | None = None
) -> Response:
    """Import watches of another tool, or a list of addresses: the body is the file.

    Watches whose name is taken are left out. Notes say what could not be carried over.
    """
    body = await request.body()
    added, notes = await app.run_heavy(add_file, app, client.account, body, tool)
    return Answer(
        {"added": [each.id for each in added.watches], "taken": added.taken, "notes": notes}
    )


@routes.get(f"{PREFIX}/export", response_class=Response, responses=_BINARY)
async def export(app: App, file_format: FileFormat = "yaml") -> Response:
    """Download all watches. Secrets read `<secret>`."""
    return _download(await app.run_heavy(_export, app, file_format, secrets=False), file_format)


@routes.get(f"{PREFIX}/export-with-secrets", response_class=Response, responses=_BINARY)
async def export_with_secrets(app: App, file_format: FileFormat = "yaml") -> Response:
    """Download all watches with their secrets."""
    return _download(await app.run_heavy(_export, app, file_format, secrets=True), file_format)


@routes.get(f"{PREFIX}/backup", response_class=Response, responses=_BINARY)
async def backup(app: App) -> Response:
    """Download everything as one SQLite file, for `quire watch restore`."""
    folder = tempfile.TemporaryDirectory(prefix="quire-backup-")
    path = Path(folder.name) / "quire.db"
    try:
        await app.run_heavy(app.service.backup, path)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename="quire.db",
        background=BackgroundTask(folder.cleanup),
    )


def add_file(
    app: State, account: int, data: bytes, tool: Tool | None
) -> tuple[Added, list[object]]:
    """Add the watches of a file of another tool.

    Returns:
        The added watches, and notes about everything that could not be carried over.
    """
    found = import_watches(data, "the file", tool)
    forms = [watch_to_dict(watch, secrets=True) for watch in found.watches]
    added = app.service.add_all(forms, account)
    return added, [*found.notes, *added.notes]


def _export(app: State, file_format: Literal["yaml", "json"], *, secrets: bool) -> str:
    watches = []
    after = 0
    while found := app.service.watches(after=after, most=CHUNK):
        watches += [each.watch for each in found]
        after = found[-1].id
    return watches_to_text(watches, file_format, secrets=secrets)


def _download(text: str, file_format: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="watches.{file_format}"'}
    return Response(text.encode(), media_type="application/octet-stream", headers=headers)

"""Import and export: a file is shown before anything is added."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from quire.errors import MissingExtra, WatchError
from quire.sentinels.imports import TOOLS, Tool, import_watches, tool_of
from quire.web.api.context import App, Client, State, router
from quire.web.api.files import add_file
from quire.web.pages.forms import Fields, Upload, read_fields
from quire.web.pages.settings.pending import PendingFiles
from quire.web.pages.settings.section import IMPORT, section_page
from quire.web.pages.watches.row import short

routes: APIRouter = router()

#: Watches and notes that are shown.
MOST_SHOWN = 200
LONGEST = 300

NAMES: dict[Tool, str] = {
    "changedetection.io": "changedetection.io (backup or JSON)",
    "urlwatch": "urlwatch (YAML)",
    "webchanges": "webchanges (YAML)",
    "distill": "Distill (JSON)",
    "urls": "a list of addresses, one on each line",
    "quire": "quire (YAML or JSON)",
}


@routes.get("/settings/import", include_in_schema=False)
def show_import(client: Client) -> Response:
    """Show how to import and export."""
    return _show(client)


@routes.post("/settings/import", include_in_schema=False)
async def upload_file(request: Request, app: App, client: Client) -> Response:
    """Show the watches of a file, without adding them."""
    fields = await read_fields(request)
    return await app.run_heavy(_preview, request.app.state.pending, app, client, fields)


@routes.post("/settings/import/add", include_in_schema=False)
async def add_uploaded(request: Request, app: App, client: Client) -> Response:
    """Add the watches of a file that was shown."""
    fields = await read_fields(request)
    return await app.run_heavy(_add, request.app.state.pending, app, client, fields)


def _preview(pending: PendingFiles, app: State, client: Client, fields: Fields) -> Response:
    upload = fields.files.get("file")
    if upload is None or not upload.data:
        pasted = fields.get("addresses").strip()
        if not pasted:
            return _show(client, wrong="Choose a file, or paste addresses.")
        upload = Upload("the pasted text", pasted.encode())
    tool = next((each for each in TOOLS if each == fields.get("tool")), None)
    try:
        found = import_watches(upload.data, "the file", tool)
    except (WatchError, MissingExtra) as error:
        return _show(client, wrong=str(error))
    taken = app.service.taken_names([each.name for each in found.watches])
    new = [each for each in found.watches if each.name not in taken]
    return section_page(
        IMPORT,
        "preview.html",
        client,
        file=short(upload.name, 100),
        tool=NAMES[tool or tool_of(upload.data)]
        if upload.data[:4] != b"PK\x03\x04"
        else NAMES[TOOLS[0]],
        new=[
            (short(each.name, 120), short(each.pages.urls[0], LONGEST)) for each in new[:MOST_SHOWN]
        ],
        count=len(new),
        taken=[short(each, 120) for each in sorted(taken)[:MOST_SHOWN]],
        taken_count=len(taken),
        notes=[short(str(each), LONGEST) for each in found.notes[:MOST_SHOWN]],
        notes_count=len(found.notes),
        key=pending.put(client.account, upload.data, tool) if new else "",
    )


def _add(pending: PendingFiles, app: State, client: Client, fields: Fields) -> Response:
    file = pending.take(client.account, fields.get("key"))
    if file is None:
        return _show(client, wrong="The file does not wait any more. Choose it again.")
    added, notes = add_file(app, client.account, file.data, file.tool)
    return section_page(
        IMPORT,
        "imported.html",
        client,
        count=len(added.watches),
        notes=[short(str(each), LONGEST) for each in notes[:MOST_SHOWN]],
        notes_count=len(notes),
    )


def _show(client: Client, *, wrong: str = "") -> Response:
    return section_page(IMPORT, "import.html", client, wrong=wrong, tools=NAMES.items())

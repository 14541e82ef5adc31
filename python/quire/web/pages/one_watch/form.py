"""The form of a watch as YAML: shown without secrets, edited, tried on the past, downloaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import NotStored, QuireError, WatchError
from quire.sentinels.checking.replay import Replay
from quire.sentinels.form import watch_to_dict
from quire.sentinels.form.files import write_yaml
from quire.sentinels.form.plain_data import read_plain_data
from quire.sentinels.store.watches import StoredWatch
from quire.web.api.context import App, Client, State, Url, WatchNumber, router
from quire.web.api.watches import with_secrets
from quire.web.pages.forms import read_fields
from quire.web.pages.one_watch.heading import Done, Shown, Tab, address, find_shown, watch_page
from quire.web.pages.one_watch.said import said

routes: APIRouter = router()

#: Firings of a replay that are listed.
MOST_FIRINGS = 100


@dataclass(frozen=True, slots=True)
class Wrong:
    """An error in a form.

    Attributes:
        message: the error, with the field.
        line: the line of the text, if it is known.
        field: the field.
    """

    message: str
    line: int | None
    field: str


@routes.get("/watches/{watch}/form", include_in_schema=False)
def show_form(
    app: App,
    client: Client,
    watch: WatchNumber,
    url: Url = None,
    done: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show the form of a watch as YAML."""
    shown = find_shown(app, watch, url)
    text = _text(shown.stored)
    return watch_page(
        app, client, shown, Tab.form, done=done, text=text, wrong=None, rows=_rows(text)
    )


@routes.post("/watches/{watch}/form", include_in_schema=False)
async def save_form(app: App, client: Client, watch: WatchNumber, request: Request) -> Response:
    """Save the form of a watch; secrets that read ``<secret>`` are kept."""
    posted = await read_fields(request)

    def work() -> Response:
        stored, text = app.service.find(watch), posted.get("form", "")
        try:
            app.service.edit(watch, _read(stored, text))
        except QuireError as error:
            shown = find_shown(app, watch, posted.text("url") or None)
            wrong = _wrong(text, error)
            return watch_page(
                app, client, shown, Tab.form, status=422, text=text, wrong=wrong, rows=_rows(text)
            )
        return RedirectResponse(address(watch, "form", {"done": Done.saved.value}), 303)

    return await run_in_threadpool(work)


@routes.get("/watches/{watch}/watch.yaml", include_in_schema=False)
def download_form(app: App, watch: WatchNumber) -> Response:
    """Download the form of a watch; secrets read ``<secret>``."""
    stored = app.service.find(watch)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", stored.watch.name).strip("-.")[:60] or f"watch-{watch}"
    headers = {"Content-Disposition": f'attachment; filename="{name}.yaml"'}
    data = _text(stored).encode("utf-8", "replace")
    return Response(data, media_type="application/octet-stream", headers=headers)


@routes.get("/watches/{watch}/replay", include_in_schema=False)
async def show_replay(app: App, client: Client, watch: WatchNumber, url: Url = None) -> Response:
    """Replay a watch on the stored versions of its page."""

    def work() -> Response:
        shown = find_shown(app, watch, url)
        text = _text(shown.stored)
        return _replayed(app, client, shown, text, watch)

    return await app.run_heavy(work)


@routes.post("/watches/{watch}/replay", include_in_schema=False)
async def try_form(app: App, client: Client, watch: WatchNumber, request: Request) -> Response:
    """Replay a watch with another form, or save that form."""
    posted = await read_fields(request)

    def work() -> Response:
        text = posted.get("form", "")
        shown = find_shown(app, watch, posted.text("url") or None)
        try:
            form = _read(shown.stored, text)
            if "save" in posted:
                app.service.edit(watch, form)
                return RedirectResponse(address(watch, "form", {"done": Done.saved.value}), 303)
        except QuireError as error:
            return _replayed(app, client, shown, text, watch, wrong=_wrong(text, error))
        return _replayed(app, client, shown, text, form)

    return await app.run_heavy(work)


def _replayed(
    app: State,
    client: Client,
    shown: Shown,
    text: str,
    form: dict[str, Any] | int,
    *,
    wrong: Wrong | None = None,
) -> Response:
    found, missing = None, ""
    if wrong is None:
        try:
            found = app.service.replay(form, shown.url)
        except NotStored as error:
            missing = str(error)
        except WatchError as error:
            wrong = _wrong(text, error)
    before = None
    if found is not None and not isinstance(form, int):
        before = app.service.replay(shown.stored.id, shown.url)
    return watch_page(
        app,
        client,
        shown,
        Tab.replay,
        status=422 if wrong else 200,
        text=text,
        rows=_rows(text),
        wrong=wrong,
        missing=missing,
        is_trial=not isinstance(form, int),
        result=None if found is None else _result(found),
        before=None if before is None else len(before.firings),
    )


def _result(found: Replay) -> dict[str, Any]:
    months: dict[str, list[dict[str, Any]]] = {}
    for firing in reversed(found.firings[-MOST_FIRINGS:]):
        months.setdefault(firing.time.strftime("%B %Y"), []).append(
            {"time": firing.time, "kind": firing.kind, "said": said(firing.event)}
        )
    return {
        "captures": found.captures,
        "count": len(found.firings),
        "months": months,
        "left_out": max(0, len(found.firings) - MOST_FIRINGS),
        "outcomes": found.outcomes,
    }


def _text(stored: StoredWatch) -> str:
    return write_yaml(watch_to_dict(stored.watch))


def _rows(text: str) -> int:
    return min(max(text.count("\n") + 3, 8), 40)


def _read(stored: StoredWatch, text: str) -> dict[str, Any]:
    """Read a form, with the stored secrets in place of ``<secret>``.

    Raises:
        WatchError: it is not valid.
    """
    data = read_plain_data(text, "", "yaml").data
    if not isinstance(data, dict):
        raise WatchError("the watch: expected names with values, such as 'url: …'", path="")
    return with_secrets(stored, data)


def _wrong(text: str, error: QuireError) -> Wrong:
    """Find the line of an error."""
    path, line = getattr(error, "path", ""), getattr(error, "line", None)
    if line is None and path:
        try:
            line = read_plain_data(text, "", "yaml").line(path)
        except QuireError:
            line = None
    return Wrong(str(error), line, path)

"""The pages with reports: what to report on, how far it is, and the report in a frame."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as PathPart
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.archive.browsing import Library
from quire.sentinels.accounts import Identity
from quire.web.answers import Problem
from quire.web.api.context import App, Client, State, router
from quire.web.logs import logger
from quire.web.pages.compare.crawls import Folder, Kind, kind_of, written
from quire.web.pages.compare.given import GivenError
from quire.web.pages.diff.drawings import HEADERS
from quire.web.pages.forms import Fields, Upload, read_fields
from quire.web.pages.page import page
from quire.web.pages.reports.jobs import Job
from quire.web.pages.reports.making import ReportKind

routes: APIRouter = router()

#: Reports that one service makes or has waiting at the same time.
MOST_RUNNING = 4

Key = Annotated[str, PathPart(min_length=32, max_length=32, pattern="^[A-Za-z0-9_-]+$")]

ABOUT = {
    ReportKind.TEMPLATES: ("Templates", "Which pages of a crawl were made from one template."),
    ReportKind.FRAGMENTS: ("Fragments", "Which parts pages share, and what caching them saves."),
    ReportKind.RECORDS: ("Records", "The lists of one page, as tables."),
}


@routes.get("/reports", include_in_schema=False)
async def show_reports(request: Request, client: Client) -> Response:
    """Show what reports there are, and the form for one."""
    return _form(client, _library(request))


@routes.post("/reports", include_in_schema=False)
async def start_report(request: Request, app: App, client: Client) -> Response:
    """Begin to make a report, and lead to it."""
    posted = await read_fields(request)
    library = _library(request)
    running: set[asyncio.Task[None]] = request.app.state.reports
    busy = f"{MOST_RUNNING} reports are being made; try again when one is done"
    if len(running) >= MOST_RUNNING:
        return _form(client, library, posted, busy, 503)
    try:
        job = await app.run_heavy(_job, posted, library)
    except GivenError as error:
        return _form(client, library, posted, str(error), 422)
    if len(running) >= MOST_RUNNING:  # others began while the file was written
        if job.folder is not None:
            job.folder.delete()
        return _form(client, library, posted, busy, 503)
    key = app.held.put(job, 0, job.forget)
    task = asyncio.create_task(_run(app, job, key))
    running.add(task)
    task.add_done_callback(running.discard)
    return RedirectResponse(f"/reports/{key}", 303)


@routes.get("/reports/{key}", include_in_schema=False)
async def show_report(app: App, client: Client, key: Key) -> Response:
    """Show a report, or how far it is."""
    job = _held(app, key)
    return page(
        "reports/report.html",
        person=client.name,
        here="Reports",
        key=key,
        job=job,
        heading=ABOUT[job.kind][0],
    )


@routes.get("/reports/{key}/frame", include_in_schema=False)
async def show_frame(app: App, key: Key) -> Response:
    """Return a report for a frame."""
    job = _held(app, key)
    if not job.document:
        raise Problem(404, "this report is not made")
    return Response(job.document, media_type="text/html; charset=utf-8", headers=HEADERS)


@routes.get("/reports/{key}/report.html", include_in_schema=False)
async def save_report(app: App, key: Key) -> Response:
    """Return a report as a file."""
    job = _held(app, key)
    if not job.document:
        raise Problem(404, "this report is not made")
    name = f'attachment; filename="{job.kind.value}.html"'
    headers = {**HEADERS, "Content-Disposition": name}
    return Response(job.document, media_type="text/html; charset=utf-8", headers=headers)


async def _run(app: State, job: Job, key: str) -> None:
    try:
        await app.run_heavy(job.run)
    except Exception:  # noqa: BLE001 - the job has an error for people; the log gets the rest
        logger().exception("a report failed", kind=job.kind.value)
    app.held.resize(key, len(job.document))


def _job(posted: Fields, library: Library | None) -> Job:
    """Read a form, and write the uploaded file to a folder of its own.

    Raises:
        GivenError: it asks for nothing, or the file cannot be read.
    """
    kinds = {kind.value: kind for kind in ReportKind}
    kind = kinds.get(posted.text("kind"))
    if kind is None:
        raise GivenError("choose what to report: templates, fragments or records", "kind")
    file = posted.files.get("file")
    if file is not None and file.data:
        return _upload(kind, file)
    folders = {} if library is None else dict(zip(library.names, library.folders, strict=True))
    name = posted.text("archive")
    if name not in folders:
        raise GivenError("choose a file, or an archive of this service", "file")
    if kind is ReportKind.RECORDS:
        raise GivenError("records need a single page; choose a file with one", "file")
    return Job(kind, name, str(folders[name]))


def _upload(kind: ReportKind, file: Upload) -> Job:
    is_page = kind_of(file) is Kind.PAGE
    if is_page != (kind is ReportKind.RECORDS):
        expected = "one page" if kind is ReportKind.RECORDS else "a WARC, WACZ or zip file"
        raise GivenError(f"{file.name[:200]}: expected {expected} for this report", "file")
    folder = Folder()
    try:
        if is_page:
            path = folder.path / "page.html"
            path.write_bytes(file.data)
            source = str(path)
        else:
            source = written(file, folder.path, "file")
    except OSError as error:
        folder.delete()
        raise GivenError(f"the file cannot be stored: {error.strerror}", "file") from None
    except BaseException:
        folder.delete()
        raise
    return Job(kind, Path(file.name).name[:200] or "the file", source, folder)


def _held(app: State, key: str) -> Job:
    found = app.held.get(key)
    if not isinstance(found, Job):
        raise Problem(404, "this report is gone; reports are kept for an hour")
    return found


def _library(request: Request) -> Library | None:
    browsing = getattr(request.app.state, "browsing", None)
    return None if browsing is None else browsing.library


def _form(
    client: Identity,
    library: Library | None,
    posted: Fields | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    chosen = posted.text("kind") if posted is not None else ReportKind.TEMPLATES.value
    return page(
        "reports/form.html",
        status,
        person=client.name,
        here="Reports",
        kinds=[(kind.value, *ABOUT[kind]) for kind in ReportKind],
        chosen=chosen,
        archives=library.names if library is not None else [],
        wrong=wrong,
    )

"""Errors as problems: each kind of error has one status, and names the field at fault.

Sentences about the database and the machine go to the log only.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import (
    AccountError,
    NameTaken,
    NotStored,
    PageNotNamed,
    QuireError,
    StoreError,
    WatchError,
)
from quire.web.answers import Problem, problem
from quire.web.logs import logger, without_secrets
from quire.web.pages.page import error_page

_MOST_ERRORS = 20

#: The status of each kind of error, and the field that it is about, if it does not say so itself.
_STATUSES: dict[type[QuireError], tuple[int, str]] = {
    WatchError: (422, ""),
    AccountError: (422, ""),
    NotStored: (404, ""),
    NameTaken: (409, "name"),
    PageNotNamed: (422, "url"),
}


def add_handlers(app: FastAPI) -> None:
    """Let an application answer with problems."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(QuireError, _quire)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - the type it was registered for
    access = request.scope.get("quire_access")
    headers = error.headers or {}
    field = error.field if isinstance(error, Problem) else ""
    if access is not None and access.page:
        if error.status_code == 401:  # noqa: PLR2004 - not logged in
            return RedirectResponse(f"/login?to={quote(request.url.path)}", 303)
        if field == "password" and not access.before_password:
            return RedirectResponse("/password", 303)
        return error_page(error.status_code, str(error.detail), headers)
    return problem(error.status_code, str(error.detail), headers=headers, field=field)


def _answer(
    request: Request,
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **members: object,
) -> Response:
    """Answer with a problem: as a page on the pages for people."""
    access = request.scope.get("quire_access")
    if access is not None and access.page:
        return error_page(status, detail, headers)
    return problem(status, detail, headers=headers, **members)


def _validation(request: Request, error: Exception) -> Response:
    """List the errors in parameters and bodies, without repeating their values."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    found = [
        {
            # FastAPI gives the offset of an error in JSON as if it were a field.
            "field": "body" if each["type"] == "json_invalid" else _field(each["loc"]),
            "message": str(each["msg"]),
        }
        for each in error.errors()[:_MOST_ERRORS]
    ]
    first = found[0] if found else {"field": "", "message": "the request is not valid"}
    detail = ": ".join(part for part in (first["field"], first["message"]) if part)
    return _answer(request, 422, detail, field=first["field"], errors=found)


def _quire(request: Request, error: Exception) -> Response:
    message = str(error)
    if type(error) is StoreError:
        route = request.scope.get("quire_route", "none")
        logger().error("the database failed", reason=without_secrets(message), route=route)
        return _answer(request, 503, "the database cannot be used now", {"Retry-After": "10"})
    for kind, (status, field) in _STATUSES.items():
        if isinstance(error, kind):
            named = getattr(error, "path", "") or getattr(error, "field", "") or field
            line = getattr(error, "line", None)
            return _answer(request, status, message, field=named, line=line)
    return _answer(request, 422, message)


def _field(place: tuple[int | str, ...]) -> str:
    """Return the name of a field, such as ``scopes[0]``."""
    text = ""
    for each in place[1:]:
        text += f"[{each}]" if isinstance(each, int) else f".{each}"
    return text.removeprefix(".") or str(place[0] if place else "")

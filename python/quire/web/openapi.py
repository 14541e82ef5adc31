"""The OpenAPI document: that of FastAPI, with the schema of forms and the ways to log in."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from quire.sentinels.form import watch_schema
from quire.version import version
from quire.web.api.models import FORM_MARK, ProblemShown
from quire.web.protection.access import ACCESS

_TEXT = """Watch pages, and hear only about the changes that matter.

Send a token in the header `Authorization: Bearer quire_…`. Errors are problems (RFC 9457) that name
the field at fault."""


def add_openapi(app: FastAPI) -> None:
    """Let an application describe itself."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign] # as FastAPI's documentation says


def _document(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title="quire", version=version(), description=_TEXT, routes=app.routes)
    components = found.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    problem = ProblemShown.model_json_schema()
    schemas["Problem"] = problem
    forms: dict[str, Any] = watch_schema()
    for name, schema in forms["$defs"].items():
        schemas[_component(name)] = _moved(schema)
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "quire"},
        "feed": {"type": "apiKey", "in": "query", "name": "token"},
    }
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            operation["responses"].pop("422", None)
            access = ACCESS[method.upper(), path]
            ways = ["session"] if access.session else ["token", "session"]
            ways += ["feed"] if access.feed else []
            operation["security"] = [{way: []} for way in ways]
            if access.level is not None:
                operation["x-quire-level"] = access.level.name.lower()
    return found


def _with_forms(part: Any) -> Any:  # noqa: ANN401 - any part of the document
    """Put the schema of a watch where its mark is."""
    if isinstance(part, dict):
        if FORM_MARK in part:
            return {"$ref": f"#/components/schemas/{_component('watch')}"}
        return {key: _with_forms(value) for key, value in part.items()}
    return [_with_forms(each) for each in part] if isinstance(part, list) else part


def _component(name: str) -> str:
    return "Watch" if name == "watch" else f"Watch_{name}"


def _moved(schema: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a schema whose references point at the components of the document."""
    if isinstance(schema, dict):
        return {
            key: f"#/components/schemas/{_component(value.removeprefix('#/$defs/'))}"
            if key == "$ref" and isinstance(value, str)
            else _moved(value)
            for key, value in schema.items()
        }
    return [_moved(each) for each in schema] if isinstance(schema, list) else schema

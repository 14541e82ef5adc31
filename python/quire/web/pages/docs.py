"""The documents of the API as a page without scripts, made from the OpenAPI document."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from quire.web.answers import Answer
from quire.web.api.context import PREFIX, Client, router
from quire.web.pages.page import page

routes: APIRouter = router()

_TITLES = {
    "watches": "Watches",
    "events": "Events",
    "replay": "Replay",
    "notices": "Notices",
    "feed": "Feeds",
    "schema": "Files",
    "import": "Files",
    "export": "Files",
    "export-with-secrets": "Files",
    "backup": "Files",
    "accounts": "Accounts and tokens",
    "tokens": "Accounts and tokens",
    "me": "Your account",
    "status": "The service",
    "settings": "The service",
}


@routes.get("/api/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """Return the OpenAPI document."""
    return Answer(request.app.openapi())


@routes.get("/api/docs", include_in_schema=False)
async def docs(request: Request, client: Client) -> Response:
    """Show the documents of the API."""
    document = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, operations in document["paths"].items():
        title = _TITLES.get(path.removeprefix(f"{PREFIX}/").partition("/")[0], "Other")
        found = groups.setdefault(title, [])
        found += [_operation(method, path, each) for method, each in operations.items()]
    schemas = document["components"]["schemas"]
    return page(
        "docs.html",
        person=client.name,
        about=document["info"]["description"].replace("`", "").split("\n\n"),
        groups=[
            {"id": title.lower().replace(" ", "-"), "title": title, "operations": found}
            for title, found in groups.items()
        ],
        schemas=[
            {"name": name, "text": json.dumps(schema, indent=1, ensure_ascii=False)}
            for name, schema in sorted(schemas.items())
        ],
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, dict[str, Any]] = operation["responses"]
    good = next((each for code, each in responses.items() if code[0] == "2"), {})
    return {
        "method": method.upper(),
        "path": path,
        "text": operation.get("description", operation.get("summary", "")).replace("`", ""),
        "needs": operation.get("x-quire-level", "nothing"),
        "parameters": [
            {
                "name": each["name"],
                "place": each["in"],
                "type": _type(each["schema"]),
                "text": each.get("description", "").replace("`", ""),
            }
            for each in operation.get("parameters", [])
        ],
        "body": _content(operation.get("requestBody", {})),
        "answer": _content(good),
    }


def _content(part: dict[str, Any]) -> str:
    return ", ".join(
        f"{kind} {_type(content.get('schema', {}))}".strip()
        for kind, content in part.get("content", {}).items()
    )


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}".strip()
    return str(schema.get("type", ""))

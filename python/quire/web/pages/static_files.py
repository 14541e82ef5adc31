"""Our own style sheets and scripts, at addresses that change with their content.

A file is found by its name in a table that was read once, so an address never becomes a path. A
browser may keep a file for ever if the address has the hash of its content.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from quire.web.answers import Problem
from quire.web.api.context import router

routes: APIRouter = router()

STATIC = Path(__file__).parent / "static"
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_A_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of ours.

    Attributes:
        data: its content.
        type: its media type.
        hash: tells two versions apart.
    """

    data: bytes
    type: str
    hash: str


@cache
def static_files() -> dict[str, StaticFile]:
    """Return our files by name."""
    return {
        path.name: StaticFile(
            data := path.read_bytes(), TYPES[path.suffix], hashlib.sha256(data).hexdigest()[:16]
        )
        for path in sorted(STATIC.iterdir())
        if path.suffix in TYPES
    }


def static(name: str) -> str:
    """Return the address of a file of ours.

    >>> static("quire.css").startswith("/static/quire.css?v=")
    True
    """
    return f"/static/{name}?v={static_files()[name].hash}"


@routes.get("/static/{name}", include_in_schema=False)
async def static_file(name: str, v: str = "") -> Response:
    """Return a style sheet or a script of ours."""
    found = static_files().get(name)
    if found is None:
        raise Problem(404, "there is no such file")
    # A page of another version may ask with its hash: answer, but let nothing keep the answer.
    keep = {"Cache-Control": _A_YEAR} if v == found.hash else None
    return Response(found.data, media_type=found.type, headers=keep)

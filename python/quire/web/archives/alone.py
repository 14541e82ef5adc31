"""The archive browser alone, for this machine: no accounts, no database, nothing is written."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive

from quire.archive.browsing import Library
from quire.web.api.context import router
from quire.web.archives import routes as archive_routes
from quire.web.archives.context import Browsing
from quire.web.pages import static_files
from quire.web.problems import add_handlers
from quire.web.protection.access import Access, Route
from quire.web.protection.envelope import Envelope
from quire.web.settings import Settings

routes: APIRouter = router()


@routes.get("/", include_in_schema=False)
async def home() -> Response:
    """Lead to the archives."""
    return RedirectResponse("/archives", 303)


class OpenGuard:
    """Admits everyone who reaches this machine; the envelope refuses other hosts.

    Args:
        access: the routes.
    """

    def __init__(self, access: dict[Route, Access]) -> None:
        self.access: dict[Route, Access] = access

    async def admit(self, request: Request, access: Access) -> None:
        """Admit a request."""

    def limited(self, access: Access, request: Request, receive: Receive) -> Receive:
        """Return ``receive``: no route reads a body."""
        del access, request
        return receive


def create_archive_app(library: Library) -> FastAPI:
    """Build the application of ``quire archive serve``.

    Args:
        library: the archives.
    """
    app = FastAPI(title="quire", docs_url=None, redoc_url=None, openapi_url=None)
    app.router.redirect_slashes = False
    for part in (routes, archive_routes.routes, static_files.routes):
        app.router.routes.extend(part.routes)
    page = Access(None, page=True)
    app.state.guard = OpenGuard({("GET", route.path): page for route in app.routes})  # type: ignore[attr-defined] # all are GuardedRoute
    app.state.browsing = Browsing(library, has_accounts=False)
    add_handlers(app)
    app.add_middleware(Envelope, settings=Settings(), observe=_forget)
    return app


def _forget(method: str, route: str, status: int, seconds: float) -> None:
    """Count nothing: no record of the pages looked at is left."""

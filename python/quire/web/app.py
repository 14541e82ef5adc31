"""The application: routes, guard, envelope and errors put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import FastAPI
from starlette.routing import BaseRoute

from quire.archive.browsing import Library
from quire.sentinels.accounts import Accounts, Hasher, Sessions, Tokens
from quire.sentinels.service import Service
from quire.web.api import accounts, care, files, findings, status, watches
from quire.web.api import notices as notice_routes
from quire.web.api.context import State
from quire.web.archives import routes as archives
from quire.web.archives.context import Browsing
from quire.web.fetching import FetchPage
from quire.web.metrics import Metrics
from quire.web.notices import Notices, OpenGate
from quire.web.openapi import add_openapi
from quire.web.pages import docs, login, resources, static_files
from quire.web.pages.adding import editing, picker, rules, start
from quire.web.pages.compare import compare
from quire.web.pages.live import stream
from quire.web.pages.live.hub import Hub
from quire.web.pages.one_watch import events
from quire.web.pages.one_watch import routes as watch_pages
from quire.web.pages.reports import routes as reports
from quire.web.pages.settings import accounts as account_pages
from quire.web.pages.settings import glance, importing, targets
from quire.web.pages.settings import tokens as token_pages
from quire.web.pages.settings.pending import PendingFiles
from quire.web.pages.watches import changes, listing
from quire.web.problems import add_handlers
from quire.web.protection.access import ACCESS, Access, Route, unclassified
from quire.web.protection.envelope import Envelope
from quire.web.protection.guard import Guard, GuardedRoute
from quire.web.settings import OperatorOption, Settings

_PARTS = (
    watches,
    findings,
    care,
    notice_routes,
    files,
    accounts,
    status,
    # Before other pages below /watches/: "new" is not the number of a watch.
    start,
    picker,
    rules,
    editing,
    resources,
    watch_pages,
    compare,
    reports,
    listing,
    changes,
    stream,
    glance,
    account_pages,
    token_pages,
    targets,
    importing,
    login,
    docs,
    static_files,
    archives,
    events,  # last: other addresses below /events come first
)


class UnguardedRoute(RuntimeError):
    """The application has a route that the guard does not know."""


def create_app(
    service: Service,
    settings: Settings | None = None,
    *,
    hasher: Hasher | None = None,
    notices: Notices | None = None,
    open_gate: OpenGate | None = None,
    fetch_page: FetchPage | None = None,
    open_pages: OpenGate | None = None,
    access: Mapping[Route, Access] = ACCESS,
    demo: str = "",
    options: Sequence[OperatorOption] = (),
    library: Library | None = None,
) -> FastAPI:
    """Build the application.

    Args:
        service: the watches.
        settings: how the application answers.
        hasher: hashes passwords.
        notices: dead letters, tests and feeds (default: the service).
        open_gate: opens the gate that test messages go through; without, none are sent.
        fetch_page: fetches pages to compare, through the gate; without, only files are compared.
        open_pages: opens the gate that pages are fetched through when a person asks for one;
            without, none are fetched.
        access: what each route needs.
        demo: the address of the site of the demo, if this is the demo.
        options: what the operator chose when the service was started, for people to see.
        library: archives to browse.

    Raises:
        UnguardedRoute: a route has no row in the table of access.
    """
    settings = settings or Settings()
    app = FastAPI(title="quire", docs_url=None, redoc_url=None, openapi_url=None)
    app.router.redirect_slashes = False
    for part in _PARTS:
        app.router.routes.extend(part.routes.routes)
    sessions, tokens = Sessions(service.database, settings.sessions), Tokens(service.database)
    app.state.guard = Guard(settings, sessions, tokens, access)
    app.state.metrics = Metrics(service.counts)
    app.state.quire = State(
        service=service,
        accounts=Accounts(service.database, hasher),
        notices=notices or service,
        open_gate=open_gate,
        open_pages=open_pages,
        guard=app.state.guard,
        sessions=sessions,
        tokens=tokens,
        settings=settings,
        fetch_page=fetch_page,
        demo=demo,
        options=options,
    )
    app.state.live = Hub(service)
    app.state.reports = set()  # those that are being made
    app.state.pending = PendingFiles()
    if library is not None:
        app.state.browsing = Browsing(library)
    add_handlers(app)
    add_openapi(app)
    app.add_middleware(Envelope, settings=settings, observe=app.state.metrics.observe)
    check_routes(app.routes, access)
    return app


def check_routes(routes: list[BaseRoute], access: Mapping[Route, Access]) -> None:
    """Check that every route asks the guard, and that the guard has a row for it.

    Raises:
        UnguardedRoute: it does not.
    """
    found: list[Route] = []
    for route in routes:
        if not isinstance(route, GuardedRoute):
            raise UnguardedRoute(f"{route!r} does not ask the guard")
        found += [(method, route.path) for method in route.methods or ()]
    wrong = unclassified(found, dict(access))
    if wrong:
        raise UnguardedRoute("; ".join(wrong))

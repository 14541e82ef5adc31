"""Values that routes share: the service, the client, and the types of parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Path, Query
from pydantic import AfterValidator
from starlette.requests import Request

from quire.sentinels.accounts import Accounts, Identity, Sessions, Tokens
from quire.sentinels.accounts.passwords import AT_ONCE
from quire.sentinels.resources import Resources
from quire.sentinels.service import Service
from quire.web.answers import Answer
from quire.web.fetching import FetchPage
from quire.web.held import Held
from quire.web.notices import Notices, OpenGate
from quire.web.protection.guard import Guard, GuardedRoute
from quire.web.protection.throttle import Throttle
from quire.web.settings import OperatorOption, Settings

Parameters = ParamSpec("Parameters")
T = TypeVar("T")

PREFIX = "/api/v1"
#: Databases number rows with 63 bits.
LARGEST = 2**63 - 1
#: Rows of one answer.
MOST = 500
#: Pages that are fetched for people at the same time; others wait.
VISITS = 4
#: Characters of a parameter.
LONGEST = 10_000


class State:
    """Everything that routes of an application use.

    Attributes:
        service: the watches.
        accounts: people.
        sessions: people who logged in.
        tokens: tokens of programs.
        notices: dead letters, tests and feeds.
        open_gate: opens the gate that test messages go through.
        open_pages: opens the gate that pages are fetched through, if a person asks for one.
        prepared: when resources of a page were fetched, by the signature of its source.
        visits: places for those who wait for a page to be fetched.
        resources: style sheets, images and fonts of pages.
        guard: decides who gets in.
        throttle: slows down guessing of passwords.
        settings: the settings.
        held: results that are held for a while.
        fetch_page: fetches a page that a person asked for; None if this service fetches none.
        demo: the address of the site of the demo; empty if this is not the demo.
        options: what the operator chose when the service was started.
    """

    def __init__(
        self,
        *,
        service: Service,
        accounts: Accounts,
        notices: Notices,
        open_gate: OpenGate | None,
        open_pages: OpenGate | None,
        guard: Guard,
        sessions: Sessions,
        tokens: Tokens,
        settings: Settings,
        fetch_page: FetchPage | None = None,
        demo: str = "",
        options: Sequence[OperatorOption] = (),
    ) -> None:
        self.service: Service = service
        self.accounts: Accounts = accounts
        self.sessions: Sessions = sessions
        self.tokens: Tokens = tokens
        self.notices: Notices = notices
        self.open_gate: OpenGate | None = open_gate
        self.open_pages: OpenGate | None = open_pages
        self.resources: Resources = Resources(service.database)
        self.guard: Guard = guard
        self.throttle: Throttle = Throttle()
        self.settings: Settings = settings
        self.held: Held = Held()
        self.fetch_page: FetchPage | None = fetch_page
        self.visits: CapacityLimiter = CapacityLimiter(VISITS)
        self.prepared: dict[int, float] = {}
        self.demo: str = demo
        self.options: Sequence[OperatorOption] = options
        self._heavy = CapacityLimiter(settings.heavy_at_once)
        # Others wait without a thread: a flood of log-ins must not take the threads of everyone.
        self._passwords = CapacityLimiter(AT_ONCE)

    async def run_heavy(
        self, work: Callable[Parameters, T], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> T:
        """Run something that takes long in a thread; only a few at once."""
        return await to_thread.run_sync(lambda: work(*args, **kwargs), limiter=self._heavy)

    async def run_password(
        self, work: Callable[Parameters, T], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> T:
        """Run something that checks a password in a thread."""
        return await to_thread.run_sync(lambda: work(*args, **kwargs), limiter=self._passwords)


def router() -> APIRouter:
    """Return a new list of routes, each of which asks the guard first."""
    return APIRouter(route_class=GuardedRoute, default_response_class=Answer)


async def get_state(request: Request) -> State:
    """Return the state of the application."""
    state: State = request.app.state.quire
    return state


async def get_identity(request: Request) -> Identity:
    """Return who sends the request."""
    identity: Identity = request.scope["quire_identity"]
    return identity


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("expected a text without NUL characters")
    return text


App = Annotated[State, Depends(get_state)]
Client = Annotated[Identity, Depends(get_identity)]
WatchNumber = Annotated[int, Path(ge=1, le=LARGEST, description="Number of a watch.")]
Url = Annotated[
    str | None,
    Query(max_length=LONGEST, description="Which page, if the watch has several."),
    AfterValidator(lambda url: None if url is None else _without_nul(url)),
]
PlainText = Annotated[str, Query(max_length=LONGEST), AfterValidator(_without_nul)]
Most = Annotated[int, Query(ge=1, le=MOST, description="The most rows to return.")]
VersionNumber = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="A version.")]

#: In the documents: every route can answer with a problem.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem (RFC 9457).",
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
}

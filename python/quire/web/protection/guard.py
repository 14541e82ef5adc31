"""The guard: every route asks it before anything else happens, even before the body is read."""

from __future__ import annotations

import asyncio
import base64
import binascii
import ipaddress
from collections.abc import Mapping
from http.cookies import CookieError
from typing import Any

from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Match
from starlette.types import Message, Receive, Scope, Send

from quire.sentinels.accounts import Identity, Level, Sessions, Tokens
from quire.web.answers import Problem
from quire.web.protection.access import SAFE, Access, Route
from quire.web.settings import LOOPBACK, Settings, split_host

#: Headers that proxies add: a request with one did not start on this machine.
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_BEARER = {"WWW-Authenticate": 'Bearer realm="quire"'}
_BASIC = {"WWW-Authenticate": 'Basic realm="quire", charset="UTF-8"'}


class Guard:
    """Decides who gets in.

    Args:
        settings: the settings of the application.
        sessions: people who logged in.
        tokens: tokens of programs.
        access: what each route needs.
    """

    def __init__(
        self,
        settings: Settings,
        sessions: Sessions,
        tokens: Tokens,
        access: Mapping[Route, Access],
    ) -> None:
        self.settings: Settings = settings
        self.access: Mapping[Route, Access] = access
        self._sessions = sessions
        self._tokens = tokens

    @property
    def cookie(self) -> str:
        """The name of the cookie; over https one that no other host can set."""
        return "__Host-quire" if self.settings.is_https else "quire"

    async def admit(self, request: Request, access: Access) -> Identity | None:
        """Return who sends a request; None for open routes.

        Raises:
            Problem: the client is not known, or may not do this.
        """
        if access.metrics and self.settings.open_metrics and is_local(request):
            return None
        if access.level is None:
            if request.method not in SAFE:
                self.check_origin(request)  # someone else's page must not log people in
            return None
        identity = await self._identify(request, access)
        if identity is None:
            self._admit_unknown(request, access)
            return None
        if identity.session is not None and request.method not in SAFE:
            self.check_origin(request)
        if access.session and identity.session is None:
            raise Problem(403, "this needs a log-in with a password; tokens are not accepted")
        if identity.level < access.level:
            raise Problem(403, f"this needs the right to {_NEEDED[access.level]}")
        if identity.must_change_password and not access.before_password:
            raise Problem(
                403,
                "the password works only once: choose another one at /password first",
                field="password",
            )
        return identity

    def _admit_unknown(self, request: Request, access: Access) -> None:
        """Admit a client without an account, if the route allows it.

        Raises:
            Problem: it does not.
        """
        if not (access.home and self.is_home(request)):
            raise Problem(
                401,
                "log in, or send a token: Authorization: Bearer quire_…",
                headers=_BASIC if access.feed else _BEARER,
            )
        if request.method not in SAFE:
            self.check_origin(
                request
            )  # someone else's page must not use the browser of this person

    def is_home(self, request: Request) -> bool:
        """Tell whether a request comes from this machine to a service for this machine only.

        Behind a proxy on this machine, everyone seems to be here. Such a service has a base address,
        or gets the headers of the proxy, or another Host.
        """
        host = split_host(request.headers.get("host", ""))
        return (
            not self.settings.base_url
            and host is not None
            and host[0] in LOOPBACK
            and "authorization" not in request.headers
            and is_local(request)
        )

    def check_origin(self, request: Request) -> None:
        """Refuse a request that a page of another origin made a browser send.

        Raises:
            Problem: the request does not come from our own pages.
        """
        sites = request.headers.getlist("sec-fetch-site")
        origins = request.headers.getlist("origin")
        ours = {f"{request.url.scheme}://{request.headers.get('host', '')}".lower()}
        if self.settings.origin:
            ours.add(self.settings.origin)
        ours |= {_without_port(each) for each in ours}
        is_ours = (
            len(sites) + len(origins) > 0
            and all(site == "same-origin" for site in sites)
            and all(origin.lower() in ours for origin in origins)
            and len(origins) <= 1
        )
        if not is_ours:
            raise Problem(
                403,
                "the request does not come from a page of this service; "
                "programs send a token instead of a cookie",
            )

    def limited(self, access: Access, request: Request, receive: Receive) -> Receive:
        """Return a function that receives a body, as far as it is not too long or too slow.

        Raises:
            Problem: the body says that it is too long.
        """
        if access.body == "none":
            return receive
        is_import = access.body == "import"
        most = self.settings.max_import_bytes if is_import else self.settings.max_body_bytes
        said = request.headers.get("content-length", "")
        too_long = Problem(413, f"the body is longer than {most:,} bytes")
        if said.isdecimal() and int(said[:20]) > most:
            raise too_long
        seen = 0
        is_whole = False
        ends = asyncio.get_running_loop().time() + self.settings.body_s

        async def receive_some() -> Message:
            nonlocal seen, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError:
                raise Problem(408, "the body took too long to arrive") from None
            seen += len(message.get("body", b""))
            if seen > most:
                raise too_long
            is_whole = not message.get("more_body", False)
            return message

        return receive_some

    async def _identify(self, request: Request, access: Access) -> Identity | None:
        headers = request.headers.getlist("authorization")
        if len(headers) > 1:
            return None
        if headers:
            # A client that sends a token means it: its cookie is not tried instead.
            scheme, _, rest = headers[0].partition(" ")
            if scheme.lower() == "bearer":
                return await run_in_threadpool(self._tokens.identify, rest.strip())
            if scheme.lower() == "basic" and access.feed:
                return await run_in_threadpool(self._tokens.identify, _basic_password(rest))
            return None
        given = request.query_params.getlist("token")
        if access.feed and given:
            return await self._from_address(given)
        key = self._key(request)
        return await run_in_threadpool(self._sessions.identify, key) if key else None

    async def _from_address(self, given: list[str]) -> Identity | None:
        """Addresses end up in logs and bookmarks, so only tokens for feeds may be in one."""
        identity = await run_in_threadpool(self._tokens.identify, given[0])
        if len(given) > 1 or identity is None:
            return None
        if identity.level > Level.FEED:
            raise Problem(
                403, "only a token with the scope feed may be in an address", field="token"
            )
        return identity

    def _key(self, request: Request) -> str:
        try:
            return request.cookies.get(self.cookie, "")
        except CookieError:
            return ""


class GuardedRoute(APIRoute):
    """A route that asks the guard first. Routes for GET answer HEAD too."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether a request is for this route."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        return super().matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if the guard admits it."""
        guard: Guard = scope["app"].state.guard
        request = Request(scope, receive)
        mine = {method: guard.access[method, self.path] for method in sorted(self.methods or ())}
        is_head = scope["method"] == "HEAD" and "GET" in mine
        method = "GET" if is_head else scope["method"]
        access = mine.get(method) or next(iter(mine.values()))
        scope["quire_route"] = self.path
        scope["quire_access"] = access
        scope["quire_identity"] = await guard.admit(request, access)
        if method not in mine:
            allowed = sorted(
                each
                for known, path in guard.access
                if path == self.path
                for each in ((known, "HEAD") if known == "GET" else (known,))
            )
            raise Problem(
                405,
                f"expected the method {' or '.join(allowed)}",
                headers={"Allow": ", ".join(allowed)},
            )
        receive = guard.limited(access, request, receive)
        if is_head:
            await self.app(scope, receive, send)
        else:
            await super().handle(scope, receive, send)


_NEEDED = {
    Level.FEED: "read feeds",
    Level.READ: "read",
    Level.WRITE: "write",
    Level.ADMIN: "administer the service",
}


def is_local(request: Request) -> bool:
    """Tell whether a request started on this machine, and not at a proxy that runs on it."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        address = ipaddress.ip_address(request.client.host.partition("%")[0])
    except ValueError:
        return False
    mapped: Any = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _without_port(origin: str) -> str:
    """Return an origin without the port that its scheme has anyway, as browsers write it."""
    scheme, _, host = origin.partition("://")
    found = split_host(host)
    if found is None or found[1] != {"http": 80, "https": 443}.get(scheme):
        return origin
    return f"{scheme}://{found[0]}"


def _basic_password(encoded: str) -> str:
    """Return the password of Basic authentication; empty if it is damaged."""
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    return text.partition(":")[2]

"""The envelope around every request.

The Host header is checked before anything else. Every answer, whatever made it, gets the headers
that protect it, and a line in the log. Answers to HEAD lose their body. An error that was not expected
becomes an answer without details.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire.web.answers import problem
from quire.web.logs import logger
from quire.web.settings import Settings

#: Nothing may be loaded, run, framed or submitted. Pages of our own allow a little more.
POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then send "Origin: null" with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
#: A route may set these itself: a frame that our pages hold, a file that browsers may keep.
OWN = frozenset(
    {
        "Cache-Control",
        "Content-Security-Policy",
        # Browsers refuse a sandboxed page that has another opener policy.
        "Cross-Origin-Opener-Policy",
        "Cross-Origin-Resource-Policy",
        "X-Frame-Options",
    }
)
HTTPS_HEADERS = {"Strict-Transport-Security": "max-age=31536000"}

#: Called with the method, the route, the status and the seconds of every request.
Observer = Callable[[str, str, int, float], None]


class Envelope:
    """Wraps the application.

    Args:
        app: the application.
        settings: its settings.
        observe: counts requests.
    """

    def __init__(self, app: ASGIApp, settings: Settings, observe: Observer) -> None:
        self._app = app
        self._settings = settings
        self._observe = observe
        self._headers = HEADERS | (HTTPS_HEADERS if settings.is_https else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        status = 0
        started = perf_counter()

        async def send_protected(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._protect(MutableHeaders(scope=message))
            elif scope["method"] == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        try:
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) != 1 or not self._settings.allows_host(hosts[0]):
                refused = problem(421, "this service does not answer for the host of the request")
                await refused(scope, receive, send_protected)
            else:
                await self._app(scope, receive, send_protected)
        except Exception:  # noqa: BLE001 - nothing may get past this: the client gets an answer
            logger().exception("request failed", **_about(scope))
            if not status:
                failed = problem(500, "the service failed; its log says more")
                await failed(scope, receive, send_protected)
        finally:
            seconds = perf_counter() - started
            about = _about(scope)
            self._observe(about["method"], about["route"], status, seconds)
            logger().info("request", **about, status=status, seconds=round(seconds, 4))

    def _protect(self, headers: MutableHeaders) -> None:
        """Add the headers that protect an answer."""
        for name, value in self._headers.items():
            if name not in OWN or name not in headers:
                headers[name] = value


def _about(scope: Scope) -> dict[str, str]:
    """Return facts about a request for the log: never its query, headers or body."""
    identity = scope.get("quire_identity")
    client = scope.get("client")
    return {
        "method": scope["method"],
        "route": scope.get("quire_route", "none"),
        "path": scope["path"][:200],
        "client": client[0] if client else "",
        "account": identity.name if identity is not None else "",
    }

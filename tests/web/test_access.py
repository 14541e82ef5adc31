"""Every route, as every kind of client, from every place: closed unless opened.

The routes are those of the application itself, so a new route is tested as soon as it exists, and
refused until someone says who may use it.
"""

from __future__ import annotations

import re

import pytest
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute

from quire.sentinels.accounts import Level
from quire.web.api.context import router
from quire.web.app import UnguardedRoute, check_routes
from quire.web.protection.access import ACCESS, SAFE, Access, Body
from tests.web.client import Client, Reply
from tests.web.conftest import PASSWORD, Site

ROUTES = sorted(ACCESS)
CLOSED = [route for route in ROUTES if ACCESS[route].level is not None]
UNSAFE = [route for route in ROUTES if route[0] not in SAFE]
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND")
EACH = pytest.mark.parametrize(("method", "path"), ROUTES, ids=map(" ".join, ROUTES))
EACH_CLOSED = pytest.mark.parametrize(("method", "path"), CLOSED, ids=map(" ".join, CLOSED))

#: Bodies that are not valid, so that nothing is changed by those who may.
BODIES: dict[Body, bytes | None] = {"none": None, "usual": b"[]", "import": b"\x00"}


def call(client: Client, method: str, path: str, **options: object) -> Reply:
    """Call a route with numbers that do not exist, and a body that is not valid."""
    address = re.sub(r"\{\w+(?::path)?\}", "987654", path)
    body = BODIES[ACCESS[method, path].body] if (method, path) in ACCESS else None
    return client.call(method, address, body=body, **options)  # type: ignore[arg-type]


def is_refused(reply: Reply, access: Access) -> bool:
    """Tell whether someone unknown was turned away: pages send people to the log-in."""
    if access.page:
        return reply.status == 303 and reply.headers["location"].startswith("/login")
    return reply.status == 401


@EACH_CLOSED
def test_a_route_is_closed_to_strangers(shared_site: Site, method: str, path: str) -> None:
    access = ACCESS[method, path]
    stranger = shared_site.anonymous()
    assert is_refused(call(stranger, method, path), access)
    for header, value in (
        ("authorization", "Bearer quire_" + "x" * 43),
        ("authorization", f"Bearer {shared_site.tokens['admin']}x"),
        ("authorization", f"Bearer {shared_site.tokens['admin'][:-1]}"),
        ("authorization", "Bearer "),
        ("authorization", "Basic YWRtaW46YWRtaW4="),
        ("authorization", f"Digest {shared_site.tokens['admin']}"),
        ("cookie", "quire=" + "x" * 43),
        ("cookie", f"quire={shared_site.tokens['admin']}"),
        ("x-forwarded-user", "admin"),
        ("x-http-method-override", "GET"),
        ("x-original-url", "/healthz"),
    ):
        assert is_refused(call(stranger, method, path, headers={header: value}), access), header
    twice = [("authorization", f"Bearer {shared_site.tokens['admin']}")] * 2
    assert is_refused(call(stranger, method, path, headers=twice), access)


@EACH_CLOSED
def test_a_route_is_closed_to_those_who_may_do_less(
    shared_site: Site, method: str, path: str
) -> None:
    access = ACCESS[method, path]
    assert access.level is not None
    roles = {"viewer": Level.READ, "editor": Level.WRITE, "admin": Level.ADMIN}
    for role, level in roles.items():
        if (method, path) == ("POST", "/logout"):
            continue
        browser = shared_site.browser(role)
        status = call(browser, method, path).status
        assert (status == 403) == (level < access.level), (role, status)
        assert status not in (401, 405)
        assert status < 500 or status == 501
    scopes = {"feed": Level.FEED, "read": Level.READ, "write": Level.WRITE, "admin": Level.ADMIN}
    for scope, level in scopes.items():
        status = call(shared_site.program(scope), method, path).status
        assert (status == 403) == (level < access.level or access.session), (scope, status)


@EACH
def test_other_methods_are_refused(shared_site: Site, method: str, path: str) -> None:
    known = {each for each, where in ACCESS if where == path}
    known |= {"HEAD"} if "GET" in known else set()
    for other in METHODS:
        if other in known:
            continue
        program = call(shared_site.program("admin"), other, path)
        # Routes for people only refuse tokens first.
        needs_session = ACCESS[method, path].session
        assert program.status == (403 if needs_session and other not in SAFE else program.status)
        assert program.status in (403, 405)
        if ACCESS[method, path].level is not None:
            stranger = call(shared_site.anonymous(), other, path)
            assert is_refused(stranger, ACCESS[method, path]) or stranger.status == 405


@pytest.mark.parametrize("path", [path for method, path in ROUTES if method == "GET"])
def test_head_answers_as_get_does_without_a_body(shared_site: Site, path: str) -> None:
    for client in (shared_site.anonymous(), shared_site.browser("viewer")):
        with_body, without = (call(client, method, path) for method in ("GET", "HEAD"))
        assert without.status == with_body.status
        assert without.body == b""
        names = ["content-type", "location", "content-security-policy"]
        if path != "/metrics":  # counts the first request too
            names.append("content-length")
        for name in names:
            assert without.headers.get(name) == with_body.headers.get(name), name


@pytest.mark.parametrize(("method", "path"), UNSAFE, ids=map(" ".join, UNSAFE))
def test_a_browser_changes_nothing_on_behalf_of_another_site(
    shared_site: Site, method: str, path: str
) -> None:
    browser = shared_site.browser("admin")
    for origin, headers in (
        (None, {}),
        ("https://evil.example", {}),
        ("null", {}),
        ("", {}),
        ("http://127.0.0.1.evil.example", {}),
        ("http://127.0.0.1:8000", {}),
        ("https://127.0.0.1", {}),
        ("http://127.0.0.1", {"sec-fetch-site": "cross-site"}),
        ("http://127.0.0.1", {"sec-fetch-site": "same-site"}),
        (None, {"sec-fetch-site": "none"}),
        (None, {"referer": "http://127.0.0.1/"}),
    ):
        reply = call(browser, method, path, origin=origin, headers=headers)
        assert reply.status == 403, (origin, headers)
        assert not reply.cookies
    twice = [("origin", "https://evil.example")]
    assert call(browser, method, path, headers=twice).status == 403


@EACH
def test_requests_for_other_hosts_are_refused(shared_site: Site, method: str, path: str) -> None:
    admin = shared_site.program("admin")
    for host in (
        None,
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "evil.example:80",
        "localhost:80:80",
        "[::2]",
        "127.0.0.1/evil",
        "127.0.0.1\\evil",
    ):
        assert call(admin, method, path, host=host).status == 421, host
    assert call(admin, method, path, headers=[("host", "evil.example")]).status == 421
    forwarded = {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
    assert "evil" not in str(call(admin, method, path, headers=forwarded).headers)


@EACH
def test_every_answer_is_protected(shared_site: Site, method: str, path: str) -> None:
    for client in (shared_site.anonymous(), shared_site.program("admin")):
        for host in ("127.0.0.1", "evil.example"):
            reply = call(client, method, path, host=host)
            headers = reply.headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "*" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in headers
            assert "server" not in headers
            kind = headers.get("content-type", "")
            assert "html" not in kind or ACCESS[method, path].page


def test_unknown_paths_are_not_found_for_anyone(shared_site: Site) -> None:
    for path in (
        "/api/v1",
        "/api/v1/",
        "/api/v1/watches/",
        "//api/v1/watches",
        "/API/v1/watches",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/static/..%2f..%2fpyproject.toml",
        "/..%2f..%2fetc/passwd",
        "/api/v1/watches/1/..%2f..%2faccounts",
        "/%00",
    ):
        for client in (shared_site.anonymous(), shared_site.program("admin")):
            assert client.get(path).status == 404, path


def test_sockets_are_closed_at_once(shared_site: Site) -> None:
    sent: list[object] = []

    async def run() -> None:
        async def receive() -> dict[str, str]:
            return {"type": "websocket.connect"}

        async def send(message: object) -> None:
            sent.append(message)

        scope = {"type": "websocket", "path": "/api/v1/watches", "headers": []}
        await shared_site.app(scope, receive, send)

    shared_site.runner.run(run())
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_new_route_stops_the_application_until_it_is_classified(shared_site: Site) -> None:
    routes = list(shared_site.app.routes)
    added = router()

    @added.get("/api/v1/brand-new")
    def brand_new() -> Response:
        return Response()

    with pytest.raises(UnguardedRoute, match="GET /api/v1/brand-new has no row"):
        check_routes([*routes, *added.routes], ACCESS)
    with pytest.raises(UnguardedRoute, match="is in the table, and no route"):
        check_routes(routes[1:], ACCESS)
    check_routes(
        [*routes, *added.routes], {**ACCESS, ("GET", "/api/v1/brand-new"): Access(Level.READ)}
    )


@pytest.mark.parametrize(
    "route",
    [
        Route("/plain", lambda _: Response()),
        Mount("/mounted", Response()),
        WebSocketRoute("/socket", lambda _: None),
    ],
    ids=["route", "mount", "socket"],
)
def test_a_route_that_does_not_ask_the_guard_stops_the_application(
    shared_site: Site, route: Route
) -> None:
    with pytest.raises(UnguardedRoute, match="does not ask the guard"):
        check_routes([*shared_site.app.routes, route], ACCESS)


def test_only_these_routes_are_open() -> None:
    # To open another route, change this line too.
    assert {route for route in ROUTES if ACCESS[route].level is None} == {
        ("GET", "/healthz"),
        ("GET", "/login"),
        ("POST", "/login"),
        ("GET", "/static/{name}"),
        # The first needs a secret part of its address, the second only leads on.
        ("GET", "/replay/{key}/{rest:path}"),
        ("GET", "/go/{rest:path}"),
        ("GET", "/resources/{name}"),
        ("GET", "/watches/new/{draft}/at"),
    }


def test_the_password_of_every_role_is_needed_for_a_session(shared_site: Site) -> None:
    stranger = shared_site.anonymous("192.0.2.99")
    assert stranger.log_in("viewer", PASSWORD[:-1]).status == 403
    assert not stranger.cookie

"""Fetching: answers, conditions, redirects, credentials, cookies, proxies."""

from __future__ import annotations

import asyncio
import gzip
import json
import pickle
import subprocess
import sys
import zlib
from base64 import b64encode

import brotli  # type: ignore[import-untyped] # has no types
import pytest
import zstandard

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Limits, Proxy, Request, Response, Secret, fetch_page
from quire.sources.gate.one_page import networks_from_environment
from tests.sources.gate.servers import (
    PATIENT,
    Handler,
    Seen,
    always,
    answer,
    by_path,
    names,
    open_gate,
    serving,
)


def fetched(handler: Handler, path: str = "/", **options: object) -> tuple[Response, Seen]:
    async def run() -> tuple[Response, Seen]:
        async with serving(handler) as seen, open_gate() as gate:
            options.setdefault("obey_robots", False)
            return await gate.fetch(Request(seen.url(path), **options)), seen  # type: ignore[arg-type]

    return asyncio.run(run())


def test_a_page_is_fetched_with_its_header_fields() -> None:
    response, seen = fetched(
        always(answer(b"<p>Open", "200 OK", "Content-Type: text/html", 'ETag: "1"'))
    )

    assert (response.status, response.body) == (200, b"<p>Open")
    assert (response.content_type, response.etag) == ("text/html", '"1"')
    assert response.url == seen.url()
    assert response.elapsed_s > 0


def test_the_request_says_who_asks_and_nothing_about_the_machine() -> None:
    _, seen = fetched(always(answer()))

    head = seen.heads[0].decode().lower()
    assert head.startswith("get / http/1.1\r\n")
    fields = dict(line.split(": ", 1) for line in head.strip().split("\r\n")[1:])
    assert set(fields) == {"host", "accept", "accept-encoding", "user-agent"}
    assert fields["user-agent"].startswith("quire/")


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", gzip.compress(b"<p>Open")),
        ("x-gzip", gzip.compress(b"<p>Open")),
        ("deflate", zlib.compress(b"<p>Open")),
        ("br", brotli.compress(b"<p>Open")),
        ("zstd", zstandard.compress(b"<p>Open")),
        ("gzip, br", brotli.compress(gzip.compress(b"<p>Open"))),
        ("identity", b"<p>Open"),
    ],
)
def test_bodies_are_decoded(coding: str, data: bytes) -> None:
    response, _ = fetched(always(answer(data, "200 OK", f"Content-Encoding: {coding}")))

    assert response.body == b"<p>Open"
    assert response.wire_bytes == len(data)


def test_a_long_body_is_decoded_as_well() -> None:
    page = bytes(range(256)) * 4_000
    data = zlib.compress(page, 0)

    response, _ = fetched(always(answer(data, "200 OK", "Content-Encoding: deflate")))

    assert response.body == page


def test_an_unchanged_page_is_not_sent_again() -> None:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        is_known = b'If-None-Match: "1"' in head and b"If-Modified-Since: Mon" in head
        writer.write(answer(b"", "304 Not Modified", 'ETag: "1"') if is_known else answer())

    response, _ = fetched(handler, etag='"1"', last_modified="Mon, 16 Nov 2026 07:00:00 GMT")

    assert response.is_unchanged
    assert response.body == b""
    assert response.checked() is response


def test_an_error_status_is_an_answer_until_it_is_checked() -> None:
    response, _ = fetched(always(answer(b"gone", "410 Gone")))

    assert (response.status, response.body) == (410, b"gone")
    with pytest.raises(FetchFailed, match="status 410") as caught:
        response.checked()
    assert (caught.value.cause, caught.value.status) == (FetchCause.HTTP_STATUS, 410)


def test_head_and_post_are_sent_as_asked() -> None:
    response, seen = fetched(always(answer(b"", "200 OK", length=10**12)), method="HEAD")
    assert (response.status, response.body) == (200, b"")
    assert seen.heads[0].startswith(b"HEAD ")

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        del head
        writer.write(answer(b"taken", "202 Accepted"))
        writer.close()

    response, seen = fetched(handler, method="POST", body=b"{}", headers={"Content-Type": "a/b"})
    assert response.status == 202
    assert b"Content-Length: 2\r\n" in seen.heads[0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_and_listed(status: int) -> None:
    table = {
        "/": answer(b"", f"{status} Moved", "Location: a?b"),
        "/a?b": answer(b"", f"{status} Moved", "Location: /c"),
        "/c": answer(b"here"),
    }

    response, seen = fetched(by_path(table))

    assert (response.body, response.url) == (b"here", seen.url("/c"))
    assert [(hop.url, hop.status) for hop in response.hops] == [
        (seen.url("/"), status),
        (seen.url("/a?b"), status),
    ]


def test_a_redirect_of_a_post_is_not_followed() -> None:
    response, seen = fetched(
        always(answer(b"", "307 Moved", "Location: /x")), method="POST", body=b""
    )

    assert response.status == 307
    assert len(seen.heads) == 1


def test_a_redirect_without_a_target_is_an_answer() -> None:
    response, _ = fetched(always(answer(b"choose", "302 Found")))

    assert (response.status, response.body) == (302, b"choose")


SECRETS = ("Bearer token-1", "key-2", "cookie-3", b64encode(b"me:pass-4").decode())


def with_secrets(url: str) -> Request:
    return Request(
        url,
        headers={"X-Api-Key": Secret("key-2"), "Accept-Language": "fi"},
        cookies={"session": Secret("cookie-3")},
        user="me",
        password=Secret("pass-4"),
        obey_robots=False,
    )


def test_credentials_reach_their_origin() -> None:
    async def run() -> bytes:
        async with serving(always(answer())) as seen, open_gate() as gate:
            await gate.fetch(with_secrets(seen.url()))
            return seen.heads[0]

    head = asyncio.run(run()).decode()
    assert "X-Api-Key: key-2" in head
    assert "Cookie: session=cookie-3" in head
    assert f"Authorization: Basic {SECRETS[3]}" in head
    assert "Accept-Language: fi" in head


@pytest.mark.parametrize("other", ["port", "host", "there-and-back"])
def test_credentials_never_reach_another_origin(other: str) -> None:
    async def run() -> list[bytes]:
        lookup = names({"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
        async with serving(always(answer())) as end, open_gate(lookup) as gate:
            targets = {
                "port": end.url("/", "a.example"),
                "host": end.url("/", "b.example"),
                "there-and-back": "/b",
            }
            back = {"/b": answer(b"", "302 Found", "Location: /end")}
            table = {"/": answer(b"", "302 Found", f"Location: {targets[other]}")}
            async with serving(by_path(table | back)) as start:
                if other == "there-and-back":
                    away = always(answer(b"", "302 Found", f"Location: {start.url('/end')}"))
                    async with serving(away) as middle:
                        table["/"] = answer(b"", "302 Found", f"Location: {middle.url()}")
                        async with serving(by_path(table)) as first:
                            await gate.fetch(with_secrets(first.url()))
                            assert b"key-2" in first.heads[0]
                            return [*middle.heads, *start.heads]
                await gate.fetch(with_secrets(start.url("/", "a.example")))
                assert b"key-2" in start.heads[0]
                return end.heads

    heads = asyncio.run(run())
    assert heads
    for head in heads:
        assert not any(secret.encode() in head for secret in SECRETS)
        assert b"Accept-Language: fi" in head


def test_a_cookie_that_a_redirect_sets_goes_back_to_its_host_only() -> None:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"Cookie: seen=1" in head:
            writer.write(answer(b"in"))
        else:
            writer.write(answer(b"", "302 Found", "Location: /", "Set-Cookie: seen=1; Path=/"))

    response, _ = fetched(handler)
    assert response.body == b"in"

    async def run() -> bytes:
        lookup = names({"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
        async with serving(always(answer())) as end, open_gate(lookup) as gate:
            away = answer(
                b"", "302 Found", f"Location: {end.url('/', 'b.example')}", "Set-Cookie: seen=1"
            )
            async with serving(always(away)) as start:
                await gate.fetch(Request(start.url("/", "a.example"), obey_robots=False))
            return end.heads[0]

    assert b"Cookie" not in asyncio.run(run())


def test_secrets_do_not_show_themselves() -> None:
    request = with_secrets("http://user:pass-5@a.example/")
    texts = [repr(request), str(request), repr(request.headers), f"{request.password}"]

    for text in texts:
        assert not any(secret in text for secret in ("key-2", "cookie-3", "pass-4", "pass-5"))
    with pytest.raises(TypeError):
        pickle.dumps(Secret("x"))
    with pytest.raises(TypeError):
        json.dumps(Secret("x"))
    assert Secret("a") == Secret("a") != Secret("b")
    assert not Secret("")


@pytest.mark.parametrize(
    "fields",
    [
        {"X": "a\r\nHost: internal"},
        {"X": Secret("planted\nb")},
        {"X\r\nY": "a"},
        {"": "a"},
        {"Host": "internal"},
        {"Transfer-Encoding": "chunked"},
        {"content-length": "5"},
        {"Proxy-Authorization": "x"},
        {"X": "\ud800"},
        {"X": "a\x00"},
    ],
)
def test_header_fields_that_change_the_request_are_refused(fields: dict[str, str | Secret]) -> None:
    with pytest.raises(FetchFailed) as caught:
        Request("http://a.example/", headers=fields)

    assert caught.value.cause is FetchCause.BAD_URL
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("cookies", [{"a": "b; c=d"}, {"a;b": "c"}, {"a": "b\r\n"}])
def test_cookies_that_change_the_request_are_refused(cookies: dict[str, str | Secret]) -> None:
    with pytest.raises(FetchFailed):
        Request("http://a.example/", cookies=cookies)


def test_bad_validators_and_user_names_are_refused() -> None:
    with pytest.raises(FetchFailed):
        Request("http://a.example/", etag='"1"\r\nX: y')
    with pytest.raises(FetchFailed):
        Request("http://a.example/", user="a:b")


def test_a_request_is_checked_when_it_is_made() -> None:
    with pytest.raises(FetchFailed):
        Request("file:///etc/passwd")
    with pytest.raises(FetchFailed):
        Proxy("socks5://127.0.0.1:1080")


def test_one_connection_is_used_again() -> None:
    async def run() -> int:
        async with serving(always(answer())) as seen, open_gate() as gate:
            for _ in range(5):
                await gate.fetch(Request(seen.url(), obey_robots=False))
            return seen.connections

    assert asyncio.run(run()) == 1


def test_a_gate_that_is_not_open_says_so() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(open_gate().fetch(Request("http://a.example/")))


def test_a_page_can_be_fetched_without_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUIRE_ALLOW_NETWORKS", raising=False)
    with pytest.raises(FetchFailed, match="loopback"):
        fetch_page("http://127.0.0.1:8009/")
    monkeypatch.setenv("QUIRE_ALLOW_NETWORKS", "127.0.0.0/8 ::1/128")
    assert [str(network) for network in networks_from_environment()] == ["127.0.0.0/8", "::1/128"]
    monkeypatch.setenv("QUIRE_ALLOW_NETWORKS", "here")
    with pytest.raises(FetchFailed, match="QUIRE_ALLOW_NETWORKS: here: not a network"):
        fetch_page("http://127.0.0.1:8009/")


def proxy_handler(tunnels: list[bytes]) -> Handler:
    """A proxy that answers plain requests itself and refuses tunnels."""

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        tunnels.append(head)
        if head.startswith(b"CONNECT"):
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        else:
            writer.write(answer(b"by proxy"))

    return handler


def test_a_proxy_is_asked_for_the_page_after_its_address_was_checked() -> None:
    async def run() -> None:
        asked: list[bytes] = []
        lookup = names({"a.example": ["93.184.216.34"], "b.example": ["10.0.0.1"]})
        async with serving(proxy_handler(asked)) as seen, open_gate(lookup) as gate:
            proxy = Proxy(f"http://joe:secret@127.0.0.1:{seen.port}")
            request = Request("http://a.example/x", proxy=proxy, obey_robots=False)
            assert (await gate.fetch(request)).body == b"by proxy"
            assert asked[0].startswith(b"GET http://a.example/x HTTP/1.1\r\n")
            login = b64encode(b"joe:secret")
            assert b"Proxy-Authorization: Basic " + login in asked[0]

            # A tunnel goes to the address that was checked, not to a name that resolves again.
            with pytest.raises(FetchFailed, match="status 403") as caught:
                await gate.fetch(Request("https://a.example/", proxy=proxy, obey_robots=False))
            assert caught.value.cause is FetchCause.PROXY
            assert asked[1].startswith(b"CONNECT 93.184.216.34:443 ")
            assert b"Proxy-Authorization: Basic " + login in asked[1]

            for url in ("http://b.example/", "https://b.example/", "http://10.0.0.1/",
                        f"http://127.0.0.2:{seen.port}/"):  # fmt: skip
                with pytest.raises(FetchFailed) as caught:
                    await gate.fetch(Request(url, proxy=proxy, obey_robots=False))
                assert caught.value.cause is FetchCause.REFUSED_ADDRESS
            assert len(asked) == 2

    asyncio.run(run())


def test_a_proxy_that_resolves_gets_names_unresolved_but_no_private_addresses() -> None:
    async def run() -> None:
        asked: list[bytes] = []
        async with serving(proxy_handler(asked)) as seen, open_gate(names({})) as gate:
            proxy = Proxy(f"http://127.0.0.1:{seen.port}", resolves=True)
            request = Request("http://a.example/", proxy=proxy, obey_robots=False)
            assert (await gate.fetch(request)).body == b"by proxy"
            with pytest.raises(FetchFailed):
                await gate.fetch(Request("http://10.0.0.1/", proxy=proxy, obey_robots=False))
            assert len(asked) == 1

    asyncio.run(run())


def test_a_proxy_may_be_private_and_only_the_proxy_is_dialled() -> None:
    """The proxy's host is allowed for its own session; pages on it are still refused."""

    async def run() -> None:
        asked: list[bytes] = []
        lookup = names({"proxy.example": ["127.0.0.2"], "a.example": ["93.184.216.34"]})
        async with (
            serving(proxy_handler(asked), host="127.0.0.2") as seen,
            open_gate(lookup, proxy=Proxy(f"http://proxy.example:{seen.port}")) as gate,
        ):
            response = await gate.fetch(Request("http://a.example/", obey_robots=False))
            assert response.body == b"by proxy"
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(seen.url("/", "proxy.example"), obey_robots=False))
            assert caught.value.cause is FetchCause.REFUSED_ADDRESS

    asyncio.run(run())


def test_a_proxy_that_is_gone_is_named_as_the_cause() -> None:
    async def run() -> FetchCause:
        async with serving(always(b"")) as seen:
            port = seen.port
        async with open_gate(names({"a.example": ["93.184.216.34"]})) as gate:
            request = Request(
                "http://a.example/", proxy=Proxy(f"http://127.0.0.1:{port}"), obey_robots=False
            )
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(request)
            return caught.value.cause

    assert asyncio.run(run()) is FetchCause.PROXY


def test_an_address_can_be_checked_without_fetching_it() -> None:
    async def run() -> None:
        lookup = names({"a.example": ["93.184.216.34"], "b.example": ["192.168.0.1"]})
        async with open_gate(lookup) as gate:
            assert (await gate.check("http://A.example")).key == "http://a.example/"
            with pytest.raises(FetchFailed, match=r"b\.example was resolved, and 192\.168\.0\.1"):
                await gate.check("http://b.example/")
            with pytest.raises(FetchFailed, match="cannot be resolved") as caught:
                await gate.check("http://c.example/")
            assert caught.value.cause is FetchCause.DNS

    asyncio.run(run())


def test_limits_must_not_be_negative() -> None:
    with pytest.raises(ValueError, match="redirects is -1"):
        Limits(redirects=-1)
    assert PATIENT.most_decoded(0)[1] == "ratio"


@pytest.mark.parametrize(
    ("package", "library", "extra"),
    [
        ("quire.sources.gate", "aiohttp", "fetch"),
        ("quire.sources.gate", "protego", "fetch"),
        ("quire.sources.gate.browser", "playwright", "browser"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(package: str, library: str, extra: str) -> None:
    code = f"""
import sys
sys.modules[{library!r}] = None
from quire.errors import MissingExtra
try:
    import {package}
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240
    )

    assert done.stdout.endswith(f"is not installed; run: pip install 'quire[{extra}]'\n")

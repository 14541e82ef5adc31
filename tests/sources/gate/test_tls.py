"""Certificates: invalid ones are refused, unless a request says otherwise."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl

import pytest
import trustme

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Request
from tests.sources.gate.servers import always, answer, names, open_gate, serving

AUTHORITY = trustme.CA()


def server_context(authority: trustme.CA = AUTHORITY, **options: object) -> ssl.SSLContext:
    host = str(options.pop("host", "a.example"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host, **options).configure_cert(context)  # type: ignore[arg-type]
    return context


def client_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


def fetched(tls: ssl.SSLContext, *, verify_tls: bool = True) -> bytes:
    async def run() -> bytes:
        lookup = names({"a.example": ["127.0.0.1"]})
        async with (
            serving(always(answer()), tls=tls) as seen,
            open_gate(lookup, trust=client_context()) as gate,
        ):
            url = seen.url("/", "a.example", "https")
            request = Request(url, verify_tls=verify_tls, obey_robots=False)
            return (await gate.fetch(request)).body

    return asyncio.run(run())


def old_tls() -> ssl.SSLContext:
    context = server_context()
    with pytest.warns(DeprecationWarning, match="deprecated"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="deprecated"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


EXPIRED = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)

FAULTS = {
    "expired": lambda: server_context(not_before=EXPIRED - dt.timedelta(days=9), not_after=EXPIRED),
    "not yet valid": lambda: server_context(
        not_before=dt.datetime(2099, 1, 1, tzinfo=dt.UTC),
        not_after=dt.datetime(2100, 1, 1, tzinfo=dt.UTC),
    ),
    "another name": lambda: server_context(host="b.example"),
    "unknown authority": lambda: server_context(trustme.CA()),
}


def test_a_valid_certificate_is_accepted() -> None:
    assert fetched(server_context()) == b"<p>Open"


@pytest.mark.parametrize("fault", FAULTS)
def test_an_invalid_certificate_is_refused_unless_the_request_says_otherwise(fault: str) -> None:
    with pytest.raises(FetchFailed, match="the certificate is not valid") as caught:
        fetched(FAULTS[fault]())
    assert caught.value.cause is FetchCause.TLS

    assert fetched(FAULTS[fault](), verify_tls=False) == b"<p>Open"


def test_very_old_tls_is_refused() -> None:
    with pytest.raises(FetchFailed) as caught:
        fetched(old_tls())
    # Some servers reset the connection instead of naming the fault.
    assert caught.value.cause in {FetchCause.TLS, FetchCause.CONNECT}


def test_a_server_without_tls_is_a_tls_error() -> None:
    async def run() -> FetchCause:
        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, open_gate() as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(f"https://127.0.0.1:{port}/", obey_robots=False))
            return caught.value.cause

    assert asyncio.run(run()) is FetchCause.TLS


def test_an_unverified_connection_is_not_used_for_a_verified_request() -> None:
    async def run() -> None:
        lookup = names({"a.example": ["127.0.0.1"]})
        bad = FAULTS["expired"]()
        async with (
            serving(always(answer()), tls=bad) as seen,
            open_gate(lookup, trust=client_context()) as gate,
        ):
            url = seen.url("/", "a.example", "https")
            await gate.fetch(Request(url, verify_tls=False, obey_robots=False))
            with pytest.raises(FetchFailed):
                await gate.fetch(Request(url, obey_robots=False))

    asyncio.run(run())

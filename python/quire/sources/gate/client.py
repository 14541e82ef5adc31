"""The gate: the only way of quire to the network.

``Gate.fetch`` takes a request and returns the decoded answer, or raises ``FetchFailed`` with its
cause. It follows redirects itself, since every hop has to pass the same checks: the gate parses the
address, asks the robots.txt of the site, waits for a turn at the host, resolves the host, and dials
only an address that passed.

Choices worth knowing before changing this file:

* aiohttp gets the parts of a checked address, a resolver that hands out checked addresses only, and
  no environment: no proxies, cookies or passwords from elsewhere.
* aiohttp does not decode bodies. They are read up to a limit, and then decoded piece by piece up to
  another limit, so a bomb costs no more than the limits say. Bodies of redirects are not read.
* Header fields of the user go to the origin that the user named, and never come back once a
  redirect has left it.
* Time limits count the exchange with servers, not the wait for a turn.
* Large bodies are read two at a time and decoded one at a time, whatever their number: a hundred
  pages without an end must not take a hundred times the memory of one.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import ssl
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from quire.errors import FetchFailed
from quire.sources.codings import listed
from quire.sources.gate import answers
from quire.sources.gate.addresses import Network
from quire.sources.gate.journey import Journey
from quire.sources.gate.limits import DEFAULT_LIMITS, Limits, too_slow
from quire.sources.gate.manners import robots
from quire.sources.gate.manners.turns import Politeness, Turns
from quire.sources.gate.messages import Proxy, Request, Response
from quire.sources.gate.resolver import AddressRefused, Dialler, Lookup, Policy, Resolver
from quire.sources.gate.urls import WebAddress
from quire.version import version

AGENT = "quire"
USER_AGENT = f"{AGENT}/{version()}"

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FOLLOWED = frozenset({"GET", "HEAD"})
_WAIT_STATUSES = frozenset({429, 503})
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
_ENCODINGS = "gzip, deflate, br, zstd"

# How many large bodies are read at once.
_LARGE_AT_ONCE = 2

# aiohttp counts header fields itself, and its error does not say that it was about their number. So
# it gets a larger number, and the exact one is checked here.
_MORE_FIELDS = 4


@dataclass(frozen=True, slots=True)
class _Route:
    """How a request is sent."""

    session: aiohttp.ClientSession
    url: URL
    fields: Mapping[str, str] | None = None
    proxy: URL | None = None
    proxy_fields: Mapping[str, str] | None = None
    server_name: str | None = None


class Gate:
    """Fetches pages. Use it as an async context manager; one gate serves any number of fetches.

    Args:
        allow_networks: private or special networks that may be reached, such as 127.0.0.0/8.
        limits: limits of each fetch.
        politeness: how often and how many at once hosts are asked.
        proxy: proxy for all requests that do not name one.
        user_agent: how the gate introduces itself.
        trust: a TLS context with other certificates than those of the system.
        lookup: resolves names; for tests.
    """

    def __init__(
        self,
        *,
        allow_networks: Sequence[Network] = (),
        limits: Limits = DEFAULT_LIMITS,
        politeness: Politeness | None = None,
        proxy: Proxy | None = None,
        user_agent: str = USER_AGENT,
        trust: ssl.SSLContext | None = None,
        lookup: Lookup | None = None,
    ) -> None:
        self.limits: Limits = limits
        self.resolver: Resolver = Resolver(Policy(tuple(allow_networks)), lookup)
        self._politeness = politeness or Politeness()
        self.proxy: Proxy | None = proxy
        self.user_agent: str = user_agent
        self._trust = trust
        self._direct: aiohttp.ClientSession | None = None
        self._proxied: dict[str, aiohttp.ClientSession] = {}
        self._robots = robots.RobotsCache(AGENT, self._robots_text)
        self._turns: Turns | None = None
        self._large_places = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._decoding = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._turns = Turns(self._politeness)
        self._large_places = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._decoding = asyncio.Lock()
        self._direct = self._session(None)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for session in [*self._proxied.values(), *([self._direct] if self._direct else [])]:
            await session.close()
        self._direct, self._turns = None, None
        self._proxied.clear()
        self.resolver.close()

    async def fetch(self, request: Request) -> Response:
        """Fetch a page.

        A status such as 404 is an answer like any other; ``Response.checked`` makes it an error.

        Raises:
            FetchFailed: no answer came; has the cause.
        """
        limits = request.limits or self.limits
        fields = CIMultiDict(request.public_fields())
        fields.setdefault("Accept", _ACCEPT)
        fields.setdefault("Accept-Encoding", _ENCODINGS)
        fields.setdefault("User-Agent", self.user_agent)
        journey = Journey(request, limits, fields)
        while True:
            response = await self._hop(journey)
            if response is not None:
                return response

    async def check(self, url: str) -> WebAddress:
        """Check that a page could be fetched as far as its address goes, without fetching it.

        Raises:
            FetchFailed: the gate does not fetch this address: it is not valid, cannot be resolved,
                or is on a network that is not allowed.
        """
        address = Request(url).address
        await self._checked_addresses(address, self.limits)
        return address

    @asynccontextmanager
    async def visit(
        self,
        address: WebAddress,
        *,
        obey_robots: bool,
        limits: Limits,
        pause_s: float | None = None,
        takes_place: bool = True,
    ) -> AsyncIterator[None]:
        """Wait until a host may be asked for a page: its rules allow it, and its turn has come.

        Args:
            address: the page.
            obey_robots: whether to ask the robots.txt of the site first.
            limits: limits of the fetch.
            pause_s: pause after this visit, if not the usual one, in seconds.
            takes_place: whether the visit takes one of the gate's places.

        Raises:
            FetchFailed: the page may not be fetched, or not now; has the cause.
        """
        if self._turns is None:
            raise RuntimeError("the gate is not open; use `async with Gate() as gate`")
        # Before anything else, so that robots.txt is not asked at a refused address either.
        self._check_literal(address)
        if obey_robots:
            rules = await self._robots.rules(address)
            robots.check(rules, address)
            pause_s = self._pause(rules)
        async with self._turns.turn(
            address.host,
            url=address.key,
            wait_s=limits.wait_s,
            pause_s=pause_s,
            takes_place=takes_place,
        ):
            yield

    async def _hop(self, journey: Journey) -> Response | None:
        """Ask one host; return its answer, or None if it redirects."""
        address, limits = journey.address, journey.limits
        async with self.visit(
            address,
            obey_robots=journey.request.obey_robots,
            limits=limits,
            pause_s=journey.pause_s,
        ):
            try:
                left_s = max(limits.whole_s - journey.elapsed_s, 0.0)
                with journey.timed():
                    async with asyncio.timeout(left_s) as clock:
                        return await self._exchange(journey, clock)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                raise answers.failure(error, address, limits) from None

    async def _exchange(self, journey: Journey, clock: asyncio.Timeout) -> Response | None:
        address, request, limits = journey.address, journey.request, journey.limits
        route = await self._route(journey)
        answer = await route.session.request(
            request.method,
            route.url,
            headers=journey.fields_to_send(route.fields),
            data=request.body,
            allow_redirects=False,
            ssl=request.verify_tls,
            timeout=_timeouts(limits.connect_s, limits.idle_s),
            max_headers=limits.header_count * _MORE_FIELDS,
            max_line_size=limits.header_bytes,
            max_field_size=limits.header_bytes,
            proxy=route.proxy,
            proxy_headers=route.proxy_fields,
            server_hostname=route.server_name,
        )
        is_read = False
        try:
            fields = answer.raw_headers
            answers.check_fields(fields, address, limits)
            if answer.status in _WAIT_STATUSES:
                self._wait_as_asked(address, answer)
            if answer.status in _REDIRECTS and request.method in _FOLLOWED:
                location = answer.headers.get("Location")
                if location:
                    journey.redirect(location, answer)
                    return None
            body, wire_bytes = await self._read(answer, address, limits, clock)
            is_read = True
        finally:
            if not is_read:
                answer.close()
        return Response(
            url=address.key,
            status=answer.status,
            fields=fields,
            body=body,
            wire_bytes=wire_bytes,
            elapsed_s=journey.elapsed_so_far_s(),
            hops=tuple(journey.hops),
        )

    async def _read(
        self,
        answer: aiohttp.ClientResponse,
        address: WebAddress,
        limits: Limits,
        clock: asyncio.Timeout,
    ) -> tuple[bytes, int]:
        """Read and decode a body; return it, and how many bytes were sent."""
        async with AsyncExitStack() as places:

            async def grow() -> None:
                start = time.monotonic()
                try:
                    async with asyncio.timeout(limits.wait_s):
                        await places.enter_async_context(self._large_places)
                except TimeoutError:
                    what = "no place for its large body"
                    raise too_slow(address.key, "wait_s", limits.wait_s, what) from None
                end = clock.when()
                if end is not None:  # the server did not cause this wait
                    clock.reschedule(end + time.monotonic() - start)

            body = await answers.read_body(answer, address, limits, grow)
            codings = answer.headers.getall("Content-Encoding", ())
            if codings and body:
                if answers.is_large(body):
                    await places.enter_async_context(self._decoding)
                found = await answers.decoded(listed(codings), body, address, limits)
                return found, len(body)
            return body, len(body)

    async def _route(self, journey: Journey) -> _Route:
        """Choose the session and the address that it asks: directly, or through a proxy."""
        address = journey.address
        proxy = journey.request.proxy or self.proxy
        if proxy is None:
            assert self._direct is not None  # noqa: S101 - fetch has checked that the gate is open
            return _Route(self._direct, _url(address))
        session = self._proxied.get(proxy.url)
        if session is None:
            session = self._proxied[proxy.url] = self._session(proxy)
        via = proxy.address
        login = _proxy_login(via)
        checked = [] if proxy.resolves else await self._checked_addresses(address, journey.limits)
        if address.scheme == "http":
            # The proxy takes the host from the address that it is asked for, so that is the name.
            return _Route(session, _url(address), proxy=_url(via), fields=login)
        route = _Route(session, _url(address), proxy=_url(via), proxy_fields=login)
        if not checked or address.literal is not None:
            return route
        # A tunnel to the checked address; the name is in the certificate and in the Host field.
        return replace(
            route,
            url=_url(replace(address, host=checked[0])),
            fields={"Host": address.authority},
            server_name=address.host,
        )

    def _session(self, proxy: Proxy | None) -> aiohttp.ClientSession:
        dialler = Dialler(
            self.resolver,
            timeout_s=self.limits.dns_s,
            proxy=None if proxy is None else proxy.address.host,
        )
        connector = aiohttp.TCPConnector(
            resolver=dialler,
            socket_factory=dialler.open_socket,
            use_dns_cache=False,
            limit=0,  # turns limit connections, and do not hold up one host for another
            ssl=self._trust or True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            raise_for_status=False,
        )

    async def _checked_addresses(self, address: WebAddress, limits: Limits) -> list[str]:
        try:
            found = await self.resolver.addresses(address.host, timeout_s=limits.dns_s)
        except (AddressRefused, FetchFailed) as error:
            raise answers.failure(error, address, limits) from None
        return [str(one) for one in found]

    def _check_literal(self, address: WebAddress) -> None:
        if address.literal is not None:
            refusal = self.resolver.policy.refusal(address.literal)
            if refusal is not None:
                raise answers.refused(address, refusal)

    def _pause(self, rules: robots.Rules) -> float:
        asked_s = min(rules.crawl_delay_s, self._politeness.most_pause_s)
        return max(asked_s, self._politeness.pause_s)

    def _wait_as_asked(self, address: WebAddress, answer: aiohttp.ClientResponse) -> None:
        seconds = answers.retry_after_s(answer.headers.get("Retry-After"))
        if seconds is not None and self._turns is not None:
            self._turns.leave_alone(address.host, seconds)

    async def _robots_text(self, address: WebAddress) -> tuple[int, str]:
        assert self._turns is not None  # noqa: S101 - fetch has checked that the gate is open
        most = self.limits.robots_bytes
        limits = replace(
            self.limits,
            decoded_bytes=most,
            wire_bytes=most,
            redirects=min(5, self.limits.redirects),
        )
        request = Request(address.key, obey_robots=False, limits=limits)
        fields = CIMultiDict({"User-Agent": self.user_agent, "Accept": "text/plain, */*;q=0.1"})
        fields["Accept-Encoding"] = "gzip"
        # The page that follows does not have to wait for its robots.txt.
        journey = Journey(request, limits, fields, pause_s=0.0)
        while True:
            response = await self._hop(journey)
            if response is not None:
                return response.status, response.body.decode("utf-8-sig", "replace")


@functools.lru_cache(maxsize=8192)
def _url(address: WebAddress) -> URL:
    # Built from parts: nothing is parsed a second time.
    return URL.build(
        scheme=address.scheme,
        host=address.host,
        port=address.port,
        path=address.path,
        query_string=address.query or "",
        encoded=True,
    )


@functools.lru_cache(maxsize=64)
def _timeouts(connect_s: float, idle_s: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=connect_s, sock_read=idle_s)


def _proxy_login(via: WebAddress) -> dict[str, str] | None:
    if via.user is None or via.password is None:
        return None
    text = f"{via.user}:{via.password.reveal()}".encode()
    return {"Proxy-Authorization": "Basic " + base64.b64encode(text).decode("ascii")}

"""Chromium: renders pages behind the gate.

One Chromium serves all pages, each in a fresh profile of its own. It is replaced after a crash,
when it does not let go of a page, and after a number of pages.

Its only route is the forward proxy of the gate. Chromium does not resolve names, does not use UDP
(QUIC, WebRTC) and does not prefetch. Its own sandbox is on, except for root, since Chromium does
not support that; run the service as an ordinary user.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from playwright.async_api import (
    Browser as Chromium,
)
from playwright.async_api import (
    BrowserContext,
    CDPSession,
    Locator,
    Page,
    Playwright,
    async_playwright,
)
from playwright.async_api import (
    Error as PlaywrightError,
)
from playwright.async_api import (
    Request as PageRequest,
)
from playwright.async_api import (
    Response as PageResponse,
)
from playwright.async_api import (
    TimeoutError as PlaywrightTimeout,
)

from quire.display import printable, shorten
from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.browser.forward_proxy import ForwardProxy, Visit
from quire.sources.gate.browser.process import CLOSE_S, Process, find_chromium, first_line, launch
from quire.sources.gate.browser.steps import Click, Open, Press, Step, Type, Wait
from quire.sources.gate.client import Gate
from quire.sources.gate.limits import too_large, too_slow
from quire.sources.gate.messages import HARMLESS, Request, Response
from quire.sources.gate.secret import Secret
from quire.sources.gate.urls import WebAddress, parse

_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
# An error status without a body, for which Chromium shows a page of its own.
_EMPTY_ERROR = "net::ERR_HTTP_RESPONSE_CODE_FAILURE"
_CAUSES = (
    ("ERR_CERT", FetchCause.TLS),
    ("ERR_SSL", FetchCause.TLS),
    ("ERR_TOO_MANY_REDIRECTS", FetchCause.TOO_MANY_REDIRECTS),
    ("ERR_UNSAFE_REDIRECT", FetchCause.BAD_REDIRECT),
    ("ERR_UNSAFE_PORT", FetchCause.BAD_URL),
    ("ERR_EMPTY_RESPONSE", FetchCause.CONNECT),
    ("ERR_CONNECTION", FetchCause.CONNECT),
    ("ERR_TUNNEL", FetchCause.CONNECT),
    ("ERR_TIMED_OUT", FetchCause.TIMEOUT),
    ("ERR_INVALID_HTTP_RESPONSE", FetchCause.BAD_HTTP),
    ("ERR_INVALID_CHUNKED", FetchCause.BAD_HTTP),
    ("ERR_RESPONSE_HEADERS", FetchCause.BAD_HTTP),
    ("ERR_CONTENT_DECODING", FetchCause.BAD_ENCODING),
    ("ERR_CONTENT_LENGTH_MISMATCH", FetchCause.TRUNCATED),
    ("ERR_INCOMPLETE_CHUNKED", FetchCause.TRUNCATED),
)

# Runs in a world of its own, out of reach of the scripts of the page.
_READ_PAGE = """(() => {
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  const root = document.documentElement;
  const text = type + (root ? root.outerHTML : "");
  return text.length > %d ? null : text;
})()"""


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """The limits of one page in the browser.

    Attributes:
        render_s: time for everything: loading, steps, reading, in seconds.
        step_s: time for one step, in seconds.
        settle_s: how long to wait, at most, until the page has loaded everything and was quiet for
            half a second, in seconds.
        traffic_bytes: all that the page transfers. Heavy pages take 20 MB.
        connections: connections at the same time. Chromium itself stops at 32 to one proxy.
        pages: pages in the browser at the same time. Each takes 100 to 300 MB of memory.
    """

    render_s: float = 60.0
    step_s: float = 20.0
    settle_s: float = 5.0
    traffic_bytes: int = 100_000_000
    connections: int = 64
    pages: int = 2


class Browser:
    """Fetches pages with Chromium. Use it as an async context manager, inside an open gate.

    Args:
        gate: the gate.
        executable: path of Chromium (default: the environment variable QUIRE_CHROMIUM, or Chromium
            on the path).
        limits: limits of each page.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        executable: str | None = None,
        limits: RenderLimits | None = None,
    ) -> None:
        self._gate = gate
        self._executable = executable
        self._limits = limits or RenderLimits()
        self._proxy = ForwardProxy(gate.resolver, dns_s=gate.limits.dns_s)
        self._proxy_url = ""
        self._places = asyncio.Semaphore(self._limits.pages)
        self._launching = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._process: Process | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None

    async def __aenter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory(
            prefix="quire-browser-", ignore_cleanup_errors=True
        )
        self._proxy_url = await self._proxy.start()
        self._playwright = await async_playwright().start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            await self._process.end()
            self._process = None
        if self._playwright is not None:
            await self._playwright.stop()
            self._playwright = None
        await self._proxy.stop()
        if self._home is not None:
            self._home.cleanup()

    async def fetch(self, request: Request, steps: Sequence[Step] = ()) -> Response:
        """Open a page, take the steps, and return the page as the browser has it then.

        Cookies and basic authentication of the request are only sent to its origin. Other header
        fields than the harmless ones are refused: a browser would send them to every host.

        Raises:
            FetchFailed: the page was not fetched; has the cause.
        """
        address = request.address
        self._check(request)
        limits = request.limits or self._gate.limits
        async with (
            self._gate.visit(
                address, obey_robots=request.obey_robots, limits=limits, takes_place=False
            ),
            self._places,
        ):
            started = time.monotonic()
            window = _Window(address)
            visit = self._proxy.open_visit(
                most_bytes=self._limits.traffic_bytes, most_connections=self._limits.connections
            )
            visit.when_exhausted = lambda: window.give_up(
                too_large(address.key, "traffic_bytes", visit.most_bytes, "the page transfers more")
            )
            try:
                with window.watching():
                    async with asyncio.timeout(self._limits.render_s):
                        async with self._page(request, visit) as page:
                            window.watch(page)
                            is_empty = await _walk(page, request, steps, self._limits)
                            arrived = address if is_empty else _arrived(page, address)
                            most = 0 if is_empty else limits.decoded_bytes
                            body = await _read(page, address, most) if most else b""
            except TimeoutError:
                raise too_slow(
                    address.key, "render_s", self._limits.render_s, "the page is not done"
                ) from None
            except PlaywrightError as error:
                raise self._failure(error, address, visit, window) from None
            finally:
                self._proxy.close_visit(visit)
            return Response(
                url=arrived.key,
                status=window.status,
                fields=[(b"Content-Type", b"text/html; charset=utf-8")],
                body=body,
                wire_bytes=visit.used_bytes,
                elapsed_s=time.monotonic() - started,
            )

    async def is_well(self) -> bool:
        """Tell whether the browser still answers. If not, close this one and open another."""
        process = self._process
        if process is None:
            return True
        try:
            async with asyncio.timeout(CLOSE_S):
                session = await process.chromium.new_browser_cdp_session()
                await session.detach()
        except (TimeoutError, PlaywrightError):
            return False
        return True

    def _check(self, request: Request) -> None:
        key = request.address.key
        if self._gate.proxy is not None or request.proxy is not None:
            raise FetchFailed(
                f"{key}: the browser does not use proxies", url=key, cause=FetchCause.BROWSER
            )
        more = [name for name in request.headers if name.lower() not in HARMLESS]
        if more or request.method != "GET":
            finding = f"the header field {more[0]}" if more else f"the method {request.method}"
            raise FetchFailed(
                f"{key}: the browser does not send {finding}; use cookies, basic authentication or "
                "steps",
                url=key,
                cause=FetchCause.BROWSER,
            )

    @contextlib.asynccontextmanager
    async def _page(self, request: Request, visit: Visit) -> AsyncIterator[Page]:
        """Open a window in a fresh profile, and close it whatever happens."""
        process = await self._usable()
        process.open_pages += 1
        try:
            context = await self._context(process.chromium, request, visit)
            try:
                page = await context.new_page()
                popups: set[asyncio.Future[None]] = set()

                def close_popup(popup: Page) -> None:
                    task = asyncio.ensure_future(_quietly(popup.close()))
                    popups.add(task)
                    task.add_done_callback(popups.discard)

                context.on("page", close_popup)
                yield page
            finally:
                await self._close(process, context)
        finally:
            process.open_pages -= 1
            if process.is_retired and not process.open_pages:
                await process.end()

    async def _context(self, chromium: Chromium, request: Request, visit: Visit) -> BrowserContext:
        address = request.address
        shown = {name.lower(): _plain(value) for name, value in request.headers.items()}
        user, password = request.user, request.password
        if user is None:
            user, password = address.user, address.password
        context = await chromium.new_context(
            proxy={
                "server": self._proxy_url,
                "username": visit.name,
                "password": visit.password,
            },
            service_workers="block",
            accept_downloads=False,
            ignore_https_errors=not request.verify_tls,
            user_agent=shown.pop("user-agent", None),
            extra_http_headers=shown,
            http_credentials=None
            if user is None
            else {
                "username": user,
                "password": "" if password is None else password.reveal(),
                "origin": f"{address.scheme}://{address.authority}",
            },
        )
        if request.cookies:
            await context.add_cookies(
                [
                    {
                        "name": name,
                        "value": _plain(value),
                        "url": f"{address.scheme}://{address.authority}/",
                    }
                    for name, value in request.cookies.items()
                ]
            )
        return context

    async def _usable(self) -> Process:
        """Return a running Chromium, started anew if it is gone or old."""
        async with self._launching:
            process = self._process
            if process is not None and process.is_usable:
                process.pages += 1
                return process
            if process is not None:
                process.is_retired = True
                if not process.open_pages:
                    await process.end()
            if self._playwright is None or self._home is None:
                raise RuntimeError("the browser is not open; use `async with Browser(gate)`")
            self._process = await launch(
                self._playwright,
                self._executable or find_chromium(),
                proxy_url=self._proxy_url,
                home=self._home.name,
            )
            self._process.pages += 1
            return self._process

    async def _close(self, process: Process, context: BrowserContext) -> None:
        try:
            async with asyncio.timeout(CLOSE_S):
                await context.close()
        except (TimeoutError, PlaywrightError):
            # It does not let go of the page. It ends when its other pages are done.
            process.is_retired = True

    def _failure(
        self, error: PlaywrightError, address: WebAddress, visit: Visit, window: _Window
    ) -> FetchFailed:
        found = _NET_ERROR.search(error.message)
        refusal = visit.failures.get(window.asked_host)
        if found is not None and refusal is not None:
            return refusal
        code = found[1] if found else ""
        cause = next(
            (cause for start, cause in _CAUSES if code.startswith(start)), FetchCause.BROWSER
        )
        return FetchFailed(
            f"{address.key}: the browser reports {code or first_line(error)}",
            url=address.key,
            cause=cause,
        )


class _Window:
    """The window of a visit: follows the page from redirect to redirect and from step to step."""

    def __init__(self, address: WebAddress) -> None:
        self.asked_host = address.host
        self.status = 200
        self._address = address
        self._task: asyncio.Task[object] | None = None
        self._failure: FetchFailed | None = None

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Run the visit in the block, which ``give_up`` ends."""
        task = self._task = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if self._failure is None or task is None:
                raise
            task.uncancel()
            raise self._failure from None
        finally:
            self._task = None

    def give_up(self, failure: FetchFailed) -> None:
        """End the visit with a failure."""
        if self._task is not None and self._failure is None:
            self._failure = failure
            self._task.cancel()

    def watch(self, page: Page) -> None:
        """Follow the window."""

        def crashed(_: Page) -> None:
            key = self._address.key
            message = f"{key}: the page crashed the browser"
            self.give_up(FetchFailed(message, url=key, cause=FetchCause.BROWSER))

        def asked(request: PageRequest) -> None:
            if request.is_navigation_request() and request.frame is page.main_frame:
                with contextlib.suppress(FetchFailed):
                    self.asked_host = parse(request.url).host

        def answered(response: PageResponse) -> None:
            if response.request.is_navigation_request() and response.frame is page.main_frame:
                self.status = response.status

        page.on("crash", crashed)
        page.on("request", asked)
        page.on("response", answered)


async def _walk(page: Page, request: Request, steps: Sequence[Step], limits: RenderLimits) -> bool:
    """Open the page and take the steps; return whether the answer was an error without a page."""
    page.set_default_timeout(limits.step_s * 1000)
    try:
        await _open(page, request.address, timeout_ms=0)
    except PlaywrightError as error:
        if _EMPTY_ERROR in error.message:
            return True
        raise
    for number, step in enumerate(steps, 1):
        try:
            await _take(page, step)
        except PlaywrightError as error:
            if _NET_ERROR.search(error.message):
                raise
            kind = type(step).__name__.lower()
            raise FetchFailed(
                f"{request.address.key}: step {number} ({kind}) failed: {first_line(error)}",
                url=request.address.key,
                cause=FetchCause.BROWSER,
            ) from None
    with contextlib.suppress(PlaywrightTimeout):
        # Scripts often load the text of a page later; and some pages are never done with loading.
        await page.wait_for_load_state("networkidle", timeout=limits.settle_s * 1000)
    return False


async def _open(page: Page, address: WebAddress, *, timeout_ms: float | None) -> None:
    """Open a page, and wait until it is parsed."""
    await page.goto(address.with_fragment, wait_until="commit", timeout=timeout_ms)
    # Not the event: it is not reported if the page starts a download before it.
    await page.wait_for_function("document.readyState !== 'loading'", timeout=timeout_ms)


async def _take(page: Page, step: Step) -> None:
    match step:
        case Open(url, within_s):
            await _open(page, parse(url), timeout_ms=_ms(within_s))
        case Click(selector, within_s):
            await _first(page, selector).click(timeout=_ms(within_s))
        case Type(selector, text, within_s):
            await _first(page, selector).fill(_plain(text), timeout=_ms(within_s))
        case Press(key):
            await page.keyboard.press(key)
        case Wait(selector, seconds, within_s):
            if selector is not None:
                await _first(page, selector).wait_for(state="attached", timeout=_ms(within_s))
            if seconds:
                await page.wait_for_timeout(seconds * 1000)


def _first(page: Page, selector: str) -> Locator:
    """Return the first element that a selector finds, when it is there."""
    is_xpath = selector.startswith(("/", "(", "xpath:"))
    language = "xpath" if is_xpath else "css"
    return page.locator(f"{language}={selector.removeprefix('xpath:')}").first


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def _arrived(page: Page, address: WebAddress) -> WebAddress:
    """Return the address of the window, which must be a page of the web, not one of Chromium."""
    try:
        return parse(page.url)
    except FetchFailed:
        raise FetchFailed(
            f"{address.key}: the browser ended at {shorten(printable(page.url), 80)}",
            url=address.key,
            cause=FetchCause.BAD_REDIRECT,
        ) from None


async def _read(page: Page, address: WebAddress, most_bytes: int) -> bytes:
    """Read the page as HTML, unless it is too long."""
    session: CDPSession = await page.context.new_cdp_session(page)
    tree = await session.send("Page.getFrameTree")
    world = await session.send(
        "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]}
    )
    answer = await session.send(
        "Runtime.evaluate",
        {
            "expression": _READ_PAGE % most_bytes,
            "contextId": world["executionContextId"],
            "returnByValue": True,
        },
    )
    text = answer["result"].get("value")
    body = b"" if text is None else str(text).encode("utf-8", "replace")
    if text is None or len(body) > most_bytes:
        raise too_large(address.key, "decoded_bytes", most_bytes, "the page is longer")
    return body


async def _quietly(closing: object) -> None:
    with contextlib.suppress(PlaywrightError):
        await closing  # type: ignore[misc]


def _plain(value: str | Secret) -> str:
    return value.reveal() if isinstance(value, Secret) else value

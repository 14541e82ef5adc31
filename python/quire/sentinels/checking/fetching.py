"""Fetching for workers: the gate, with the options of a watch, and errors as answers.

Pages that need scripts or steps are fetched by a browser behind the same gate. A worker has one
browser. It starts with the first page that needs it, and again if it is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Self

from quire.errors import FetchCause, FetchFailed, QuireError
from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.form.watch import Fetching
from quire.sentinels.form.watch import Step as FormStep
from quire.sentinels.store.claims import ClaimedPage
from quire.sentinels.store.plain import fetching_from_json, fetching_to_json
from quire.sentinels.versions.pdf_text import is_pdf, pdf_text
from quire.sources.gate import Gate, Proxy, Request, Response, Secret

if TYPE_CHECKING:
    from quire.sources.gate.browser import Browser, Step

#: Header fields that are stored with a version.
KEPT_FIELDS = ("content-type", "content-language", "last-modified", "etag", "server")
#: How long a browser that does not answer may take to end.
END_SECONDS = 10.0
#: PDF files that are read at the same time, each by a process of its own.
MOST_PDFS = 2


class GateFetcher:
    """Fetches pages through a gate. Use it as an async context manager, or call ``close``.

    Args:
        gate: the gate; open it first.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._browser: Browser | None = None
        self._starting = asyncio.Lock()
        self._pdfs = asyncio.Semaphore(MOST_PDFS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the browser, if there is one."""
        async with self._starting:
            browser, self._browser = self._browser, None
        if browser is not None:
            await browser.__aexit__(None, None, None)

    async def __call__(self, page: ClaimedPage) -> Fetched | FetchProblem:
        """Fetch a page. A fetch that fails is an answer too; this never raises."""
        start = perf_counter()
        try:
            options = fetching_from_json(page.fetching)
            request = to_request(page, options)
            if options.browser:
                response = await self._render(request, to_steps(options.steps))
            else:
                response = await self._gate.fetch(request)
            if is_pdf(response.body):
                # Read here, so that a slow file does not hold up the results of others.
                async with self._pdfs:
                    await asyncio.to_thread(pdf_text, response.body)
        except FetchFailed as error:
            return FetchProblem(error.cause.value, str(error), perf_counter() - start)
        except QuireError as error:
            return FetchProblem(
                type(error).__name__, f"{page.url}: {error}", perf_counter() - start
            )
        return Fetched(
            status=response.status,
            body=response.body,
            content_type=response.content_type or "",
            etag=response.etag,
            last_modified=response.last_modified,
            headers=_kept({name: response.header(name) for name in KEPT_FIELDS}),
            url=response.url,
            not_modified=response.is_unchanged,
            seconds=response.elapsed_s,
            wire_bytes=response.wire_bytes,
        )

    async def _render(self, request: Request, steps: list[Step]) -> Response:
        browser = await self._usable()
        try:
            return await browser.fetch(request, steps)
        except FetchFailed as error:
            if error.cause is FetchCause.BROWSER and not await browser.is_well():
                await self._discard(browser)
            raise
        except Exception as error:  # noqa: BLE001 - see below
            # The driver of the browser is gone, with whatever error its library has for that. The
            # next page gets a new one.
            await self._discard(browser)
            raise FetchFailed(
                f"{request.address.key}: the browser ended ({type(error).__name__})",
                url=request.address.key,
                cause=FetchCause.BROWSER,
            ) from None

    async def _usable(self) -> Browser:
        async with self._starting:
            if self._browser is None:
                from quire.sources.gate.browser import Browser  # noqa: PLC0415 - an extra

                browser = Browser(self._gate)
                await browser.__aenter__()
                self._browser = browser
            return self._browser

    async def _discard(self, browser: Browser) -> None:
        async with self._starting:
            if self._browser is browser:
                self._browser = None
        await _end(browser)


async def fetch_once(gate: Gate, url: str, fetching: Fetching) -> Fetched | FetchProblem:
    """Fetch a page that a person asks for now, as its watch would. This never raises.

    Args:
        gate: the gate, open.
        url: the page.
        fetching: how to fetch it.
    """
    page = ClaimedPage(
        id=0, url=url, fetching=fetching_to_json(fetching), fence=0, revision=0, due=0, etag=None,
        last_modified=None, source=None, state="fine", facts=None, latest=-1, quiet_checks=0,
        error_since=None, content=None, noise=None,
    )  # fmt: skip
    async with GateFetcher(gate) as fetch:
        return await fetch(page)


async def _end(browser: Browser) -> None:
    with contextlib.suppress(Exception):  # it is gone already, at least in part
        async with asyncio.timeout(END_SECONDS):
            await browser.__aexit__(None, None, None)


def to_request(page: ClaimedPage, options: Fetching) -> Request:
    """Return the request for a page, conditional if the page was fetched before.

    Raises:
        FetchFailed: the address or a header field is not allowed.
    """
    is_plain = not options.browser
    return Request(
        page.url,
        headers={name: Secret(value) for name, value in options.headers.items()},
        cookies={name: Secret(value) for name, value in options.cookies.items()},
        user=options.user or None,
        password=Secret(options.password) if options.password else None,
        etag=page.etag if is_plain else None,
        last_modified=page.last_modified if is_plain else None,
        verify_tls=options.verify_tls,
        obey_robots=options.robots,
        proxy=Proxy(options.proxy) if options.proxy else None,
    )


def to_steps(steps: tuple[FormStep, ...]) -> list[Step]:
    """Return the steps of a watch as the browser takes them. Typed text may be a secret."""
    from quire.sources.gate.browser import Click, Open, Press, Type, Wait  # noqa: PLC0415 - an extra

    found: list[Step] = []
    for step in steps:
        match step.kind:
            case "open":
                found.append(Open(step.target, step.seconds))
            case "click":
                found.append(Click(step.target, step.seconds))
            case "type":
                found.append(Type(step.target, Secret(step.text), step.seconds))
            case "press":
                found.append(Press(step.target))
            case "wait" if step.target:
                found.append(Wait(step.target, within_s=step.seconds))
            case "wait":
                found.append(Wait(seconds=step.seconds))
    return found


def _kept(fields: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}

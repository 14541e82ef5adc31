"""Gathering: fetch everything that a page would load, through the gate and within limits.

The addresses are those that ``quire.viewing`` would write: it is asked to write the page with a
function that only takes notes. So nothing is fetched that is not shown, and nothing that is shown is
missed. Style sheets come first; the images and fonts that they name come after those of the page.

A page of a stranger names the addresses, so every number has a limit (``Bounds``), each
address passes the gate, and a failure is remembered for a while. Credentials of the watch are not
sent: they belong to the page alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import time
from typing import Protocol
from urllib.parse import urlsplit

from quire.digest.page import Digest
from quire.errors import FetchCause, FetchFailed, QuireError
from quire.sentinels.resources.kinds import sniff
from quire.sentinels.resources.storing import Found, Resources
from quire.sources.gate import Limits, Request, Response
from quire.viewing import Use, safe_css, safe_page


class Fetches(Protocol):
    """The gate, as far as it is needed here."""

    async def fetch(self, request: Request) -> Response:
        """Fetch a page."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one page may make quire fetch.

    Attributes:
        styles: style sheets, those inside style sheets included.
        images: images.
        fonts: fonts.
        bytes: all of them together.
        each_bytes: each of them.
        seconds: all of them together.
        at_once: at the same time.
        imports: how deep style sheets may name others.
        silences: how often a host may fail to answer before it is not asked any more.
    """

    styles: int = 24
    images: int = 60
    fonts: int = 8
    bytes: int = 16_000_000
    each_bytes: int = 4_000_000
    seconds: float = 10.0
    at_once: int = 6
    imports: int = 2
    silences: int = 2

    def most(self, use: Use) -> int:
        """Return how many resources a page may have for one use."""
        return {Use.STYLE: self.styles, Use.IMAGE: self.images, Use.FONT: self.fonts}.get(use, 0)


DEFAULT_BOUNDS = Bounds()


@dataclass(slots=True)
class Gathered:
    """The result of gathering.

    Attributes:
        asked: how many addresses the page names.
        fetched: how many were fetched and stored.
        failed: how many could not be fetched, or are of no kind that is shown.
        left: how many were left out because of a limit.
        bytes: the bytes of those that were stored.
    """

    asked: int = 0
    fetched: int = 0
    failed: int = 0
    left: int = 0
    bytes: int = 0


@dataclass(slots=True)
class _Notes:
    """Addresses in the order in which they were met, each once."""

    found: dict[str, Use] = field(default_factory=dict)

    def place(self, url: str, use: Use) -> str | None:
        if use in (Use.STYLE, Use.IMAGE, Use.FONT):
            self.found.setdefault(url, use)
        return "/"


def addresses(page: Digest, url: str) -> dict[str, Use]:
    """Return the style sheets, images and fonts that a page names, in its order.

    >>> import quire
    >>> page = quire.encode(b"<link rel=stylesheet href=a.css><script src=b.js></script><img src=c.png>")
    >>> addresses(page, "https://example.org/")
    {'https://example.org/a.css': <Use.STYLE: 'style'>, 'https://example.org/c.png': <Use.IMAGE: 'image'>}
    """
    notes = _Notes()
    safe_page(page, url=url, place=notes.place)
    return notes.found


async def gather(
    page: Digest,
    url: str,
    store: Resources,
    gate: Fetches,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> Gathered:
    """Fetch and store style sheets, images and fonts of a page, unless they are stored already.

    Args:
        page: the page.
        url: its address, after redirects.
        store: where resources are kept.
        gate: the way to the network.
        bounds: limits for this page.
    """
    work = _Work(store, gate, bounds)
    try:
        async with asyncio.timeout(bounds.seconds):
            await work.run(await asyncio.to_thread(addresses, page, url))
    except TimeoutError:
        work.tally.left += len(work.open)
        slow = [Found(each, error=FetchCause.TIMEOUT.value) for each in sorted(work.open)]
        await asyncio.to_thread(store.keep, slow, time())
    return work.tally


class _Work:
    def __init__(self, store: Resources, gate: Fetches, bounds: Bounds) -> None:
        self.store, self.gate, self.bounds = store, gate, bounds
        self.tally = Gathered()
        self.open: set[str] = set()
        self._counts: dict[Use, int] = {}
        self._seen: set[str] = set()
        self._places = asyncio.Semaphore(bounds.at_once)
        self._silent: dict[str, int] = {}

    async def run(self, found: dict[str, Use]) -> None:
        later: dict[str, Use] = {}
        styles = self._take(found, {Use.STYLE})
        for _ in range(self.bounds.imports):
            inside = await self._round(styles)
            later |= {url: use for url, use in inside.items() if use is not Use.STYLE}
            styles = self._take(inside, {Use.STYLE})
        # Fonts and backgrounds decide how the whole page looks, images only about their own place.
        await self._round(self._take({**later, **found}, {Use.FONT, Use.IMAGE}))

    def _take(self, found: dict[str, Use], uses: set[Use]) -> dict[str, Use]:
        """Return those addresses that were not met before, as many as there may be."""
        taken = {}
        for url, use in found.items():
            if use not in uses or url in self._seen:
                continue
            self._seen.add(url)
            self.tally.asked += 1
            count = self._counts.get(use, 0)
            if count >= self.bounds.most(use):
                self.tally.left += 1
                continue
            self._counts[use] = count + 1
            taken[url] = use
        return taken

    async def _round(self, taken: dict[str, Use]) -> dict[str, Use]:
        """Fetch addresses; return those that their style sheets name."""
        if not taken:
            return {}
        wanted = set(await asyncio.to_thread(self.store.wanted, taken, time()))
        self.open = set(wanted)
        tasks = [asyncio.create_task(self._one(url, taken[url])) for url in taken if url in wanted]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        styles = [url for url, use in taken.items() if use is Use.STYLE]
        return await asyncio.to_thread(self._inside, styles)

    async def _one(self, url: str, use: Use) -> None:
        async with self._places:
            if self.tally.bytes >= self.bounds.bytes:
                self.tally.left += 1
            else:
                found = await self._fetch(url, use)
                self.tally.fetched += bool(found.type)
                self.tally.failed += not found.type
                self.tally.bytes += len(found.data)
                await asyncio.to_thread(self.store.keep, [found], time())
        self.open.discard(url)

    async def _fetch(self, url: str, use: Use) -> Found:
        host = urlsplit(url).netloc
        if self._silent.get(host, 0) >= self.bounds.silences:
            return Found(url, error=FetchCause.CONNECT.value)
        most = min(self.bounds.each_bytes, self.bounds.bytes)
        seconds = self.bounds.seconds
        limits = Limits(
            wire_bytes=most, decoded_bytes=most, redirects=5, dns_s=5.0, connect_s=5.0, idle_s=5.0,
            whole_s=seconds, wait_s=seconds,
        )  # fmt: skip
        headers = {"Accept": _ACCEPT[use]}
        try:
            # Like the images of a browser: a person asked for the page that they are part of.
            request = Request(url, headers=headers, obey_robots=False, limits=limits)
            response = (await self.gate.fetch(request)).checked()
        except FetchFailed as error:
            if error.cause in _SILENCE:
                self._silent[host] = self._silent.get(host, 0) + 1
            return Found(url, error=error.cause.value)
        except QuireError as error:
            return Found(url, error=type(error).__name__)
        kind = sniff(response.body, response.content_type or "", use)
        if kind is None:
            return Found(url, error="kind")
        return Found(url, kind.value, response.body, response.url)

    def _inside(self, urls: Iterable[str]) -> dict[str, Use]:
        """Return the addresses in stored style sheets."""
        notes = _Notes()
        for url in urls:
            found = self.store.at(url)
            if found is not None:
                safe_css(css_text(found.data), url=found.url, place=notes.place)
        return notes.found


# A host that cannot be reached is not asked for everything that a page wants from it.
_SILENCE = frozenset({FetchCause.DNS, FetchCause.CONNECT, FetchCause.TIMEOUT})
_ACCEPT = {
    Use.STYLE: "text/css,*/*;q=0.1",
    Use.IMAGE: "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8",
    Use.FONT: "font/woff2,font/woff,*/*;q=0.1",
}


def css_text(data: bytes) -> str:
    """Return the text of a style sheet. Almost all are UTF-8; others lose only their comments."""
    return data.decode("utf-8-sig", "replace")

"""A journey: one fetch on its way through redirects.

It knows where the fetch is, which header fields go to the next host, and how much time is used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import aiohttp
from multidict import CIMultiDict

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.limits import Limits
from quire.sources.gate.messages import Hop, Request
from quire.sources.gate.urls import WebAddress, join

# The cookies that a chain of redirects may set.
_MOST_COOKIES = 50
_MOST_COOKIE_CHARACTERS = 4_096


class Journey:
    """One fetch on its way: its place, its header fields, and its time."""

    def __init__(
        self,
        request: Request,
        limits: Limits,
        fields: CIMultiDict[str],
        *,
        pause_s: float | None = None,
    ) -> None:
        self.request: Request = request
        self.limits: Limits = limits
        self.address: WebAddress = request.address
        self.hops: list[Hop] = []
        self.elapsed_s: float = 0.0
        self.pause_s: float | None = pause_s
        self._exchange_started = 0.0
        self._fields = fields
        self._private: dict[str, str] | None = request.private_fields()
        self._cookies: dict[str, dict[str, str]] = {}

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the time of the block."""
        self._exchange_started = time.monotonic()
        try:
            yield
        finally:
            self.elapsed_s += time.monotonic() - self._exchange_started

    def elapsed_so_far_s(self) -> float:
        """Return the time of all exchanges, up to now."""
        return self.elapsed_s + time.monotonic() - self._exchange_started

    def fields_to_send(self, more: Mapping[str, str] | None) -> CIMultiDict[str]:
        """Return the header fields for the next host: those for all, its own, and ``more``."""
        if not self._private and not self._cookies and more is None:
            return self._fields
        fields = self._fields.copy()
        if self._private:
            fields.update(self._private)
        cookies = self._cookies.get(self.address.host)
        if cookies:
            own = [fields["Cookie"]] if "Cookie" in fields else []
            fields["Cookie"] = "; ".join([*own, *(f"{k}={v}" for k, v in cookies.items())])
        if more:
            fields.update(more)
        return fields

    def redirect(self, location: str, answer: aiohttp.ClientResponse) -> None:
        """Go on to the target of a redirect.

        Raises:
            FetchFailed: there were too many, or the target is not an address that is fetched.
        """
        before = self.address
        self.hops.append(Hop(before.key, answer.status))
        if len(self.hops) > self.limits.redirects:
            raise FetchFailed(
                f"{self.request.address.key}: more than {self.limits.redirects} redirects, the last "
                f"one by {before.key} (limit redirects)",
                url=self.request.address.key,
                cause=FetchCause.TOO_MANY_REDIRECTS,
                limit="redirects",
            )
        self._keep_cookies(answer)
        self.address = join(before, location)
        if self.address.origin != before.origin:
            self._private = None

    def _keep_cookies(self, answer: aiohttp.ClientResponse) -> None:
        """Keep cookies for the rest of the journey: some sites set one and redirect to themselves.

        A cookie only goes back to the host that set it. The upgrade from http to https keeps it.
        """
        mine = self._cookies.setdefault(self.address.host, {})
        for value in answer.headers.getall("Set-Cookie", ())[:_MOST_COOKIES]:
            name, equals, text = value.partition(";")[0].strip().partition("=")
            if (
                equals
                and value.isascii()
                and value.isprintable()
                and len(value) <= _MOST_COOKIE_CHARACTERS
                and len(mine) < _MOST_COOKIES
            ):
                mine[name.strip()] = text.strip()

"""The gate: the only way of quire to the network.

Requests go in, decoded pages come out, or ``FetchFailed`` with its cause. Every address is checked
before it is dialled, on every hop, and every answer is limited in length and time. The pages, their
robots.txt, feeds, webhooks and the browser all go through the same checks.

>>> import asyncio
>>> async def fetch(url):
...     async with Gate() as gate:
...         return await gate.fetch(Request(url))
>>> asyncio.run(fetch("http://169.254.169.254/latest/meta-data/"))
Traceback (most recent call last):
quire.errors.FetchFailed: http://169.254.169.254/latest/meta-data/: 169.254.169.254 is not a public
address (169.254.0.0/16, link-local)
"""

from __future__ import annotations

from quire.errors import MissingExtra

try:
    from quire.sources.gate.client import Gate
except ImportError as _error:
    if _error.name not in {"aiohttp", "idna", "multidict", "protego", "yarl"}:
        raise
    raise MissingExtra(f"{_error.name} is not installed", extra="fetch") from None
from quire.sources.gate.addresses import parse_networks, special_range
from quire.sources.gate.limits import Limits
from quire.sources.gate.manners.turns import Politeness
from quire.sources.gate.messages import Hop, Proxy, Request, Response
from quire.sources.gate.one_page import ALLOW_NETWORKS_VARIABLE, fetch_page
from quire.sources.gate.secret import Secret
from quire.sources.gate.urls import WebAddress, parse

__all__ = [
    "ALLOW_NETWORKS_VARIABLE",
    "Gate",
    "Hop",
    "Limits",
    "Politeness",
    "Proxy",
    "Request",
    "Response",
    "Secret",
    "WebAddress",
    "fetch_page",
    "parse",
    "parse_networks",
    "special_range",
]

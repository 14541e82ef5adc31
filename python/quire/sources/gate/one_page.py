"""Fetch one page that a person asked for, such as in a command."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.addresses import Network, parse_networks
from quire.sources.gate.client import Gate
from quire.sources.gate.messages import Request, Response

# The networks that the gate of commands may reach beside the public internet.
ALLOW_NETWORKS_VARIABLE = "QUIRE_ALLOW_NETWORKS"


def fetch_page(url: str, *, allow_networks: Sequence[Network] | None = None) -> Response:
    """Fetch one page that a person asked for, and wait for it.

    Like a browser, this does not ask robots.txt: that is for programs that fetch by themselves.

    Args:
        url: the page.
        allow_networks: private networks that may be reached (default: those in the environment
            variable QUIRE_ALLOW_NETWORKS).

    Raises:
        FetchFailed: the page was not fetched; has the cause. A status such as 404 is one of them.
    """
    if allow_networks is None:
        allow_networks = networks_from_environment()
    return asyncio.run(fetch_good(url, allow_networks=allow_networks))


def networks_from_environment() -> tuple[Network, ...]:
    """Return the networks that the user allows in the environment.

    Raises:
        FetchFailed: the variable does not hold networks.
    """
    try:
        return parse_networks(os.environ.get(ALLOW_NETWORKS_VARIABLE, ""))
    except ValueError as error:
        raise FetchFailed(
            f"{ALLOW_NETWORKS_VARIABLE}: {error}", url="", cause=FetchCause.BAD_URL
        ) from None


async def fetch_good(url: str, *, allow_networks: Sequence[Network]) -> Response:
    """Fetch one page that a person asked for, like ``fetch_page``, in a running event loop.

    Raises:
        FetchFailed: the page was not fetched; has the cause. A status such as 404 is one of them.
    """
    async with Gate(allow_networks=allow_networks) as gate:
        return (await gate.fetch(Request(url, obey_robots=False))).checked()

"""Fetching for workers: the gate, with the options of a watch, and errors as answers."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

from quire.errors import FetchFailed
from quire.sentinels.checking.check import Fetched, FetchProblem
from quire.sentinels.form.watch import Fetching
from quire.sentinels.store.claims import ClaimedPage
from quire.sentinels.store.plain import fetching_from_json
from quire.sources.gate import Gate, Proxy, Request, Secret

#: Header fields that are stored with a version.
KEPT_FIELDS = ("content-type", "content-language", "last-modified", "etag", "server")


class GateFetcher:
    """Fetches pages through a gate.

    Args:
        gate: the gate; open it first.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def __call__(self, page: ClaimedPage) -> Fetched | FetchProblem:
        """Fetch a page. A fetch that fails is an answer too; this never raises."""
        start = perf_counter()
        try:
            request = to_request(page, fetching_from_json(page.fetching))
            response = await self._gate.fetch(request)
        except FetchFailed as error:
            return FetchProblem(error.cause.value, str(error), perf_counter() - start)
        return Fetched(
            status=response.status,
            body=response.body,
            content_type=response.content_type or "",
            etag=response.etag,
            last_modified=response.last_modified,
            headers=_kept({name: response.header(name) for name in KEPT_FIELDS}),
            not_modified=response.is_unchanged,
            seconds=response.elapsed_s,
            wire_bytes=response.wire_bytes,
        )


def to_request(page: ClaimedPage, options: Fetching) -> Request:
    """Return the request for a page, conditional if the page was fetched before.

    Raises:
        FetchFailed: the address or a header field is not allowed.
    """
    return Request(
        page.url,
        headers={name: Secret(value) for name, value in options.headers.items()},
        cookies={name: Secret(value) for name, value in options.cookies.items()},
        user=options.user or None,
        password=Secret(options.password) if options.password else None,
        etag=page.etag,
        last_modified=page.last_modified,
        verify_tls=options.verify_tls,
        obey_robots=options.robots,
        proxy=Proxy(options.proxy) if options.proxy else None,
    )


def _kept(fields: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}

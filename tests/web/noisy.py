"""A watch of a page with an advertisement that differs in every response."""

from __future__ import annotations

from quire.sentinels.checking.answers import Fetched
from quire.sentinels.store import ClaimedPage
from tests.web.conftest import Site


def noisy_watch(site: Site) -> int:
    """Add a watch, and check its page twice: the fish and the advertisement change."""
    count = 0

    async def fetch(_: ClaimedPage) -> Fetched:
        nonlocal count
        count += 1
        fish = b"Cod" if count > 1 else b"Hake"
        body = (
            b"<title>Fish</title><main>\n<h1>Fish market</h1>\n<p>%s today</p>\n<p>Open from six"
            b"</p>\n<p id=ad>Offer %d</p>\n</main></html>" % (fish, count * 7919)
        )
        return Fetched(200, body, "text/html")

    form = {"url": "https://example.org/noisy", "name": "Fish of the day", "where": "main"}
    watch = site.service.add(form).id
    for _ in range(2):
        site.service.make_due(watch)
        site.runner.run(site.service.run_due(fetch))
    return watch

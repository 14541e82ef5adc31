"""What the watched parts said on each version: a table, and a chart if they say numbers."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from quire.sentinels.conditions.numbers import picked
from quire.sentinels.service import StoredState
from quire.web.api.context import App, Client, Url, VersionNumber, WatchNumber, router
from quire.web.pages.charts import make_chart
from quire.web.pages.one_watch.heading import Tab, find_shown, watch_page

routes: APIRouter = router()

#: Versions of one page, and characters of one text.
MOST = 60
LONGEST = 600
#: A text with more characters is not a number, even if there is one in it.
LONGEST_NUMBER = 80


@routes.get("/watches/{watch}/history", include_in_schema=False)
async def show_history(
    app: App, client: Client, watch: WatchNumber, url: Url = None, before: VersionNumber = None
) -> Response:
    """Show what the watched parts said on each version."""

    def work() -> Response:
        shown = find_shown(app, watch, url)
        states: list[StoredState] = []
        if shown.page is not None:
            states = app.service.history(watch, shown.url, MOST, before=before)
        names = list(shown.stored.watch.parts)
        return watch_page(
            app,
            client,
            shown,
            Tab.history,
            parts=[_part(states, name) for name in names],
            older=states[0].number if len(states) == MOST else None,
        )

    return await app.run_heavy(work)


def _part(states: list[StoredState], name: str) -> dict[str, Any]:
    """Return the values of a part, the newest first, and their chart."""
    rows: list[dict[str, Any]] = []
    numbers = []
    last: str | None = None
    for state in states:
        reading = state.readings.get(name)
        text = "" if reading is None else reading.text
        value = picked(text) if text and len(text) <= LONGEST_NUMBER else None
        if value is not None:
            numbers.append((state.time, value))
        rows.append(
            {
                "number": state.number,
                "time": state.time,
                "text": text if len(text) <= LONGEST else f"{text[:LONGEST]}…",
                "value": value,
                "is_found": reading is not None and reading.found > 0,
                "is_new": text != last,
            }
        )
        last = text
    chart = make_chart(numbers) if 2 * len(numbers) > len(states) else None
    return {"name": name, "rows": list(reversed(rows)), "chart": chart}

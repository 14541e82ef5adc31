"""The first step: paste an address, and quire fetches the page once."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import QuireError, WatchError
from quire.sentinels.checking.answers import FetchProblem
from quire.sentinels.checking.fetching import fetch_once
from quire.sentinels.form.reading import read_watch
from quire.sentinels.service.drafting import Draft, page_of
from quire.web.api.context import App, Client, router
from quire.web.pages.adding.words import advice
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.page import page
from quire.web.pages.resources import prepare

routes: APIRouter = router()

_HEADER = re.compile(r"\s*([^:\s]+)\s*:\s*(.*?)\s*")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@routes.get("/watches/new", include_in_schema=False)
def show_start(client: Client, url: str = "") -> Response:
    """Show the field for an address."""
    return _shown(client, {"url": url[:8000]})


@routes.post("/watches/new", include_in_schema=False)
async def fetch_page(request: Request, app: App, client: Client) -> Response:
    """Fetch a page, keep it as a draft, and go on to the picker."""
    fields = await read_fields(request)
    values = {name: fields.get(name).strip() for name in ("url", "browser", "robots", "headers")}
    try:
        form = _form(fields)
        read_watch(form)
    except WatchError as error:
        return _shown(client, values, 422, str(error))
    if app.open_pages is None:
        return _shown(client, values, 501, "this service cannot fetch pages")
    async with app.visits, app.open_pages() as gate:
        fetched = await fetch_once(gate, form["url"], read_watch(form).fetching)
        if isinstance(fetched, FetchProblem):
            return _shown(client, values, 422, fetched.message, advice(fetched.cause))
        final = fetched.url or form["url"]
        try:
            made = Draft(
                url=form["url"],
                body=fetched.body,
                final_url=final,
                fetch=form.get("fetch", {}),
                status=fetched.status,
                content_type=fetched.content_type,
            )
            digest = await app.run_heavy(page_of, made)
            key = await app.run_heavy(app.service.add_draft, made, client.account)
        except QuireError as error:
            return _shown(client, values, 422, f"{final}: {error}")
    await prepare(app, digest, final)
    return RedirectResponse(f"/watches/new/{key}", 303)


def _form(fields: Fields) -> dict[str, Any]:
    """Return the address and the way to fetch it, as in the form of a watch."""
    url = fields.get("url").strip()
    if url and not _SCHEME.match(url):
        url = f"https://{url}"
    fetch: dict[str, Any] = {}
    if fields.get("browser"):
        fetch["browser"] = True
    if fields.get("robots"):
        fetch["robots"] = False
    headers = {}
    for line in fields.get("headers").strip().splitlines():
        if line.strip():
            match = _HEADER.fullmatch(line)
            if match is None:
                raise WatchError(
                    "fetch.headers: expected lines such as “Accept-Language: de”", path="headers"
                )
            headers[match[1]] = match[2]
    if headers:
        fetch["headers"] = headers
    return {"url": url, **({"fetch": fetch} if fetch else {})}


def _shown(
    client: Any,  # noqa: ANN401 - an identity
    values: dict[str, str],
    status: int = 200,
    wrong: str = "",
    hint: str = "",
) -> Response:
    filled = {"url": "", "browser": "", "robots": "", "headers": "", **values}
    return page(
        "adding/start.html",
        status,
        person=client.name,
        here="Watches",
        values=filled,
        wrong=wrong,
        hint=hint,
    )

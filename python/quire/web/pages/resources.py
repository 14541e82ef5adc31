"""Style sheets, images and fonts of pages, from the store and never from the web.

The frame of a stranger's page has no origin and sends no cookies, so the address of a resource has a
signature in it. Style sheets are made safe when they are read, so a better sanitiser works for
those that were stored before it.
"""

from __future__ import annotations

from time import time

from fastapi import APIRouter
from starlette.responses import Response

from quire.digest.page import Digest
from quire.sentinels.resources import Kind, gather
from quire.sentinels.resources.gathering import Bounds, css_text
from quire.viewing import Place, Use, safe_css
from quire.viewing.pointing import renamed_types
from quire.web.answers import Problem
from quire.web.api.context import App, State, router

routes: APIRouter = router()

#: Nothing may be loaded or run, also if someone opens an image of ours by itself.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
#: Marks style sheets for pages to point at, in which some elements have other names.
POINTING = "pointing"
#: People wait for a page, so its resources must come soon.
BOUNDS = Bounds(seconds=6.0)
#: How long a page is not looked at again, and how many pages are remembered.
AGAIN_S = 600.0
MOST_PREPARED = 10_000
_AN_HOUR = "private, max-age=3600"


@routes.get("/resources/{name}", include_in_schema=False)
def resource(app: App, name: str, to: str = "") -> Response:
    """Return a style sheet, an image or a font."""
    found = app.resources.open(name)
    if found is None:
        raise Problem(404, "there is no such resource")
    data, is_font = found.data, found.type.startswith("font/")
    if found.type == Kind.CSS.value:
        place = pointing_place(app.resources.placer()) if to == POINTING else app.resources.placer()
        text = safe_css(css_text(data), url=found.url, place=place)
        data = (renamed_types(text) if to == POINTING else text).encode("utf-8", "replace")
    headers = {
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cache-Control": _AN_HOUR,
        # Browsers load fonts for a frame without an origin only if everyone may have them.
        **({"Access-Control-Allow-Origin": "*"} if is_font else {}),
    }
    return Response(data, media_type=found.type, headers=headers)


async def prepare(app: State, page: Digest, url: str) -> None:
    """Fetch what a page needs to look like itself, before it is shown. Not again for a while.

    Pages are shown without if this fails: in the layout for reading.
    """
    now = time()
    key = page.signatures.source
    if page.kind != "html" or app.open_pages is None or now - app.prepared.get(key, 0.0) < AGAIN_S:
        return
    if len(app.prepared) >= MOST_PREPARED:
        app.prepared.clear()
    app.prepared[key] = now
    async with app.visits, app.open_pages() as gate:
        await gather(page, url, app.resources, gate, BOUNDS)


def pointing_place(place: Place) -> Place:
    """Return places for a page to point at: its style sheets follow the names of elements there."""

    def placed(url: str, use: Use) -> str | None:
        found = place(url, use)
        return f"{found}?to={POINTING}" if found is not None and use is Use.STYLE else found

    return placed

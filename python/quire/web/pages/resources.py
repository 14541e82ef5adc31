"""Style sheets, images and fonts of pages, from the store and never from the web.

The frame of a stranger's page has no origin and sends no cookies, so the address of a resource has a
signature in it. Style sheets are made safe when they are read, so a better sanitiser works for
those that were stored before it.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from quire.sentinels.resources import Kind
from quire.sentinels.resources.gathering import css_text
from quire.viewing import Place, Use, safe_css
from quire.viewing.pointing import renamed_types
from quire.web.answers import Problem
from quire.web.api.context import App, router

routes: APIRouter = router()

#: Nothing may be loaded or run, also if someone opens an image of ours by itself.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
#: Marks style sheets for pages to point at, in which some elements have other names.
POINTING = "pointing"
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


def pointing_place(place: Place) -> Place:
    """Return places for a page to point at: its style sheets follow the names of elements there."""

    def placed(url: str, use: Use) -> str | None:
        found = place(url, use)
        return f"{found}?to={POINTING}" if found is not None and use is Use.STYLE else found

    return placed

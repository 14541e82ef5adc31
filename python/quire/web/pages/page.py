"""A page: a template with values, under a policy that allows our own files and nothing else.

Templates escape every value. Text of strangers never becomes markup, whatever its name or place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from quire.display import is_web_address, printable
from quire.version import version
from quire.web.pages.static_files import static
from quire.web.pages.times import due_words, relative

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Return the templates; they escape every value, whatever their file is called."""
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["when"] = _when
    found.filters["moment"] = _moment
    found.filters["ago"] = relative
    found.filters["due"] = due_words
    found.filters["query"] = _query
    found.globals["static"] = static
    found.globals["places"] = PLACES
    found.tests["web_address"] = is_web_address
    found.finalize = _visible
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the menu.

    Attributes:
        name: the text of the line; a page says with ``here`` that it belongs to it.
        path: its address.
    """

    name: str
    path: str


#: The menu of all pages.
PLACES = (
    Place("Watches", "/"),
    Place("Changes", "/changes"),
    Place("Compare", "/compare"),
    Place("Archives", "/archives"),
    Place("Reports", "/reports"),
    Place("Settings", "/settings"),
)

#: Our own scripts, styles, images and frames; forms that stay here; no inline code.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)


def page(
    template: str, status: int = 200, headers: Mapping[str, str] | None = None, /, **values: object
) -> HTMLResponse:
    """Return a page.

    A page with the value ``person`` has the menu; ``here`` names the line of the menu.

    Args:
        template: the name of its template.
        status: the status of the answer.
        headers: headers of the answer.
        values: the values that the template shows.
    """
    text = environment().get_template(template).render(version=version(), **values)
    whole = {**(headers or {}), "Content-Security-Policy": POLICY}
    return HTMLResponse(text.encode("utf-8", "replace"), status, whole)


def error_page(status: int, detail: str, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return a page about a problem."""
    return page("error.html", status, headers, title=HTTPStatus(status).phrase, detail=detail)


def _when(time: datetime | None) -> str:
    return "never" if time is None else time.strftime("%Y-%m-%d %H:%M UTC")


def _moment(time: datetime) -> str:
    """Return a time with seconds, as versions of the same minute need it."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC")


def _query(values: Mapping[str, str]) -> str:
    """Return values as the query of an address."""
    return urlencode(values, errors="replace")


def _visible(value: object) -> object:
    """Show control characters and half surrogate pairs instead of sending them."""
    return printable(value, keep="\n\t") if type(value) is str else value

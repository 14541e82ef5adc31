"""A page: a template with values, under a policy that allows its own style sheet and nothing else.

Templates escape every value. Text of strangers never becomes markup, whatever its name or place.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from http import HTTPStatus
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from quire.display import is_web_address, printable
from quire.version import version

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
    found.tests["web_address"] = is_web_address
    found.finalize = _visible
    return found


@cache
def style() -> str:
    """Return the style sheet of all pages."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8").strip()


@cache
def policy() -> str:
    """Return the policy of pages: their own style sheet, forms that stay here, nothing else."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    )


def page(
    template: str, status: int = 200, headers: Mapping[str, str] | None = None, /, **values: object
) -> HTMLResponse:
    """Return a page.

    Args:
        template: the name of its template.
        status: the status of the answer.
        headers: headers of the answer.
        values: the values that the template shows.
    """
    text = environment().get_template(template).render(style=style(), version=version(), **values)
    whole = {**(headers or {}), "Content-Security-Policy": policy()}
    return HTMLResponse(text.encode("utf-8", "replace"), status, whole)


def error_page(status: int, detail: str, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return a page about a problem."""
    return page("error.html", status, headers, title=HTTPStatus(status).phrase, detail=detail)


def _when(time: datetime | None) -> str:
    return "never" if time is None else time.strftime("%Y-%m-%d %H:%M UTC")


def _visible(value: object) -> object:
    """Show control characters and half surrogate pairs instead of sending them."""
    return printable(value, keep="\n\t") if type(value) is str else value

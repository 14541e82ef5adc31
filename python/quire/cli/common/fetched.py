"""Pages that commands fetch from the web, through the gate."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.terminal import Refusal
from quire.errors import FetchCause, FetchFailed

if TYPE_CHECKING:
    from quire.sources.gate import Response

_FETCHED = ("http://", "https://")

_HINTS = {
    FetchCause.REFUSED_ADDRESS: "name the network to allow it: QUIRE_ALLOW_NETWORKS=127.0.0.0/8",
    FetchCause.TLS: "save the page to a file with a program that accepts this certificate",
    FetchCause.TOO_LARGE: "save the page to a file, and name the file",
}


def is_web_page(name: str) -> bool:
    """Tell whether an argument is a page on the web, and not a file with such a name.

    >>> is_web_page("https://example.org/"), is_web_page("page.html")
    (True, False)
    """
    return name.lower().startswith(_FETCHED) and not os.path.lexists(name)


def fetch(url: str) -> Response:
    """Fetch a page.

    Raises:
        Refusal: the page was not fetched; has the reason.
    """
    try:
        from quire.sources.gate import fetch_page  # noqa: PLC0415 - heavy, and an extra

        return fetch_page(url)
    except FetchFailed as error:
        raise Refusal(str(error), hint=_HINTS.get(error.cause)) from None


def check_not_web_address(name: str) -> None:
    """Refuse a web address where files are needed.

    Raises:
        Refusal: the name is a web address.
    """
    if not terminal.is_web_address(name):
        return
    if is_web_page(name):
        raise Refusal(
            f"{name}: a web address; this command reads files and folders",
            hint=f"save the page to a file first: curl -sO {name}",
        )
    raise Refusal(
        f"{name}: not a file; quire fetches addresses that start with http:// or https://",
        hint=f"try https://{name.partition('://')[2] or name}",
    )

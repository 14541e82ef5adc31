"""Places: where the addresses of a stranger's page may lead.

Every address is resolved and handed to a function of the caller, which returns the address to write
or None to leave it out. Addresses that hold their content (``data:``) never reach the caller: images
and fonts stay as they are, all others are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import quote, urldefrag, urlsplit

from quire.digest.references import resolve


class Use(Enum):
    """How a page uses an address."""

    LINK = "link"
    IMAGE = "image"
    STYLE = "style"
    FONT = "font"
    FRAME = "frame"
    MEDIA = "media"


class Detour(str):
    """An address with a stop on the way. Browsers keep fragments to themselves, so it is in the path.

    >>> Detour("/go/web/1/https://a.example/").at("a/b")
    '/go/at/a%2Fb/web/1/https://a.example/'
    """

    __slots__ = ()

    def at(self, fragment: str) -> str:
        """Return the address that leads to a fragment of the page."""
        first, rest = self.split("/", 2)[1:]
        return f"/{first}/at/{quote(fragment, safe='')}/{rest}"


#: Gets an absolute http or https address without fragment, and returns the address to write.
Place = Callable[[str, Use], str | None]

#: Addresses longer than this are left out, except those that hold their content.
MAX_ADDRESS = 8192

_SCHEMES = frozenset({"http", "https"})
_DATA = {
    # As an image, SVG runs no scripts and loads nothing.
    Use.IMAGE: re.compile(
        r"data:image/(?:png|gif|jpe?g|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|svg\+xml)[;,]",
        re.ASCII | re.IGNORECASE,
    ),
    Use.FONT: re.compile(
        r"data:(?:font/[a-z0-9+-]+|application/(?:x-)?font[a-z0-9-]*"
        r"|application/vnd\.ms-fontobject|application/octet-stream)[;,]",
        re.ASCII | re.IGNORECASE,
    ),
}
#: Scheme and host in the form in which they are joined with a path.
_ORIGIN = re.compile(r"(https?://[a-z0-9.-]{1,250}(?::[0-9]{1,5})?)/")
_LONGEST_ORIGIN = 300
#: A path from the root that joining leaves as it is: no part of it begins with a dot.
_PATH = re.compile(r"/(?:[A-Za-z0-9_~%-][A-Za-z0-9_.~%-]*(?:/(?=[A-Za-z0-9_~%-])|/?$))*")
_FRAGMENT = re.compile(r"[^\s\"'<>\\()&\x00-\x1f]{1,1000}")


@dataclass(frozen=True, slots=True)
class Places:
    """Resolves the addresses of one document and places them.

    Attributes:
        url: the address of the document.
        base: the address that others are relative to.
        place: the function of the caller.
    """

    url: str
    base: str
    place: Place
    _known: dict[tuple[str, Use], str | None] = field(default_factory=dict, repr=False)
    _origin: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Note the scheme and host of the base, if they are plain ones."""
        found = _ORIGIN.match(self.base)
        object.__setattr__(self, "_origin", found[1] if found is not None else "")

    def find(self, address: str, use: Use) -> str | None:
        """Return the address to write; None to leave it out.

        >>> places = Places("https://a.example/b", "https://a.example/b", lambda url, use: "/x")
        >>> places.find("c.png#d", Use.IMAGE), places.find("#top", Use.LINK)
        ('/x#d', '#top')
        >>> places.find("javascript:alert(1)", Use.LINK)
        """
        key = address, use  # menus repeat their links
        if key not in self._known:
            self._known[key] = self._find(address, use)
        return self._known[key]

    def _find(self, address: str, use: Use) -> str | None:
        trimmed = address.strip()
        if trimmed[:5].lower() == "data:":
            pattern = _DATA.get(use)
            return trimmed if pattern is not None and pattern.match(trimmed) else None
        if (
            self._origin
            and len(trimmed) <= MAX_ADDRESS - _LONGEST_ORIGIN
            and _PATH.fullmatch(trimmed)
        ):
            # Most addresses of most pages: five times as fast as parsing them.
            return self.place(self._origin + trimmed, use)
        try:
            bare, fragment = urldefrag(resolve(self.base, address.replace("\\", "/")))
            is_web = urlsplit(bare).scheme.lower() in _SCHEMES and len(bare) <= MAX_ADDRESS
        except ValueError:  # unbalanced brackets and the like
            return None
        written = f"#{fragment}" if _FRAGMENT.fullmatch(fragment) else ""
        if use is Use.LINK and written and (not bare or bare == urldefrag(self.url)[0]):
            return written
        placed = self.place(bare, use) if is_web else None
        if isinstance(placed, Detour) and written:
            return placed.at(fragment)
        return None if placed is None else placed + written

r"""The style sheets of a page in a redline, with their images and fonts, which load nothing.

The kernel that sanitises style sheets drops every ``url()`` and every ``@font-face``. So images that
are at hand get a name before it: ``url(x.png)`` becomes ``var(--quire-image-3)``, and a style sheet of
ours says which image that is, once for all its uses. Rules for fonts are read here and written anew
from a few allowed descriptors. Addresses are read by ``safe_css``, as for pages that are replayed.

An image or font of the page inside a style sheet (``data:``) counts as one that is at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from quire.viewing import Looks, Place, Use, safe_css

#: Characters of all images in style sheets, and of all fonts.
MOST_IMAGES = 3_000_000
MOST_FONTS = 3_000_000
#: Style sheets inside style sheets: how deep, and how many in all.
MOST_DEPTH = 3
MOST_IMPORTS = 48
#: Rules for fonts; large sites have hundreds, one for each script and weight.
MOST_FACES = 400

_CAN_LOAD = re.compile(r"url|@import|@font-face|\\", re.IGNORECASE)
# As ``safe_css`` writes addresses.
_URL = re.compile(r'url\("((?:[^"\\]|\\.)*+)"\)')
_NAMED = re.compile(r"quire-(?:image|font)-(\d+):(?:#.*)?", re.DOTALL)
_FACE = re.compile(r"@font-face[ \t\n]*+\{([^{}]*+)\}", re.IGNORECASE)
_DESCRIPTOR = re.compile(
    r"""(?<![a-zA-Z-])([a-zA-Z-]++)[ \t\n]*+:((?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[^;"'])*+)"""
)
_FAMILY = re.compile(r"""["']?([\w .,+-]{1,100})["']?""")
_PLAIN = re.compile(r"[\w .,%+?-]{1,4000}", re.ASCII)
_COPIED = ("font-style", "font-weight", "font-stretch", "unicode-range", "size-adjust")
_DATA_IMAGE, _DATA = "data:image/", "data:"


class PageStyles:
    """The style sheets of a page, one after the other, and the images and fonts that they use.

    Args:
        looks: gives style sheets, images and fonts by their addresses.
    """

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._images: dict[str, int] = {}
        self._fonts: dict[str, int] = {}
        self._imports_left = MOST_IMPORTS
        self._faces: dict[str, None] = {}
        self._image_length = 0
        self._font_length = 0

    def prepared(self, css: str, url: str | None, depth: int = 0) -> str:
        r"""Return a style sheet, or a ``style`` attribute, in which images at hand have names.

        >>> from quire.viewing import Embedded
        >>> styles = PageStyles(Embedded(images={"https://a.example/b.png": "data:image/png,x"}))
        >>> styles.prepared("p{background:url(b.png) red}", "https://a.example/")
        'p{background:var(--quire-image-1) red}'
        >>> styles.own
        ':root{--quire-image-1:url("data:image/png,x")}\n'

        Args:
            css: the text.
            url: the address that others in it are relative to.
            depth: how many style sheets name this one.
        """
        if not _CAN_LOAD.search(css):
            return css
        imports: list[str] = []
        placed = safe_css(css, url=url or "", place=self._place(imports))
        self._read_faces(placed)
        parts = []
        for address in dict.fromkeys(imports) if depth < MOST_DEPTH else ():
            self._imports_left -= 1
            inner = self._looks.sheet(address) if self._imports_left >= 0 else None
            if inner is not None:
                parts.append(self.prepared(inner.text, inner.url, depth + 1))
        return "\n".join([*parts, _URL.sub(self._named, placed)])

    @property
    def own(self) -> str:
        """The style sheet of ours: the images that the others name, and the fonts."""
        images = "".join(
            f"--quire-image-{number}:{written};" for written, number in self._images.items()
        )
        rule = f":root{{{images.rstrip(';')}}}\n" if images else ""
        return rule + "".join(self._faces)

    def _place(self, imports: list[str]) -> Place:
        find: dict[Use, Callable[[str], str | None]] = {
            Use.IMAGE: self._image,
            Use.FONT: self._font,
        }

        def place(url: str, use: Use) -> str | None:
            if use is Use.STYLE:
                imports.append(url)
            return find[use](url) if use in find else None

        return place

    def _image(self, url: str) -> str | None:
        data = self._looks.image(url)
        number = None if data is None else self._number(f'url("{data}")')
        return None if number is None else f"quire-image-{number}:"

    def _number(self, written: str) -> int | None:
        """Return the number of an image; None if there are too many."""
        if written not in self._images:
            if self._image_length + len(written) > MOST_IMAGES:
                return None
            self._image_length += len(written)
            self._images[written] = len(self._images) + 1
        return self._images[written]

    def _font(self, url: str) -> str:
        # A rule names a font in several formats; only the one that is written is read.
        return f"quire-font-{self._fonts.setdefault(url, len(self._fonts))}:"

    def _named(self, found: re.Match[str]) -> str:
        address = found.group(1)
        known = _NAMED.fullmatch(address)
        if known is not None:
            return f"var(--quire-image-{known.group(1)})"
        number = self._number(found.group()) if address.startswith(_DATA_IMAGE) else None
        # The kernel drops the declaration if the address stays.
        return found.group() if number is None else f"var(--quire-image-{number})"

    def _read_faces(self, placed: str) -> None:
        """Read the rules for fonts, and write those whose font is at hand."""
        for found in _FACE.finditer(placed):
            said = {
                name.lower(): value.replace("/**/", " ").strip()
                for name, value in _DESCRIPTOR.findall(found.group(1))
            }
            family = _FAMILY.fullmatch(said.get("font-family", ""))
            source = self._source(said.get("src", ""))
            if family is None or source is None or len(self._faces) >= MOST_FACES:
                continue
            copied = "".join(
                f"{name}:{said[name]};" for name in _COPIED if _PLAIN.fullmatch(said.get(name, ""))
            )
            name = family.group(1).strip()
            self._faces[f'@font-face{{font-family:"{name}";{copied}src:{source}}}\n'] = None

    def _source(self, src: str) -> str | None:
        """Return the first font of a rule that is at hand."""
        urls = list(self._fonts) if "quire-font-" in src else []
        for found in _URL.finditer(src):
            known = _NAMED.fullmatch(found.group(1))
            data = None if known is None else self._looks.font(urls[int(known.group(1))])
            if data is None and not found.group(1).startswith(_DATA):
                continue
            written = found.group() if data is None else f'url("{data}")'
            if self._font_length + len(written) <= MOST_FONTS:
                self._font_length += len(written)
                return written
        return None

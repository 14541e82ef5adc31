"""Replay: a capture as an answer that a browser shows as it was, and that can do nothing else.

Pages go through ``quire.viewing``, and their policy puts them into a sandbox without scripts, forms
and cookies. Images, style sheets and fonts come from the archive. Whatever the capture says about its
type, an answer is only ever one of the types here, and browsers do not guess another.

The banner is in a shadow tree: styles of the page do not reach it, and its own ``!important`` wins.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Literal
from urllib.parse import urljoin

from starlette.responses import RedirectResponse, Response

from quire.archive import StoredPage
from quire.archive.browsing import Library, timestamp
from quire.digest import encode
from quire.display import escape, printable, shorten
from quire.errors import PageNotFound, SourceUnreadable
from quire.viewing import Detour, Layout, Use, lacks_styles, safe_css, safe_page
from quire.web.archives.addresses import MARKS, Asked, Mark, in_path, in_query

#: Nothing leaves: everything that loads comes from this server, without scripts.
POLICY = (
    "sandbox; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; media-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'"
)
_NOTHING = "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
#: Longer pages are offered as a file.
LARGEST_PAGE = 20 * 2**20

_HTML = frozenset({"text/html", "application/xhtml+xml", ""})
_IMAGES = re.compile(
    r"image/(?:png|gif|jpeg|jpg|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|svg\+xml|tiff)", re.ASCII
)
_OTHERS = re.compile(
    r"(?:font/[a-z0-9+.-]+|application/(?:x-)?font[a-z0-9-]*|application/vnd\.ms-fontobject"
    r"|audio/[a-z0-9+.-]+|video/[a-z0-9+.-]+)",
    re.ASCII,
)
_TEXTS = re.compile(
    r"text/[a-z0-9.+-]+|application/(?:[a-z0-9.+-]*(?:json|xml|javascript))", re.ASCII
)
# Character sets of the web; Python knows others that no browser does.
_SETS = (
    r"(?:utf-?(?:8|16)|iso-?8859|windows-|cp12|latin|us-ascii|gb|big5|shift|euc|koi8)[\w:-]{0,20}"
)
_CHARSET = re.compile(rf"charset\s*=\s*[\"']?({_SETS})", re.ASCII | re.IGNORECASE)
_CSS_CHARSET = re.compile(rf'@charset "({_SETS})";'.encode(), re.IGNORECASE)
_BODY = re.compile(rb"<body[^>]*>")
_END = b"</body></html>"
_SPACE = b'<div style="display:block;height:5rem;clear:both"></div>'
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Replay:
    """Answers with captures.

    Attributes:
        library: the archives.
        key: the pass for addresses of images, style sheets and frames.
        has_detour: whether links lead over a detour that gets the cookies back.
        is_inside: whether the request comes from a frame of a replayed page. Its links stay in it.
    """

    library: Library
    key: str
    has_detour: bool
    is_inside: bool = False

    def answer(self, asked: Asked) -> Response:
        """Return the capture nearest to the time that was asked for.

        Args:
            asked: the capture.

        Raises:
            PageNotFound: there is none.
            QuireError: it cannot be read.
        """
        page = self.library.nearest(asked.url, asked.time)
        location = page.header("location")
        if page.status in _REDIRECTS and location and asked.mark is not Mark.RAW:
            return self._redirect(page, location, asked)
        return _ANSWERS[asked.mark](self, page)

    # ------------------------------------------------------------ addresses

    def link(self, url: str, time: datetime) -> str:
        """Return the address of a page of the archive."""
        path = f"{timestamp(time)}/{in_path(url)}"
        if self.is_inside:
            return f"/replay/{self.key}/{timestamp(time)}{Mark.FRAME.value}/{in_path(url)}"
        return Detour(f"/go/web/{path}") if self.has_detour else f"/web/{path}"

    def resource(self, url: str, time: datetime, mark: Mark) -> str:
        """Return the address of something that a page loads."""
        return f"/replay/{self.key}/{timestamp(time)}{mark.value}/{in_path(url)}"

    def _place(self, time: datetime) -> Callable[[str, Use], str | None]:
        def place(url: str, use: Use) -> str | None:
            if use is Use.LINK:
                return self.link(url, time)
            # An image without an address leaves its text, a frame without one no blank box.
            return self.resource(url, time, MARKS[use]) if self.library.has(url) else None

        return place

    # ------------------------------------------------------------ answers

    def _redirect(self, page: StoredPage, location: str, asked: Asked) -> Response:
        target = urljoin(page.url, location.strip())
        is_web = re.match(r"https?://", target, re.IGNORECASE)
        # A redirect to another spelling that was not captured would lead here again and again.
        if not is_web or target in {asked.url, page.url}:
            raise PageNotFound(f"{target}: not in this archive", url=target)
        if asked.mark is Mark.PAGE:
            there = self.link(target, page.time).replace("/go/web/", "/web/")
        else:
            there = self.resource(target, page.time, asked.mark)
        return RedirectResponse(there, 302, headers=_headers(page, _NOTHING))

    def page(self, page: StoredPage) -> Response:
        """Answer with a page, an image or a text, for a window of its own."""
        if _type(page) in _HTML:
            return self._html(page, with_banner=not self.is_inside)
        if _IMAGES.fullmatch(_type(page)):
            return _typed(page, _IMAGES)
        if _TEXTS.fullmatch(_type(page)):
            text = _text(page.content(), page.content_type or "")
            return Response(
                text.encode("utf-8", "replace"),
                media_type="text/plain; charset=utf-8",
                headers=_headers(page, _NOTHING),
            )
        return self.raw(page)

    def frame(self, page: StoredPage) -> Response:
        """Answer with the content of a frame, whose links stay in it."""
        if _type(page) in _HTML:
            return self._html(page, with_banner=False)
        return self.page(page)

    def style(self, page: StoredPage) -> Response:
        """Answer with a style sheet."""
        css = safe_css(
            _text(page.content(), page.content_type or "", is_css=True),
            url=page.url,
            place=self._place(page.time),
        )
        return Response(
            css.encode("utf-8", "replace"),
            media_type="text/css; charset=utf-8",
            headers=_headers(page, _NOTHING),
        )

    def image(self, page: StoredPage) -> Response:
        """Answer with an image."""
        return _typed(page, _IMAGES)

    def other(self, page: StoredPage) -> Response:
        """Answer with a font, a sound or a film."""
        return _typed(page, _OTHERS)

    def raw(self, page: StoredPage) -> Response:
        """Answer with the bytes as a file that browsers store and never show."""
        try:
            data = page.content()
        except SourceUnreadable:
            data = page.body
        headers = {"Content-Disposition": 'attachment; filename="capture"'}
        said = page.content_type or ""
        if said.isascii() and said.isprintable():
            headers["X-Archive-Orig-Content-Type"] = said
        return Response(
            data,
            media_type="application/octet-stream",
            headers={**_headers(page, _NOTHING), **headers},
        )

    def _html(self, page: StoredPage, *, with_banner: bool) -> Response:
        # Files and old crawls do not say what they are.
        kind: Literal["html"] | None = "html" if _type(page) else None
        content = page.content()
        if len(content) > LARGEST_PAGE:
            return self.raw(page)
        digest = encode(content, kind=kind, content_type=page.content_type, recover=True)
        if digest.kind == "bytes":
            return self.raw(page)
        place = self._place(page.time)
        bare = lacks_styles(digest, url=page.url, place=place)
        layout = Layout.READING if bare else Layout.PAGE
        data = safe_page(digest, url=page.url, place=place, layout=layout)
        if with_banner:
            banner = self._banner(page, is_bare=bare).encode("utf-8", "replace")
            data = _BODY.sub(lambda found: found.group() + banner, data, count=1)
            # The banner must not cover the end of the page.
            data = data.removesuffix(_END) + _SPACE + _END if data.endswith(_END) else data
        return Response(data, media_type="text/html; charset=utf-8", headers=_headers(page, POLICY))

    def _banner(self, page: StoredPage, *, is_bare: bool) -> str:
        detour = "/go" if self.has_detour else ""
        captures = f"{detour}/archives/address?url={in_query(page.url)}"
        raw = f"/replay/{self.key}/{timestamp(page.time)}{Mark.RAW.value}/{in_path(page.url)}"
        when = page.time.strftime("%Y-%m-%d %H:%M:%S UTC")
        note = " Its style sheets are not in the archive." if is_bare else ""
        shown = escape(printable(shorten(page.url, 90)))
        return (
            f'<quire-banner><template shadowrootmode="closed"><style>{_BANNER}</style>'
            f'<div class="bar"><span><b>Archived {when}</b><span class="url"> {shown}</span>'
            f'{note}</span><span class="links"><a href="{escape(captures)}">All captures</a> '
            f'<a href="{escape(raw)}">Stored bytes</a></span></div></template></quire-banner>'
        )


_BANNER = (
    ":host{all:initial!important;display:block!important;position:fixed!important;"
    "inset:auto 0 0 0!important;z-index:2147483647!important}"
    ".bar{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;justify-content:space-between;"
    "background:#1d1d1b;color:#f4f2ec;font:14px/1.5 system-ui,sans-serif;padding:.4rem 1rem;"
    "border-top:2px solid #8ec4ea;overflow-wrap:anywhere}"
    ".url{color:#c4c1b8}.links{display:flex;gap:1rem}a{color:#8ec4ea}"
    "@media(max-width:40rem){.url{display:none}}@media print{.bar{display:none}}"
)

_ANSWERS: dict[Mark, Callable[[Replay, StoredPage], Response]] = {
    Mark.PAGE: Replay.page,
    Mark.FRAME: Replay.frame,
    Mark.STYLE: Replay.style,
    Mark.IMAGE: Replay.image,
    Mark.OTHER: Replay.other,
    Mark.RAW: Replay.raw,
}


def missing() -> Response:
    """Answer for an image or style sheet that is not in the archive."""
    return Response(
        b"not in this archive\n",
        404,
        media_type="text/plain; charset=utf-8",
        headers={**_OPEN, "Content-Security-Policy": _NOTHING},
    )


# A page in a sandbox belongs to no site, so nothing of ours is of its own site. The pass in the
# address keeps others away.
_OPEN = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cross-Origin-Opener-Policy": "unsafe-none",
    "X-Frame-Options": "ALLOWALL",
    "Cache-Control": "private, max-age=600",
}


def _headers(page: StoredPage, policy: str) -> dict[str, str]:
    return {
        **_OPEN,
        "Content-Security-Policy": policy,
        "Memento-Datetime": format_datetime(page.time, usegmt=True),
        "Link": f'<{in_path(page.url)}>; rel="original"',
    }


def _type(page: StoredPage) -> str:
    return (page.content_type or "").partition(";")[0].strip().lower()


def _typed(page: StoredPage, allowed: re.Pattern[str]) -> Response:
    kind = _type(page)
    known = kind if allowed.fullmatch(kind) else "application/octet-stream"
    return Response(page.content(), media_type=known, headers=_headers(page, _NOTHING))


def _text(data: bytes, content_type: str, *, is_css: bool = False) -> str:
    """Decode a text as browsers do; unknown character sets are read as UTF-8."""
    said = _CHARSET.search(content_type)
    rule = _CSS_CHARSET.match(data) if is_css else None
    name = said.group(1) if said else (rule.group(1).decode() if rule else "utf-8")
    if data.startswith(codecs.BOM_UTF8):
        name = "utf-8-sig"
    try:
        return data.decode(name, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")

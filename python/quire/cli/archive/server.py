"""The web server of ``quire archive serve``: shows an archive in a browser on this machine.

Stored pages are hostile: they may try to run scripts, to reach the network, or to read other
pages served here. So each page is sent with a Content-Security-Policy that sandboxes it: no
scripts, forms or cookies, and nothing is loaded. Our own lists are sent with a policy that
loads nothing, and everything in them that comes from a page is escaped.

The server answers only requests for a host name of this machine. Otherwise a site could point
its own name at 127.0.0.1 and read the archive through a visitor's browser. The server cannot
change anything.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, quote, urlsplit

from quire.archive import Archive, StoredPage
from quire.display import escape, format_bytes, format_time
from quire.errors import ArchiveError, PageNotFound, SourceUnreadable
from quire.sources.capture import parse_time

#: Number of addresses on one list.
MOST_LISTED = 500

_LOOPBACK = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}(;[\x20-\x7e]{0,200})?")
_PAGE_POLICY = "sandbox; default-src 'none'"
_LIST_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"
_STYLE = (
    "body{font:1em/1.4 sans-serif;margin:2em;overflow-wrap:anywhere}"
    "td{padding-right:1.5em;white-space:nowrap}td.u{white-space:normal}"
)


class ArchiveServer(ThreadingHTTPServer):
    """Serve an archive on this machine.

    Args:
        archive: An archive open for reading.
        port: Port to listen on; 0 picks a free one.
    """

    daemon_threads = True

    def __init__(self, archive: Archive, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.archive = archive
        self._urls: list[str] | None = None
        self._lock = Lock()

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Report an error, unless the visitor only hung up or said nothing for too long."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type] # passed on

    def urls(self) -> list[str]:
        """List all addresses, sorted. They are collected once."""
        with self._lock:
            if self._urls is None:
                self._urls = sorted({page.url for page in self.archive.pages()})
            return self._urls


class _Handler(BaseHTTPRequestHandler):
    server: ArchiveServer
    timeout = 30  # seconds for which a silent client may hold a thread
    server_version = "quire"
    sys_version = ""

    def do_GET(self) -> None:
        if not _LOOPBACK.fullmatch(self.headers.get("Host", "")):
            self._text(HTTPStatus.FORBIDDEN, "only requests to this machine are answered")
            return
        try:
            asked = urlsplit(self.path)
            fields = parse_qs(asked.query, max_num_fields=10, errors="surrogateescape")
        except ValueError:
            self._text(HTTPStatus.BAD_REQUEST, "not an address of this server")
            return
        given = {name: values[-1] for name, values in fields.items()}
        try:
            self._answer(asked.path, given)
        except PageNotFound as error:
            # The message of the error has the path of the archive, which a visitor need not know.
            self._text(HTTPStatus.NOT_FOUND, f"{error.url}: no such page or version here")
        except (ArchiveError, SourceUnreadable) as error:
            message = str(error).replace(str(self.server.archive.folder), "the archive")
            self._text(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    do_HEAD = do_GET  # noqa: N815 - the name the library calls

    def _answer(self, path: str, given: dict[str, str]) -> None:
        archive = self.server.archive
        url, time = given.get("url", ""), parse_time(given.get("time", ""))
        if path == "/":
            self._list(_index(self.server.urls(), given.get("prefix", ""), given.get("after", "")))
        elif path == "/versions":
            self._list(_versions(archive, url))
        elif path == "/page":
            self._page(archive.get(url, time), is_raw=False)
        elif path == "/raw":
            self._page(archive.get(url, time), is_raw=True)
        else:
            self._text(HTTPStatus.NOT_FOUND, "nothing here; / lists the pages")

    def _page(self, page: StoredPage, *, is_raw: bool) -> None:
        kind = page.content_type or "text/html"
        if is_raw or not _TYPE.fullmatch(kind):
            kind = "application/octet-stream"
        self._send(HTTPStatus.OK, kind, page.body if is_raw else page.content(), _PAGE_POLICY)

    def _list(self, html: str) -> None:
        data = html.encode("utf-8", "replace")
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", data, _LIST_POLICY)

    def _text(self, status: HTTPStatus, text: str) -> None:
        data = (text + "\n").encode("utf-8", "replace")
        self._send(status, "text/plain; charset=utf-8", data, _PAGE_POLICY)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send errors as plain text; the library would send HTML."""
        del explain
        self.close_connection = True
        self._text(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def _send(self, status: HTTPStatus, kind: str, data: bytes, policy: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Log nothing, so that no record of the pages looked at is left."""


def _frame(title: str, body: str) -> str:
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>"
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>{body}"
    )


def _index(urls: Sequence[str], prefix: str, after: str) -> str:
    """List the addresses that start with the prefix, from ``after`` on."""
    start = bisect_left(urls, max(prefix, after))
    rows: list[str] = []
    more = ""
    for url in urls[start : start + MOST_LISTED + 1]:
        if not url.startswith(prefix):
            break
        if len(rows) == MOST_LISTED:
            place = f"/?prefix={_quoted(prefix)}&after={_quoted(url)}"
            more = f'<p><a href="{escape(place)}">more</a>'
            break
        rows.append(f'<li><a href="{escape("/versions?url=" + _quoted(url))}">{escape(url)}</a>')
    form = (
        f'<form action="/"><input name=prefix size=60 value="{escape(prefix)}" '
        'aria-label="address begins with"> <button>find</button></form>'
    )
    return _frame("Pages of this archive", f"{form}<ul>{''.join(rows)}</ul>{more}")


def _versions(archive: Archive, url: str) -> str:
    """List the versions of a page, newest first."""
    found = archive.versions(url)
    if not found:
        archive.get(url)  # raises PageNotFound
    rows = []
    for version in reversed(found):
        where = f"url={_quoted(url)}&time={_quoted(_exact(version.time))}"
        rows.append(
            f'<tr><td><a href="{escape("/page?" + where)}">{escape(format_time(version.time))}</a>'
            f"<td>{version.status or ''}<td>{escape(format_bytes(version.length))}"
            f"<td class=u>{escape(version.content_type or '')}"
            f'<td><a href="{escape("/raw?" + where)}">bytes as stored</a>'
        )
    return _frame(url, f'<p><a href="/">all pages</a><table>{"".join(rows)}</table>')


def _exact(time: datetime) -> str:
    return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogateescape")

"""Requests and responses: what to fetch, and what came back.

Both are plain values. A request checks itself when it is made, so that forms, files and APIs that
make requests share the check.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.limits import Limits
from quire.sources.gate.secret import Secret
from quire.sources.gate.urls import WebAddress, parse

Method = Literal["GET", "HEAD", "POST", "PUT"]

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BAD_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Fields that describe the connection or the message. With them, a user could make the gate send a
# second request inside the first, or ask another host than the checked one.
_OURS = frozenset(
    {
        "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
# Fields that are also sent to other hosts after a redirect. All others could be credentials.
HARMLESS = frozenset({"accept", "accept-language", "cache-control", "dnt", "pragma", "user-agent"})


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy of the operator, which may be on a private network.

    Attributes:
        url: its address, such as ``http://proxy.example:3128``. A user name and a password in it
            are sent to the proxy.
        resolves: whether names are left to the proxy, for networks in which only the proxy can
            resolve them. The gate then only checks hosts that are IP addresses, so the proxy has to
            refuse private networks itself.
    """

    url: str = field(repr=False)
    resolves: bool = False

    def __post_init__(self) -> None:
        parse(self.url)

    @property
    def address(self) -> WebAddress:
        """The address of the proxy."""
        return parse(self.url)


@dataclass(frozen=True, slots=True)
class Request:
    """A request for one page.

    Attributes:
        url: the page.
        method: GET, HEAD, POST or PUT. Redirects are followed for GET and HEAD only.
        headers: header fields to send. Fields other than Accept, Accept-Language and a few more are
            only sent to the origin of ``url``. Use ``Secret`` for values that logs must not show.
        cookies: cookies to send to the origin of ``url``.
        user: user name for basic authentication; also taken from the address.
        password: password for basic authentication; also taken from the address.
        body: body of a POST or PUT request.
        etag: ETag of the version that the caller has; an unchanged page is not sent again.
        last_modified: Last-Modified of the version that the caller has.
        verify_tls: whether the certificate of the host must be valid.
        obey_robots: whether to ask the robots.txt of the site first.
        proxy: proxy to use instead of the gate's.
        limits: limits to use instead of the gate's.
    """

    url: str
    method: Method = "GET"
    headers: Mapping[str, str | Secret] = field(default_factory=dict)
    cookies: Mapping[str, str | Secret] = field(default_factory=dict)
    user: str | None = None
    password: Secret | None = None
    body: bytes | None = field(default=None, repr=False)
    etag: str | None = None
    last_modified: str | None = None
    verify_tls: bool = True
    obey_robots: bool = True
    proxy: Proxy | None = None
    limits: Limits | None = None

    def __post_init__(self) -> None:
        parse(self.url)
        for name, value in self.headers.items():
            _check_field(self.url, name, value)
        for name, value in self.cookies.items():
            _check_field(self.url, name, value, what="cookie", forbidden=";,")
        for name, validator in (("etag", self.etag), ("last_modified", self.last_modified)):
            if validator is not None:
                _check_field(self.url, name, validator)
        if self.user is not None and ":" in self.user:
            raise _bad_request(self.url, "a user name with a colon in it")

    def __repr__(self) -> str:
        address = self.address
        return f"Request({address.key!r}, method={self.method!r})"

    @property
    def address(self) -> WebAddress:
        """The parsed address."""
        return parse(self.url)

    def private_fields(self) -> dict[str, str]:
        """Return the header fields for the origin of the request only, credentials included."""
        fields = {
            name: _shown(value)
            for name, value in self.headers.items()
            if name.lower() not in HARMLESS
        }
        if self.cookies:
            fields["Cookie"] = "; ".join(
                f"{name}={_shown(value)}" for name, value in self.cookies.items()
            )
        address = self.address
        user, password = self.user, self.password
        if user is None:
            user, password = address.user, address.password
        if user is not None:
            text = f"{user}:{'' if password is None else password.reveal()}"
            fields["Authorization"] = "Basic " + base64.b64encode(text.encode()).decode("ascii")
        return fields

    def public_fields(self) -> dict[str, str]:
        """Return the header fields for every host of a chain of redirects."""
        fields = {
            name: _shown(value) for name, value in self.headers.items() if name.lower() in HARMLESS
        }
        if self.etag is not None:
            fields["If-None-Match"] = self.etag
        if self.last_modified is not None:
            fields["If-Modified-Since"] = self.last_modified
        return fields


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect: the address that answered with it, and its status."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request, decoded.

    Attributes:
        url: the address that answered, after redirects.
        status: the status of the answer; 304 if the page is the version that the caller has.
        fields: header fields in the order in which they came.
        body: the decoded body.
        wire_bytes: length of the body as it was sent.
        elapsed_s: time from the first connection to the last byte, in seconds.
        hops: the redirects on the way.
    """

    url: str
    status: int
    fields: Sequence[tuple[bytes, bytes]] = field(repr=False)
    body: bytes = field(repr=False)
    wire_bytes: int = 0
    elapsed_s: float = 0.0
    hops: tuple[Hop, ...] = ()

    def header(self, name: str) -> str | None:
        """Return the first value of a header field, or None.

        >>> Response("http://a.example/", 200, [(b"ETag", b'"1"')], b"").header("etag")
        '"1"'
        """
        wanted = name.lower().encode("ascii")
        for found, value in self.fields:
            if found.lower() == wanted:
                return value.decode("utf-8", "replace").strip()
        return None

    @property
    def is_unchanged(self) -> bool:
        """Whether the server says that the page is the version that the caller has."""
        return self.status == 304  # noqa: PLR2004 - Not Modified

    @property
    def etag(self) -> str | None:
        """The ETag, for the next request."""
        return self.header("etag")

    @property
    def last_modified(self) -> str | None:
        """The Last-Modified date, for the next request."""
        return self.header("last-modified")

    @property
    def content_type(self) -> str | None:
        """The Content-Type."""
        return self.header("content-type")

    def checked(self) -> Response:
        """Return the response if its status is a success or 304.

        Raises:
            FetchFailed: the status is an error; cause ``HTTP_STATUS``.
        """
        if 200 <= self.status < 300 or self.is_unchanged:  # noqa: PLR2004 - success
            return self
        raise FetchFailed(
            f"{self.url}: the server answered with status {self.status}; expected 200",
            url=self.url,
            cause=FetchCause.HTTP_STATUS,
            status=self.status,
        )


def _shown(value: str | Secret) -> str:
    return value.reveal() if isinstance(value, Secret) else value


def _check_field(
    url: str, name: str, value: str | Secret, *, what: str = "header field", forbidden: str = ""
) -> None:
    if not _TOKEN.fullmatch(name):
        raise _bad_request(url, f"{name[:40]!r}, which is not the name of a {what}")
    if what != "cookie" and name.lower() in _OURS:
        raise _bad_request(url, f"the {what} {name}, which only the gate may set")
    text = _shown(value)
    # The value may be a secret, so the message does not quote it.
    if _BAD_VALUE.search(text) or any(mark in text for mark in forbidden):
        raise _bad_request(url, f"a {what} {name} with a character that is not allowed in it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _bad_request(url, f"a {what} {name} that cannot be encoded") from None


def _bad_request(url: str, finding: str) -> FetchFailed:
    key = parse(url).key
    return FetchFailed(f"{key}: the request has {finding}", url=key, cause=FetchCause.BAD_URL)

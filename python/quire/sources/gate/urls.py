"""Web addresses: one parser for the check and for the fetch.

``parse`` returns a ``WebAddress``, whose parts are checked here and handed to the HTTP client as
they are. The client never sees the text, so the two cannot disagree about the host.

Parsers of the web disagree about backslashes, tabs, several ``@``, percent signs in hosts, and IPv4
addresses such as ``127.1`` or ``0x7f000001``. Such addresses are refused instead of guessed. What
people do type is accepted: spaces at both ends, upper case, letters of any script, and spaces and
other characters in paths and queries, which are percent-encoded as browsers do.

``WebAddress.key`` is the canonical form: two texts with the same key are the same page.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from dataclasses import dataclass, field

import idna

from quire.display import printable, shorten
from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.addresses import Address
from quire.sources.gate.secret import Secret

SCHEMES = {"http": 80, "https": 443}

# Longer addresses than any server accepts; they only cost memory and log lines.
MOST_CHARACTERS = 16_384

# The ports that the Fetch standard blocks: mail, shells, printers and others, where a request could
# be taken for a command. 0 is not a port.
BLOCKED_PORTS = frozenset(
    {
        0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
        102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389,
        427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
        989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665,
        6666, 6667, 6668, 6669, 6679, 6697, 10080,
    }
)  # fmt: skip

_MOST_SHOWN = 200
_MOST_PORT = 65_535
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_PARTS = re.compile(r"//([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_MOST_NAME = 253
# The rule of the URL standard for "this is meant to be an IPv4 address".
_ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}")
_PORT = re.compile(r"[0-9]{1,5}")
# Percent-encoded as browsers do: RFC 3986 and a few characters that servers are used to.
_NOT_IN_PATH = re.compile(r"[^!$%&'()*+,\-./0-9:;=@A-Z\[\]_a-z~|]")
_NOT_IN_QUERY = re.compile(r"[^!$%&()*+,\-./0-9:;=?@A-Z\[\\\]^_`a-z{|}~]")
_DOT = frozenset({".", "%2e"})
_DOTS = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})


@dataclass(frozen=True, slots=True)
class WebAddress:
    """A checked web address, in parts.

    Attributes:
        scheme: ``http`` or ``https``.
        host: an ASCII name in lower case, or an IP address, without brackets.
        port: the port, also if the text did not name it.
        path: the path, percent-encoded; starts with a slash.
        query: the query, percent-encoded, without its question mark; None if missing or empty.
        fragment: the part behind ``#``; servers do not see it.
        user: user name in the address, if there was one.
        password: password in the address, if there was one.
        literal: the IP address, if the host is one.
        key: the canonical form.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str | None
    fragment: str = field(default="", compare=False)
    user: str | None = field(default=None, repr=False)
    password: Secret | None = field(default=None, repr=False)
    literal: Address | None = field(default=None, repr=False)
    key: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        key = f"{self.scheme}://{self.authority}{self.target}"
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        return self.key

    @property
    def authority(self) -> str:
        """Host and port as in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == SCHEMES[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: the unit that credentials belong to."""
        return (self.scheme, self.host, self.port)

    @property
    def with_fragment(self) -> str:
        """The address for a browser, with its fragment."""
        return f"{self.key}#{self.fragment}" if self.fragment else self.key


def parse(text: str) -> WebAddress:
    """Parse and check a web address.

    >>> parse("HTTP://Example.ORG:80/a/../b?x=1#top").key
    'http://example.org/b?x=1'
    >>> parse("http://127.1/")
    Traceback (most recent call last):
    quire.errors.FetchFailed: http://127.1/: 127.1 is not a host name, and an IPv4 address has four
    decimal numbers, as in 192.0.2.1

    Raises:
        FetchFailed: the address is not one that the gate fetches; cause ``BAD_URL``.
    """
    return _parse(text)


def join(base: WebAddress, reference: str) -> WebAddress:
    """Parse the target of a redirect, which may be relative.

    User names and passwords in it are left out: only a user can give credentials.

    >>> join(parse("https://example.org/a/b?x"), "../c").key
    'https://example.org/c'

    Raises:
        FetchFailed: the target is not an address that the gate fetches; cause ``BAD_REDIRECT``.
    """
    reference = reference.strip(" ")
    if _SCHEME.match(reference):
        text = reference
    elif reference.startswith("//"):
        text = f"{base.scheme}:{reference}"
    else:
        start = f"{base.scheme}://{base.authority}"
        if reference.startswith("/"):
            text = start + reference
        elif reference.startswith("?"):
            text = start + base.path + reference
        elif not reference or reference.startswith("#"):
            text = start + base.target + reference
        else:
            text = start + base.path[: base.path.rindex("/") + 1] + reference
    try:
        found = _parse(text)
    except FetchFailed as error:
        raise FetchFailed(
            f"{base.key}: redirects to an address that is not fetched: {error}",
            url=base.key,
            cause=FetchCause.BAD_REDIRECT,
        ) from None
    if found.user is None:
        return found
    return WebAddress(
        found.scheme, found.host, found.port, found.path, found.query, found.fragment,
        literal=found.literal,
    )  # fmt: skip


@functools.lru_cache(maxsize=8192)
def _parse(given: str) -> WebAddress:
    text = given.strip(" ")
    if len(text) > MOST_CHARACTERS:
        raise _bad(text, f"{len(text):,} characters; expected at most {MOST_CHARACTERS:,}")
    if _CONTROL.search(text):
        raise _bad(text, "has a control character, such as a tab or a line break")
    scheme = _SCHEME.match(text)
    if scheme is None:
        raise _bad(text, "not a web address; expected http:// or https://")
    name = scheme[1].lower()
    if name not in SCHEMES:
        raise _bad(text, f"scheme {name!r}; expected http or https")
    parts = _PARTS.fullmatch(text, scheme.end())
    if parts is None:
        raise _bad(text, f"expected // behind {name}:")
    authority, path, query, fragment = parts.groups()
    if "\\" in authority + path:
        raise _bad(text, "has a backslash, which programs read differently")
    userinfo, at, rest = authority.rpartition("@")
    if "@" in userinfo:
        raise _bad(text, "has several @ before the host")
    host, port = _host_and_port(text, name, rest)
    literal = _literal(text, host)
    if literal is None:
        host = _host_name(text, host)
    user, _, password = userinfo.partition(":")
    return WebAddress(
        scheme=name,
        host=host if literal is None else str(literal),
        port=port,
        path=_path(path),
        query=_quoted(query, _NOT_IN_QUERY) if query else None,
        fragment=_quoted(fragment or "", _NOT_IN_QUERY),
        user=_unquoted(user) if at else None,
        password=Secret(_unquoted(password)) if at else None,
        literal=literal,
    )


def _host_and_port(text: str, scheme: str, rest: str) -> tuple[str, int]:
    if rest.startswith("["):
        host, bracket, after = rest.partition("]")
        host += bracket
        if not bracket or (after and not after.startswith(":")):
            raise _bad(text, "expected ] behind an IPv6 address")
        port = after[1:]
    else:
        host, _, port = rest.partition(":")
    if not host:
        raise _bad(text, "has no host")
    if not port:
        return host, SCHEMES[scheme]
    if not _PORT.fullmatch(port) or int(port) > _MOST_PORT:
        raise _bad(text, f"{shorten(port, 20)!r} is not a port; expected 1 to {_MOST_PORT}")
    if int(port) in BLOCKED_PORTS:
        raise _bad(text, f"port {int(port)} belongs to another protocol and is not fetched")
    return host, int(port)


def _literal(text: str, host: str) -> Address | None:
    if host.startswith("["):
        if "%" in host:
            raise _bad(text, "has a zone in its IPv6 address")
        try:
            return ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            raise _bad(text, f"{host} is not an IPv6 address") from None
    return ipaddress.IPv4Address(host) if _IPV4.fullmatch(host) else None


def _host_name(text: str, host: str) -> str:
    name = host.lower()
    if not host.isascii():
        try:
            name = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            raise _bad(text, f"{shorten(printable(host), 60)} is not a host name") from None
    name = name.removesuffix(".")
    if _ENDS_IN_NUMBER.fullmatch(name):
        raise _bad(
            text,
            f"{shorten(printable(host), 60)} is not a host name, and an IPv4 address has four "
            "decimal numbers, as in 192.0.2.1",
        )
    if len(name) > _MOST_NAME or not _NAME.fullmatch(name):
        raise _bad(text, f"{shorten(printable(host), 60)!r} is not a host name")
    return name


def _path(path: str) -> str:
    path = _quoted(path or "/", _NOT_IN_PATH)
    if "/." not in path and "/%2" not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        low = segment.lower()
        if low in _DOTS:
            del kept[-1:]
        elif low not in _DOT:
            kept.append(segment)
    if segments[-1].lower() in _DOT | _DOTS:
        kept.append("")
    return "/" + "/".join(kept)


def _quoted(text: str, unsafe: re.Pattern[str]) -> str:
    return unsafe.sub(_percent, text) if unsafe.search(text) else text


def _percent(match: re.Match[str]) -> str:
    # Headers are decoded with surrogate escapes: bytes that are not UTF-8 stay as they were.
    try:
        data = match[0].encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = "\N{REPLACEMENT CHARACTER}".encode()
    return "".join(f"%{byte:02X}" for byte in data)


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    data = re.sub(
        rb"%([0-9a-fA-F]{2})",
        lambda found: bytes([int(found[1], 16)]),
        text.encode("utf-8", "replace"),
    )
    return data.decode("utf-8", "replace")


def without_credentials(text: str) -> str:
    """Return a text that may be an address, for messages: printable, short, without passwords.

    >>> without_credentials("http://me:secret@example.org/")
    'http://…@example.org/'
    """
    hidden = re.sub(r"(//)[^/?#]*@", r"\1…@", text)
    return shorten(printable(hidden), _MOST_SHOWN)


def _bad(text: str, finding: str) -> FetchFailed:
    shown = without_credentials(text)
    return FetchFailed(f"{shown}: {finding}", url=shown, cause=FetchCause.BAD_URL)

"""Settings of the web application that the operator chooses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from quire.sentinels.accounts.sessions import Lifetimes

#: Hosts of this machine.
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class OperatorOption:
    """Something that the operator chose when the service was started, for people to see.

    Attributes:
        name: its name, in words.
        value: its value, in words and without secrets.
        source: where it comes from: an option of the command line or a variable.
    """

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """How the application answers.

    Attributes:
        base_url: the address under which people reach the service, such as
            ``https://watch.example.org``; empty for this machine only. With https, cookies are sent
            over https only.
        hosts: further names of the service; requests for other hosts are refused, because a site
            could point its own name at this machine and use a visitor's browser. ``*`` does not
            work.
        max_body_bytes: the longest body of a request.
        max_import_bytes: the longest file that is imported.
        body_s: how long a client may take to send a body.
        sessions: how long sessions last.
        heavy_at_once: comparisons, replays and the like that run at the same time.
        open_metrics: whether ``/metrics`` needs no token for requests from this machine.
    """

    base_url: str = ""
    hosts: tuple[str, ...] = LOOPBACK
    max_body_bytes: int = 1_000_000
    max_import_bytes: int = 20_000_000
    body_s: float = 30.0
    sessions: Lifetimes = field(default_factory=Lifetimes)
    heavy_at_once: int = 4
    open_metrics: bool = True

    def __post_init__(self) -> None:
        if self.base_url:
            split = urlsplit(self.base_url)
            if split.scheme not in ("http", "https") or not split_host(split.netloc):
                raise ValueError(
                    "base_url: expected an address such as https://watch.example.org, "
                    f"found {self.base_url!r}"
                )
            if split.path.strip("/") or split.query or split.fragment:
                raise ValueError("base_url: expected an address without a path")
        for host in self.hosts:
            if not split_host(host):
                raise ValueError(f"hosts: expected names such as watch.example.org, found {host!r}")

    @property
    def is_https(self) -> bool:
        """Whether people reach the service over https."""
        return self.base_url.lower().startswith("https:")

    @property
    def origin(self) -> str:
        """The origin of our own pages, as browsers write it; empty if it is not settled."""
        if not self.base_url:
            return ""
        split = urlsplit(self.base_url)
        default = {"http": 80, "https": 443}[split.scheme]
        host, port = split_host(split.netloc) or ("", None)
        return f"{split.scheme}://{host}" + (f":{port}" if port not in (None, default) else "")

    def allows_host(self, host: str) -> bool:
        """Tell whether a Host header names this service.

        >>> settings = Settings(base_url="https://watch.example.org", hosts=("localhost",))
        >>> [settings.allows_host(name) for name in ("Watch.example.org", "localhost:8000")]
        [True, True]
        >>> [settings.allows_host(name) for name in ("evil.example", "localhost.evil.example", "")]
        [False, False, False]
        """
        found = split_host(host)
        if found is None:
            return False
        known = [*self.hosts, *([urlsplit(self.base_url).netloc] if self.base_url else [])]
        for each in known:
            name, port = split_host(each) or ("", None)
            # A name that is given without a port is allowed with any: ports are not secret.
            if found[0] == name and port in (None, found[1]):
                return True
        return False


def split_host(host: str) -> tuple[str, int | None] | None:
    """Return the name and the port in a Host header; None if it is not valid.

    >>> split_host("Example.org:8000"), split_host("[::1]"), split_host("a b"), split_host("@a")
    (('example.org', 8000), ('[::1]', None), None, None)
    """
    found = _HOST.fullmatch(host)
    if found is None:
        return None
    return found[1].lower(), int(found[2]) if found[2] else None

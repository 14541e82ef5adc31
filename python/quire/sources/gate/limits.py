"""Limits: how much a stranger's server may make the gate do.

Every limit has a name, a default with its reason, and an error that gives the name. A limit is the
largest value that is still accepted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from quire.display import format_bytes
from quire.errors import FetchCause, FetchFailed

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one fetch.

    Attributes:
        header_count: number of header fields. Real answers have 10 to 60.
        header_bytes: all header fields together, and each of them. Large policies take 10 kB.
        wire_bytes: the body as it was sent. Crawlers stop at 1 to 10 MB.
        decoded_bytes: the decoded body. Twice as long as the longest page that people watch.
        ratio: decoded bytes for each sent byte, once the decoded body is longer than 1 MB. Pages
            reach 30, logs and tables 100; gzip can reach 1,032, others far more.
        redirects: number of redirects. Browsers follow 20, but more than 10 are always loops.
        dns_s: time to resolve a name, in seconds.
        connect_s: time to connect, with TLS, in seconds.
        idle_s: time without a single byte, before or inside an answer, in seconds.
        whole_s: time for everything: names, redirects, bodies, in seconds. This limit stops servers
            that send one byte at a time.
        wait_s: time that a request waits for its turn at a host before it gives up, in seconds.
        robots_bytes: length of a robots.txt, decoded. The standard asks for at least 512,000.
    """

    header_count: int = 256
    header_bytes: int = 131_072
    wire_bytes: int = 16 * _MEGABYTE
    decoded_bytes: int = 32 * _MEGABYTE
    ratio: int = 200
    redirects: int = 10
    dns_s: float = 10.0
    connect_s: float = 15.0
    idle_s: float = 20.0
    whole_s: float = 60.0
    wait_s: float = 300.0
    robots_bytes: int = 512_000

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) >= 0:
                raise ValueError(f"{limit.name} is {getattr(self, limit.name)}; expected 0 or more")

    def most_decoded(self, wire_bytes: int) -> tuple[int, str]:
        """Return how long a body may become when it is decoded, and the limit that says so.

        >>> Limits().most_decoded(1_000)
        (1000000, 'ratio')
        >>> Limits().most_decoded(10_000_000)
        (32000000, 'decoded_bytes')
        """
        by_ratio = max(_MEGABYTE, wire_bytes * self.ratio)
        if by_ratio < self.decoded_bytes:
            return by_ratio, "ratio"
        return self.decoded_bytes, "decoded_bytes"


DEFAULT_LIMITS = Limits()


def too_large(url: str, limit: str, most: int, what: str) -> FetchFailed:
    """Make the error for an answer that is longer than a limit in bytes or pieces."""
    size = format_bytes(most) if limit.endswith("bytes") else f"{most:,}"
    return FetchFailed(
        f"{url}: {what}; expected at most {size} (limit {limit})",
        url=url,
        cause=FetchCause.TOO_LARGE,
        limit=limit,
    )


def too_slow(url: str, limit: str, most_s: float, what: str) -> FetchFailed:
    """Make the error for a host that took longer than a limit."""
    return FetchFailed(
        f"{url}: {what} after {most_s:g} s (limit {limit})",
        url=url,
        cause=FetchCause.TIMEOUT,
        limit=limit,
    )

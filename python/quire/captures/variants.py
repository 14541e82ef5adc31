"""Variants: how to tell apart what different users got of the same pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit


@dataclasses.dataclass(frozen=True, slots=True)
class Variants:
    """What tells users apart. Nothing is set by default: all pages are of one user.

    >>> Variants(queries=("user",)).vary, Variants(cookies=("session",)).vary
    ((), ('Cookie',))

    Attributes:
        sources: sources with what other users got, one source for each user.
        queries: query parameters of addresses, such as ``user``.
        cookies: names of cookies in requests.
    """

    sources: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sources or self.queries or self.cookies)

    @property
    def vary(self) -> tuple[str, ...]:
        """The request header that differs between users; none if addresses tell them apart."""
        return () if self.queries and not (self.sources or self.cookies) else ("Cookie",)


def without_query(url: str, names: Sequence[str]) -> tuple[str, str]:
    """Take some query parameters out of an address; give the address and the parameters.

    >>> without_query("https://a.example/fish?user=mary&day=1", ["user"])
    ('https://a.example/fish?day=1', 'user=mary')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, ""
    pairs = parts.query.split("&")
    mine = [pair for pair in pairs if pair.partition("=")[0] in names]
    if not mine:
        return url, ""
    others = [pair for pair in pairs if pair.partition("=")[0] not in names]
    return urlunsplit(parts._replace(query="&".join(others))), "&".join(sorted(mine))

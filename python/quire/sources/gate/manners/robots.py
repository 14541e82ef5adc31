"""Robots: the rules that sites give for programs, in their robots.txt.

One file is fetched for each origin and kept for a day. The rules for missing files are those of RFC
9309: no file means no rules; a server that fails means that nothing may be fetched for now.

The file is a stranger's text, and protego keeps a list of rules for each user agent in it: 20,000
agents followed by 20,000 rules would be 400 million entries. So quire gives all agents that do not
concern it one and the same name before protego sees them.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protego import Protego

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.urls import WebAddress

# RFC 9309: not longer than a day.
KEPT_S = 86_400.0
# A server that fails is asked again soon.
KEPT_AFTER_FAILURE_S = 600.0
_MOST_ORIGINS = 10_000
_AGENT_LINE = re.compile(r"\s*user[-\s]*agent\b\s*:?\s*(.*)", re.IGNORECASE | re.DOTALL)
_OTHER_AGENT = "User-agent: other"
_UNAVAILABLE = 400
_FAILED = 500
_TOO_MANY_REQUESTS = 429

# A robots.txt with these faults counts as missing. All others are faults of the site itself, which
# the page would have too.
_COUNTS_AS_MISSING = frozenset(
    {
        FetchCause.BAD_ENCODING,
        FetchCause.BAD_HTTP,
        FetchCause.BAD_REDIRECT,
        FetchCause.REFUSED_ADDRESS,
        FetchCause.TOO_LARGE,
        FetchCause.TOO_MANY_REDIRECTS,
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one site for one user agent.

    Attributes:
        crawl_delay_s: the pause between requests that the site asks for, in seconds.
        failed_status: the status of a server that failed; nothing may be fetched.
    """

    _parsed: Protego | None
    _agent: str
    crawl_delay_s: float = 0.0
    failed_status: int | None = None

    def allow(self, address: WebAddress) -> bool:
        """Tell whether a page may be fetched."""
        if self.failed_status is not None:
            return False
        return self._parsed is None or self._parsed.can_fetch(address.key, self._agent)


def read_rules(text: str, agent: str) -> Rules:
    r"""Read the rules for an agent from a robots.txt.

    >>> from quire.sources.gate.urls import parse
    >>> rules = read_rules("User-agent: *\nDisallow: /private", "quire")
    >>> rules.allow(parse("http://a.example/")), rules.allow(parse("http://a.example/private/x"))
    (True, False)
    """
    lines = [_renamed(line, agent) for line in text.splitlines()]
    parsed = Protego.parse("\n".join(lines))
    return Rules(parsed, agent, crawl_delay_s=parsed.crawl_delay(agent) or 0.0)


def _renamed(line: str, agent: str) -> str:
    found = _AGENT_LINE.match(line)
    if found is None:
        return line
    named = found[1].partition("#")[0].strip().lower().replace("*", "") or "*"
    return f"User-agent: {named}" if named in ("*", agent.lower()) else _OTHER_AGENT


# Fetches a robots.txt: its status and its text. The status is None if it counts as missing.
FetchText = Callable[[WebAddress], Awaitable[tuple[int, str]]]


class RobotsCache:
    """The rules of all sites, fetched when they are first needed."""

    def __init__(self, agent: str, fetch: FetchText) -> None:
        self._agent = agent
        self._fetch = fetch
        self._known: OrderedDict[tuple[str, str, int], tuple[float, Rules]] = OrderedDict()
        self._pending: dict[tuple[str, str, int], asyncio.Task[Rules]] = {}

    async def rules(self, address: WebAddress) -> Rules:
        """Return the rules of the site of a page.

        Raises:
            FetchFailed: the site cannot be reached; has the cause.
        """
        now = asyncio.get_running_loop().time()
        known = self._known.get(address.origin)
        if known is not None and known[0] > now:
            return known[1]
        pending = self._pending.get(address.origin)
        if pending is None:
            pending = asyncio.create_task(self._read(address))
            self._pending[address.origin] = pending
            pending.add_done_callback(lambda task: self._done(address, task))
        # A caller that is cancelled must not cancel the others.
        return await asyncio.shield(pending)

    def _done(self, address: WebAddress, task: asyncio.Task[Rules]) -> None:
        del self._pending[address.origin]
        if not task.cancelled():
            task.exception()  # asked for, or asyncio reports it when every caller was cancelled

    async def _read(self, address: WebAddress) -> Rules:
        robots = WebAddress(
            address.scheme, address.host, address.port, "/robots.txt", None, literal=address.literal
        )
        kept_s = KEPT_S
        try:
            status, text = await self._fetch(robots)
        except FetchFailed as error:
            if error.cause not in _COUNTS_AS_MISSING:
                raise
            rules = Rules(None, self._agent)
        else:
            if status >= _FAILED or status == _TOO_MANY_REQUESTS:
                rules, kept_s = Rules(None, self._agent, failed_status=status), KEPT_AFTER_FAILURE_S
            elif status >= _UNAVAILABLE:
                rules = Rules(None, self._agent)
            else:
                rules = read_rules(text, self._agent)
        self._known[address.origin] = (asyncio.get_running_loop().time() + kept_s, rules)
        self._known.move_to_end(address.origin)
        if len(self._known) > _MOST_ORIGINS:
            self._known.popitem(last=False)
        return rules


def check(rules: Rules, address: WebAddress) -> None:
    """Refuse a page that the rules of its site do not allow.

    Raises:
        FetchFailed: the page may not be fetched; cause ``ROBOTS``.
    """
    if rules.allow(address):
        return
    if rules.failed_status is not None:
        finding = f"the robots.txt of the site cannot be read (status {rules.failed_status})"
    else:
        finding = "the robots.txt of the site does not allow it"
    raise FetchFailed(
        f"{address.key}: {finding}", url=address.key, cause=FetchCause.ROBOTS,
        status=rules.failed_status,
    )  # fmt: skip

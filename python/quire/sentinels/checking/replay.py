"""Replay: run a watch over the history of a page, before it is installed or after it was edited.

"This would have told you 3 times in May." Every capture is one check, whatever the schedule of the
watch says. Checks are those of the service, with versions in memory instead of a database, so the
answer is the one that the service would have given.

One thing differs: the past cannot be fetched a second time. So noise is learned by history alone,
which never leaves text out. Noise that the service learned on the same page can be given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from quire.digest.page import Digest
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.checking.check import Check
from quire.sentinels.form.watch import Watch
from quire.sentinels.groups.group import Group, Member
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, Shortcuts
from quire.sentinels.notices.event import Event
from quire.sentinels.pages.noise import NOTHING_KNOWN, PageNoise
from quire.sentinels.sentinel import Sentinel
from quire.sentinels.store.claims import ClaimedPage
from quire.sentinels.store.results import NewEvent, PageGroup, PageMember
from quire.sentinels.versions.deltas import StoredVersion, VersionReader
from quire.sentinels.versions.page_reading import read_page


@dataclass(frozen=True, slots=True)
class Capture:
    """One state of a page.

    Attributes:
        time: when it was fetched.
        body: its bytes.
        content_type: its content type, if known.
        status: the status of the response.
    """

    time: datetime
    body: bytes
    content_type: str = ""
    status: int = 200


@dataclass(frozen=True, slots=True)
class Firing:
    """A capture at which the watch would have told you something.

    Attributes:
        time: the time of the capture.
        kind: what it was: ``change`` or ``error``.
        body: what the notice would have said: an event as plain values.
    """

    time: datetime
    kind: str
    body: dict[str, Any]

    @property
    def event(self) -> Event:
        """The event."""
        return Event.from_dict(self.body)


@dataclass(slots=True)
class Replay:
    """What a replay found.

    Attributes:
        captures: the number of captures.
        outcomes: how many captures were the same, changed, blocked and so on.
        firings: what the watch would have told you.
    """

    captures: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    firings: list[Firing] = field(default_factory=list)


def replay(
    watch: Watch,
    captures: Iterable[Capture],
    url: str = "",
    shortcuts: Shortcuts = ALL_SHORTCUTS,
    noise: PageNoise = NOTHING_KNOWN,
) -> Replay:
    """Run a watch over captures of one page, in order of time.

    >>> from datetime import UTC
    >>> from quire.sentinels.form import read_watch
    >>> watch = read_watch({"url": "https://example.org/", "where": "b"})
    >>> days = [datetime(2026, 5, day, tzinfo=UTC) for day in (1, 2, 3)]
    >>> pages = [b"<b>9</b></html>", b"<b>9</b> now</html>", b"<b>8</b> now</html>"]
    >>> found = replay(watch, map(Capture, days, pages))
    >>> [(firing.time.day, firing.event.added) for firing in found.firings]
    [(3, ('8',))]
    """
    return _Player(watch, url or watch.pages.urls[0], shortcuts, noise).play(captures)


class _Player:
    """A page in memory that is checked again and again."""

    def __init__(self, watch: Watch, url: str, shortcuts: Shortcuts, noise: PageNoise) -> None:
        self.shortcuts = shortcuts
        self.stored: dict[int, StoredVersion] = {}
        self.reader = VersionReader(self.stored.__getitem__, url)
        self.kinds: dict[int, str] = {}
        sentinel = Sentinel("0", watch.sentinel.parts, watch.sentinel.when)
        member = PageMember(0, watch, 0, 0, None, None, 0, None, None)
        group = Group(self._load, members={"0": Member(sentinel, -1)})
        self.found = PageGroup(0, group, {"0": member})
        self.page = ClaimedPage(
            id=0, url=url, fetching={}, fence=0, revision=0, due=0, etag=None, last_modified=None,
            source=None, state="fine", facts=None, latest=-1, quiet_checks=0, error_since=None,
            content=None, noise=noise.to_json(),
        )  # fmt: skip

    def play(self, captures: Iterable[Capture]) -> Replay:
        found = Replay()
        for capture in captures:
            events, outcome = self._check(capture)
            found.captures += 1
            found.outcomes[outcome] = found.outcomes.get(outcome, 0) + 1
            found.firings += [
                Firing(capture.time, each.event.kind, each.event.to_dict()) for each in events
            ]
        return found

    def _check(self, capture: Capture) -> tuple[list[NewEvent], str]:
        now = capture.time.timestamp()
        member = self.found.members["0"]
        member.due = now
        if not self.stored:
            member.installed = now
        check = Check(self.page, self.found, now, self.reader.read, shortcuts=self.shortcuts)
        answer = Fetched(capture.status, capture.body, capture.content_type)
        result = check.run(answer)
        if result.version is not None:
            self.stored[result.version.stored.number] = result.version.stored
            self.kinds[result.version.stored.number] = capture.content_type
        known = {name for name in ClaimedPage.__dataclass_fields__ if name in result.page}
        self.page = replace(self.page, **{name: result.page[name] for name in known})
        return result.events, result.outcome

    def _load(self, number: int) -> Digest:
        return read_page(self.reader.read(number), self.kinds[number])


def by_month(found: Replay) -> dict[str, int]:
    """Count firings by month, for a sentence such as "3 times in May 2026".

    >>> from quire.sentinels.store.plain import instant
    >>> by_month(Replay(firings=[Firing(instant(1_790_000_000.0), "change", {})]))
    {'September 2026': 1}
    """
    counted: dict[str, int] = {}
    for firing in found.firings:
        month = firing.time.strftime("%B %Y")
        counted[month] = counted.get(month, 0) + 1
    return counted

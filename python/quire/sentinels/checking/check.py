"""A check of one page: what the fetch brought goes in, everything to write down comes out.

There is no input or output here besides reading old versions, so a check can be replayed: over a
stored history, an archive, or in a test. The order of work, cheapest first:

1. The fetch failed: the page keeps its state, and its watches learn of it once.
2. Not modified, or the same bytes as last time: nothing changed. The page is not even parsed.
3. The page is not itself (gone, blocked, empty, half): its state is recorded. Parts are not
   compared, so no watch reports that "everything was removed".
4. The page is fine: the sentinels that are due are evaluated as a group.

A version is stored if a sentinel that was evaluated saw a change, or if the text, the links or the
images of the page changed, so that sentinels made later can be replayed on it. Pages whose bytes
differ only in invisible parts (tokens, scripts) leave no version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random
from typing import Any

from quire.sentinels.conditions.comparison import (
    PAGE_STATES,
    Circumstances,
    PageState,
    lines_only_in,
)
from quire.sentinels.conditions.conditions import Fired, Unchanged
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.groups.group import Member, Version
from quire.sentinels.groups.outcome import Outcome
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, Shortcuts
from quire.sentinels.pages.state import PageFacts, page_state
from quire.sentinels.parts.part import CONTENT, Part
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.schedule import next_check
from quire.sentinels.sentinel import Sentinel, walk
from quire.sentinels.store.claims import ClaimedPage
from quire.sentinels.store.plain import (
    facts_from_json,
    facts_to_json,
    instant,
    signatures_to_bytes,
)
from quire.sentinels.store.results import CheckResult, NewEvent, NewVersion, PageGroup, PageMember
from quire.sentinels.versions.deltas import best_base, pack
from quire.sentinels.versions.page_reading import read_page

#: Lines of added and removed text that an event keeps, and characters of each.
MOST_LINES = 200
MOST_LETTERS = 2_000
#: Versions that are read to learn which lines a page had before.
MOST_HISTORY = 500
#: Members that are due within this time are evaluated now, rather than in a fetch of their own.
SLACK_SECONDS = 1.0

_CONTENT = Part(watch=CONTENT)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch brought.

    Attributes:
        status: the status of the response.
        body: the decoded body.
        content_type: the content type, if any.
        etag: for the next conditional request.
        last_modified: for the next conditional request.
        headers: headers worth keeping.
        url: the address that answered, after redirects; empty for the page's own.
        not_modified: whether the server said that nothing changed.
        was_cut: whether the transfer ended early.
        seconds: how long it took.
        wire_bytes: how many bytes came over the wire.
    """

    status: int
    body: bytes
    content_type: str = ""
    etag: str | None = None
    last_modified: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ""
    not_modified: bool = False
    was_cut: bool = False
    seconds: float = 0.0
    wire_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FetchProblem:
    """A fetch that failed.

    Attributes:
        cause: why, in one word.
        message: why, for people.
        seconds: how long it took.
    """

    cause: str
    message: str
    seconds: float = 0.0


class Check:
    """One check of one page.

    Args:
        claimed: the page.
        found: its members. They are updated; write them with the result, or read them again.
        now: the time, in seconds since 1970.
        read: reads the bytes of an old version.
        others: returns when other watches last fired, by their names; on this page only if None.
        numbers: returns the numbers of the stored versions; all up to the latest if None.
        shortcuts: which shortcuts the evaluation takes.
        chance: where jitter comes from.
    """

    def __init__(
        self,
        claimed: ClaimedPage,
        found: PageGroup,
        now: float,
        read: Callable[[int], bytes],
        *,
        others: Callable[[set[str]], dict[str, float]] | None = None,
        numbers: Callable[[], Sequence[int]] | None = None,
        shortcuts: Shortcuts = ALL_SHORTCUTS,
        chance: Random | None = None,
    ) -> None:
        self.claimed = claimed
        self.found = found
        self.now = now
        self.read = read
        self.numbers = numbers or (lambda: range(claimed.latest + 1))
        self.firings: dict[str, float] = self._firings(others)
        self.shortcuts = shortcuts
        self.chance = chance
        self.state: PageState = next(
            (each for each in PAGE_STATES if each == claimed.state), "fine"
        )
        self.due: list[str] = [
            name
            for name, member in found.members.items()
            if member.due <= now + SLACK_SECONDS or found.group.members[name].base < 0
        ]

    def run(self, answer: Fetched | FetchProblem) -> CheckResult:
        """Return what to write down."""
        if isinstance(answer, FetchProblem):
            result = self._failed(answer)
        elif answer.not_modified or self._is_same_source(answer):
            result = self._unchanged(answer)
        else:
            result = self._fetched(answer)
        self._reschedule(result)
        return result

    # ------------------------------------------------------------ the four cases

    def _failed(self, problem: FetchProblem) -> CheckResult:
        result = CheckResult(self.now, "failed", problem.seconds, detail=problem.message)
        is_first = self.claimed.error_since is None
        result.page = {
            "checked": self.now,
            "error": problem.message,
            "error_since": self.now if is_first else self.claimed.error_since,
        }
        if is_first:
            for name in self.found.members:
                self._tell(result, name, "error", None, {"message": problem.message})
        return result

    def _unchanged(self, answer: Fetched) -> CheckResult:
        result = self._begin(answer, "same", "fine" if self.claimed.latest >= 0 else self.state)
        timely = [name for name in self.due if self._sentinel(name).is_timely]
        if timely and self.claimed.latest >= 0:
            last = self._last()
            version = Version(self.claimed.latest, last.page.signatures)
            self._evaluate(result, version, last, timely, "fine")
        return result

    def _fetched(self, answer: Fetched) -> CheckResult:
        page = read_page(answer.body, answer.content_type)
        facts = PageFacts.of(page)
        last_good = facts_from_json(self.claimed.facts)
        state = page_state(answer.status, facts, last_good, was_cut=answer.was_cut)
        result = self._begin(answer, state, state)
        if state != "fine":
            timely = [name for name in self.due if self._sentinel(name).is_timely]
            if timely and self.claimed.latest >= 0:
                last = self._last()
                version = Version(self.claimed.latest, last.page.signatures)
                self._evaluate(result, version, last, timely, state)
            return result
        result.page["facts"] = facts_to_json(facts)
        result.page["source"] = _hash(answer.body)
        number = self.claimed.latest + 1
        version = Version(number, page.signatures)
        reader = PageReader(page)
        outcomes = self._evaluate(result, version, reader, self._seen_before(), state)
        content = b"".join(reader.signatures(_CONTENT))
        if content != self.claimed.content or any(each.changed for each in outcomes):
            result.page["content"] = content
            self._keep(result, answer, version, reader, outcomes)
            result.outcome = "changed" if number else "first"
        else:
            result.outcome = "same"
        return result

    # ------------------------------------------------------------ sentinels

    def _seen_before(self) -> list[str]:
        """Return the members that are due and have a base to be compared with."""
        return [name for name in self.due if self.found.group.members[name].base >= 0]

    def _evaluate(
        self,
        result: CheckResult,
        version: Version,
        page: PageReader,
        names: list[str],
        state: PageState,
    ) -> list[Outcome]:
        group = self.found.group
        outcomes: list[Outcome] = []
        for stage in self._stages(names):
            found = group.evaluate(
                version, page, lambda member: self._about(member, state), stage, self.shortcuts
            )
            outcomes += found
            self._hear(result, stage)
            self._tell_firings(result, version, page, found, state)
        return outcomes

    def _tell_firings(
        self,
        result: CheckResult,
        version: Version,
        page: PageReader,
        outcomes: list[Outcome],
        state: PageState,
    ) -> None:
        group = self.found.group
        for outcome in outcomes:
            member = self.found.members[outcome.sentinel]
            if outcome.fired and (outcome.changed or self._is_news(member, state)):
                member.fired = self.firings[member.watch.name] = self.now
                result.members.add(outcome.sentinel)
                base = group.members[outcome.sentinel].base
                body = self._body(outcome, page, base)
                self._tell(result, outcome.sentinel, "change", version.number, body, old=base)
            if outcome.changed:
                member.changed = self.now

    def _hear(self, result: CheckResult, names: list[str]) -> None:
        """Remember which firings of other watches the members know about."""
        for name in names:
            member = self.found.members[name]
            heard = {other: self.firings[other] for other in member.asks if other in self.firings}
            if heard and heard != member.heard:
                member.heard = heard
                result.members.add(name)

    def _stages(self, names: list[str]) -> list[list[str]]:
        """Sort members so that those that ask about others come after them.

        Members that ask about each other in a circle are judged together, at the end.
        """
        members = self.found.members
        if not any(members[name].asks for name in names):
            return [names] if names else []
        by_watch = {members[name].watch.name: name for name in names}
        left = {
            name: {by_watch[asked] for asked in members[name].asks if asked in by_watch} - {name}
            for name in names
        }
        stages: list[list[str]] = []
        while left:
            stage = [name for name, others in left.items() if others.isdisjoint(left)]
            stages.append(stage or list(left))
            left = {name: others for name, others in left.items() if name not in stages[-1]}
        return stages

    def _is_news(self, member: PageMember, state: PageState) -> bool:
        """Tell whether a condition about time, state or other watches turned since it last fired.

        Such conditions are judged at every check. A page that is quiet for a week makes one event, not
        one for every check of that week.
        """
        if member.fired is None:
            return True
        turns = [self.now] if state != self.state else []
        for each in walk(member.watch.sentinel.condition):
            if isinstance(each, Unchanged):
                start = member.installed if member.changed is None else member.changed
                turns += [start, start + each.length.total_seconds()]
            elif isinstance(each, Fired) and each.sentinel in self.firings:
                last = self.firings[each.sentinel]
                turns += [last, last + (each.within.total_seconds() if each.within else 0.0)]
        return any(member.fired < turn <= self.now for turn in turns)

    def _firings(self, others: Callable[[set[str]], dict[str, float]] | None) -> dict[str, float]:
        """Return when the watches that members ask about last fired, on any page."""
        members = self.found.members.values()
        asked = {name for member in members for name in member.asks}
        known = {
            member.watch.name: member.fired
            for member in members
            if asked and member.fired is not None
        }
        if asked and others is not None:
            for name, time in others(asked).items():
                known[name] = max(time, known.get(name, time))
        return known

    def _unseen(self, part: Part, lines: Iterable[str]) -> set[str]:
        """Return those of some lines that no stored version of a part had."""
        seen = self.found.seen.get(part)
        if seen is None:
            seen = self.found.seen[part] = set()
            for number in self.numbers()[-MOST_HISTORY:]:
                self._remember(seen, part, PageReader(self.found.group.load(number)))
        return {line for line in lines if hash(line) not in seen}

    def _remember(self, seen: set[int], part: Part, reader: PageReader) -> None:
        seen.update(map(hash, reader.read(part).of("text")))

    def _about(self, member: Member, state: PageState) -> Circumstances:
        known = self.found.members[member.sentinel.name]
        return Circumstances(
            now=instant(self.now),
            watched_since=instant(known.installed),
            last_change=None if known.changed is None else instant(known.changed),
            state=state,
            previous_state=self.state,
            fired={name: instant(time) for name, time in self.firings.items()},
            heard={name: instant(time) for name, time in (known.heard or {}).items()},
            unseen=self._unseen,
        )

    def _keep(
        self,
        result: CheckResult,
        answer: Fetched,
        version: Version,
        reader: PageReader,
        outcomes: list[Outcome],
    ) -> None:
        base = best_base(version.number, set(self.numbers()))
        old = b"" if base is None else self.read(base)
        result.version = NewVersion(
            pack(version.number, answer.body, base, old),
            signatures_to_bytes(version.signatures),
            answer.status,
            answer.content_type,
            answer.headers,
        )
        result.page["latest"] = version.number
        for part, seen in self.found.seen.items():
            self._remember(seen, part, reader)
        if version.number:
            result.page["changed"] = self.now
        group = self.found.group
        group.accept(version, outcomes)
        result.members.update(each.sentinel for each in outcomes)
        for name, member in group.members.items():
            if member.base < 0:  # new here: this is the first version it sees
                member.base = version.number
                member.signatures = tuple(reader.signatures(part) for part in member.sentinel.parts)
                group.versions[version.number] = version
                result.members.add(name)

    def _body(self, outcome: Outcome, after: PageReader, base: int) -> dict[str, Any]:
        sentinel = self._sentinel(outcome.sentinel)
        body: dict[str, Any] = {
            "changed": list(outcome.changed),
            "finding": None if outcome.finding is None else _plain(outcome.finding),
        }
        if outcome.changed and base >= 0:
            before = PageReader(self.found.group.load(base))
            added: list[str] = []
            removed: list[str] = []
            for part in sentinel.parts:
                for aspect in part.watch:
                    old, new = before.read(part).of(aspect), after.read(part).of(aspect)
                    added += lines_only_in(new, old)
                    removed += lines_only_in(old, new)
            body["added"] = [line[:MOST_LETTERS] for line in added[:MOST_LINES]]
            body["removed"] = [line[:MOST_LETTERS] for line in removed[:MOST_LINES]]
        return body

    # ------------------------------------------------------------ writing down

    def _begin(self, answer: Fetched, outcome: str, state: PageState) -> CheckResult:
        result = CheckResult(self.now, outcome, answer.seconds, answer.wire_bytes)
        result.page = {"checked": self.now, "state": state, "error": None, "error_since": None}
        if not answer.not_modified:
            result.page["etag"] = answer.etag
            result.page["last_modified"] = answer.last_modified
        return result

    def _tell(
        self,
        result: CheckResult,
        name: str,
        kind: str,
        new: int | None,
        body: dict[str, Any],
        *,
        old: int | None = None,
    ) -> None:
        member = self.found.members[name]
        watch = member.watch
        if kind == "error" and not watch.notify.errors:
            return
        key = f"{member.id}\0{self.claimed.id}\0{kind}\0{old}\0{new}"
        if new is None or kind != "change" or old == new:
            key += f"\0{self.claimed.error_since or self.now}"
        result.events.append(
            NewEvent(
                id=blake2b(key.encode(), digest_size=16).hexdigest(),
                watch=member.id,
                kind=kind,
                old=old,
                new=new,
                body={"watch": watch.name, "url": self.claimed.url, **body},
                targets=dict.fromkeys(watch.notify.targets, self.now),
            )
        )

    def _reschedule(self, result: CheckResult) -> None:
        """Set when the members that were due are due again."""
        changed = {event.watch for event in result.events if event.kind == "change"}
        for name in self.due:
            member = self.found.members[name]
            member.quiet_checks = 0 if member.id in changed else member.quiet_checks + 1
            due = next_check(
                member.watch.schedule, instant(self.now), member.quiet_checks, self.chance
            )
            member.due = due.timestamp()
            member.checked = self.now
            result.members.add(name)

    def _sentinel(self, name: str) -> Sentinel:
        return self.found.group.members[name].sentinel

    def _last(self) -> PageReader:
        return PageReader(self.found.group.load(self.claimed.latest))

    def _is_same_source(self, answer: Fetched) -> bool:
        return self.claimed.source is not None and self.claimed.source == _hash(answer.body)


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "condition": finding.condition,
        "holds": finding.holds,
        "reason": finding.reason,
        "parts": [_plain(part) for part in finding.parts],
    }


def _hash(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).digest()

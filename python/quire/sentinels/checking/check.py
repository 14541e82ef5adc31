"""A check of one page: what the fetch brought goes in, everything to write down comes out.

There is no input or output here besides reading old versions, so a check can be replayed: over a
stored history, an archive, or in a test. The order of work, cheapest first:

1. The fetch failed: the page keeps its state, and its watches learn of it once.
2. Not modified, or the same bytes as last time: nothing changed. The page is not even parsed, unless
   a sentinel that is due now was not due when the page last changed.
3. The page is not itself (gone, blocked, empty, half): its state is recorded. Parts are not
   compared, so no watch reports that "everything was removed".
4. The page is fine: the sentinels that are due are evaluated as a group.

A version is stored if a sentinel of the page sees a change, due or not, or if the text, the links or
the images of the page changed, so that sentinels made later can be replayed on it. Pages whose bytes
differ only in invisible parts (tokens, scripts) leave no version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from quire import _core
from quire.digest.files import encode
from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, annotate
from quire.sentinels.checking.part_differences import part_differences
from quire.sentinels.conditions.comparison import PAGE_STATES, Circumstances, PageState
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.groups.group import Member, Version
from quire.sentinels.groups.outcome import Outcome
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, Shortcuts
from quire.sentinels.notices.differences import NO_DIFFERENCES, Differences
from quire.sentinels.notices.event import Event, EventKind, event_id
from quire.sentinels.pages.state import PageFacts, page_state
from quire.sentinels.parts.part import CONTENT, Aspect, Part
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.schedule import next_check
from quire.sentinels.sentinel import Sentinel
from quire.sentinels.store.claims import ClaimedPage
from quire.sentinels.store.plain import (
    facts_from_json,
    facts_to_json,
    instant,
    signatures_to_bytes,
)
from quire.sentinels.store.results import CheckResult, NewEvent, NewVersion, PageGroup
from quire.sentinels.versions.deltas import pack, usual_base

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
        shortcuts: Shortcuts = ALL_SHORTCUTS,
        chance: Random | None = None,
    ) -> None:
        self.claimed = claimed
        self.found = found
        self.now = now
        self.read = read
        self.shortcuts = shortcuts
        self.chance = chance
        self._annotations: dict[int, Annotation] = {}
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
        if self.claimed.error_since is not None and result.page.get("state") == "fine":
            for name in self.found.members:
                self._tell(result, name, "recovered", reason="the page can be fetched again")
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
                self._tell(result, name, "error", reason=problem.message)
        return result

    def _unchanged(self, answer: Fetched) -> CheckResult:
        result = self._begin(answer, "same", "fine" if self.claimed.latest >= 0 else self.state)
        names = [
            name for name in self.due if self._sentinel(name).is_timely or self._is_behind(name)
        ]
        if names and self.claimed.latest >= 0:
            last = self._last()
            version = Version(self.claimed.latest, last.page.signatures)
            outcomes = self._evaluate(result, version, last, names, "fine")
            self.found.group.accept(version, outcomes)
        return result

    def _fetched(self, answer: Fetched) -> CheckResult:
        page = self._encode(answer.body, answer.content_type)
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
        if (
            content != self.claimed.content
            or any(each.changed for each in outcomes)
            or self._others_see_change(reader)
        ):
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

    def _is_behind(self, name: str) -> bool:
        """Tell whether a member was not due when the last version was stored."""
        return 0 <= self.found.group.members[name].base < self.claimed.latest

    def _others_see_change(self, page: PageReader) -> bool:
        """Tell whether a member that is not due would see a change since the last version.

        When it is due, the same bytes may come again, or none: then the last version is all there is.
        """
        last: PageReader | None = None
        for name in self.found.members.keys() - self.due:
            member = self.found.group.members[name]
            if member.base < 0:
                continue
            before = member.signatures
            if not before or member.base != self.claimed.latest:
                last = last or self._last()
                before = tuple(last.signatures(part) for part in member.sentinel.parts)
            if before != tuple(page.signatures(part) for part in member.sentinel.parts):
                return True
        return False

    def _evaluate(
        self,
        result: CheckResult,
        version: Version,
        page: PageReader,
        names: list[str],
        state: PageState,
    ) -> list[Outcome]:
        group = self.found.group
        outcomes = group.evaluate(
            version, page, lambda member: self._about(member, state), names, self.shortcuts
        )
        for outcome in outcomes:
            member = self.found.members[outcome.sentinel]
            if outcome.changed:
                member.changed = self.now
            if outcome.fired:
                member.fired = self.now
                result.members.add(outcome.sentinel)
                self._tell_change(result, outcome, page, version.number)
        return outcomes

    def _about(self, member: Member, state: PageState) -> Circumstances:
        known = self.found.members[member.sentinel.name]
        others = {each.watch.name: each.fired for each in self.found.members.values()}
        return Circumstances(
            now=instant(self.now),
            watched_since=instant(known.installed),
            last_change=None if known.changed is None else instant(known.changed),
            state=state,
            previous_state=self.state,
            fired={name: instant(time) for name, time in others.items() if time is not None},
        )

    def _keep(
        self,
        result: CheckResult,
        answer: Fetched,
        version: Version,
        reader: PageReader,
        outcomes: list[Outcome],
    ) -> None:
        base = usual_base(version.number)
        old = b"" if base is None else self.read(base)
        result.version = NewVersion(
            pack(version.number, answer.body, base, old),
            signatures_to_bytes(version.signatures),
            answer.status,
            answer.content_type,
            answer.headers,
        )
        result.page["latest"] = version.number
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

    # ------------------------------------------------------------ writing down

    def _begin(self, answer: Fetched, outcome: str, state: PageState) -> CheckResult:
        result = CheckResult(self.now, outcome, answer.seconds, answer.wire_bytes)
        result.page = {"checked": self.now, "state": state, "error": None, "error_since": None}
        if not answer.not_modified:
            result.page["etag"] = answer.etag
            result.page["last_modified"] = answer.last_modified
        return result

    def _tell_change(
        self, result: CheckResult, outcome: Outcome, after: PageReader, number: int
    ) -> None:
        """Write down that a sentinel fired."""
        base = self.found.group.members[outcome.sentinel].base
        found = NO_DIFFERENCES
        if outcome.changed and base >= 0:
            annotation = self._annotations.get(base)
            if annotation is None:
                before = self._encode(self.read(base), "")
                annotation = self._annotations[base] = annotate(before, after.page)
            found = part_differences(self._sentinel(outcome.sentinel).parts, annotation, after)
        # Without a change there may be no new version: the sentinel fired on the one it knows.
        new = number if outcome.changed else base
        self._tell(
            result,
            outcome.sentinel,
            "change",
            old=base,
            new=new,
            occurrence="" if outcome.changed else f"change {self.now!r}",
            aspects=outcome.changed,
            finding=outcome.finding,
            differences=found,
        )

    def _tell(
        self,
        result: CheckResult,
        name: str,
        kind: EventKind,
        *,
        old: int | None = None,
        new: int | None = None,
        occurrence: str | None = None,
        reason: str = "",
        aspects: tuple[Aspect, ...] = (),
        finding: Finding | None = None,
        differences: Differences = NO_DIFFERENCES,
    ) -> None:
        """Add an event to the result.

        Args:
            result: the result.
            name: the name of the member.
            kind: what happened.
            old: the number of the version before.
            new: the number of the version in which it was found.
            occurrence: tells it from others of the same versions (default: kind and time).
            reason: what happened, in words.
            aspects: the aspects that changed.
            finding: the answer of the condition.
            differences: what changed.
        """
        member = self.found.members[name]
        watch = member.watch
        if occurrence is None:
            occurrence = f"{kind} {self.claimed.error_since or self.now!r}"
        ident = event_id(
            str(member.id),
            self.claimed.url,
            # A database can give the number of a removed watch to a new one.
            f"{name} {member.installed!r}",
            old_version=old,
            new_version=new,
            occurrence=occurrence,
        )
        event = Event(
            id=ident,
            kind=kind,
            watch=str(member.id),
            name=watch.name,
            url=self.claimed.url,
            time=instant(self.now),
            old_version=old,
            new_version=new,
            aspects=aspects,
            reason=reason,
            finding=finding,
            differences=differences,
            tags=watch.tags,
        )
        result.events.append(NewEvent(member.id, event, watch.notify))

    def _reschedule(self, result: CheckResult) -> None:
        """Set when the members that were due are due again."""
        changed = {event.watch for event in result.events if event.event.kind == "change"}
        for name in self.due:
            member = self.found.members[name]
            member.quiet_checks = 0 if member.id in changed else member.quiet_checks + 1
            due = next_check(
                member.watch.schedule, instant(self.now), member.quiet_checks, self.chance
            )
            member.due = due.timestamp()
            result.members.add(name)

    def _sentinel(self, name: str) -> Sentinel:
        return self.found.group.members[name].sentinel

    def _last(self) -> PageReader:
        return PageReader(self._encode(self.read(self.claimed.latest), ""))

    def _is_same_source(self, answer: Fetched) -> bool:
        return self.claimed.source is not None and self.claimed.source == _hash(answer.body)

    def _encode(self, body: bytes, content_type: str) -> Digest:
        return encode(body, content_type=content_type or None)


def _hash(body: bytes) -> bytes:
    return _core.hash128(body)

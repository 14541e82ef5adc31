"""Judging: the sentinels of a page are evaluated on a version, and events are made.

Nothing that a check was given is altered by ``_judge``, so that a version can be judged again when
more noise is known. ``_note`` writes down what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from random import Random

from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, annotate
from quire.sentinels.checking.part_differences import part_differences
from quire.sentinels.conditions.comparison import PAGE_STATES, Circumstances, PageState
from quire.sentinels.conditions.conditions import Fired, Unchanged
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.groups.group import Group, Member, Version
from quire.sentinels.groups.outcome import Outcome
from quire.sentinels.groups.shortcuts import ALL_SHORTCUTS, Shortcuts
from quire.sentinels.notices.differences import (
    NO_DIFFERENCES,
    Difference,
    Differences,
    limited,
)
from quire.sentinels.notices.event import Event, EventKind, event_id
from quire.sentinels.pages.noise import PageNoise
from quire.sentinels.parts.part import Aspect, Part
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.sentinel import Sentinel, walk
from quire.sentinels.store.claims import ClaimedPage
from quire.sentinels.store.plain import (
    instant,
)
from quire.sentinels.store.results import CheckResult, NewEvent, PageGroup, PageMember

#: Versions that are read to learn which lines a page had before.
MOST_HISTORY = 500
#: Members that are due within this time are evaluated now, rather than in a fetch of their own.
SLACK_SECONDS = 1.0


class Readers:
    """One version of a page, as watches that leave noise out read it, and as others do."""

    __slots__ = ("all", "learned", "noise")

    def __init__(self, page: Digest, noise: PageNoise) -> None:
        self.noise: PageNoise = noise
        self.all: PageReader = PageReader(page)
        self.learned: PageReader = PageReader(page, noise) if noise.entries else self.all

    def of(self, member: PageMember) -> PageReader:
        """Return the reader for a watch."""
        return self.learned if member.watch.learn_noise else self.all


class Judging:
    """The part of a check that evaluates sentinels.

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
        self.numbers: Callable[[], Sequence[int]] = numbers or (lambda: range(claimed.latest + 1))
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
        self._last_page: Digest | None = None
        self._annotations: dict[int, Annotation] = {}
        self._found_differences: dict[tuple[tuple[Part, ...], int, PageReader], Differences] = {}

    def _install_new(self, result: CheckResult, version: Version, readers: Readers) -> None:
        """Let members that are new here begin with a version."""
        group = self.found.group
        for name, member in group.members.items():
            if member.base < 0:
                reader = readers.of(self.found.members[name])
                parts = member.sentinel.parts
                member.base = version.number
                member.missing = any(reader.lacks(part) for part in parts)
                member.signatures = tuple(reader.signatures(part) for part in parts)
                group.versions[version.number] = version
                result.members.add(name)

    def _judge(
        self,
        group: Group,
        version: Version,
        readers: Readers,
        names: list[str],
        state: PageState,
    ) -> list[Outcome]:
        """Evaluate some members; nothing is altered."""
        found: dict[str, Outcome] = {}
        firings = dict(self.firings)
        for stage in self._stages(names):
            by_reader: dict[int, tuple[PageReader, list[str]]] = {}
            for name in stage:
                reader = readers.of(self.found.members[name])
                by_reader.setdefault(id(reader), (reader, []))[1].append(name)
            for reader, some in by_reader.values():

                def about(member: Member, reader: PageReader = reader) -> Circumstances:
                    return self._about(member, state, reader, firings)

                for outcome in group.evaluate(version, reader, about, some, self.shortcuts):
                    found[outcome.sentinel] = outcome
            for name in stage:
                if self._is_told(found[name], state, firings):
                    firings[self.found.members[name].watch.name] = self.now
        return [found[name] for name in names]

    def _note(
        self,
        result: CheckResult,
        version: Version,
        readers: Readers,
        outcomes: list[Outcome],
        state: PageState,
    ) -> None:
        """Write down outcomes, and tell about those that fired."""
        by_name = {outcome.sentinel: outcome for outcome in outcomes}
        for stage in self._stages(list(by_name)):
            self._hear(result, stage)
            told = [name for name in stage if self._is_told(by_name[name], state, self.firings)]
            for name in stage:
                member = self.found.members[name]
                if name in told:
                    member.fired = self.firings[member.watch.name] = self.now
                    result.members.add(name)
                    self._tell_change(result, by_name[name], readers.of(member), version.number)
                if by_name[name].changed:
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

    def _is_told(self, outcome: Outcome, state: PageState, firings: Mapping[str, float]) -> bool:
        """Tell whether an outcome makes an event.

        Conditions about time, state or other watches are judged at every check. A page that is quiet
        for a week makes one event, not one for every check of that week.
        """
        member = self.found.members[outcome.sentinel]
        if not outcome.fired or outcome.changed or member.fired is None:
            return outcome.fired
        turns = [self.now] if state != self.state else []
        for each in walk(member.watch.sentinel.condition):
            if isinstance(each, Unchanged):
                start = member.installed if member.changed is None else member.changed
                turns += [start, start + each.length.total_seconds()]
            elif isinstance(each, Fired) and each.sentinel in firings:
                last = firings[each.sentinel]
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

    def _unseen(self, reader: PageReader, part: Part, lines: Iterable[str]) -> set[str]:
        """Return those of some lines that no stored version of a part had."""
        # What was read with noise left out is not kept: the next check may leave out more.
        kept = self.found.seen if reader.finder is None else {}
        seen = kept.get(part)
        if seen is None:
            seen = kept[part] = set()
            for number in self.numbers()[-MOST_HISTORY:]:
                self._remember(seen, part, reader.of(self.found.group.load(number)))
        return {line for line in lines if hash(line) not in seen}

    def _remember(self, seen: set[int], part: Part, reader: PageReader) -> None:
        aspect: Aspect = "text" if "text" in part.watch else "records"
        seen.update(map(hash, reader.read(part).of(aspect)))

    def _about(
        self, member: Member, state: PageState, reader: PageReader, firings: Mapping[str, float]
    ) -> Circumstances:
        known = self.found.members[member.sentinel.name]
        return Circumstances(
            now=instant(self.now),
            watched_since=instant(known.installed),
            last_change=None if known.changed is None else instant(known.changed),
            state=state,
            previous_state=self.state,
            fired={name: instant(time) for name, time in firings.items()},
            heard={name: instant(time) for name, time in (known.heard or {}).items()},
            unseen=partial(self._unseen, reader),
        )

    # ------------------------------------------------------------ events

    def _tell_change(
        self, result: CheckResult, outcome: Outcome, after: PageReader, number: int
    ) -> None:
        """Write down that a sentinel fired."""
        base = self.found.group.members[outcome.sentinel].base
        found = NO_DIFFERENCES
        if outcome.changed and base >= 0:
            parts = self._sentinel(outcome.sentinel).parts
            named = list(outcome.finding.all_found()) if outcome.finding is not None else []
            # Those that are new are listed, and not the others that came or went besides.
            rest = tuple(part for part in parts if not named or part.watch != ("records",))
            found = self._differences(rest, base, after)
            if named:
                where = ", ".join(selector for part in parts for selector in part.location.where)
                new = [Difference("inserted", where, "record", None, line) for line in named]
                found = limited([*new, *found.entries], found.left_out)
        # Without a change there may be no new version: the sentinel fired on the one it knows.
        version = number if outcome.changed else base
        self._tell(
            result,
            outcome.sentinel,
            "change",
            old=base,
            new=version,
            occurrence="" if outcome.changed else f"change {self.now!r}",
            aspects=outcome.changed,
            finding=outcome.finding,
            differences=found,
        )

    def _differences(self, parts: tuple[Part, ...], base: int, after: PageReader) -> Differences:
        """List what changed since a version, once for all sentinels with the same parts."""
        key = (parts, base, after)
        found = self._found_differences.get(key)
        if found is None:
            annotation = self._annotations.get(base)
            if annotation is None:
                before = self.found.group.load(base)
                annotation = self._annotations[base] = annotate(before, after.page)
            found = self._found_differences[key] = part_differences(parts, annotation, after)
        return found

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

    def _sentinel(self, name: str) -> Sentinel:
        return self.found.group.members[name].sentinel

    def _last(self) -> Digest:
        if self._last_page is None:
            self._last_page = self.found.group.load(self.claimed.latest)
        return self._last_page

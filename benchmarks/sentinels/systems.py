"""The monitors that are compared: ours in groups, ours sentinel by sentinel, and the rival.

All have the same two verbs. ``install`` shows them the first version of every page, untimed. A pass
gets the body of each page, as a fetch would bring it, and returns the names of the sentinels
that changed and of those that fired. After a pass the new versions are what the next one is compared
with.
"""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Protocol, TypeAlias

import quire
from benchmarks.measure import Samples, round_ratio
from benchmarks.peers.webcq import SentinelOnItsOwn
from benchmarks.sentinels.workload import Kind, Watch, Workload
from quire._core import hash128
from quire.sentinels.conditions import Circumstances
from quire.sentinels.groups import ALL_SHORTCUTS, Group, Shortcuts, Version
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.parts import PageReader

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)
ABOUT = Circumstances(NOON, NOON - timedelta(hours=3))

#: Names of the sentinels that changed, and of those that fired.
Answers: TypeAlias = tuple[set[str], set[str]]


class Monitor(Protocol):
    """A monitor of the pages of one workload.

    Attributes:
        sampled: names of the sentinels that it checks, if these are not all.
    """

    sampled: set[str] | None

    def check(self, turn: int) -> Answers:
        """Check every sentinel on the pages as they are in a pass."""


@dataclass(slots=True)
class _Watched:
    """A page, or a sentinel alone, as our monitor keeps it.

    Attributes:
        page: the page.
        group: its sentinels.
        source: hash of its last version.
        number: number of its last version.
        turns: for each version the pass in which it was fetched.
    """

    page: int
    group: Group
    source: bytes
    number: int
    turns: dict[int, int]


class Ours:
    """quire: sentinels and signatures in memory, old versions stored as bytes.

    Args:
        workload: the pages and sentinels.
        grouped: one group for each page; otherwise every sentinel is a group of its own, with a
            fetch of its own.
        shortcuts: which shortcuts to take.
    """

    def __init__(
        self, workload: Workload, *, grouped: bool = True, shortcuts: Shortcuts = ALL_SHORTCUTS
    ) -> None:
        self.sampled: set[str] | None = None
        self.workload = workload
        self.shortcuts = shortcuts
        self.watched: list[_Watched] = []
        groups: dict[object, list[Watch]] = {}
        for watch in workload.watches:
            groups.setdefault(watch.page if grouped else watch.name, []).append(watch)
        by_page = sorted(groups.values(), key=lambda watches: watches[0].page)
        for number, together in groupby(by_page, key=lambda watches: watches[0].page):
            page = PageReader(quire.encode(workload.body(number, 0)))
            source = hash128(workload.body(number, 0))
            version = Version(0, page.page.signatures)
            for watches in together:
                turns = {0: 0}
                group = Group(self._loader(number, turns))
                for watch in watches:
                    sentinel = watch.kind.sentinel(watch.name)
                    member = group.install(sentinel, version, page)
                    if not shortcuts.part_signatures:
                        member.signatures = ()
                self.watched.append(_Watched(number, group, source, 0, turns))

    def check(self, turn: int) -> Answers:
        """Check every page."""
        changed: set[str] = set()
        fired: set[str] = set()
        for one in self.watched:
            due = self._due(one, turn)
            body = self.workload.body(one.page, turn)
            source = hash128(body)
            number = one.number + 1
            if self.shortcuts.source_signature and source == one.source:
                number = one.number
                due = [name for name in due if one.group.members[name].base != number]
            if not due:
                continue
            page = quire.encode(body)
            version = Version(number, page.signatures)
            one.turns[number] = turn
            outcomes = one.group.evaluate(
                version, PageReader(page), ABOUT, due, shortcuts=self.shortcuts
            )
            changed.update(each.sentinel for each in outcomes if each.changed)
            fired.update(each.sentinel for each in outcomes if each.fired)
            one.group.accept(version, outcomes)
            one.source, one.number = source, version.number
        return changed, fired

    def _due(self, one: _Watched, turn: int) -> list[str]:
        if not self.workload.every:
            return list(one.group.members)
        return [name for name in one.group.members if self.workload.is_due(name, turn)]

    def _loader(self, page: int, turns: dict[int, int]) -> Callable[[int], quire.Digest]:
        return lambda number: quire.encode(self.workload.body(page, turns[number]))


class OnTheirOwn:
    """The rival: every sentinel fetches, parses, extracts and compares by itself.

    Args:
        workload: the pages and sentinels.
        checksum: whether it first compares a checksum of the bytes, and stops if it is the same.
        most: check only so many sentinels. They share nothing, so times grow with their number;
            ``race`` multiplies them.
    """

    def __init__(
        self, workload: Workload, *, checksum: bool = False, most: int | None = None
    ) -> None:
        self.workload = workload
        watches = workload.watches[:most]
        self.sampled: set[str] | None = None
        if len(watches) < len(workload.watches):
            self.sampled = {watch.name for watch in watches}
        self.sentinels = [
            (watch, SentinelOnItsOwn(watch.kind, checksum=checksum)) for watch in watches
        ]
        seen: dict[tuple[int, Kind], SentinelOnItsOwn] = {}
        for watch, sentinel in self.sentinels:
            key = (watch.page, watch.kind)
            if key in seen:
                sentinel.copy_state(seen[key])
            else:
                sentinel.check(workload.body(watch.page, 0))
                seen[key] = sentinel

    def check(self, turn: int) -> Answers:
        """Check every sentinel."""
        changed: set[str] = set()
        fired: set[str] = set()
        for watch, sentinel in self.sentinels:
            if not self.workload.is_due(watch.name, turn):
                continue
            has_changed, has_fired = sentinel.check(self.workload.body(watch.page, turn))
            if has_changed:
                changed.add(watch.name)
            if has_fired:
                fired.add(watch.name)
        return changed, fired


def oracle(workload: Workload, turn: int) -> Answers:
    """The plain definition: read both versions in full. Equal sentinels are asked once."""
    changed: set[str] = set()
    fired: set[str] = set()
    known: dict[tuple[Kind, int], tuple[bool, bool]] = {}
    watches = [watch for watch in workload.due(turn) if watch.page in workload.changing]
    by_page = sorted(watches, key=lambda each: each.page)
    for page, together in groupby(by_page, key=lambda each: each.page):
        sides = [quire.encode(body) for body in workload.pages[page].sides]
        known.clear()
        for watch in together:
            before = (turn - workload.every.get(watch.name, 1)) % 2
            if before == turn % 2:  # the page is what it was
                continue
            key = (watch.kind, before)
            if key not in known:
                sentinel = watch.kind.sentinel("x")
                outcome = evaluate_alone(sentinel, sides[before], sides[turn % 2], ABOUT)
                known[key] = (bool(outcome.changed), outcome.fired)
            has_changed, has_fired = known[key]
            if has_changed:
                changed.add(watch.name)
            if has_fired:
                fired.add(watch.name)
    return changed, fired


@dataclass(frozen=True, slots=True)
class Race:
    """What monitors took for the same passes, and how many of their answers were wrong.

    Attributes:
        samples: seconds of CPU for a pass, for each monitor.
        wrong: answers unlike the plain definition, for each monitor, over all passes.
        asked: answers of each monitor, over all passes.
        sentinels: how many there are.
    """

    samples: dict[str, Samples]
    wrong: dict[str, int]
    asked: dict[str, int]
    sentinels: int

    def ratio(self, slow: str, fast: str) -> float:
        """How many times faster one monitor is than another."""
        return round_ratio(self.samples[slow], self.samples[fast])


def race(workload: Workload, monitors: Mapping[str, Monitor], passes: int) -> Race:
    """Let monitors make the same passes in turn; every answer is compared with the definition.

    The first of several passes is not timed: pages and selectors are read for the first time.
    """
    names = list(monitors)
    expected: dict[int, Answers] = {}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    wrong = dict.fromkeys(names, 0)
    asked = dict.fromkeys(names, 0)
    for turn in range(1, passes + 1):
        # Without intervals, passes only go to and fro.
        which = turn if workload.every else turn % 2
        if which not in expected:
            expected[which] = oracle(workload, turn)
        gc.collect()
        gc.disable()
        try:
            shift = turn % len(names)
            for name in names[shift:] + names[:shift]:
                start = time.process_time()
                found = monitors[name].check(turn)
                spent = time.process_time() - start
                sampled = monitors[name].sampled
                due = {watch.name for watch in workload.due(turn)}
                judged = due if sampled is None else due & sampled
                if turn > 1 or passes == 1:
                    seconds[name].append(spent * len(due) / max(1, len(judged)))
                right = expected[which]
                differing = (found[0] ^ right[0]) | (found[1] ^ right[1])
                wrong[name] += len(differing & judged)
                asked[name] += len(judged)
        finally:
            gc.enable()
    samples = {name: Samples(tuple(values)) for name, values in seconds.items()}
    return Race(samples, wrong, asked, len(workload.watches))

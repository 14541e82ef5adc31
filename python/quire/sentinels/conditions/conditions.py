"""Conditions: what must hold for a sentinel to fire.

Every condition is a small frozen dataclass that answers a ``Comparison`` with a ``Finding``. Those
that need the old version, or much work, come last inside ``all`` and ``any``, and are not asked once
the others decide (``explain`` asks all of them).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal, Protocol, TypeAlias, get_args

from quire import _core
from quire.display import format_count, format_duration, shorten
from quire.sentinels.conditions.comparison import Comparison, PageState, Scope
from quire.sentinels.conditions.finding import Finding, answer, no, unknown, yes
from quire.sentinels.conditions.numbers import Pick, picked
from quire.sentinels.parts.listed_records import ListedRecord
from quire.sentinels.parts.location import FEED_KEYS, Location, evaluate
from quire.sentinels.parts.part import Aspect, Ignore, Part

Operator: TypeAlias = Literal["<", "<=", "==", "!=", ">=", ">"]
OPERATORS: dict[Operator, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}

#: How a number moved: across a limit, or by some amount.
Move: TypeAlias = Literal[
    "below", "above", "falls below", "rises above", "falls", "rises", "changes"
]
MOVES: tuple[Move, ...] = get_args(Move)

#: Characters of a text that a reason quotes.
QUOTED = 80
#: New records that a reason names.
MOST_NAMED = 5


class Condition(Protocol):
    """Anything that can be asked about a comparison."""

    @property
    def cost(self) -> int:
        """Rank by cost: 0 reads the new page, 1 needs the old one, 2 more than a reading."""

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:
        """Answer for a comparison; with ``explain``, ask every condition inside."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Changed:
    """The part changed, in any of the aspects that it watches, or in one of them."""

    part: Part
    aspects: tuple[Aspect, ...] = ()
    cost: int = field(default=1, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:
        """Answer for a comparison."""
        differing = seen.differing(self.part)
        wanted = [each for each in differing if not self.aspects or each in self.aspects]
        if wanted:
            return yes(self, f"{_listed(wanted)} changed")
        if differing and explain:
            return no(self, f"only {_listed(differing)} changed")
        return no(self, "nothing changed")

    def __str__(self) -> str:
        return f"{_listed(self.aspects)} changed" if self.aspects else "something changed"


@dataclass(frozen=True, slots=True)
class Text:
    r"""Lines of text contain words or match an expression.

    Attributes:
        part: where to look.
        scope: which lines: of the new or the old version, or the difference.
        words: at least one of these must occur; upper and lower case do not matter.
        pattern: or this regular expression must match a line.
        all_words: all of ``words`` must occur.
    """

    part: Part
    scope: Scope = "new"
    words: tuple[str, ...] = ()
    pattern: str = ""
    all_words: bool = False
    _compiled: _core.Pattern | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if bool(self.words) == bool(self.pattern):
            raise ValueError("a text condition needs words or a pattern, and not both")
        if self.pattern:
            object.__setattr__(self, "_compiled", _core.Pattern(self.pattern))

    @property
    def cost(self) -> int:
        """0 if only the new version is read."""
        return 0 if self.scope == "new" else 1

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison."""
        lines = seen.lines(self.part, self.scope)
        if self._compiled is not None:
            for line in lines:
                if self._compiled.is_match(line):
                    return yes(self, f"found in {_quoted(line)}")
            return no(self, f"not in {format_count(len(lines), 'line')}")
        folded = [line.casefold() for line in lines]
        missing = [
            word for word in self.words if not any(word.casefold() in line for line in folded)
        ]
        holds = not missing if self.all_words else len(missing) < len(self.words)
        if holds:
            found = next(word for word in self.words if word not in missing)
            place = next(
                line for line, low in zip(lines, folded, strict=True) if found.casefold() in low
            )
            return yes(self, f"{found!r} is in {_quoted(place)}")
        return no(self, f"{_listed(map(repr, missing))} not found")

    def __str__(self) -> str:
        what = (
            f"matches {self.pattern!r}" if self.pattern else f"has {_listed(map(repr, self.words))}"
        )
        return f"{self.scope} text {what}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number in the text of the part, compared with a limit or with its previous value.

    Attributes:
        part: where to look.
        move: what the number must do.
        than: the limit, or the smallest amount of a change.
        percent: ``than`` is a share of the previous value, in per cent.
        pick: which number, if there are several.
    """

    part: Part
    move: Move
    than: float = 0.0
    percent: bool = False
    pick: Pick = "first"

    @property
    def cost(self) -> int:
        """0 if only the new version is read."""
        return 0 if self.move in ("below", "above") else 1

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison; unknown if there is no number to compare."""
        now = picked(seen.after(self.part).text, self.pick)
        if now is None:
            return unknown(self, _without_number(seen.after(self.part).text))
        if self.move in ("below", "above"):
            holds = now < self.than if self.move == "below" else now > self.than
            word = "is" if holds else "is not"
            return answer(self, holds=holds, reason=f"{now:g} {word} {self.move} {self.than:g}")
        before = picked(seen.before(self.part).text, self.pick)
        if before is None:
            return unknown(self, f"no number before; now {now:g}")
        return answer(self, holds=self._moved(before, now), reason=f"from {before:g} to {now:g}")

    def _moved(self, before: float, now: float) -> bool:
        if self.move == "falls below":
            return now < self.than <= before
        if self.move == "rises above":
            return now > self.than >= before
        least = abs(before) * self.than / 100 if self.percent else self.than
        change = {"falls": before - now, "rises": now - before}.get(self.move, abs(now - before))
        return change > 0 and change >= least

    def __str__(self) -> str:
        amount = f"{self.than:g}{' %' if self.percent else ''}"
        if self.move in ("falls", "rises", "changes"):
            return f"number {self.move} by {amount} or more" if self.than else f"number {self.move}"
        return f"number {self.move} {amount}"


@dataclass(frozen=True, slots=True)
class Count:
    """The number of elements that a selector finds, compared with a number.

    Attributes:
        selector: the elements, or the values of attributes, to count, anywhere on the page.
        operator: how to compare.
        than: the number to compare with.
    """

    selector: str
    operator: Operator = ">="
    than: float = 1
    cost: int = field(default=0, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison."""
        found = len(evaluate(seen.new.page, self.selector))
        holds = OPERATORS[self.operator](found, self.than)
        return answer(self, holds=holds, reason=f"found {found}")

    def __str__(self) -> str:
        return f'count("{self.selector}") {self.operator} {self.than:g}'


@dataclass(frozen=True, slots=True)
class Similarity:
    """The page became less similar to its last version than a limit.

    Attributes:
        measure: compare the structure or the content of the pages.
        below: the limit, from 0 to 1.
    """

    measure: Literal["structure", "content"]
    below: float
    cost: int = field(default=2, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison."""
        found = seen.similarity(self.measure)
        return answer(self, holds=found < self.below, reason=f"similarity {found:.3f}")

    def __str__(self) -> str:
        return f"similarity of {self.measure} below {self.below:g}"


@dataclass(frozen=True, slots=True)
class NeverSeen:
    """The part has a line of text that no earlier version had."""

    part: Part
    cost: int = field(default=2, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison; unknown without a history."""
        if seen.about.unseen is None:
            return unknown(self, "there is no history of the page")
        added = seen.lines(self.part, "added")
        new = seen.about.unseen(self.part, added) if added else set()
        first = next((line for line in added if line in new), None)
        if first is None:
            return no(self, f"{format_count(len(added), 'added line')}, all seen before")
        return yes(self, f"{_quoted(first)} is new")

    def __str__(self) -> str:
        return "a line never seen before"


#: What identifies the entries of a feed. Their order says when they were written, if anything.
_FEED_KEYS = Part(Location((FEED_KEYS,)), ignore=Ignore(order=True))


@dataclass(frozen=True, slots=True)
class NewEntry:
    """The feed has an entry that no earlier version had; an edited title does not count."""

    cost: int = field(default=2, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:
        """Answer for a comparison; unknown without a history, and if the page is not a feed."""
        if not seen.after(_FEED_KEYS).found:
            return unknown(self, "the page has no entries of a feed")
        found = NeverSeen(_FEED_KEYS).judge(seen, explain=explain)
        return answer(self, holds=found.holds, reason=found.reason)

    def __str__(self) -> str:
        return "a new entry of the feed"


@dataclass(frozen=True, slots=True)
class NewRecord:
    """The list has a record that no earlier version had; changed fields do not count.

    If the addresses of all records changed at once, as a new shop system makes them, records are
    known again by their titles.
    """

    part: Part
    cost: int = field(default=2, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # The list of the part is asked about, whatever else of it is watched.
        if self.part.watch != ("records",):
            object.__setattr__(self, "part", replace(self.part, watch=("records",)))

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison; unknown without a history, and without a list."""
        now = seen.new.records(self.part)
        if now is None:
            return unknown(self, "there is no list of records")
        if seen.about.unseen is None:
            return unknown(self, "there is no history of the page")
        before = seen.old.records(self.part)
        added = _added(before.records if before is not None else (), now.records)
        new = seen.about.unseen(self.part, {each.key for each in added}) if added else set()
        found = [each for each in added if each.key in new]
        if not found:
            known = format_count(len(now.records), "record")
            return no(self, f"{known}, {len(added)} of them came back" if added else known)
        named = _listed(_quoted(each.title or each.key) for each in found[:MOST_NAMED])
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        verb = "is" if len(found) == 1 else "are"
        return replace(
            yes(self, f"{named}{more} {verb} new"), found=tuple(each.line for each in found)
        )

    def __str__(self) -> str:
        return "a new record in the list"


def _added(before: tuple[ListedRecord, ...], after: tuple[ListedRecord, ...]) -> list[ListedRecord]:
    """Return the records that only the new version has, each once."""
    known = {each.key for each in before}
    added = {each.key: each for each in after if each.key not in known}
    if before and all(each.key in added for each in after):
        titles = {each.title for each in before if each.title}
        again = [key for key, each in added.items() if each.title in titles]
        if len(again) * 2 >= min(len(known), len(added)):
            return [each for each in added.values() if each.title not in titles]
    return list(added.values())


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The watched parts did not change for some time."""

    length: timedelta
    cost: int = field(default=0, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison."""
        about = seen.about
        quiet = about.now - (about.last_change or about.watched_since)
        text = format_duration(quiet.total_seconds())
        return answer(self, holds=quiet >= self.length, reason=f"no change for {text}")

    def __str__(self) -> str:
        return f"unchanged for {format_duration(self.length.total_seconds())}"


@dataclass(frozen=True, slots=True)
class Fired:
    """Another sentinel fired, on this page or on another one.

    Attributes:
        sentinel: its name.
        within: how long ago it may have fired; None for since the last check of this sentinel.
    """

    sentinel: str
    within: timedelta | None = None
    cost: int = field(default=0, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison."""
        last = seen.about.fired.get(self.sentinel)
        if last is None:
            return no(self, "it never fired")
        ago = seen.about.now - last
        if self.within is not None:
            holds = ago <= self.within
        else:
            # Not by the clock: another worker may write down a firing after this one looked.
            before = seen.about.heard.get(self.sentinel, seen.about.watched_since)
            holds = last > before
        return answer(
            self, holds=holds, reason=f"it fired {format_duration(ago.total_seconds())} ago"
        )

    def __str__(self) -> str:
        return f"sentinel {self.sentinel!r} fired"


@dataclass(frozen=True, slots=True)
class State:
    """The fetch found the page in one of these states, and in another one before."""

    states: tuple[PageState, ...]
    cost: int = field(default=0, init=False, repr=False, compare=False)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:  # noqa: ARG002
        """Answer for a comparison."""
        now, before = seen.about.state, seen.about.previous_state
        holds = now in self.states and before not in self.states
        reason = f"the page is {now}" + ("" if now == before else f", it was {before}")
        return answer(self, holds=holds, reason=reason)

    def __str__(self) -> str:
        return f"page becomes {' or '.join(self.states)}"


@dataclass(frozen=True, slots=True)
class All:
    """All conditions hold. Cheap ones are asked first."""

    conditions: tuple[Condition, ...]

    @property
    def cost(self) -> int:
        """The cost of the most expensive one."""
        return max((each.cost for each in self.conditions), default=0)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:
        """Answer for a comparison; stops at the first condition that does not hold."""
        return _joined(self, self.conditions, seen, decides=False, explain=explain)

    def __str__(self) -> str:
        return "all of these"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition holds. Cheap ones are asked first."""

    conditions: tuple[Condition, ...]

    @property
    def cost(self) -> int:
        """The cost of the most expensive one."""
        return max((each.cost for each in self.conditions), default=0)

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:
        """Answer for a comparison; stops at the first condition that holds."""
        return _joined(self, self.conditions, seen, decides=True, explain=explain)

    def __str__(self) -> str:
        return "any of these"


@dataclass(frozen=True, slots=True)
class Not:
    """A condition does not hold."""

    condition: Condition

    @property
    def cost(self) -> int:
        """The cost of the condition inside."""
        return self.condition.cost

    def judge(self, seen: Comparison, *, explain: bool = False) -> Finding:
        """Answer for a comparison."""
        found = self.condition.judge(seen, explain=explain)
        holds = None if found.holds is None else not found.holds
        return answer(self, holds=holds, reason=found.reason, parts=(found,))

    def __str__(self) -> str:
        return f"not: {self.condition}"


def _joined(
    whole: All | AnyOf,
    conditions: tuple[Condition, ...],
    seen: Comparison,
    *,
    decides: bool,
    explain: bool,
) -> Finding:
    """Ask conditions until one decides; ``decides`` is the answer that does."""
    found: list[Finding] = []
    for each in sorted(conditions, key=lambda condition: condition.cost):
        found.append(each.judge(seen, explain=explain))
        if found[-1].holds is decides and not explain:
            break
    answers = [each.holds for each in found]
    if decides in answers:
        holds: bool | None = decides
    else:
        holds = None if None in answers else not decides
    held = sum(answer is True for answer in answers)
    return answer(
        whole, holds=holds, reason=f"{held} of {len(conditions)} hold", parts=tuple(found)
    )


def _without_number(text: str) -> str:
    """Say that a part has no number.

    >>> _without_number(" "), _without_number("Sold out")
    ('the part was empty, so there was no number', "no number in 'Sold out'")
    """
    if not text.strip():
        return "the part was empty, so there was no number"
    return f"no number in {_quoted(text)}"


def _quoted(text: str) -> str:
    return repr(shorten(" ".join(text.split()), QUOTED))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words) or "nothing"

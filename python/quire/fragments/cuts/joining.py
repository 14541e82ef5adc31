"""Joining: fragments that always stand next to each other become one, so that there are fewer includes.

A menu and the line below it, each on the same pages, are two files, two includes on every page and two requests. Where one is never without the
other, right behind it, with the same white space between them, they are one fragment: the bytes are the same everywhere, so pages come
together as before. What is kept for another time, or for other readers, is not joined: the one would be fetched as often as the other.

Cost: linear in the cuts, and every page with two of them is read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quire.fragments.cuts.includes import name_of
from quire.fragments.cuts.plan import FragmentPlan
from quire.fragments.cuts.select import Choice, Cut

# What markup is indented by; more is no gap but a hole.
_MOST_GAP_BYTES = 200
# Keys of elements have 64 bits; those of what is joined begin behind them.
_FIRST_KEY = 1 << 64


@dataclass(frozen=True, slots=True)
class _Next:
    """What comes right after a fragment."""

    key: int
    gap: bytes


def join_neighbours(plan: FragmentPlan) -> int:
    r"""Join the fragments of a plan that are never apart, and tell how many are gone.

    >>> from quire.fragments import SourcePage, plan_fragments
    >>> parts = ["<nav>" + f"<a href=/{n}>Entry number {n}</a>" * 30 + "</nav>" for n in range(3)]
    >>> pages = [SourcePage(f"{n}", f"{n}", f"<p>{n}</p>{parts[0]}\n{parts[1]}<p>{n}</p>{parts[2]}".encode()) for n in range(3)]
    >>> with plan_fragments(pages) as plan:
    ...     len(plan.choice.pages[0]), join_neighbours(plan), len(plan.choice.pages[0])
    (3, 1, 2)

    Args:
        plan: what is cut out; its cuts are others afterwards. Fragments are joined whose policies there are equal but for the reason.
    """
    found = _Neighbours(plan)
    for cuts, source in _containers(plan):
        found.take(cuts, source)
    runs = found.runs()
    if runs:
        plan.choice = _joined(plan.choice, runs)
    return sum(len(run) - 1 for run in runs)


def _containers(plan: FragmentPlan) -> Iterator[tuple[Sequence[Cut], bytes | None]]:
    """What has cuts: pages with their bytes, and fragments, whose bytes are in pages."""
    for body, cuts in enumerate(plan.choice.pages):
        if cuts:
            yield cuts, plan.spool.get(body)
    for cuts in plan.choice.inside.values():
        yield cuts, None


class _Neighbours:
    """What comes after each fragment, and before it."""

    def __init__(self, plan: FragmentPlan) -> None:
        self._plan = plan
        self._next: dict[int, _Next | None] = {}
        self._before: dict[int, int | None] = {}
        self._kept: dict[int, object] = {}

    def take(self, cuts: Sequence[Cut], source: bytes | None) -> None:
        """Look at one page, or fragment."""
        for place, cut in enumerate(cuts):
            if source is not None and cut.key not in self._kept:
                self._kept[cut.key] = self._policy(source[cut.start : cut.end])
            after = cuts[place + 1] if place + 1 < len(cuts) else None
            self._note(cut, after, source)
            before = cuts[place - 1].key if place else None
            known = self._before.setdefault(cut.key, before)
            self._before[cut.key] = before if known == before else None

    def _note(self, cut: Cut, after: Cut | None, source: bytes | None) -> None:
        found = None
        if after is not None and 0 <= after.start - cut.end <= _MOST_GAP_BYTES:
            gap = b"" if source is None else source[cut.end : after.start]
            if not gap.strip() and len(gap) == after.start - cut.end:
                found = _Next(after.key, gap)
        known = self._next.setdefault(cut.key, found)
        self._next[cut.key] = found if known == found else None

    def _policy(self, data: bytes) -> object:
        policy = self._plan.policies.get(name_of(data), self._plan.other_policy)
        return policy.ttl_s, policy.vary, policy.sharing

    def runs(self) -> list[list[int]]:
        """Fragments that are never apart, in their order."""
        follows = {
            key: after.key
            for key, after in self._next.items()
            if after is not None
            and self._before.get(after.key) == key
            and self._kept.get(key) == self._kept.get(after.key)
        }
        runs = []
        for first in follows.keys() - set(follows.values()):
            run = [first]
            while run[-1] in follows:
                run.append(follows[run[-1]])
            runs.append(run)
        return sorted(runs)


def _joined(choice: Choice, runs: Sequence[Sequence[int]]) -> Choice:
    """The same cuts, with one in the place of each run."""
    key_of = {run[0]: _FIRST_KEY + number for number, run in enumerate(runs)}
    length_of = {run[0]: len(run) for run in runs}

    def join(cuts: Sequence[Cut]) -> list[Cut]:
        found: list[Cut] = []
        place = 0
        while place < len(cuts):
            first, count = cuts[place], length_of.get(cuts[place].key, 1)
            key = key_of.get(first.key, first.key)
            if key not in made.height and count > 1:
                run = cuts[place : place + count]
                made.height[key] = max(choice.height[cut.key] for cut in run)
                within = join(_inside(choice, run))  # as deep as includes nest
                if within:
                    made.inside[key] = within
            found.append(Cut(first.start, cuts[place + count - 1].end, key))
            place += count
        return found

    made = Choice(height=dict(choice.height))
    made.pages = [join(cuts) for cuts in choice.pages]
    made.inside |= {key: join(cuts) for key, cuts in choice.inside.items()}
    for run in runs:
        for key in run:
            made.height.pop(key, None)
            made.inside.pop(key, None)
    return made


def _inside(choice: Choice, run: Sequence[Cut]) -> list[Cut]:
    """The cuts of a joined fragment: those of its parts."""
    base = run[0].start
    return [
        Cut(cut.start - base + one.start, cut.start - base + one.end, one.key)
        for cut in run
        for one in choice.inside.get(cut.key, [])
    ]

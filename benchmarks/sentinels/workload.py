"""Workloads: real pages in two versions each, and sentinels spread over them.

The pages are neighbouring captures of three corpora, so their changes are those that really
happened. Histories are split in two halves. Quick runs use the first half, which is the one to
develop on; full runs use the other one, so that nothing was fitted to the pages of a stored result.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from benchmarks import corpora
from benchmarks.context import Context
from quire.sentinels.conditions import Text
from quire.sentinels.parts import CONTENT, Aspect, Location, Part
from quire.sentinels.sentinel import Sentinel


@dataclass(frozen=True, slots=True)
class PagePair:
    """A page in two versions."""

    corpus: str
    sides: tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of sentinel, in words that every monitor understands.

    Attributes:
        name: as in tables.
        watch: the aspects.
        tag: the elements of this name; empty for the whole page.
        pattern: a regular expression that the new text must match as well.
    """

    name: str
    watch: tuple[Aspect, ...] = ("text",)
    tag: str = ""
    pattern: str = ""

    def sentinel(self, name: str) -> Sentinel:
        """The sentinel as quire has it."""
        part = Part(Location((self.tag,)) if self.tag else Location(), self.watch)
        when = Text(part, "new", pattern=self.pattern) if self.pattern else None
        return Sentinel(name, (part,), when)


#: The types of the paper, each on the whole page.
TYPES = (
    Kind("content", CONTENT),
    Kind("text"),
    Kind("links", ("links",)),
    Kind("images", ("images",)),
    Kind("structure", ("structure",)),
    Kind("tag types", ("tags",)),
    Kind("attributes", ("attributes",)),
)
#: The types with refinements: a location, a pattern.
MIXED = (
    *TYPES,
    *(Kind(f"text of {tag}", tag=tag) for tag in ("h1", "h2", "p", "main", "nav", "table", "li")),
    Kind("links of ul", ("links",), "ul"),
    Kind("content of main", CONTENT, "main"),
    Kind("pattern", pattern=r"\b20[0-9][0-9]\b"),
    Kind("word", tag="p", pattern=r"(?i)\b(price|preis|terms)\b"),
)


@dataclass(frozen=True, slots=True)
class Watch:
    """One sentinel on one page of a workload."""

    name: str
    page: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Workload:
    """Pages, and sentinels on them.

    Attributes:
        pages: the pages.
        watches: the sentinels.
        changing: the pages that have another version in every pass; the others stay as they are.
        every: for sentinels that are not due in every pass: in every how many.
    """

    pages: Sequence[PagePair]
    watches: Sequence[Watch]
    changing: frozenset[int]
    every: Mapping[str, int] = field(default_factory=dict)

    def body(self, page: int, turn: int) -> bytes:
        """A page as it is fetched in a pass: changing pages go to and fro between two versions."""
        return self.pages[page].sides[turn % 2 if page in self.changing else 0]

    def due(self, turn: int) -> list[Watch]:
        """The sentinels that are due in a pass."""
        return [watch for watch in self.watches if self.is_due(watch.name, turn)]

    def is_due(self, name: str, turn: int) -> bool:
        """Whether a sentinel is due in a pass."""
        return turn % self.every.get(name, 1) == 0

    def with_intervals(self, context: Context, intervals: Sequence[int]) -> "Workload":
        """The same with sentinels that are due in every so many passes, drawn evenly."""
        chance = random.Random(context.seed)
        drawn = {watch.name: chance.choice(intervals) for watch in self.watches}
        return replace(self, every=drawn)


def page_pairs(context: Context, count: int) -> list[PagePair]:
    """Neighbouring versions of real pages, evenly spaced over the corpora."""
    found = _pairs(is_judged=not context.quick)
    chosen = [found[index * len(found) // count] for index in range(min(count, len(found)))]
    return [PagePair(corpus, (old.read_bytes(), new.read_bytes())) for corpus, (old, new) in chosen]


def describe(context: Context, pages: Sequence[PagePair]) -> str:
    """Say which pages these are."""
    names = " + ".join(dict.fromkeys(page.corpus for page in pages))
    half = "the half of the histories kept for judging" if not context.quick else "the first half"
    total = sum(len(page.sides[0]) for page in pages)
    return f"{names}, {half}: {len(pages)} pairs of neighbouring versions, {total / 1e6:.1f} MB"


def spread(
    context: Context,
    pages: Sequence[PagePair],
    sentinels: int,
    *,
    exponent: float = 1.0,
    changing: float = 0.2,
    kinds: Sequence[Kind] = MIXED,
) -> Workload:
    """Spread sentinels over pages by Zipf's law; every choice depends on the seed alone.

    Args:
        context: has the seed.
        pages: the pages.
        sentinels: how many.
        exponent: of Zipf's law; 0 for evenly.
        changing: the share of the pages that change.
        kinds: what sentinels watch, evenly.
    """
    chance = random.Random(context.seed)
    ranks = list(range(len(pages)))
    chance.shuffle(ranks)
    weights = [(rank + 1) ** -exponent for rank in ranks]
    drawn = chance.choices(range(len(pages)), weights, k=sentinels)
    watches = [Watch(str(number), page, chance.choice(kinds)) for number, page in enumerate(drawn)]
    moving = chance.sample(range(len(pages)), round(changing * len(pages)))
    return Workload(pages, watches, frozenset(moving))


@cache
def _pairs(*, is_judged: bool) -> list[tuple[str, tuple[Path, Path]]]:
    found = []
    for corpus in corpora.VERSIONS:
        histories: dict[Path, list[Path]] = {}
        for page in corpora.html_pages((corpus,)):
            histories.setdefault(page.path.parent, []).append(page.path)
        halves = sorted(histories)
        if len(halves) == 1:  # one page: its later half is for judging
            paths = histories[halves[0]]
            middle = len(paths) // 2
            chosen = [paths[middle:] if is_judged else paths[:middle]]
        else:
            chosen = [histories[folder] for folder in halves[int(is_judged) :: 2]]
        found += [(corpus, pair) for paths in chosen for pair in pairwise(paths)]
    return found

"""Painting: which words of two pages a redline marks, and where deleted parts are shown again.

An annotation pairs nodes; a reader sees words. A paragraph in a new wrapper, a word in another tag
or a text that was split are changes of nodes, but nothing for a reader. So words are marked by
comparing the visible texts of both pages, with the annotation as a guide:

1. Texts with a partner are kept in place if the order of both pages agrees on them; of texts that
   contradict each other, those that the annotation says moved are painted as moved.
2. Between texts that are kept in place, all that is left is compared: equal lines first, then words,
   across the borders of nodes. What is equal is kept; all else is deleted or inserted.
3. A deleted part that has no kept nodes in it is shown again as it was, as an element between the
   kept texts that were around it. Deleted words inside a text are shown between its words.

Everything is linear but the comparison of words, which has limits of its own. Nothing recurses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from quire.reports.changes.orders import (
    MIN_TOLD,
    Around,
    equal_places,
    heaviest_rise,
    unique_matches,
)
from quire.reports.changes.placing import Place, Placing
from quire.reports.changes.visible_page import VisiblePage
from quire.reports.changes.word_runs import (
    Joined,
    is_alike,
    runs_of_words,
    with_long_runs,
    without_islands,
)
from quire.sdiff.annotation import Annotation
from quire.sdiff.facets import Status
from quire.sdiff.views.words import Segment, SegmentKind, word_changes

# Two runs of text with this part of their characters in common are one text that was edited; with
# less, marking single words would leave a mosaic of "the" and "of". Texts that are partners need
# less, texts that moved need more.
_ALIKE = 0.4
_PAIR_ALIKE = 0.25
_MOVED_ALIKE = 0.6
# Texts with partners of up to this many characters, such as figures, are compared with these only.
_SHORT = 24
# Characters that are compared word by word; what is left after that is replaced as a whole. Hostile
# texts take some 15 microseconds for each.
_MAX_COMPARED = 600_000
# How much more the place of a text counts if the annotation does not say that it moved.
_STAYS = 8


@dataclass(slots=True)
class Painting:
    """What to mark.

    Attributes:
        words: the segments of each text of the new page that is not plain, by node.
        atoms: for each marked element without text of the new page, what happened to it.
        moved: the leaves of the new page that moved.
        gone: the roots of the parts of the old page to show again, by place on the new page.
        fresh: the elements of the new page in which everything is inserted.
        around: the inserted elements of the new page that have kept leaves in them.
    """

    words: dict[int, list[Segment]] = field(default_factory=dict)
    atoms: dict[int, SegmentKind] = field(default_factory=dict)
    moved: set[int] = field(default_factory=set)
    gone: dict[Place, list[int]] = field(default_factory=dict)
    fresh: set[int] = field(default_factory=set)
    around: set[int] = field(default_factory=set)


def paint(annotation: Annotation, old: VisiblePage, new: VisiblePage) -> Painting:
    """Decide which words to mark, and where to show deleted parts."""
    return _Painter(annotation, old, new).paint()


class _Painter:
    """Both pages, and what is known about their leaves so far."""

    def __init__(self, annotation: Annotation, old: VisiblePage, new: VisiblePage) -> None:
        self.old, self.new = old, new
        self.to_new: list[int] = annotation.to_new.tolist()
        self.to_old: list[int] = annotation.to_old.tolist()
        self.status: list[int] = annotation.new_status.tolist()
        self.result = Painting()
        # Leaves of the old page that are in place, at least some words of them: the first and the
        # last leaf of the new page that these words are in.
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.moved: dict[int, int] = {}  # leaves that moved, old to new
        self.budget = _MAX_COMPARED
        self.compared: dict[tuple[str, str], Sequence[Segment]] = {}
        self.shown: dict[int, list[int]] = {}  # leaves with deleted words, and where these are
        self.gone: set[int] = set()  # leaves of the old page that are deleted as a whole

    def paint(self) -> Painting:
        """Do the three steps."""
        pairs = self._in_place()
        soft = dict(pair for pair in pairs if not self._is_same(*pair))
        hard = [pair for pair in pairs if pair[0] not in soft]
        runs = self._between(hard, soft)
        self._settle_moves()
        edits = [edit for edit in map(self._edit, runs) if edit is not None]
        for edit in self._look_again(edits):
            self._write(edit)
        self._put_back()
        self._look_at_elements()
        return self.result

    # ------------------------------------------------------------ 1. texts with partners

    def _in_place(self) -> list[tuple[int, int]]:
        """Pair leaves whose order is the same on both pages; other leaves with partners moved."""
        pairs: list[tuple[int, int]] = []
        weights: list[int] = []
        moved_until = node = 0
        for j, leaf in enumerate(self.new.leaves):
            for above in range(node, leaf.node + 1):
                if self.status[above] & Status.MOVED:
                    moved_until = max(moved_until, above + self.new.sizes[above])
            node = leaf.node + 1
            i = self.old.leaf_of.get(self.to_old[leaf.node], -1)
            if i >= 0 and bool(self.old.leaves[i].text) == bool(leaf.text):
                pairs.append((i, j))
                # Texts that did not move outweigh those that did, unless they are much shorter.
                size = len(leaf.key) if self._is_same(i, j) else self._common(i, j)
                weights.append((size + 1) * (1 if leaf.node < moved_until else _STAYS))
        kept = heaviest_rise([i for i, _ in pairs], weights)
        self.moved = {
            i: j
            for place, (i, j) in enumerate(pairs)
            if place not in kept
            and len(self.new.leaves[j].key) >= MIN_TOLD
            and (self._is_same(i, j) or self._is_moved_text(i, j))
        }
        return [pair for place, pair in enumerate(pairs) if place in kept]

    def _is_same(self, i: int, j: int) -> bool:
        leaf = self.new.leaves[j]
        if leaf.text:
            return not self.status[leaf.node] & Status.CONTENT
        return leaf.key == self.old.leaves[i].key

    def _common(self, i: int, j: int) -> int:
        """Count the characters that a text and its partner have in common."""
        parts = self._compare(self.old.leaves[i].text, self.new.leaves[j].text)
        return sum(len(part.text) for part in parts if part.kind == "same")

    def _is_moved_text(self, i: int, j: int) -> bool:
        """Tell whether a text that moved and was edited is still the same text."""
        before, after = self.old.leaves[i].text, self.new.leaves[j].text
        return bool(after) and is_alike(self._compare(before, after), _MOVED_ALIKE)

    def _keep(self, i: int, j: int) -> None:
        self.first.setdefault(i, j)
        self.last[i] = j

    # ------------------------------------------------------------ 2. what is between them

    def _between(self, hard: list[tuple[int, int]], soft: dict[int, int]) -> list[_Run]:
        """Keep pairs and equal leaves in place, and return the runs of leaves between them."""
        runs: list[_Run] = []
        ends = [(-1, -1), *hard, (len(self.old.leaves), len(self.new.leaves))]
        for i, j in hard:
            self._keep(i, j)
        for (i0, j0), (i1, j1) in pairwise(ends):
            olds, news = list(range(i0 + 1, i1)), list(range(j0 + 1, j1))
            if olds or news:
                runs += self._match(olds, news, soft)
        return runs

    def _match(self, olds: list[int], news: list[int], soft: dict[int, int]) -> list[_Run]:
        """Match leaves between two that are kept; returns pairs to compare, and what is left.

        First, in order: leaves that look the same and are the only ones, and texts that were edited.
        Of matches that contradict each other, those with most words. Then, between these, all leaves
        that look the same.
        """
        weights = self._edited(olds, news, soft)
        same = unique_matches(
            [self.old.leaves[i].key for i in olds], [self.new.leaves[j].key for j in news]
        )
        kept = {(olds[x], news[y]) for x, y in same}
        for i, j in kept:
            weights[i, j] = weights.get((i, j), 0) + len(self.old.leaves[i].key)
        found = sorted(weights, key=lambda pair: (pair[1], -pair[0]))
        chosen = heaviest_rise([i for i, _ in found], [weights[pair] for pair in found])
        runs: list[_Run] = []
        x = y = 0
        for place in sorted(chosen):
            i, j = found[place]
            runs += self._match_equal(olds[x : i - olds[0]], news[y : j - news[0]])
            if (i, j) in kept:
                self._keep(i, j)
            else:
                runs.append(_Run([i], [j], is_pair=True))
            x, y = i - olds[0] + 1, j - news[0] + 1
        return runs + self._match_equal(olds[x:], news[y:])

    def _match_equal(self, olds: list[int], news: list[int]) -> list[_Run]:
        """Keep leaves that look the same in place, and return the runs between them."""
        keys: dict[str, int] = {}
        left = [keys.setdefault(self.old.leaves[i].key, len(keys)) for i in olds]
        right = [keys.setdefault(self.new.leaves[j].key, len(keys)) for j in news]
        runs: list[_Run] = []
        start_old = start_new = 0
        for x, y in [*equal_places(left, right), (len(olds), len(news))]:
            if x > start_old or y > start_new:
                runs.append(_Run(olds[start_old:x], news[start_new:y]))
            if x < len(olds):
                self._keep(olds[x], news[y])
            start_old, start_new = x + 1, y + 1
        return runs

    def _edited(
        self, olds: list[int], news: list[int], soft: dict[int, int]
    ) -> dict[tuple[int, int], int]:
        """Find pairs to compare by themselves, and how many words speak for each.

        Partners, unless they have little in common, and texts that share a long run of words. Not
        those that share words with several texts, nor those with other leaves on their line: there,
        words may have gone from one leaf to the next.
        """
        weights = self._sharing(olds, news)
        from_old, to_new = Counter(i for i, _ in weights), Counter(j for _, j in weights)
        for i in olds:
            if i in soft and self._is_edited(i, soft[i]):
                weights[i, soft[i]] = weights.get((i, soft[i]), 0) + 1
        left_lines = Counter(self.old.leaves[i].line for i in olds)
        right_lines = Counter(self.new.leaves[j].line for j in news)
        return {
            (i, j): weight
            for (i, j), weight in weights.items()
            if left_lines[self.old.leaves[i].line] == right_lines[self.new.leaves[j].line] == 1
            and max(from_old[i], to_new[j]) <= 1
        }

    def _sharing(self, olds: list[int], news: list[int]) -> dict[tuple[int, int], int]:
        """Find leaves that share long runs of words, and how many runs."""
        known: dict[tuple[str, ...], int] = {}
        for i in olds:
            for run in runs_of_words(self.old.leaves[i].key):
                known.setdefault(run, i)
        found: Counter[tuple[int, int]] = Counter()
        for j in news:
            found.update(
                (known[run], j) for run in runs_of_words(self.new.leaves[j].key) if run in known
            )
        return found

    def _is_edited(self, i: int, j: int) -> bool:
        """Tell whether a text with a partner is still the same text."""
        before, after = self.old.leaves[i].text, self.new.leaves[j].text
        if max(len(before), len(after)) <= _SHORT:
            return True
        return is_alike(self._compare(before, after), _PAIR_ALIKE)

    def _compare(self, before: str, after: str) -> Sequence[Segment]:
        """Compare words, as long as the budget of the page lasts."""
        if (before, after) not in self.compared:
            self.budget -= len(before) + len(after)
            self.compared[before, after] = (
                word_changes(before, after)
                if self.budget > 0
                else (Segment("deleted", before), Segment("inserted", after))
            )
        return self.compared[before, after]

    def _settle_moves(self) -> None:
        """Forget moves of leaves that turned out to be in place."""
        in_place = set(self.last.values())
        self.moved = {
            i: j for i, j in self.moved.items() if i not in self.first and j not in in_place
        }
        self.arrived = set(self.moved.values())
        for i, j in self.moved.items():
            leaf = self.new.leaves[j]
            self.result.moved.add(leaf.node)
            if leaf.text and self.status[leaf.node] & Status.CONTENT:
                changes = self._compare(self.old.leaves[i].text, leaf.text)
                self.result.words[leaf.node] = list(changes)

    def _edit(self, run: _Run) -> _Edit | None:
        """Compare a run word by word; all of it is replaced if it has too little in common."""
        olds = [i for i in run.olds if i not in self.moved]
        news = [j for j in run.news if j not in self.arrived]
        # Elements without text have no words.
        self.gone.update(i for i in olds if not self.old.leaves[i].text)
        self._insert(j for j in news if not self.new.leaves[j].text)
        olds = [i for i in olds if self.old.leaves[i].text]
        news = [j for j in news if self.new.leaves[j].text]
        before = Joined([self.old.leaves[i] for i in olds])
        after = Joined([self.new.leaves[j] for j in news])
        if not before.text or not after.text:
            self.gone.update(olds)
            self._insert(news)
            return None
        segments = self._compare(before.text, after.text)
        if not is_alike(segments, _PAIR_ALIKE if run.is_pair else _ALIKE):
            segments = without_islands(segments)
            if not run.is_pair and all(segment.kind != "same" for segment in segments):
                self.gone.update(olds)
                self._insert(news)
                return None
        segments = with_long_runs(segments)
        x = y = 0
        kept: set[int] = set()
        for segment in segments:
            length = len(segment.text)
            if segment.kind == "same":
                for b, start, end in after.cut(y, y + length):
                    for a, old_start, old_end in before.cut(x + start - y, x + end - y):
                        if before.text[old_start:old_end].strip():
                            self._keep(olds[a], news[b])
                            kept.add(a)
            x += length if segment.kind != "inserted" else 0
            y += length if segment.kind != "deleted" else 0
        self.gone.update(i for a, i in enumerate(olds) if a not in kept)
        return _Edit(olds, news, before, after, segments, is_pair=run.is_pair)

    def _look_again(self, edits: list[_Edit]) -> list[_Edit]:
        """Compare gaps in which nothing was kept as a whole, if a long run is on both sides."""
        kept = sorted(self.first)
        firsts = [*(self.first[i] for i in kept), len(self.new.leaves)]
        lasts = [-1, *(self.last[i] for i in kept)]
        mixed = [edit for edit in edits if any(i in self.first for i in edit.olds)]
        used_old = {i for edit in mixed for i in edit.olds}
        used_new = {j for edit in mixed for j in edit.news}
        again: list[_Run] = []
        for place, (i0, i1) in enumerate(pairwise([-1, *kept, len(self.old.leaves)])):
            olds = list(range(i0 + 1, i1))
            news = list(range(lasts[place] + 1, firsts[place]))
            if (
                used_old.isdisjoint(olds)
                and used_new.isdisjoint(news)
                and self._sharing(olds, news)
            ):
                again.append(_Run(olds, news))
        done = {i for run in again for i in run.olds}
        found = [edit for edit in edits if edit.olds[0] not in done]
        self.gone -= done
        return found + [edit for edit in map(self._edit, again) if edit is not None]

    def _insert(self, news: Iterable[int]) -> None:
        for j in news:
            leaf = self.new.leaves[j]
            if leaf.text:
                self.result.words[leaf.node] = [Segment("inserted", leaf.text)]
            else:
                self.result.atoms[leaf.node] = "inserted"

    def _write(self, edit: _Edit) -> None:
        """Cut the words of an edited run at the borders of its leaves.

        A leaf that is deleted as a whole is shown again as an element, unless its line goes on.
        """
        words: list[list[Segment]] = [[] for _ in edit.news]
        inside = {a for a, i in enumerate(edit.olds) if edit.is_pair or self._is_inside(i)}
        outside: set[int] = set()  # leaves that are shown as elements
        x = y = latest = 0
        for segment in edit.segments:
            length = len(segment.text)
            if segment.kind == "deleted":
                for a, start, end in edit.before.cut(x, x + length):
                    i = edit.olds[a]
                    low, high = edit.after.leaves_at(y)
                    is_whole = i in self.gone and low != high
                    # What follows an element stays behind it.
                    if a in outside or (is_whole and (a not in inside or latest == len(words))):
                        outside.add(a)
                        latest = max(latest, high)
                        continue
                    self.gone.discard(i)
                    is_next = low < 0 or (
                        high < len(words) and self.first.get(i) == edit.news[high]
                    )
                    latest = max(latest, high if is_next else low)
                    home = min(latest, len(words) - 1)
                    words[home].append(Segment("deleted", edit.before.text[start:end]))
                    self.shown.setdefault(i, []).append(edit.news[home])
            else:
                for b, start, end in edit.after.cut(y, y + length):
                    latest = max(latest, b)
                    words[b].append(Segment(segment.kind, edit.after.text[start:end]))
            x += length if segment.kind != "inserted" else 0
            y += length if segment.kind != "deleted" else 0
        for j, found in zip(edit.news, words, strict=True):
            self.result.words[self.new.leaves[j].node] = found

    def _is_inside(self, i: int) -> bool:
        """Tell whether the line of a deleted leaf goes on, or both its ends are in one text now."""
        if self.old.leaves[i].line in self._kept_lines:
            return True
        before, after = self._kept_around.before[i], self._kept_around.after[i]
        return before >= 0 and after >= 0 and self.last[before] == self.first[after]

    @cached_property
    def _kept_lines(self) -> set[int]:
        return {self.old.leaves[i].line for i in self.first}

    @cached_property
    def _kept_around(self) -> Around:
        return Around(len(self.old.leaves), self.first)

    # ------------------------------------------------------------ 3. deleted parts

    def _put_back(self) -> None:
        """Find a place for each deleted part."""
        first, last = dict(self.first), dict(self.last)
        for i, homes in self.shown.items():
            first[i] = min(first.get(i, homes[0]), homes[0])
            last[i] = max(last.get(i, homes[-1]), homes[-1])
        placing = Placing(self.old, self.new, self.to_new, first, last, self.gone, self.moved)
        self.result.gone = placing.places()

    # ------------------------------------------------------------ elements

    def _look_at_elements(self) -> None:
        """Find the elements that are new as a whole, and those that are new around kept leaves."""
        new, n = self.new, len(self.new.names)
        has_new, has_kept = [False] * n, [False] * n
        for leaf in new.leaves:
            words = self.result.words.get(leaf.node)
            if words is None:
                is_new = self.result.atoms.get(leaf.node) == "inserted"
            else:
                is_new = all(part.kind == "inserted" or part.text.isspace() for part in words)
            has_new[leaf.node] = is_new and leaf.node not in self.result.moved
            has_kept[leaf.node] = not has_new[leaf.node]
        for node in range(n - 1, 0, -1):
            above = new.parents[node]
            has_new[above] |= has_new[node]
            has_kept[above] |= has_kept[node]
        for node in range(1, n):
            if self.to_old[node] >= 0 or new.written[node] is None:
                continue
            above = new.parents[node]
            is_inside = self.to_old[above] < 0
            if has_new[node] and not has_kept[node]:
                if not is_inside or has_kept[above]:
                    self.result.fresh.add(node)
            elif has_kept[node] and not is_inside:
                self.result.around.add(node)


@dataclass(frozen=True, slots=True)
class _Run:
    """Leaves of both pages between two that are kept."""

    olds: list[int]
    news: list[int]
    is_pair: bool = False


@dataclass(frozen=True, slots=True)
class _Edit:
    """A run that was compared word by word."""

    olds: list[int]
    news: list[int]
    before: Joined
    after: Joined
    segments: Sequence[Segment]
    is_pair: bool

"""Matching: which words of the old page are on the new page too, in place or moved.

An annotation pairs nodes; a reader sees words. A paragraph in a new wrapper, a word in another tag
or a text that was split are changes of nodes, but nothing for a reader. So the visible texts of both
pages are compared, with the annotation as a guide:

1. Texts with a partner are kept in place if the order of both pages agrees on them. Of texts that
   contradict each other, those that the annotation says moved count as moved.
2. Between texts that are kept in place, the rest is compared: equal texts first, then words, across
   the borders of nodes.
3. Long runs of words that are still on both sides between two kept words are kept as well: see
   ``gaps``.

Linear in both pages; the kernel that compares words has limits of its own. Nothing recurses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from quire.reports.changes.gaps import Gaps
from quire.reports.changes.orders import MIN_TOLD, equal_places, heaviest_rise, unique_matches
from quire.reports.changes.visible_page import VisiblePage
from quire.reports.changes.word_runs import (
    Joined,
    Part,
    Piece,
    is_alike,
    kept_pieces,
    runs_of_words,
    without_islands,
)
from quire.sdiff.annotation import Annotation
from quire.sdiff.facets import Status
from quire.sdiff.views.words import Segment, word_changes

# Two runs of text with this part of their characters in common are one text that was edited; with
# less, marking single words would leave a mosaic of "the" and "of". Texts that are partners need
# less, texts that moved need more.
_ALIKE = 0.4
_PAIR_ALIKE = 0.25
_MOVED_ALIKE = 0.6
# Texts with partners of up to this many characters, such as figures, are compared with these only.
_SHORT = 24
# How much more the place of a text counts if the annotation does not say that it moved.
_STAYS = 8

# As plain numbers: operations on flags take most of the time of a redline.
_MOVED, _CONTENT = int(Status.MOVED), int(Status.CONTENT)


@dataclass(frozen=True, slots=True)
class Matches:
    """The matched leaves and words of two pages; leaves are numbers in the lists of both pages.

    Attributes:
        pieces: the words that are kept in place, in the order of both pages.
        atoms: the elements without text that are kept in place, old to new.
        moved: the leaves that moved, old to new.
        edits: for each leaf of the new page that moved and was edited, its words.
    """

    pieces: list[Piece]
    atoms: dict[int, int]
    moved: dict[int, int]
    edits: dict[int, Sequence[Segment]]


def match_words(annotation: Annotation, old: VisiblePage, new: VisiblePage) -> Matches:
    """Match the words of two pages."""
    return _Matcher(annotation, old, new).match()


@dataclass(frozen=True, slots=True)
class _Run:
    """Leaves of both pages between two that are kept."""

    olds: list[int]
    news: list[int]
    is_pair: bool = False


class _Matcher:
    """Both pages, and the words matched so far."""

    def __init__(self, annotation: Annotation, old: VisiblePage, new: VisiblePage) -> None:
        self.old, self.new = old, new
        self.to_old: list[int] = annotation.to_old.tolist()
        self.to_new: list[int] = annotation.to_new.tolist()
        self.status: list[int] = annotation.new_status.tolist()
        self.pieces: list[Piece] = []
        self.atoms: dict[int, int] = {}
        self.moved: dict[int, int] = {}
        self.compared: dict[tuple[str, str], Sequence[Segment]] = {}

    def match(self) -> Matches:
        """Do the three steps."""
        pairs = self._in_place()
        soft = dict(pair for pair in pairs if not self._is_same(*pair))
        hard = [pair for pair in pairs if pair[0] not in soft]
        runs = self._between(hard, soft)
        self._settle_moves()
        for run in runs:
            self._compare_run(run)
        self.pieces.sort()
        Gaps(
            self.old,
            self.new,
            self.pieces,
            self.atoms,
            moved=self.moved,
            to_new=self.to_new,
        ).close()
        edits = {
            j: self._compare(self.old.leaves[i].text, self.new.leaves[j].text)
            for i, j in self.moved.items()
            if self.new.leaves[j].text and not self._is_same(i, j)
        }
        return Matches(self.pieces, self.atoms, self.moved, edits)

    # ------------------------------------------------------------ 1. texts with partners

    def _in_place(self) -> list[tuple[int, int]]:
        """Pair leaves whose order is the same on both pages; other leaves with partners moved."""
        pairs: list[tuple[int, int]] = []
        weights: list[int] = []
        moved_until = node = 0
        for j, leaf in enumerate(self.new.leaves):
            for above in range(node, leaf.node + 1):
                if self.status[above] & _MOVED:
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
            return not self.status[leaf.node] & _CONTENT
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
        before, after = self.old.leaves[i].text, self.new.leaves[j].text
        if after:
            self.pieces.append(Piece(i, 0, len(before), j, 0, len(after)))
        else:
            self.atoms[i] = j

    # ------------------------------------------------------------ 2. between them

    def _between(self, hard: list[tuple[int, int]], soft: dict[int, int]) -> list[_Run]:
        """Keep pairs and equal leaves in place, and return the runs of leaves between them."""
        runs: list[_Run] = []
        ends = [(-1, -1), *hard, (len(self.old.leaves), len(self.new.leaves))]
        for i, j in hard:
            self._keep(i, j)
        for (i0, j0), (i1, j1) in pairwise(ends):
            olds, news = list(range(i0 + 1, i1)), list(range(j0 + 1, j1))
            if olds and news:
                runs += self._match(olds, news, soft)
        return runs

    def _match(self, olds: list[int], news: list[int], soft: dict[int, int]) -> list[_Run]:
        """Match leaves between two that are kept; returns runs of leaves to compare by words.

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
            if x > start_old and y > start_new:
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
        """Find leaves that share runs of words, and how many runs."""
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
        if (before, after) not in self.compared:
            self.compared[before, after] = word_changes(before, after)
        return self.compared[before, after]

    def _compare_run(self, run: _Run) -> None:
        """Compare a run word by word, and keep the words that both sides have."""
        olds = [i for i in run.olds if i not in self.moved and self.old.leaves[i].text]
        news = [j for j in run.news if j not in self.arrived and self.new.leaves[j].text]
        if not olds or not news:
            return
        before = Joined(self.old, [self._whole(self.old, i) for i in olds])
        after = Joined(self.new, [self._whole(self.new, j) for j in news])
        segments = self._compare(before.text, after.text)
        if not is_alike(segments, _PAIR_ALIKE if run.is_pair else _ALIKE):
            segments = without_islands(segments)
        if run.is_pair:  # so that the old text is shown beside the new one
            self.pieces.append(Piece(olds[0], 0, 0, news[0], 0, 0))
        x = y = 0
        for segment in segments:
            length = len(segment.text)
            if segment.kind == "same":
                self.pieces += kept_pieces(before, after, x, y, length)
            x += length if segment.kind != "inserted" else 0
            y += length if segment.kind != "deleted" else 0

    @staticmethod
    def _whole(page: VisiblePage, place: int) -> Part:
        return Part(place, 0, len(page.leaves[place].text))

    # ------------------------------------------------------------ moves

    def _settle_moves(self) -> None:
        """Forget moves of leaves that turned out to be in place."""
        olds = {piece.old for piece in self.pieces} | self.atoms.keys()
        news = {piece.new for piece in self.pieces} | set(self.atoms.values())
        self.moved = {i: j for i, j in self.moved.items() if i not in olds and j not in news}
        self.arrived = set(self.moved.values())

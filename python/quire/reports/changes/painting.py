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

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.reports.changes import safe_markup as safe
from quire.sdiff.annotation import Annotation
from quire.sdiff.facets import Status
from quire.sdiff.views.words import Segment, SegmentKind, word_changes

Place: TypeAlias = tuple[Literal["start", "before", "behind"], int]

# Two runs of text with this part of their characters in common are one text that was edited; with
# less, marking single words would leave a mosaic of "the" and "of". Texts that are partners need less.
# The same for a run of which nearly all is found in a longer one.
_ALIKE = 0.4
_PAIR_ALIKE = 0.25
_MOVED_ALIKE = 0.6
_INSIDE = 0.8
# As many equal words in a row are no accident.
_MANY_WORDS = 5
# The same in tokens, white space included, and how often to look for such runs.
_RUN_TOKENS = 2 * _MANY_WORDS - 1
_MAX_RUNS = 40
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
# Texts with partners of up to this many characters, such as figures, are compared with these only.
_SHORT = 24
# Characters that are compared word by word; what is left after that is replaced as a whole. Hostile
# texts take some 15 microseconds for each.
_MAX_COMPARED = 600_000
# How much more the place of a text counts if the annotation does not say that it moved.
_STAYS = 8
# Shorter texts, such as a full stop, are not said to have moved: nobody could tell.
_MIN_MOVED = 8
# Elements that stand for the page itself, and how far into it the body can start.
_ROOTS = frozenset({"#document", "html", "body"})
_MAX_HEAD = 100_000
# Elements of menus, and where they belong.
_OPTIONS = {"option": {"select", "optgroup"}, "optgroup": {"select"}}
# Text that stands for an element without text, such as an image.
_ATOM = "\ufffc"


class VisiblePage:
    """The columns of a page as lists, and its visible leaves: texts, and elements without text."""

    def __init__(self, digest: Digest, base: str | None = None) -> None:
        self.digest = digest
        tags = digest.tag.tolist()
        self.names = [digest.tags[tag] for tag in tags]
        self.spaces = [digest.tag_namespaces[tag] for tag in tags]
        self.sizes: list[int] = digest.size.tolist()
        self.parents: list[int] = digest.parent.tolist()
        self.has_attributes: list[bool] = (digest.attr >= 0).tolist()
        self.base = base_of(base, digest._native.base())
        self.written = self._written()
        self.leaves = self._find_leaves()
        self.leaf_of = {leaf.node: place for place, leaf in enumerate(self.leaves)}

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of an element."""
        return self.digest.attributes(node) if self.has_attributes[node] else {}

    def _written(self) -> list[str | None]:
        """Return the name of the element to write for each node; None to leave it out."""
        known: dict[tuple[str, str], str | None] = {}
        found: list[str | None] = []
        for node, (name, space) in enumerate(zip(self.names, self.spaces, strict=True)):
            if name.startswith("#"):
                found.append(None)
                continue
            if (name, space) not in known:
                known[name, space] = safe.element(name, space)
            written = known[name, space]
            if name == "form" and self.names[self.parents[node]] in safe.TABLE_PARTS:
                written = None  # always empty; browsers would move another element out of the table
            elif name in _OPTIONS and self.names[self.parents[node]] not in _OPTIONS[name]:
                written = "span"  # outside of a menu, browsers show it as text
            found.append(written)
        return found

    def _find_leaves(self) -> list[Leaf]:
        leaves: list[Leaf] = []
        ends: list[int] = []  # of the open elements that end a line
        line = node = 0
        is_apart = False  # white space between elements came before
        n = len(self.names)
        while node < n:
            while ends and ends[-1] <= node:
                ends.pop()
                line += 1
            name, written = self.names[node], self.written[node]
            if name == "#text":
                text = self.digest.text(node)
                if text and not text.isspace():
                    leaves.append(Leaf(node, text, line, " ".join(text.split()), is_apart))
                is_apart = text.isspace()
                node += 1
            elif written in safe.ATOMS:
                if self.attributes(node).get("type", "").lower() != "hidden":
                    leaves.append(self._atom(node, written, line))
                node += self.sizes[node]
            elif written is None and name not in {"#document", "head"}:
                node += self.sizes[node]
            else:
                if written not in safe.INLINE:
                    line += 1
                    ends.append(node + self.sizes[node])
                node += 1
        return leaves

    def _atom(self, node: int, written: str, line: int) -> Leaf:
        found = self.attributes(node)
        parts = [found.get(key, "") for key in ("src", "alt", "type", "name", "placeholder")]
        if written in safe.PLAIN:
            parts.append(self.digest.text(node))
        return Leaf(node, "", line, f"{_ATOM}{written} {' '.join(' '.join(parts).split())}")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A visible text, or an element without text.

    Attributes:
        node: its number.
        text: the text; empty for an element.
        line: leaves with the same number are on one line, as far as elements tell.
        key: two leaves with the same key look the same.
        is_apart: whether white space is between it and the leaf before.
    """

    node: int
    text: str
    line: int
    key: str
    is_apart: bool = False


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
        edits = [self._edit(run) for run in runs]
        for edit in edits:
            if edit is not None:
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
        kept = _heaviest_rise([i for i, _ in pairs], weights)
        self.moved = {
            i: j
            for place, (i, j) in enumerate(pairs)
            if place not in kept
            and len(self.new.leaves[j].key) >= _MIN_MOVED
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
        return bool(after) and _is_alike(self._compare(before, after), _MOVED_ALIKE)

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
        same = _unique_matches(
            [self.old.leaves[i].key for i in olds], [self.new.leaves[j].key for j in news]
        )
        kept = {(olds[x], news[y]) for x, y in same}
        for i, j in kept:
            weights[i, j] = weights.get((i, j), 0) + len(self.old.leaves[i].key)
        found = sorted(weights, key=lambda pair: (pair[1], -pair[0]))
        chosen = _heaviest_rise([i for i, _ in found], [weights[pair] for pair in found])
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
        for x, y in [*_equal_places(left, right), (len(olds), len(news))]:
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
            for run in _runs_of_words(self.old.leaves[i].key):
                known.setdefault(run, i)
        found: Counter[tuple[int, int]] = Counter()
        for j in news:
            found.update(
                (known[run], j) for run in _runs_of_words(self.new.leaves[j].key) if run in known
            )
        return found

    def _is_edited(self, i: int, j: int) -> bool:
        """Tell whether a text with a partner is still the same text."""
        before, after = self.old.leaves[i].text, self.new.leaves[j].text
        if max(len(before), len(after)) <= _SHORT:
            return True
        return _is_alike(self._compare(before, after), _PAIR_ALIKE)

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
        before = _Joined([self.old.leaves[i] for i in olds])
        after = _Joined([self.new.leaves[j] for j in news])
        if not before.text or not after.text:
            self.gone.update(olds)
            self._insert(news)
            return None
        segments = self._compare(before.text, after.text)
        if not _is_alike(segments, _PAIR_ALIKE if run.is_pair else _ALIKE):
            segments = _without_islands(segments)
            if not run.is_pair and all(segment.kind != "same" for segment in segments):
                self.gone.update(olds)
                self._insert(news)
                return None
        segments = _with_long_runs(segments)
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
        x = y = latest = 0
        for segment in edit.segments:
            length = len(segment.text)
            if segment.kind == "deleted":
                for a, start, end in edit.before.cut(x, x + length):
                    i = edit.olds[a]
                    home = edit.after.leaf_at(y)
                    is_between = y in (edit.after.starts[home], edit.after.ends[home])
                    if i in self.gone and a not in inside and is_between:
                        continue
                    self.gone.discard(i)
                    is_start = home > 0 and edit.after.starts[home] == y
                    if is_start and edit.news[home] not in (self.first.get(i), self.last.get(i)):
                        home -= 1
                    latest = home = max(latest, home)
                    words[home].append(Segment("deleted", edit.before.text[start:end]))
                    self.shown.setdefault(i, []).append(edit.news[home])
            else:
                for b, start, end in edit.after.cut(y, y + length):
                    latest = max(latest, b)
                    words[b].append(Segment(segment.kind, edit.after.text[start:end]))
            x += length if segment.kind != "inserted" else 0
            y += length if segment.kind != "deleted" else 0
        for j, found in zip(edit.news, words, strict=True):
            if self.new.leaves[j].text:
                self.result.words[self.new.leaves[j].node] = found
            else:
                self._insert([j])

    def _is_inside(self, i: int) -> bool:
        """Tell whether the line of a deleted leaf goes on, or both its ends are in one text now."""
        if self.old.leaves[i].line in self._kept_lines:
            return True
        before, after = self._kept_around.before[i], self._kept_around.after[i]
        return before >= 0 and after >= 0 and self.last[before] == self.first[after]

    # ------------------------------------------------------------ 3. deleted parts

    @cached_property
    def _kept_lines(self) -> set[int]:
        return {self.old.leaves[i].line for i in self.first}

    @cached_property
    def _kept_around(self) -> _Around:
        return _Around(len(self.old.leaves), self.first)

    def _put_back(self) -> None:
        """Find a place for each deleted part."""
        for i, homes in self.shown.items():
            self.first[i] = min(self.first.get(i, homes[0]), homes[0])
            self.last[i] = max(self.last.get(i, homes[-1]), homes[-1])
        around = _Around(len(self.old.leaves), self.first)
        latest: tuple[tuple[int, int, int], Place] | None = None
        for top in self._deleted_tops():
            low = bisect_left(self.old.leaves, top, key=_node)
            high = bisect_left(self.old.leaves, top + self.old.sizes[top], key=_node) - 1
            before, after = around.before[low], around.after[high]
            place = self._place(
                top,
                None if before < 0 else self.new.leaves[self.last[before]].node,
                None if after < 0 else self.new.leaves[self.first[after]].node,
            )
            # Parts stay in their order, even if the place of one would be before the last one.
            key = self._written_at(place)
            if latest is None or key >= latest[0]:
                latest = key, place
            self.result.gone.setdefault(latest[1], []).append(top)

    def _deleted_tops(self) -> list[int]:
        """List the roots of the largest parts in which everything is deleted."""
        old, n = self.old, len(self.old.names)
        count, is_mixed = [0] * n, [False] * n
        for i, leaf in enumerate(old.leaves):
            if i in self.gone:
                count[leaf.node] = 1
            else:
                is_mixed[leaf.node] = i not in self.moved
        for node in range(n - 1, 0, -1):
            above = old.parents[node]
            count[above] += count[node]
            is_whole = not is_mixed[node] and not self._is_on_new_page(node)
            is_mixed[above] |= is_mixed[node] or (count[node] > 0 and not is_whole)
        return [
            node
            for node in range(1, n)
            if count[node]
            and not is_mixed[node]
            and not self._is_on_new_page(node)
            and (is_mixed[old.parents[node]] or self._is_on_new_page(old.parents[node]))
        ]

    def _is_on_new_page(self, node: int) -> bool:
        """Tell whether an element of the old page is drawn with the new page."""
        if node == 0 or self.old.names[node] in {"html", "head", "body"}:
            return True
        return node not in self.old.leaf_of and self.to_new[node] >= 0

    def _place(self, top: int, before: int | None, after: int | None) -> Place:
        """Find the place of a deleted part between two leaves of the new page."""
        new = self.new
        home = self.to_new[self.old.parents[top]]
        if home >= 0 and (new.written[home] is not None or home == 0):
            end = home + new.sizes[home]
            if before is not None and home < before < end:
                child = self._child(home, before)
                if after is None or after >= child + new.sizes[child]:
                    return "behind", child
            elif (before is None or before < home) and (after is None or after > home):
                return "start", home
        climbs = self.old.written[top] not in safe.INLINE and self.old.names[top] != "#text"
        if before is not None:
            node = before
            while climbs and not self._holds(new.parents[node], after):
                node = new.parents[node]
            return "behind", node
        if after is not None:
            node = after
            while climbs and new.names[new.parents[node]] not in _ROOTS:
                node = new.parents[node]
            return "before", node
        bodies = [node for node, name in enumerate(new.names[:_MAX_HEAD]) if name == "body"]
        return "start", bodies[0] if bodies else 0

    def _child(self, home: int, node: int) -> int:
        """Return the child of a node that has another node in it, or is that node."""
        while self.new.parents[node] != home:
            node = self.new.parents[node]
        return node

    def _holds(self, node: int, other: int | None) -> bool:
        if self.new.names[node] in _ROOTS:
            return True
        return other is not None and node <= other < node + self.new.sizes[node]

    def _written_at(self, place: Place) -> tuple[int, int, int]:
        """Return a key that sorts places in the order in which they are written."""
        kind, node = place
        if kind == "start":
            return node + 1, -1, 0
        if kind == "before":
            return node, 1, 0
        return node + self.new.sizes[node], 0, -node

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


class _Around:
    """For each of some places: the nearest of the chosen ones before and after it; -1 for none."""

    def __init__(self, count: int, chosen: Container[int]) -> None:
        self.before = self._nearest(range(count), chosen)
        self.after = self._nearest(range(count - 1, -1, -1), chosen)[::-1]

    @staticmethod
    def _nearest(places: range, chosen: Container[int]) -> list[int]:
        found, last = [], -1
        for place in places:
            found.append(last)
            last = place if place in chosen else last
        return found


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
    before: _Joined
    after: _Joined
    segments: Sequence[Segment]
    is_pair: bool


class _Joined:
    """The texts of some leaves, one after another, with a line break between lines."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        parts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        at, line = 0, None
        for leaf in leaves:
            if line is not None and line != leaf.line:
                parts.append("\n")
                at += 1
            elif leaf.is_apart:
                parts.append(" ")
                at += 1
            line = leaf.line
            parts.append(leaf.text)
            self.starts.append(at)
            at += len(leaf.text)
            self.ends.append(at)
        self.text = "".join(parts)

    def leaf_at(self, offset: int) -> int:
        """Return the leaf that an offset is in, or the one that ends there."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Cut a span at the borders of leaves; yields the place of each leaf and its part."""
        place = self.leaf_at(start)
        while place < len(self.starts) and self.starts[place] < end:
            low, high = max(start, self.starts[place]), min(end, self.ends[place])
            if low < high:
                yield place, low, high
            place += 1


def _node(leaf: Leaf) -> int:
    return leaf.node


def _is_alike(segments: Sequence[Segment], threshold: float) -> bool:
    """Tell whether two texts have so much in common that one became the other."""
    sizes = {"same": 0, "deleted": 0, "inserted": 0}
    for segment in segments:
        sizes[segment.kind] += len("".join(segment.text.split()))
    same = sizes["same"]
    before, after = same + sizes["deleted"], same + sizes["inserted"]
    return 2 * same >= threshold * (before + after) or same >= _INSIDE * min(before, after) > 0


def _without_islands(segments: Sequence[Segment]) -> list[Segment]:
    """Take what two different texts have in common by accident for deleted and inserted.

    >>> for part in _without_islands(word_changes("The fee is due", "Ask the bank")):
    ...     print(part.kind, part.text)
    deleted The fee is due
    inserted Ask the bank
    """
    found: list[Segment] = []
    deleted: list[str] = []
    inserted: list[str] = []

    def flush() -> None:
        for kind, parts in (("deleted", deleted), ("inserted", inserted)):
            text = "".join(parts)
            if text:
                found.append(Segment(kind, text))
            parts.clear()

    for segment in segments:
        if segment.kind == "same" and len(segment.text.split()) >= _MANY_WORDS:
            flush()
            found.append(segment)
            continue
        if segment.kind != "inserted":
            deleted.append(segment.text)
        if segment.kind != "deleted":
            inserted.append(segment.text)
    flush()
    return found


def _with_long_runs(segments: Sequence[Segment]) -> list[Segment]:
    """Find long runs of words that are both deleted and inserted between kept ones.

    Comparisons of words stop early on long texts, and then miss some.
    """
    found: list[Segment] = []
    deleted = inserted = ""
    for segment in [*segments, Segment("same", "")]:
        if segment.kind == "deleted":
            deleted += segment.text
        elif segment.kind == "inserted":
            inserted += segment.text
        else:
            found += _split(deleted, inserted)
            deleted = inserted = ""
            if segment.text:
                found.append(segment)
    return found


def _split(deleted: str, inserted: str) -> list[Segment]:
    """Cut a deleted and an inserted text at the long runs of words that both have."""
    found: list[Segment] = []
    todo = [(_TOKEN.findall(deleted), _TOKEN.findall(inserted), False)]
    left = _MAX_RUNS
    while todo:
        before, after, is_same = todo.pop()
        if is_same:
            found.append(Segment("same", "".join(after)))
            continue
        x, y, length = _longest_run(before, after) if left else (0, 0, 0)
        if length:
            left -= 1
            todo.append((before[x + length :], after[y + length :], False))
            todo.append(([], after[y : y + length], True))
            todo.append((before[:x], after[:y], False))
            continue
        found += [Segment("deleted", "".join(before))] if before else []
        found += [Segment("inserted", "".join(after))] if after else []
    return found


def _runs_of_words(text: str) -> Iterator[tuple[str, ...]]:
    words = text.split()
    for start in range(len(words) - _MANY_WORDS + 1):
        yield tuple(words[start : start + _MANY_WORDS])


def _longest_run(before: list[str], after: list[str]) -> tuple[int, int, int]:
    """Find a long run of tokens that two lists have in common: its places and its length.

    Linear, so of a run that repeats itself it may not find the longest.
    """
    known: dict[tuple[str, ...], int] = {}
    for x in range(len(before) - _RUN_TOKENS + 1):
        known.setdefault(tuple(before[x : x + _RUN_TOKENS]), x)
    best = (0, 0, 0)
    y = 0
    while known and y <= len(after) - _RUN_TOKENS:
        x = known.get(tuple(after[y : y + _RUN_TOKENS]), -1)
        length = 0
        if x >= 0:
            length = _RUN_TOKENS
            while (
                x + length < len(before)
                and y + length < len(after)
                and before[x + length] == after[y + length]
            ):
                length += 1
            if length > best[2]:
                best = (x, y, length)
        y += max(1, length)
    return best


def _unique_matches(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    """Find equal texts that are in both lists only once, and are not so short that many are alike.

    >>> _unique_matches(["Terms of service", "x", "x"], ["x", "Terms of service"])
    [(0, 1)]
    """
    counts, others = Counter(left), Counter(right)
    places = {text: place for place, text in enumerate(right)}
    return [
        (place, places[text])
        for place, text in enumerate(left)
        if len(text) >= _MIN_MOVED and counts[text] == 1 == others.get(text, 0)
    ]


def _equal_places(left: list[int], right: list[int]) -> list[tuple[int, int]]:
    """Match equal numbers of two lists in order: the places of each pair.

    >>> _equal_places([1, 2, 3], [2, 9, 3])
    [(1, 0), (2, 2)]
    """
    if not set(left) & set(right):
        return []
    # The kernel that compares words compares numbers too, and has limits for hostile pages.
    before, after = " ".join(map(str, left)), " ".join(map(str, right))
    old_at, new_at = _starts(left), _starts(right)
    found: list[tuple[int, int]] = []
    x = y = 0
    for segment in word_changes(before, after):
        length = len(segment.text)
        if segment.kind == "same":
            for start in range(length):
                i, j = old_at.get(x + start), new_at.get(y + start)
                if i is not None and j is not None and left[i] == right[j]:
                    found.append((i, j))
        x += length if segment.kind != "inserted" else 0
        y += length if segment.kind != "deleted" else 0
    return found


def _starts(numbers: list[int]) -> dict[int, int]:
    """Map the offset of each number in the list as text to its place."""
    found, at = {}, 0
    for place, number in enumerate(numbers):
        found[at] = place
        at += len(str(number)) + 1
    return found


def _heaviest_rise(numbers: list[int], weights: list[int]) -> set[int]:
    """Choose numbers that rise, with the largest sum of weights; returns their places.

    >>> sorted(_heaviest_rise([0, 3, 1, 2], [1, 1, 1, 1]))
    [0, 2, 3]
    """
    if all(a < b for a, b in pairwise(numbers)):
        return set(range(len(numbers)))
    order = {number: rank for rank, number in enumerate(sorted(set(numbers)), 1)}
    best: list[tuple[int, int]] = [(0, -1)] * (len(numbers) + 1)  # a Fenwick tree of maxima
    before: list[int] = []
    for place, (number, weight) in enumerate(zip(numbers, weights, strict=True)):
        rank, top = order[number] - 1, (0, -1)
        while rank > 0:
            top = max(top, best[rank])
            rank -= rank & -rank
        before.append(top[1])
        mine, rank = (top[0] + weight, place), order[number]
        while rank < len(best):
            best[rank] = max(best[rank], mine)
            rank += rank & -rank
    found: set[int] = set()
    rank, top = len(numbers), (0, -1)
    while rank > 0:
        top = max(top, best[rank])
        rank -= rank & -rank
    place = top[1]
    while place >= 0:
        found.add(place)
        place = before[place]
    return found

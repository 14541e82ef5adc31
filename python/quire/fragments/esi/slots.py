"""Slots: files that keep their names from one composition to the next.

By default a file is named after its content, so a part that changes gets a new address, and every
template that includes it changes too. A *slot* is a place: the file of a page at an address, or a
fragment between the same neighbours. If a composition follows an earlier one, each slot keeps its
name, so a part changes under its address: only its own file has other bytes, and only that one has
to be purged.

A new fragment continues an old one if both have the same content, if the plan followed the old one
to its place (``continued_parts``), or if on most pages it is in the same place: between the same
fragments, in the same order. A name that is still in use is never given to a second file. Names do
not tell the content any more; the manifest has the SHA-256.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from quire.fragments.caching.plan import FragmentPlan
from quire.fragments.cuts.includes import DIGITS, Folder, include_pattern
from quire.fragments.esi.addresses import Place, places_of
from quire.fragments.esi.compose import folder_reader
from quire.fragments.esi.manifest import ComposedPage, FragmentFile, Manifest, page_key


@dataclass(frozen=True, slots=True)
class Slots:
    """The file names of a composition, by content names (the first digits of the SHA-256).

    Attributes:
        fragments: names of fragments; others are named after their content.
        pages: names of pages; others are named after their content.
    """

    fragments: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)

    def fragment(self, content: str) -> str:
        """Return the file name of a fragment."""
        return self.fragments.get(content, content)

    def page(self, sha256: str) -> str:
        """Return the file name of a page."""
        return self.pages.get(sha256[:DIGITS], sha256[:DIGITS])


def slots_after(folder: Path, plan: FragmentPlan) -> Slots:
    """Find which files of a plan continue files of an earlier composition.

    Args:
        folder: the earlier composition.
        plan: the cuts of the new one.

    Raises:
        PlanError: the folder is not a composition, or its manifest is damaged.
        CompositionError: a file of it is missing or cannot be read.
    """
    old = _Old(folder)
    names = _Names()
    pairs = _page_pairs(old, plan)
    for page, sha256 in pairs:
        names.keep(names.pages, page.file, sha256[:DIGITS])
    for content in plan.cuts.fragments:
        for one in old.by_content.get(content, ()):
            if old.folder[one] == _folder(plan, content):
                names.keep(names.fragments, one, content)
    _continue_parts(old, plan, names)
    _continue_places(old, plan, pairs, names)
    for content in plan.cuts.fragments:
        names.ensure(names.fragments, content)
    for cut in plan.cuts.pages.values():
        names.ensure(names.pages, cut.sha256[:DIGITS])
    return Slots(names.fragments, names.pages)


class _Names:
    """The names that were given, each to one content."""

    def __init__(self) -> None:
        self.fragments: dict[str, str] = {}
        self.pages: dict[str, str] = {}
        self._content_of: dict[str, str] = {}

    def keep(self, names: dict[str, str], name: str, content: str) -> bool:
        """Give a name to some content, unless one of them has another already."""
        if content in names or self._content_of.get(name, content) != content:
            return False
        names[content] = name
        self._content_of[name] = content
        return True

    def ensure(self, names: dict[str, str], content: str) -> None:
        """Name content after itself, or differently if that name belongs to a slot."""
        name, number = content, 0
        while content not in names and not self.keep(names, name, content):
            number += 1
            name = hashlib.sha256(f"{content} {number}".encode("ascii")).hexdigest()[:DIGITS]


class _Old:
    """An earlier composition: the content of its files, and the fragments in each."""

    def __init__(self, folder: Path) -> None:
        self.manifest = Manifest.load(folder)
        self._read = folder_reader(folder)
        self._pattern = include_pattern(self.manifest.prefix)
        self.folder: dict[str, Folder] = {}
        self.content: dict[str, str] = {}
        self.by_content: dict[str, list[str]] = {}
        self._files: dict[str, FragmentFile] = {}
        for one in self.manifest.fragments:
            self.folder[one.file] = one.folder
            self.content[one.file] = one.sha256[:DIGITS]
            self.by_content.setdefault(one.sha256[:DIGITS], []).append(one.file)
            self._files[one.file] = one

    def includes(self, one: ComposedPage | FragmentFile) -> list[str]:
        """Return the fragments that a file includes, in order."""
        if one.folder != "templates":
            return []
        # Isolated parts may be shorter than their includes, and so a template longer than its page.
        longer = one.includes * self.manifest.include_bytes if isinstance(one, ComposedPage) else 0
        data = self._read(one.folder, one.file, one.length + longer)
        found = [match[2].decode("ascii") for match in self._pattern.finditer(data)]
        return [name for name in found if name in self.content]

    def inside(self, name: str) -> list[str]:
        """Return the fragments directly inside a fragment."""
        return self.includes(self._files[name])


def _folder(plan: FragmentPlan, content: str) -> Folder:
    return "templates" if plan.cuts.fragments[content].parts else "fragments"


def _page_pairs(old: _Old, plan: FragmentPlan) -> list[tuple[ComposedPage, str]]:
    """Pair the pages that are at the same address, or have the same name if they have none."""
    known = old.manifest.pages_by_key()
    found = []
    places: Sequence[Place] = places_of(plan.site.pages)
    for new, place in zip(plan.site.pages, places, strict=True):
        cut = plan.cuts.pages[new.body]
        before = known.get(page_key(place.address, new.name))
        if before is not None and before.folder == ("templates" if cut.parts else "whole"):
            found.append((before, cut.sha256))
    return found


def _continue_parts(old: _Old, plan: FragmentPlan, names: _Names) -> None:
    """Give the names of fragments to the parts that the plan followed them to."""
    for place, followed in plan.continued.items():
        for part in plan.cuts.pages[plan.site.pages[place].body].parts:
            name = followed.get((part.start, part.end), "")
            if old.folder.get(name) == _folder(plan, part.name):
                names.keep(names.fragments, name, part.name)


def _continue_places(
    old: _Old, plan: FragmentPlan, pairs: Iterable[tuple[ComposedPage, str]], names: _Names
) -> None:
    """Give the names of fragments that are gone to those in their places."""
    by_sha256 = {page.sha256: page for page in plan.cuts.pages.values()}
    # Pages, then fragments that continue others, whose inner fragments may do so too.
    waiting = [
        (old.includes(page), [part.name for part in by_sha256[sha256].parts])
        for page, sha256 in pairs
    ]
    while waiting:
        votes: Counter[tuple[str, str]] = Counter()
        for before, after in waiting:
            votes.update(_same_places(before, after, old, names))
        waiting = []
        for (name, content), _ in sorted(votes.items(), key=lambda one: (-one[1], one[0])):
            same_folder = old.folder[name] == _folder(plan, content)
            if same_folder and names.keep(names.fragments, name, content):
                inner = [part.name for part in plan.cuts.fragments[content].parts]
                if inner:
                    waiting.append((old.inside(name), inner))


def _same_places(
    before: list[str], after: list[str], old: _Old, names: _Names
) -> list[tuple[str, str]]:
    """Pair fragments that are between the same neighbours: old names and new contents.

    Neighbours are the longest sequence of fragments that both pages have, in the same order.
    """
    stayed = set(after)
    place = {old.content[name]: at for at, name in enumerate(before)}
    common = [(place[content], at) for at, content in enumerate(after) if content in place]
    kept = [(-1, -1), *_ascending(common), (len(before), len(after))]
    found = []
    for (old_start, new_start), (old_end, new_end) in pairwise(kept):
        olds = [one for one in before[old_start + 1 : old_end] if old.content[one] not in stayed]
        news = [one for one in after[new_start + 1 : new_end] if one not in names.fragments]
        found += list(zip(olds, news, strict=False))
    return found


def _ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest sequence of pairs in which both numbers ascend; the second ones do.

    >>> _ascending([(2, 0), (0, 1), (1, 2)])
    [(0, 1), (1, 2)]
    """
    ends: list[int] = []  # the smallest last number of a sequence of each length
    last: list[int] = []  # and its place in ``pairs``
    before: list[int] = []
    for at, (first, _) in enumerate(pairs):
        length = bisect_left(ends, first)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [first]
        last[length : length + 1] = [at]
    found = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]

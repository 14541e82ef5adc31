"""Omini in the fewest words: plain Python over a tree of tuples, to compare the fast one with."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from dataclasses import dataclass, field

from quire.digest import Digest


@dataclass
class Tree:
    """A visible element; a child is an element or the length of a text."""

    node: int
    tag: str
    children: list[Tree | int] = field(default_factory=list)

    @property
    def elements(self) -> list[Tree]:
        """The children that are elements."""
        return [child for child in self.children if isinstance(child, Tree)]

    @property
    def size(self) -> int:
        """Bytes of text."""
        return sum(child.size if isinstance(child, Tree) else child for child in self.children)

    @property
    def tags(self) -> int:
        """Elements below this one."""
        return sum(1 + child.tags for child in self.elements)

    def walk(self) -> list[Tree]:
        """This element and all below it."""
        return [self, *(below for child in self.elements for below in child.walk())]


def tree(page: Digest) -> Tree:
    """Read the visible part of a page into a tree."""

    def read(node: int) -> Tree:
        found = Tree(node, page.tags[int(page.tag[node])])
        at = node + 1
        while at < node + page.size[node]:
            tag = page.tags[int(page.tag[at])]
            if tag == "#text" and page.visible[at]:
                found.children.append(len(page.contents[int(page.content[at])].strip()))
            elif page.visible[at] and not tag.startswith("#"):
                found.children.append(read(at))
            at += int(page.size[at])
        return found

    return read(0)


def fan_out(root: Tree) -> dict[int, float]:
    return {each.node: len(each.elements) for each in root.walk()[1:]}


def size_increase(root: Tree) -> dict[int, float]:
    return {
        each.node: each.size - max(child.size for child in each.elements) if each.elements else 0
        for each in root.walk()[1:]
    }


def tag_count(root: Tree) -> int | None:
    """The node on the path of the most tags that has the most children of one name."""
    path = []
    at = root
    while at.elements:
        at = max(at.elements, key=lambda child: child.tags)
        path.append(at)

    def alike(one: Tree) -> int:
        return max(Counter(child.tag for child in one.elements).values(), default=0)

    return max(path, key=lambda one: (alike(one), one.tags)).node if path else None


def candidates(parent: Tree) -> set[str]:
    counted = Counter(child.tag for child in parent.elements)
    return {tag for tag, count in counted.items() if count > 1}


def deviation(parent: Tree) -> dict[str, float]:
    starts: dict[str, list[int]] = {tag: [] for tag in candidates(parent)}
    at = 0
    for child in parent.children:
        if isinstance(child, Tree):
            starts.get(child.tag, []).append(at)
        at += child.size if isinstance(child, Tree) else child
    return {
        tag: statistics.pstdev([b - a for a, b in itertools.pairwise(found)])
        for tag, found in starts.items()
        if len(found) > 2
    }


def pattern(parent: Tree) -> dict[str, float]:
    events: list[str | None] = []  # None is a text

    def read(one: Tree) -> None:
        for child in one.children:
            if isinstance(child, Tree):
                events.append(child.tag)
                read(child)
            elif child:
                events.append(None)

    read(parent)
    pairs = Counter(pair for pair in itertools.pairwise(events) if None not in pair)
    counts = Counter(events)
    return {
        tag: min(abs(n - counts[tag]) for pair, n in pairs.items() if pair[0] == tag)
        for tag in candidates(parent)
        if any(pair[0] == tag for pair in pairs)
    }


def neighbours(parent: Tree) -> dict[str, float]:
    tags = [child.tag for child in parent.elements]
    pairs = Counter(itertools.pairwise(tags))
    return {
        tag: max(n for pair, n in pairs.items() if pair[0] == tag)
        for tag in candidates(parent)
        if any(pair[0] == tag for pair in pairs)
    }


def paths(parent: Tree) -> dict[str, float]:
    counted: Counter[tuple[str, ...]] = Counter()

    def read(one: Tree, path: tuple[str, ...]) -> None:
        counted[path] += 1
        for child in one.elements:
            read(child, (*path, child.tag))

    for child in parent.elements:
        read(child, (child.tag,))
    return {
        tag: max(n for path, n in counted.items() if path[0] == tag) for tag in candidates(parent)
    }

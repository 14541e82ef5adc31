"""AF trees and shingles by their definitions, in the fewest words Python has for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from quire import Digest
from quire.fragments import FORMATTING, Shingling, window_hashes

SPACE = " \t\n\f\r"


@dataclass
class Part:
    """A node of an AF tree: where it is on the page, and a text or parts."""

    node: int
    node_end: int
    text: str = ""
    children: list[Part] = field(default_factory=list)

    @property
    def value(self) -> bytes:
        """A line for each text."""
        own = f"{self.text}\n" if self.text else ""
        return own.encode() + b"".join(child.value for child in self.children)

    def walk(self) -> Iterator[Part]:
        """It and all below it, in pre-order."""
        yield self
        for child in self.children:
            yield from child.walk()


def children(page: Digest, node: int) -> Iterator[int]:
    """The children of a node; those of formatting tags in their place."""
    child = node + 1
    while child < node + page.size[node]:
        if page.tag_names[page.tag[child]] in FORMATTING:
            yield from children(page, child)
        elif not is_comment(page, child):
            yield child
        child += int(page.size[child])


def is_comment(page: Digest, node: int) -> bool:
    return page.tags[page.tag[node]] in {"#comment", "#doctype", "#instruction"}


def is_text(page: Digest, node: int) -> bool:
    return str(page.tags[page.tag[node]]) == "#text"


def words(text: str) -> str:
    """A text with single spaces between its words."""
    for space in SPACE:
        text = text.replace(space, " ")
    return " ".join(word for word in text.split(" ") if word)


def removed_nodes(page: Digest) -> tuple[int, int]:
    """Formatting tags, and other nodes that have no words in them; the document is always kept."""
    nodes = range(page.n)
    formatting = {n for n in nodes if page.tag_names[page.tag[n]] in FORMATTING}
    full: set[int] = {0}
    for node in nodes:
        around = node if is_text(page, node) and words(page.text(node)) else 0
        while around not in full:
            full.add(around)
            around = int(page.parent[around])
    blank = set(nodes) - formatting - full
    return len(formatting), len(blank)


def af_tree(page: Digest, node: int = 0) -> Part:
    """The AF tree of an HTML page, by recursion."""
    found = Part(node, node + int(page.size[node]))
    for texts, run in groupby(children(page, node), lambda child: is_text(page, child)):
        nodes = list(run)
        if texts:
            full = [child for child in nodes if words(page.text(child))]
            if full:
                text = words("".join(page.text(child) for child in nodes))
                found.children.append(Part(full[0], full[-1] + 1, text))
        else:
            parts = [af_tree(page, child) for child in nodes]
            found.children += [part for part in parts if part.value]
    if len(found.children) == 1:
        (only,) = found.children
        found.text, found.children = only.text, only.children
    return found


def shingles(value: bytes, how: Shingling) -> list[int]:
    """The smallest hashes of the windows of a value."""
    return sorted(set(window_hashes(value, how).tolist()))[: how.sample]

"""Every measure by its definition, in the fewest words Python has for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from quire import Digest

SPACE = " \t\n\f\r"

Features = Iterator[Hashable]


def tag(page: Digest, node: int) -> str:
    """The name of a node."""
    return page.tag_names[int(page.tag[node])]


def is_element(page: Digest, node: int) -> bool:
    """Whether a node of an HTML page is an element."""
    return not tag(page, node).startswith("#")


def roots(page: Digest, nodes: str | None) -> list[int]:
    """The chosen nodes that are in no other chosen node; the document without a selector."""
    if nodes is None:
        return [0]
    chosen = [int(node) for node in page.select(nodes)]
    return [
        node
        for node in chosen
        if not any(outer < node < outer + page.size[outer] for outer in chosen)
    ]


def windows(sequence: Sequence[Hashable], width: int) -> Features:
    """All ``width`` in a row; the whole sequence when it is shorter."""
    if sequence:
        for start in range(max(1, len(sequence) - width + 1)):
            yield tuple(sequence[start : start + width])


def below(page: Digest, root: int) -> range:
    """The nodes of a part."""
    return range(root, root + int(page.size[root]))


def path(page: Digest, node: int, root: int) -> list[int]:
    """The elements from the root of a part to a node."""
    found = []
    at = node
    while True:
        if is_element(page, at):
            found.append(at)
        if at == root:
            return found[::-1]
        at = int(page.parent[at])


def structure(page: Digest, root: int) -> Features:
    tags = [tag(page, node) for node in below(page, root) if is_element(page, node)]
    return windows(tags, 4)


def structure_class(page: Digest, root: int) -> Features:
    for node in below(page, root):
        if is_element(page, node):
            steps = path(page, node, root)[-3:]
            yield tuple(
                (tag(page, step), frozenset(re.findall(f"[^{SPACE}]+", classes(page, step))))
                for step in steps
            )


def classes(page: Digest, node: int) -> str:
    """The class attribute of an element."""
    return page.attributes(node).get("class", "")


def words(text: str) -> list[str]:
    """Letters and digits in a row, in lower case; letters of scripts without spaces one by one."""
    found: list[str] = []
    is_open = False
    for char in text:
        if char == "\u0301":  # a mark belongs to what is before it, or to nothing
            if is_open:
                found[-1] += char
        elif char in "東京":
            found.append(char)
            is_open = True
        elif not char.isalnum():
            is_open = False
        elif is_open and found[-1][0] not in "東京":
            found[-1] += char
        else:
            found.append(char)
            is_open = True
    return [word.lower() for word in found]


def content(page: Digest, root: int) -> Features:
    return windows(words(page.text(root)), 5)


def paths(page: Digest, root: int) -> Features:
    for node in below(page, root):
        if is_element(page, node):
            yield tuple(tag(page, step) for step in path(page, node, root))


def tokens(page: Digest, root: int) -> Features:
    found: list[Hashable] = []

    def visit(node: int) -> None:
        if tag(page, node) in {"#text", "#cdata"}:
            text = page.text(node).strip(SPACE)
            if text:
                found.append(("text", text))
        children = [at for at in below(page, node) if page.parent[at] == node]
        if is_element(page, node):
            found.append(("start", tag(page, node)))
        for child in children:
            visit(child)
        if is_element(page, node) and children:
            found.append(("end", tag(page, node)))

    visit(root)
    return windows(found, 3)


# Which features a measure has, and whether it counts them.
ORACLES: dict[str, tuple[Callable[[Digest, int], Features], bool]] = {
    "structure": (structure, True),
    "structure+class": (structure_class, True),
    "content": (content, False),
    "paths": (paths, False),
    "paths+counts": (paths, True),
    "tokens": (tokens, False),
}


def bag(page: Digest, on: str, nodes: str | None = None) -> Counter[Hashable]:
    """The features of a page with their counts."""
    features, counts = ORACLES[on]
    found = Counter(feature for root in roots(page, nodes) for feature in features(page, root))
    return found if counts else Counter(set(found))


def jaccard(a: Counter[Hashable], b: Counter[Hashable]) -> float:
    """What two bags share of what either has."""
    return (a & b).total() / (a | b).total() if a or b else 1.0

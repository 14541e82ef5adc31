"""From any tree of objects to the columns that a digest is made of."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import SupportsIndex, TypeVar

from quire.errors import TreeError

_T = TypeVar("_T")

# Child counts, names, attributes, contents: what ``_core.from_columns`` takes.
Columns = tuple[list[int], list[str], list[list[tuple[str, str]]], list[bytes | None]]


# Counts are 32-bit in the kernels. What fits and is still too many for the tree, they say themselves.
_MAX_COUNT = 2**32 - 1


def counts_of(children: Iterable[SupportsIndex]) -> list[int]:
    """Read child counts.

    >>> counts_of([2, 0, True])
    [2, 0, 1]

    Raises:
        TreeError: one is not a whole number, negative, or more than any tree has.
    """
    counts = []
    for node, count in enumerate(children):
        try:
            number = operator.index(count)
        except TypeError:
            raise TreeError(
                f"node {node} has the child count {count!r}, but a count is a whole number"
            ) from None
        if not 0 <= number <= _MAX_COUNT:
            raise TreeError(
                f"node {node} has the child count {number}, but a count is 0 to {_MAX_COUNT}"
            )
        counts.append(number)
    return counts


def columns_of(
    root: _T,
    children: Callable[[_T], Iterable[_T]],
    tag: Callable[[_T], str],
    attributes: Callable[[_T], Mapping[str, str] | None] | None,
    content: Callable[[_T], bytes | str | None] | None,
) -> Columns:
    """Walk a tree in pre-order, without recursion, asking each node once.

    >>> columns_of((), lambda node: [], lambda node: "a", None, lambda node: "x")
    ([0], ['a'], [[]], [b'x'])

    Raises:
        TreeError: a node is its own descendant.
    """
    counts: list[int] = []
    names: list[str] = []
    runs: list[list[tuple[str, str]]] = []
    contents: list[bytes | None] = []
    above: set[int] = set()

    def enter(node: _T) -> tuple[int, int, Iterator[_T]]:
        if id(node) in above:
            raise TreeError(f"node {len(counts)} is its own descendant, so the tree has no end")
        above.add(id(node))
        found = content(node) if content else None
        counts.append(0)
        names.append(tag(node))
        runs.append(list(((attributes(node) if attributes else None) or {}).items()))
        contents.append(found.encode() if isinstance(found, str) else found)
        return len(counts) - 1, id(node), iter(children(node))

    # Nodes stay referenced by `path` while they are open: an id is not used twice.
    path: list[_T] = [root]
    open_nodes = [enter(root)]
    while open_nodes:
        number, identity, rest = open_nodes[-1]
        for child in rest:
            counts[number] += 1
            path.append(child)
            open_nodes.append(enter(child))
            break
        else:
            open_nodes.pop()
            path.pop()
            above.discard(identity)
    return counts, names, runs, contents

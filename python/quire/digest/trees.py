"""Turn any tree of Python objects into the columns of a digest."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import SupportsIndex, TypeVar

from quire.errors import TreeError

_T = TypeVar("_T")

# The arguments of `_core.from_columns`: child counts, names, attributes, contents.
Columns = tuple[list[int], list[str], list[list[tuple[str, str]]], list[bytes | None]]


# Counts are 32-bit in the kernels. The kernels report counts that fit but do not suit the tree.
_MAX_COUNT = 2**32 - 1


def counts_of(children: Iterable[SupportsIndex]) -> list[int]:
    """Check child counts and return them as plain integers.

    >>> counts_of([2, 0, True])
    [2, 0, 1]

    Raises:
        TreeError: a count is not a whole number, is negative, or does not fit in 32 bits.
    """
    counts = []
    for node, count in enumerate(children):
        try:
            number = operator.index(count)
        except TypeError:
            raise TreeError(
                f"node {node} has child count {count!r}; expected a whole number"
            ) from None
        if not 0 <= number <= _MAX_COUNT:
            raise TreeError(f"node {node} has child count {number}; expected 0 to {_MAX_COUNT}")
        counts.append(number)
    return counts


def columns_of(
    root: _T,
    children: Callable[[_T], Iterable[_T]],
    tag: Callable[[_T], str],
    attributes: Callable[[_T], Mapping[str, str] | None] | None,
    content: Callable[[_T], bytes | str | None] | None,
) -> Columns:
    """Walk a tree in pre-order, without recursion, calling each function once per node.

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

    # `path` keeps a reference to each open node, so that no id is reused.
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

"""Algorithms 1 and 2 of paper 000, line by line: the oracles for encoding and decoding.

As printed, neither works: Algorithm 1 counts end tags as nodes and pushes the root twice, and
Algorithm 2 pops only one parent after a last child. ``as_printed=True`` keeps both mistakes, so
that a test can show them; otherwise they are corrected as ``docs/papers.md`` says.

One misprint is always corrected: ``children`` asks for the top of S where it means its own stack CS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)[^<>]*>")


def read_tags(source: str) -> Iterator[tuple[bool, str]]:
    """Read the next tag of W until its end: is it a start tag, and its name."""
    for slash, name in TAG.findall(source):
        yield not slash, name


def algorithm_1(source: str, *, as_printed: bool = False) -> list[int | None]:
    """Count the children of every node of a well-formed document: the array ST.

    An entry that no node was given is None.
    """
    stack: list[int] = []
    parent: dict[int, int] = {}
    st: dict[int, int] = {0: 0}  # the paper counts up an entry that it never sets
    index = 0
    if as_printed:
        stack.append(0)
    for is_start, _ in read_tags(source):
        if is_start:
            if index != 0:
                parent[index] = stack[-1]
                st[parent[index]] += 1
                st[index] = 0
            stack.append(index)
        else:
            stack.pop()
        if is_start or as_printed:
            index += 1
    return [st.get(place) for place in range(index)]


def children(st: Sequence[int], *, as_printed: bool = False) -> list[list[int]]:
    """List the children of every node: the subroutine of Algorithm 2."""
    child: list[list[int]] = [[] for _ in st]
    cs = [0]
    for index in range(1, len(st)):
        parent = cs[-1]
        child[parent].append(index)
        if st[index] != 0:
            cs.append(index)
        elif as_printed:
            if st[parent] == len(child[parent]):
                cs.pop()
        else:
            while cs and st[cs[-1]] == len(child[cs[-1]]):
                cs.pop()
    return child


def algorithm_2(
    st: Sequence[int],
    start: Callable[[int], str],
    end: Callable[[int], str],
    *,
    as_printed: bool = False,
) -> str:
    """Print a document: ``start`` when a node is entered, ``end`` when it is left.

    In the paper they are ``<type>`` and ``</type>``; its implementation also prints attributes and
    contents (section 5.2, experiment 4).
    """
    printed = []
    visited: set[int] = set()
    child = children(st, as_printed=as_printed)
    stack = [0]
    while stack:
        current = stack.pop()
        if current not in visited:
            stack.append(current)
            visited.add(current)
            printed.append(start(current))
            stack.extend(reversed(child[current]))
        else:
            printed.append(end(current))
    return "".join(printed)

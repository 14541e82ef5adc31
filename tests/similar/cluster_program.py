"""Figure 1 of paper 003, line by line: the oracle for the clustering and the choice of templates.

Line numbers in comments are those of the figure. ``docs/papers.md`` says where the figure is not
followed to the letter and why. Chance is a parameter: a function that orders some pages, which are
then chosen one after the other. So one program judges every implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from quire.similar.sketches import EMPTY

#: Yields the pages of a list in a random order.
Draw = Callable[[list[int]], Iterator[int]]
Sketch = Sequence[int]


def similarity(one: Sketch, other: Sketch) -> np.float32:
    """Compare two sketches: the share of equal values, without places that are empty in both."""
    used = [(a, b) for a, b in zip(one, other, strict=True) if not a == b == EMPTY]
    equal = sum(a == b for a, b in used)
    return np.float32(equal) / np.float32(len(used)) if used else np.float32(1)


def select_template(pages: list[int], s: list[Sketch], sim: float, k: int, draw: Draw) -> list[int]:
    """Choose up to k pages that differ from each other: the procedure Select_Template."""
    t: list[int] = []  # line 2
    for d in draw(pages):  # line 1; no page twice, so that it ends
        if all(similarity(s[d], s[one]) < np.float32(sim) for one in t):  # line 3
            t.append(d)  # line 4
        if len(t) == k:  # line 5
            break
    return t  # line 6


def cluster(s: list[Sketch], sim: float, k: int, draw: Draw, patience: int = 1) -> list[int]:
    """Return the template of every page, or -1: the procedure Cluster, after line 1."""
    template_of = [-1] * len(s)
    left = list(range(len(s)))
    idle = 0
    while left and idle < patience:
        t = select_template(left, s, sim, k, draw)  # line 4
        left = [d for d in left if d not in t]  # a template is in its cluster, or compared with all
        joined = []
        for d in left:  # line 5
            for one in t:  # line 6
                if similarity(s[d], s[one]) > np.float32(sim):  # line 7
                    template_of[d] = template_of[one] = one  # lines 8 to 11
                    joined.append(d)  # line 12, for old and new clusters
                    break
        left = [d for d in left if d not in joined]
        idle = 0 if joined else idle + 1  # lines 16 and 17
    return template_of


def splitmix(seed: int) -> Draw:
    """Draw as the kernel does: SplitMix64, and the last page of the list takes the free place."""
    state = seed
    full = 2**64 - 1

    def below(n: int) -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & full
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & full
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & full
        return ((z ^ (z >> 31)) * n) >> 64

    def draw(pages: list[int]) -> Iterator[int]:
        pool = list(pages)
        while pool:
            at = below(len(pool))
            chosen, pool[at] = pool[at], pool[-1]
            pool.pop()
            yield chosen

    return draw

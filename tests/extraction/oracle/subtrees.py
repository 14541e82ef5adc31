"""Subtree heuristics: which node of a page holds its list of objects.

Each heuristic gives every node a score; the subtree is the node with the highest, and of equal
nodes the last one, which is the innermost of those below each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.extraction.omini import Subtree
from tests.extraction.oracle.outline import Outline

Scores: TypeAlias = NDArray[np.float64]


def highest_fan_out(view: Outline) -> Scores:
    """HF: the number of children."""
    return np.where(view.elements, view.fan_out, 0).astype(np.float64)


def largest_size_increase(view: Outline) -> Scores:
    """GSI: how much more text a node has than the largest of its children."""
    largest = np.zeros(len(view.parent), np.int64)
    below = np.flatnonzero(view.elements & (view.parent >= 0))
    np.maximum.at(largest, view.parent[below], view.text_bytes[below])
    increase = view.text_bytes - largest
    return np.where(view.elements & (view.fan_out > 0), increase, 0).astype(np.float64)


def largest_tag_count(view: Outline) -> Scores:
    """LTC: the most tags; of nodes on one path, the one with the most children of one name.

    The node with the most tags is always the root. So the heuristic follows the path from the root
    to the child with the most tags, again and again, and compares the nodes on that path. Nodes that
    are not on it have the score 0.
    """
    scores = np.zeros(len(view.parent))
    most = _most_alike_children(view)
    heaviest = _heaviest_child(view)
    node = 0
    total = max(float(view.tag_count[0]), 1.0)
    while node >= 0:
        if view.elements[node]:
            scores[node] = most[node] + view.tag_count[node] / (total + 1)
        node = int(heaviest[node])
    return scores


def volume(view: Outline) -> Scores:
    """The combination: the product of fan-out, size increase and tag count, each as a share."""
    tags = np.where(view.elements, view.tag_count, 0).astype(np.float64)
    product = np.ones(len(view.parent))
    for scores in (highest_fan_out(view), largest_size_increase(view), tags):
        product *= scores / max(scores.max(), 1.0)
    return product


SUBTREES: dict[Subtree, Callable[[Outline], Scores]] = {
    Subtree.HF: highest_fan_out,
    Subtree.GSI: largest_size_increase,
    Subtree.LTC: largest_tag_count,
    Subtree.VOLUME: volume,
}


def _most_alike_children(view: Outline) -> NDArray[np.int64]:
    """For each node, how many of its children have the name that most of them have."""
    shown = np.flatnonzero(view.elements & (view.parent >= 0))
    most = np.zeros(len(view.parent), np.int64)
    if not len(shown):
        return most
    names = len(view.page.tags)
    keys = view.parent[shown] * names + view.page.tag[shown]
    pairs, counts = np.unique(keys, return_counts=True)
    np.maximum.at(most, pairs // names, counts)
    return most


def _heaviest_child(view: Outline) -> NDArray[np.int64]:
    """For each node, its child with the most tags, the first of equal ones; -1 without children."""
    heaviest = np.full(len(view.parent), -1, np.int64)
    shown = np.flatnonzero(view.elements & (view.parent >= 0))
    order = np.lexsort((-shown, view.tag_count[shown]))
    # Later assignments win: the child with the most tags, and the first of those.
    heaviest[view.parent[shown[order]]] = shown[order]
    return heaviest

"""Subtree heuristics: which node of a page holds its list of objects.

Each heuristic gives every node a score; the subtree is the node with the highest, and of equal
nodes the last one, which is the innermost of those below each other.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.extraction.outline import Outline

Scores: TypeAlias = NDArray[np.float64]


class Subtree(Enum):
    """The subtree heuristics, by their names in the literature."""

    HF = "HF"
    GSI = "GSI"
    LTC = "LTC"
    VOLUME = "volume"


def highest_fan_out(view: Outline) -> Scores:
    """HF: the number of children.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<ul><li>a<li>b<li>c</ul>")
    >>> int(highest_fan_out(outline(page)).argmax()) == page.select_one("ul")
    True
    """
    return _scores(view, Subtree.HF)


def largest_size_increase(view: Outline) -> Scores:
    """GSI: how much more text a node has than the largest of its children.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<div><p>long text<p>short</div>")
    >>> int(largest_size_increase(outline(page)).argmax()) == page.select_one("div")
    True
    """
    return _scores(view, Subtree.GSI)


def largest_tag_count(view: Outline) -> Scores:
    """LTC: the most tags; of nodes on one path, the one with the most children of one name.

    The node with the most tags is always the root. So the heuristic follows the path from the root
    to the child with the most tags, again and again, and compares the nodes on that path. Nodes that
    are not on it have the score 0.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<p>x<div><ul><li>a<li>b<li>c</ul></div>")
    >>> int(largest_tag_count(outline(page)).argmax()) == page.select_one("ul")
    True
    """
    return _scores(view, Subtree.LTC)


def volume(view: Outline) -> Scores:
    """The combination: the product of fan-out, size increase and tag count, each as a share.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<p>x<ul><li>one<li>two<li>three</ul>")
    >>> int(volume(outline(page)).argmax()) == page.select_one("ul")
    True
    """
    return _scores(view, Subtree.VOLUME)


SUBTREES: dict[Subtree, Callable[[Outline], Scores]] = {
    Subtree.HF: highest_fan_out,
    Subtree.GSI: largest_size_increase,
    Subtree.LTC: largest_tag_count,
    Subtree.VOLUME: volume,
}


def best(view: Outline, heuristic: Subtree) -> int:
    """The node with the highest score by a heuristic; the last one if several have it."""
    return view.native.best_subtree(heuristic.value)


def _scores(view: Outline, heuristic: Subtree) -> Scores:
    return np.frombuffer(view.native.subtree_scores(heuristic.value), np.float64)

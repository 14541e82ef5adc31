"""Kinds: the children of a node in groups of those that look alike.

Children of one kind have the same name and similar shapes. Their classes may differ (``odd`` and
``even``), but then their shapes have to agree more, unless one class is the other with more names.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.extraction.oracle.outline import Ints, Outline
from tests.extraction.oracle.shapes import Shapes

# Least likeness of two children of one kind: with the same class, and with different ones.
SAME_CLASS = 0.40
OTHER_CLASS = 0.62
# The same for children with one class: its author says that they are of one kind.
_NAMED = 0.30
# Children that fit none of so many kinds are each alone; a node with more kinds is not a list.
_MOST_KINDS = 12

# Rows of one kind that are less alike than this may be the first and second rows of records, if
# rows at the same place of their records are much more alike and neighbours have other elements.
_MIXED = 0.75
_SAME_PLACE = 0.7
_BY_PLACE = 0.25
_OTHER_NAMES = 0.6
_MOST_ROWS = 64
_MOST_NODES = 64


def turns(view: Outline, shapes: Shapes, rows: Ints, likeness: float) -> float | None:
    """Where kinds end if each second or third row is of another kind; else none."""
    if len(rows) < 6 or likeness >= _MIXED:
        return None
    rows = rows[:_MOST_ROWS]
    next_, *others = (float(shapes.likeness(rows[:-by], rows[by:]).mean()) for by in (1, 2, 3))
    same = max(others)
    if same < _SAME_PLACE or same - next_ < _BY_PLACE:
        return None
    names = [_names(view, int(row)) for row in rows]
    different = sum(one != other for one, other in pairwise(names))
    return (next_ + same) / 2 if different >= _OTHER_NAMES * (len(rows) - 1) else None


def _names(view: Outline, row: int) -> list[int]:
    at = np.arange(row, min(int(view.end[row]), row + _MOST_NODES))
    return [int(tag) for tag in view.page.tag[at[view.elements[at] | view.leaves[at]]]]


def kinds(
    view: Outline,
    shapes: Shapes,
    children: Ints,
    same_class: float = SAME_CLASS,
    other_class: float = OTHER_CLASS,
) -> Ints:
    """Number the kind of each child; -1 for children that are of no kind.

    The first kind is that of the most frequent name and class. A kind starts from the child of
    median size, so that one odd child does not decide what all others are compared with.
    """
    tag = np.asarray(view.page.tag, np.int64)[children]
    classes = shapes.classes[children]
    label = tag * (int(classes.max(initial=0)) + 1) + classes
    found = np.full(len(children), -1, np.int64)
    for kind in range(_MOST_KINDS):
        free = np.flatnonzero(found < 0)
        if not len(free):
            break
        labels, counts = np.unique(label[free], return_counts=True)
        common = free[label[free] == labels[counts.argmax()]]
        sizes = shapes.totals[children[common]]
        leader = int(common[np.argsort(sizes, kind="stable")[len(sizes) // 2]])
        same = free[tag[free] == tag[leader]]
        alike = shapes.likeness(children[same], np.full(len(same), children[leader]))
        is_same = [shapes.are_variants(int(classes[at]), int(classes[leader])) for at in same]
        least = np.where(is_same, same_class, other_class)
        if classes[leader]:
            least = np.where(is_same, min(same_class, _NAMED), least)
        found[same[alike >= least]] = kind
        found[leader] = kind
    return found

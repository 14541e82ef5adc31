"""Kinds: the children of a node in groups of those that look alike.

Children of one kind have the same name and similar shapes. Their classes may differ (``odd`` and
``even``), but then their shapes have to agree more.
"""

from __future__ import annotations

import numpy as np

from tests.extraction.oracle.outline import Ints, Outline
from tests.extraction.oracle.shapes import Shapes

# Least likeness of two children of one kind: with the same class, and with different ones.
SAME_CLASS = 0.40
OTHER_CLASS = 0.62
# Children that fit none of so many kinds are each alone; a node with more kinds is not a list.
_MOST_KINDS = 12


def kinds(view: Outline, shapes: Shapes, children: Ints) -> Ints:
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
        least = np.where(classes[same] == classes[leader], SAME_CLASS, OTHER_CLASS)
        found[same[alike >= least]] = kind
        found[leader] = kind
    return found

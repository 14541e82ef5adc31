"""Fragments: the parts that pages share, and the parts that live at their own pace (paper 004).

``AfTree`` is a page as the parts of it that hold text, each with its value, its shingles and its bytes in the source.
``shared_fragments`` finds the parts that several pages have; ``algorithm_1`` is the paper's own loop, for comparison.
``lifetimes`` finds the parts of one page that live at their own pace.

Above: ``cli``. Below: ``digest``, ``_core``.
"""

from quire.fragments.histories import Version, lifetimes
from quire.fragments.lives import Curve, Lives, kaplan_meier
from quire.fragments.lp_results import Lifetimes, LpFragment, Sharing
from quire.fragments.parts import NodeStatus
from quire.fragments.reference import algorithm_1
from quire.fragments.restless import RestlessNode, Verdict
from quire.fragments.rules import ESTIMATES, Estimate, SharingRules
from quire.fragments.shared import Members, SharedFragment, SharedFragments, shared_fragments
from quire.fragments.shingles import Shingles, Shingling, overlap, window_hashes
from quire.fragments.spans import SourceSpans, source_spans
from quire.fragments.trees import FORMATTING, INLINE, AfTree, Pruned

__all__ = [
    "ESTIMATES",
    "FORMATTING",
    "INLINE",
    "AfTree",
    "Curve",
    "Estimate",
    "Lifetimes",
    "Lives",
    "LpFragment",
    "Members",
    "NodeStatus",
    "Pruned",
    "RestlessNode",
    "SharedFragment",
    "SharedFragments",
    "Sharing",
    "SharingRules",
    "Shingles",
    "Shingling",
    "SourceSpans",
    "Verdict",
    "Version",
    "algorithm_1",
    "kaplan_meier",
    "lifetimes",
    "overlap",
    "shared_fragments",
    "source_spans",
    "window_hashes",
]

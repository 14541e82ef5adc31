"""Fragments: the parts that pages share (paper 004).

``AfTree`` is a page as the parts of it that hold text, each with its value, its shingles and its bytes in the source.
``shared_fragments`` finds the parts that several pages have; ``algorithm_1`` is the paper's own loop, for comparison.

Above: ``cli``. Below: ``digest``, ``_core``.
"""

from quire.fragments.reference import algorithm_1
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
    "Estimate",
    "Members",
    "Pruned",
    "SharedFragment",
    "SharedFragments",
    "SharingRules",
    "Shingles",
    "Shingling",
    "SourceSpans",
    "algorithm_1",
    "overlap",
    "shared_fragments",
    "source_spans",
    "window_hashes",
]

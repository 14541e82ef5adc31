"""Fragments: the parts that pages share, and the parts that live at their own pace (paper 004).

``AfTree`` is a page as the parts of it that hold text, each with its value, its shingles and its bytes in the source.
``shared_fragments`` finds the parts that several pages have; ``algorithm_1`` is the paper's own loop, for comparison.
``lifetimes`` finds the parts of one page that live at their own pace; ``dependency_graph`` puts both together, and ``simulate``
tells what a cache of fragments would save.

Above: ``cli``. Below: ``digest``, ``_core``.
"""

from quire.fragments.cached_site import (
    INVALIDATIONS,
    CachedFragment,
    CachedSite,
    Invalidation,
    site_of,
    site_of_shared,
)
from quire.fragments.dependencies import GraphObject, ObjectGraph, ObjectKind, dependency_graph
from quire.fragments.histories import PageVersion, lifetimes
from quire.fragments.lives import Curve, Lives, kaplan_meier
from quire.fragments.lp_results import Lifetimes, LpFragment, Sharing
from quire.fragments.parts import NodeStatus
from quire.fragments.reference import algorithm_1
from quire.fragments.restless import Place, RestlessNode, Verdict
from quire.fragments.rules import ESTIMATES, Estimate, SharingRules
from quire.fragments.shared import Members, SharedFragment, SharedFragments, shared_fragments
from quire.fragments.shingles import Shingles, Shingling, overlap, window_hashes
from quire.fragments.simulator import CacheLoad, Simulation, simulate
from quire.fragments.spans import SourceSpans, source_spans
from quire.fragments.trees import FORMATTING, INLINE, AfTree, Pruned

__all__ = [
    "ESTIMATES",
    "FORMATTING",
    "INLINE",
    "INVALIDATIONS",
    "AfTree",
    "CacheLoad",
    "CachedFragment",
    "CachedSite",
    "Curve",
    "Estimate",
    "GraphObject",
    "Invalidation",
    "Lifetimes",
    "Lives",
    "LpFragment",
    "Members",
    "NodeStatus",
    "ObjectGraph",
    "ObjectKind",
    "PageVersion",
    "Place",
    "Pruned",
    "RestlessNode",
    "SharedFragment",
    "SharedFragments",
    "Sharing",
    "SharingRules",
    "Shingles",
    "Shingling",
    "Simulation",
    "SourceSpans",
    "Verdict",
    "algorithm_1",
    "dependency_graph",
    "kaplan_meier",
    "lifetimes",
    "overlap",
    "shared_fragments",
    "simulate",
    "site_of",
    "site_of_shared",
    "source_spans",
    "window_hashes",
]

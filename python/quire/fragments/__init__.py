"""Fragments: find the parts that pages share and how long each part stays the same (paper 004).

* ``AfTree`` reduces a page to the parts that hold text. Each part has its text, its shingles and
  its position in the source.
* ``shared_fragments`` finds the parts that several pages have in common. ``algorithm_1`` is the
  paper's own loop, for comparison.
* ``lifetimes`` finds the parts of one page that change independently of the rest.
  ``LifetimeDetector`` takes captures as they come; ``algorithm_2`` follows the paper's own rules.
  ``dependency_graph`` combines both results, and ``simulate`` estimates the savings of a cache that
  stores fragments.
* ``plan_fragments`` chooses which identical parts to cut out of pages, ``write_composition`` writes
  them as ESI templates and fragments, and ``verify`` composes every page again and compares it with
  the original.
* ``strip`` removes the blocks that most pages of a template contain.

Three modules are imported by their own names. ``quire.fragments.shared.crawl`` finds the shared
fragments of a whole crawl and needs pyarrow. ``quire.fragments.caching.site_plan`` plans a site
from all versions of its pages, with a measured cache time for each file;
``quire.fragments.study.study`` adds figures and advice to that plan.
"""

from collections.abc import Callable as _Callable

from quire import _moved
from quire.digest.source_spans import SourceSpans, source_spans
from quire.fragments.boilerplate.strip import StrippedPage, strip
from quire.fragments.caching.plan import FragmentPlan, plan_fragments
from quire.fragments.cuts.hazards import Hazard, HazardKind, refusals
from quire.fragments.cuts.site_cuts import PlanRules
from quire.fragments.esi.compose import compose
from quire.fragments.esi.manifest import ComposedPage, FragmentFile, Manifest, Volumes
from quire.fragments.esi.verify import Fault, Verification, verify
from quire.fragments.esi.write import EsiFile, EsiFiles, write_composition
from quire.fragments.lifetime.algorithm_2 import (
    MarkedVersion,
    NearestAmong,
    PaperFragments,
    algorithm_2,
)
from quire.fragments.lifetime.lifetimes import (
    CaptureUpdate,
    LifetimeDetector,
    PageVersion,
    lifetimes,
)
from quire.fragments.lifetime.results import Lifetimes, LpFragment
from quire.fragments.lifetime.survival import Curve, Lives, kaplan_meier
from quire.fragments.lifetime.version_parts import NodeStatus
from quire.fragments.policy import Policy, Sharing
from quire.fragments.shared.algorithm_1 import algorithm_1
from quire.fragments.shared.buckets import BucketRules
from quire.fragments.shared.find import Members, SharedFragment, SharedFragments, shared_fragments
from quire.fragments.shared.rules import SharingRules
from quire.fragments.simulation.cached_site import (
    INVALIDATIONS,
    CachedFragment,
    CachedSite,
    Invalidation,
    site_of,
    site_of_shared,
)
from quire.fragments.simulation.dependency_graph import (
    GraphObject,
    ObjectGraph,
    ObjectKind,
    dependency_graph,
)
from quire.fragments.simulation.simulator import CacheLoad, Simulation, simulate
from quire.fragments.site.collection import SourcePage
from quire.fragments.trees.af_tree import FORMATTING, INLINE, AfTree, Pruned
from quire.fragments.trees.shingles import (
    ESTIMATES,
    Estimate,
    Shingles,
    Shingling,
    overlap,
    window_hashes,
)
from quire.sdiff.volatile import ChangedAspect, VersionVerdict, VolatileNode

__all__ = [
    "ESTIMATES",
    "FORMATTING",
    "INLINE",
    "INVALIDATIONS",
    "AfTree",
    "BucketRules",
    "CacheLoad",
    "CachedFragment",
    "CachedSite",
    "CaptureUpdate",
    "ChangedAspect",
    "ComposedPage",
    "Curve",
    "EsiFile",
    "EsiFiles",
    "Estimate",
    "Fault",
    "FragmentFile",
    "FragmentPlan",
    "GraphObject",
    "Hazard",
    "HazardKind",
    "Invalidation",
    "LifetimeDetector",
    "Lifetimes",
    "Lives",
    "LpFragment",
    "Manifest",
    "MarkedVersion",
    "Members",
    "NearestAmong",
    "NodeStatus",
    "ObjectGraph",
    "ObjectKind",
    "PageVersion",
    "PaperFragments",
    "PlanRules",
    "Policy",
    "Pruned",
    "SharedFragment",
    "SharedFragments",
    "Sharing",
    "SharingRules",
    "Shingles",
    "Shingling",
    "Simulation",
    "SourcePage",
    "SourceSpans",
    "StrippedPage",
    "Verification",
    "VersionVerdict",
    "VolatileNode",
    "Volumes",
    "algorithm_1",
    "algorithm_2",
    "compose",
    "dependency_graph",
    "kaplan_meier",
    "lifetimes",
    "overlap",
    "plan_fragments",
    "refusals",
    "shared_fragments",
    "simulate",
    "site_of",
    "site_of_shared",
    "source_spans",
    "strip",
    "verify",
    "window_hashes",
    "write_composition",
]

__getattr__: _Callable[[str], object] = _moved.old_names(__name__)

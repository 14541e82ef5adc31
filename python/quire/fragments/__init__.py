"""Fragments: the parts that pages share (paper 004).

``AfTree`` is a page as the parts of it that hold text, each with its value, its shingles and its bytes in the source.
``shared_fragments`` finds the parts that several pages have; ``algorithm_1`` is the paper's own loop, for comparison.

``plan_fragments`` chooses which equal parts are cut out of pages, ``write_composition`` writes them as ESI templates and fragments, and
``verify`` composes every page again and compares it with what went in. ``strip`` leaves out what most pages of a template have.

Above: ``cli``. Below: ``digest``, ``_core``.
"""

from quire.fragments.compose import compose
from quire.fragments.esi import EsiFile, EsiFiles, write_composition
from quire.fragments.hazards import Hazard, HazardKind, refusals
from quire.fragments.manifest import ComposedPage, FragmentFile, Manifest, Volumes
from quire.fragments.plan import FragmentPlan, PlanRules, SourcePage, plan_fragments
from quire.fragments.policies import Policy
from quire.fragments.reference import algorithm_1
from quire.fragments.rules import ESTIMATES, Estimate, SharingRules
from quire.fragments.shared import Members, SharedFragment, SharedFragments, shared_fragments
from quire.fragments.shingles import Shingles, Shingling, overlap, window_hashes
from quire.fragments.spans import SourceSpans, source_spans
from quire.fragments.strip import StrippedPage, strip
from quire.fragments.trees import FORMATTING, INLINE, AfTree, Pruned
from quire.fragments.verify import Fault, Verification, verify

__all__ = [
    "ESTIMATES",
    "FORMATTING",
    "INLINE",
    "AfTree",
    "ComposedPage",
    "EsiFile",
    "EsiFiles",
    "Estimate",
    "Fault",
    "FragmentFile",
    "FragmentPlan",
    "Hazard",
    "HazardKind",
    "Manifest",
    "Members",
    "PlanRules",
    "Policy",
    "Pruned",
    "SharedFragment",
    "SharedFragments",
    "SharingRules",
    "Shingles",
    "Shingling",
    "SourcePage",
    "SourceSpans",
    "StrippedPage",
    "Verification",
    "Volumes",
    "algorithm_1",
    "compose",
    "overlap",
    "plan_fragments",
    "refusals",
    "shared_fragments",
    "source_spans",
    "strip",
    "verify",
    "window_hashes",
    "write_composition",
]

"""Omini on the digest: the one list of a page, found with heuristics about subtrees and separators.

After D. Buttler, L. Liu and C. Pu, "A fully automated object extraction system for the World Wide
Web" (ICDCS 2001), in the four phases that paper 000 measures: read a file, parse it, identify the
subtree that holds the objects, determine what divides them. ``docs/papers.md`` says which formulas
are reconstructions and which are ours.

Omini finds one list with one record after the other. ``quire.records`` finds more.
"""

from __future__ import annotations

from quire.extraction.omini.combination import PROBABILITIES, combined
from quire.extraction.omini.phases import (
    determine_delimiters,
    identify_subtree,
    objects,
    parse,
    read_file,
)
from quire.extraction.omini.separators import (
    SEPARATORS,
    Ranked,
    Separator,
    identifiable_path,
    partial_path,
    repeating_pattern,
    sibling_pairs,
    standard_deviation,
)
from quire.extraction.omini.subtrees import (
    SUBTREES,
    Subtree,
    highest_fan_out,
    largest_size_increase,
    largest_tag_count,
    volume,
)

__all__ = [
    "PROBABILITIES",
    "SEPARATORS",
    "SUBTREES",
    "Ranked",
    "Separator",
    "Subtree",
    "combined",
    "determine_delimiters",
    "highest_fan_out",
    "identifiable_path",
    "identify_subtree",
    "largest_size_increase",
    "largest_tag_count",
    "objects",
    "parse",
    "partial_path",
    "read_file",
    "repeating_pattern",
    "sibling_pairs",
    "standard_deviation",
    "volume",
]

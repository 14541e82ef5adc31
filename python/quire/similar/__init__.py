"""Measure how similar two pages are, and group pages by template.

``similarity`` has every measure, as a number from 0 to 1; each measure is also a function here.
Most measures turn a page into a bag of small parts (four tags in a row, five words in a row) and
divide the parts that both bags share by the parts that either has. Use ``Bag`` to compare one page
many times, and ``Sketch`` (a sample of a few hundred bytes) for millions of pages.
"""

from __future__ import annotations

from quire.similar.groups import Group, Templates, templates
from quire.similar.kangs import kang, kang_normalised, kang_similar
from quire.similar.likeness import DifferingPart, KangLayer, Likeness
from quire.similar.measures import (
    BAG_MEASURES,
    MEASURES,
    Bag,
    BagMeasure,
    Measure,
    content,
    path_counts,
    paths,
    similarity,
    structure,
    structure_class,
    tokens,
)
from quire.similar.models import Fit, ModelGroup, TemplateModel
from quire.similar.near_duplicates import Duplicates, near_duplicates
from quire.similar.sampling import Clusters, random_sampling, token_sketches
from quire.similar.sketches import (
    Estimate,
    Sketch,
    resemblance_matrix,
    resemblances,
    sketches_to_matrix,
)

__all__ = [
    "BAG_MEASURES",
    "MEASURES",
    "Bag",
    "BagMeasure",
    "Clusters",
    "DifferingPart",
    "Duplicates",
    "Estimate",
    "Fit",
    "Group",
    "KangLayer",
    "Likeness",
    "Measure",
    "ModelGroup",
    "Sketch",
    "TemplateModel",
    "Templates",
    "content",
    "kang",
    "kang_normalised",
    "kang_similar",
    "near_duplicates",
    "path_counts",
    "paths",
    "random_sampling",
    "resemblance_matrix",
    "resemblances",
    "similarity",
    "sketches_to_matrix",
    "structure",
    "structure_class",
    "templates",
    "token_sketches",
    "tokens",
]

"""Similarity: how alike two pages are, in one number from 0 to 1.

``similarity`` has every measure; each is also a function of its own name here. Most turn a page
into a bag of small parts (four tags in a row, five words in a row) and compare what two bags share
with what either has: ``Bag`` is that for whoever compares a page many times, ``Sketch`` a sample of it in a few
hundred bytes for whoever has millions of pages.
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

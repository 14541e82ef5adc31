"""Documents and edits for testing tools that compare trees.

``generate`` is the paper's generator: three shapes, any size, seeded. ``edit`` makes exactly one
change, so the correct answer of a comparison is known in advance.
"""

from __future__ import annotations

from quire.testing.documents import SHAPES, Shape, Walk, generate, generate_tags
from quire.testing.edits import EDITS, EditKind, edit

__all__ = [
    "EDITS",
    "SHAPES",
    "EditKind",
    "Shape",
    "Walk",
    "edit",
    "generate",
    "generate_tags",
]

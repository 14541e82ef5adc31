"""Testing: documents to test comparing with, and edits whose answer is known.

The paper's generator (three shapes, any size, seeded), and edits that are exactly one: what a
tool that compares trees should say of them is known before it is asked.
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

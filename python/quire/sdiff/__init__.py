"""Compare two versions of a page: from a yes or no up to a full edit script.

Two digests go in. From cheap to rich, you get: ``changed`` (compares signatures only), ``annotate``
(the status of every node), views of the annotation for people (``unified``, ``side_by_side``,
``text_changes``) and for programs (``Annotation.to_dict``), and ``edit_script`` (turns one page into the
other). Views are data; ``quire.reports`` and ``quire.cli`` draw them.
"""

from __future__ import annotations

from quire.sdiff.actions import (
    Action,
    Delete,
    Insert,
    Move,
    MovedNode,
    NodeRef,
    Place,
    Rename,
    ScriptNode,
    Update,
    ValueChange,
)
from quire.sdiff.annotation import (
    Annotation,
    AttributeChange,
    Change,
    Granularity,
    Side,
    Summary,
    annotate,
)
from quire.sdiff.changed import changed, structure_changed
from quire.sdiff.facets import ALL_FACETS, ChangeKind, Facet, Status
from quire.sdiff.rules import Rules
from quire.sdiff.script import EditScript, PageHead, edit_script
from quire.sdiff.views.lines import Row, TextLine, text_rows
from quire.sdiff.views.other_changes import OtherChanges, other_changes
from quire.sdiff.views.passages import Passage, passages
from quire.sdiff.views.side_by_side import SideRow, side_by_side
from quire.sdiff.views.unified import Hunk, UnifiedLine, unified
from quire.sdiff.views.unseen import unseen_differences
from quire.sdiff.views.words import Segment, TextChange, text_changes, word_changes

__all__ = [
    "ALL_FACETS",
    "Action",
    "Annotation",
    "AttributeChange",
    "Change",
    "ChangeKind",
    "Delete",
    "EditScript",
    "Facet",
    "Granularity",
    "Hunk",
    "Insert",
    "Move",
    "MovedNode",
    "NodeRef",
    "OtherChanges",
    "PageHead",
    "Passage",
    "Place",
    "Rename",
    "Row",
    "Rules",
    "ScriptNode",
    "Segment",
    "Side",
    "SideRow",
    "Status",
    "Summary",
    "TextChange",
    "TextLine",
    "UnifiedLine",
    "Update",
    "ValueChange",
    "annotate",
    "changed",
    "edit_script",
    "other_changes",
    "passages",
    "side_by_side",
    "structure_changed",
    "text_changes",
    "text_rows",
    "unified",
    "unseen_differences",
    "word_changes",
]

"""Sdiff: what changed between two pages, from a yes or no to a script.

Above: ``sentinels``, ``cli``. Below: ``digest``, ``_core``.
"""

from __future__ import annotations

from quire.sdiff.actions import (
    Action,
    Change,
    Delete,
    Insert,
    Move,
    MovedNode,
    NodeRef,
    Place,
    Rename,
    ScriptNode,
    Update,
)
from quire.sdiff.annotation import Annotation, annotate
from quire.sdiff.rules import Rules
from quire.sdiff.script import EditScript, PageHead, edit_script

__all__ = [
    "Action",
    "Annotation",
    "Change",
    "Delete",
    "EditScript",
    "Insert",
    "Move",
    "MovedNode",
    "NodeRef",
    "PageHead",
    "Place",
    "Rename",
    "Rules",
    "ScriptNode",
    "Update",
    "annotate",
    "edit_script",
]

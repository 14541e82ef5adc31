"""Conditions: a comparison of two versions goes in, a finding with its reasons comes out."""

from __future__ import annotations

from quire.sentinels.conditions.comparison import (
    PAGE_STATES,
    SCOPES,
    Circumstances,
    Comparison,
    PageState,
    Scope,
)
from quire.sentinels.conditions.conditions import (
    MOVES,
    OPERATORS,
    All,
    AnyOf,
    Changed,
    Condition,
    Count,
    Fired,
    Move,
    NeverSeen,
    NewEntry,
    NewRecord,
    Not,
    Number,
    Operator,
    Similarity,
    State,
    Text,
    Unchanged,
)
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.conditions.numbers import PICKS, Pick, numbers, picked

__all__ = [
    "MOVES",
    "OPERATORS",
    "PAGE_STATES",
    "PICKS",
    "SCOPES",
    "All",
    "AnyOf",
    "Changed",
    "Circumstances",
    "Comparison",
    "Condition",
    "Count",
    "Finding",
    "Fired",
    "Move",
    "NeverSeen",
    "NewEntry",
    "NewRecord",
    "Not",
    "Number",
    "Operator",
    "PageState",
    "Pick",
    "Scope",
    "Similarity",
    "State",
    "Text",
    "Unchanged",
    "numbers",
    "picked",
]

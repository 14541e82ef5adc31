"""Outcomes: what an evaluation found for one sentinel, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.sentinels.conditions.finding import Finding
from quire.sentinels.parts.part import Aspect

#: What settled the question whether the watched parts changed, from the cheapest to the dearest.
SettledBy: TypeAlias = Literal["source", "facets", "part", "cover", "mask", "reading"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an evaluation found for one sentinel.

    Attributes:
        sentinel: its name.
        changed: the aspects that changed, of any of its parts.
        fired: whether its condition holds too.
        settled_by: what settled whether the parts changed.
        finding: the answer of the condition; None if it was not asked.
        missing: whether a location matches nothing on the new version.
        signatures: for each part the signatures of its aspects on the new version, for the next
            evaluation; None to keep those it has.
    """

    sentinel: str
    changed: tuple[Aspect, ...]
    fired: bool
    settled_by: SettledBy
    finding: Finding | None = None
    missing: bool = False
    signatures: tuple[tuple[bytes, ...], ...] | None = None

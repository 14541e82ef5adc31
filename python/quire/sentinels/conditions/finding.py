"""Findings: what a condition said, and why, for people who ask.

A condition is true, false, or unknown: a price condition on a page without a price is neither true
nor false. Unknown follows Kleene's logic: ``not`` keeps it, ``all`` is false if any part is false,
``any`` is true if any part is true. A sentinel fires only if its condition is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of one condition.

    Attributes:
        condition: the condition in words.
        holds: whether it is true; None if that cannot be told.
        reason: what was found.
        parts: the findings of the conditions inside, as far as they were asked.
        found: the things that were found, one line each, if they are what a notice should list.
    """

    condition: str
    holds: bool | None
    reason: str
    parts: tuple[Finding, ...] = ()
    found: tuple[str, ...] = ()

    def all_found(self) -> Iterator[str]:
        """Return the things that were found here and by the conditions inside that hold."""
        left = [self]
        while left:
            each = left.pop()
            if each.holds:
                yield from each.found
                left += reversed(each.parts)

    def lines(self, indent: str = "") -> Iterator[str]:
        """Return the finding as lines of text, those of its parts below it and indented.

        >>> list(yes("price below 10", "9.5 is below 10").lines())
        ['yes      price below 10: 9.5 is below 10']
        """
        answer = {True: "yes", False: "no", None: "unknown"}[self.holds]
        yield f"{indent}{answer:<8} {self.condition}: {self.reason}"
        for part in self.parts:
            yield from part.lines(indent + "  ")


def yes(condition: object, reason: str) -> Finding:
    """Make the finding that a condition holds."""
    return Finding(str(condition), holds=True, reason=reason)


def no(condition: object, reason: str) -> Finding:
    """Make the finding that a condition does not hold."""
    return Finding(str(condition), holds=False, reason=reason)


def unknown(condition: object, reason: str) -> Finding:
    """Make the finding that it cannot be told whether a condition holds."""
    return Finding(str(condition), holds=None, reason=reason)


def answer(
    condition: object, *, holds: bool | None, reason: str, parts: tuple[Finding, ...] = ()
) -> Finding:
    """Make a finding."""
    return Finding(str(condition), holds, reason, parts)

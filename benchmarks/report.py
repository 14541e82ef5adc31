"""The result of a benchmark, as text and as JSON.

A benchmark returns one :class:`Report`, and ``run.py`` writes it. A report has
tables of strings (already rounded), goals met or missed, how many answers were
right, figures, and the raw numbers for other calculations.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.provenance import Provenance


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; the first column is left-aligned, the others right."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def lines(self) -> list[str]:
        """The table as lines of text, columns aligned."""
        grid = [list(self.headings), *(list(row) for row in self.rows)]
        widths = [max(len(row[column]) for row in grid) for column in range(len(self.headings))]
        lines = [self.caption, ""] if self.caption else []
        for row in grid:
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("   ".join(cells).rstrip())
        return lines


@dataclass(frozen=True, slots=True)
class Goal:
    """A target set beforehand, and the figure measured."""

    what: str
    promised: str
    measured: str
    met: bool

    def line(self) -> str:
        """One line that begins with the verdict."""
        return f"{'met   ' if self.met else 'MISSED'}  {self.what}: {self.measured} (target {self.promised})"


@dataclass(frozen=True, slots=True)
class Right:
    """How many answers of one library were right; ``note`` names the check."""

    who: str
    right: int
    of: int
    note: str = ""

    def line(self) -> str:
        """``who  k / n  (note)``."""
        tail = f"  ({self.note})" if self.note else ""
        return f"{self.who}: {self.right:,} / {self.of:,}{tail}"


@dataclass(slots=True)
class Report:
    """The outcome of one benchmark."""

    title: str
    inputs: str
    method: str
    tables: list[Table] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    right: list[Right] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)

    def text(self, origin: Provenance, command: str) -> str:
        """Everything but the figures, as printed and stored."""
        lines = [f"{self.title}    {origin.line()}"]
        lines += [f"inputs   {self.inputs}", f"machine  {origin.machine}"]
        lines += [
            "versions "
            + ", ".join(f"{name} {version}" for name, version in origin.versions.items())
        ]
        lines += [f"method   {self.method}"]
        for table in self.tables:
            lines += ["", *table.lines()]
        if self.right:
            lines += ["", "right answers", *(f"  {entry.line()}" for entry in self.right)]
        if self.goals:
            lines += ["", "goals", *(f"  {goal.line()}" for goal in self.goals)]
        if self.notes:
            lines += ["", "notes", *(f"  - {note}" for note in self.notes)]
        lines += ["", f"reproduce with: {command}"]
        return "\n".join(lines) + "\n"

    def json(self, origin: Provenance, command: str) -> str:
        """Everything but the figures, for programs."""
        body = dataclasses.asdict(self)
        body["figures"] = sorted(self.figures)
        body["provenance"] = dataclasses.asdict(origin)
        body["command"] = command
        return json.dumps(body, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def stored_text(cls, stored: Mapping[str, Any]) -> str:
        """The text of a report that :meth:`json` wrote and ``json.loads`` read."""
        report = cls(
            title=stored["title"],
            inputs=stored["inputs"],
            method=stored["method"],
            tables=[Table(**table) for table in stored["tables"]],
            goals=[Goal(**goal) for goal in stored["goals"]],
            right=[Right(**right) for right in stored["right"]],
            notes=stored["notes"],
        )
        return report.text(Provenance(**stored["provenance"]), stored["command"])


def at_least(what: str, measured: float, floor: float, unit: str = "x", *, digits: int = 2) -> Goal:
    """A goal for a figure that should be high; a figure of NaN misses it."""
    return Goal(what, f">= {floor:g}{unit}", f"{measured:.{digits}f}{unit}", met=measured >= floor)


def at_most(what: str, measured: float, ceiling: float, unit: str = "x") -> Goal:
    """A goal for a figure that should be low; a figure of NaN misses it."""
    return Goal(what, f"<= {ceiling:g}{unit}", f"{measured:.2f}{unit}", met=measured <= ceiling)


def every(what: str, right: int, of: int) -> Goal:
    """A goal met only if every answer is right."""
    return Goal(what, "all", f"{right:,} of {of:,}", met=right == of > 0)

"""Rows of two columns: the texts of two pages line by line, or their sources.

Sources are compared as plain texts with the same kernels as pages, so the cost stays linear. Very
long lines are broken between tags first: pages without line breaks would be one row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from quire.digest import encode
from quire.digest.page import Digest
from quire.reports.changes.marks import LOUD, Quiet
from quire.sdiff import annotate
from quire.sdiff.annotation import Annotation
from quire.sdiff.views.lines import RowKind
from quire.sdiff.views.side_by_side import SideRow, side_by_side
from quire.sdiff.views.words import Segment
from quire.web.pages.diff.noise_rows import (
    IsNoise,
    SourceLines,
    quiet_places,
    source_noise,
    text_noise,
)

#: Rows that are shown, characters of all of them, and characters of one cell.
MOST_ROWS = 3000
MOST_CHARACTERS = 1_000_000
MOST_CELL = 4000
#: Unchanged rows around changes.
CONTEXT = 3
#: Lines of a source that are longer than this are broken between tags.
LONG_LINE = 300

_BETWEEN_TAGS = re.compile(r">(?=\s*<)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A line in one column.

    Attributes:
        number: the number of the line.
        segments: its words.
        is_marked: whether it is not the same on the other side.
    """

    number: int
    segments: tuple[Segment, ...]
    is_marked: bool


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row.

    Attributes:
        kind: what happened to the line.
        old: the cell on the left, if there is one.
        new: the cell on the right, if there is one.
        change: the number of the change that begins here; 0 if none does.
        is_noise: whether everything that differs in it is noise.
    """

    kind: RowKind
    old: Cell | None
    new: Cell | None
    change: int
    is_noise: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in groups, each with unchanged lines around its changes.

    Attributes:
        groups: the groups.
        count: the number of changes: of runs of changed rows.
        places: how far down each change is, from 0 to 1.
        left_out: rows that are not shown.
        is_broken: whether long lines of a source were broken between tags.
        quiet: the number of rows in which only noise differs; they are not counted as changes.
    """

    groups: list[list[ShownRow]]
    count: int
    places: list[float]
    left_out: int
    is_broken: bool = False
    quiet: int = 0


def text_rows_of(
    old: Digest, new: Digest, quiet: Quiet = LOUD, *, hides_noise: bool = False
) -> Rows:
    """Compare the texts of two pages, as a reader sees them, line by line.

    Args:
        old: the old page.
        new: the new page.
        quiet: nodes whose changes are noise.
        hides_noise: show rows of noise as if nothing had changed in them.
    """
    if "bytes" in {old.kind, new.kind}:
        return Rows([], 0, [], 0)
    annotation = annotate(old, new)
    return _rows(annotation, text_noise(annotation, quiet), hides_noise=hides_noise)


def source_rows(
    old: Digest, new: Digest, quiet: Quiet = LOUD, *, hides_noise: bool = False
) -> Rows:
    """Compare the sources of two pages line by line.

    Args:
        old: the old page.
        new: the new page.
        quiet: nodes whose changes are noise.
        hides_noise: show rows of noise as if nothing had changed in them.
    """
    if "bytes" in {old.kind, new.kind}:
        return Rows([], 0, [], 0)
    sources = _source(old, quiet.turned()), _source(new, quiet)
    before, after = (
        encode("\n".join(each.lines).encode("utf-8"), kind="text", encoding="utf-8")
        for each in sources
    )
    found = _rows(annotate(before, after), source_noise(*sources), hides_noise=hides_noise)
    return replace(found, is_broken=any(each.is_broken for each in sources))


def _source(page: Digest, quiet: Quiet) -> SourceLines:
    """Return the source of a page as lines; the noise of it is the one of the new page."""
    data, encoding = page.decode(), page.encoding or "utf-8"
    try:
        text = data.decode(encoding, "replace")
    except LookupError:  # an encoding of the web that Python does not have
        encoding = "utf-8"
        text = data.decode(encoding, "replace")
    lines, starts, at, is_broken = [], [], 0, False
    for whole in text.splitlines(keepends=True):
        line = whole.splitlines()[0]
        ends = [len(line)]
        if len(line) > LONG_LINE:
            ends = [*(each.end() for each in _BETWEEN_TAGS.finditer(line)), len(line)]
            is_broken |= len(ends) > 1
        for start, end in pairwise([0, *ends]):
            lines.append(line[start:end])
            starts.append(at + start)
        at += len(whole)
    return SourceLines(
        lines,
        starts,
        is_broken,
        quiet_places(page, quiet.new, quiet.new_tags, text, encoding),
        quiet_places(page, quiet.new_moved, (), text, encoding),
    )


def _rows(annotation: Annotation, is_noise: IsNoise, *, hides_noise: bool) -> Rows:
    found = side_by_side(annotation, context=CONTEXT)
    last = max([row.new.number for group in found for row in group if row.new], default=1)
    groups: list[list[ShownRow]] = []
    places: list[float] = []
    count = shown = written = left_out = line = quiet = 0
    for group in found:
        rows: list[ShownRow] = []
        is_open = False
        for row in group:
            line = row.new.number if row.new else line
            if shown >= MOST_ROWS or written >= MOST_CHARACTERS:
                left_out += 1
                continue
            noisy = row.kind != "same" and is_noise(row)
            quiet += noisy
            differs = row.kind != "same" and not noisy
            begins = differs and not is_open
            is_open = differs
            count += begins
            if begins:
                places.append(min(line / max(last, 1), 1.0))
            if noisy and hides_noise:
                if row.new is None:
                    continue
                rows.append(_plain(row))
            else:
                rows.append(_row(row, count if begins else 0, is_noise=noisy))
            shown += 1
            written += sum(min(len(each.text), MOST_CELL) for each in (row.old, row.new) if each)
        if any(each.kind != "same" for each in rows):
            groups.append(rows)
    return Rows(groups, count, places, left_out, quiet=quiet)


def _plain(row: SideRow) -> ShownRow:
    """Return a row of noise as if nothing had changed in it."""
    cells = [
        None
        if each is None
        else Cell(each.number, (Segment("same", each.text[:MOST_CELL]),), is_marked=False)
        for each in (row.old, row.new)
    ]
    return ShownRow("same", cells[0], cells[1], 0, is_noise=True)


def _row(row: SideRow, change: int, *, is_noise: bool) -> ShownRow:
    old = new = None
    if row.old is not None:
        old = Cell(row.old.number, _words(row, "inserted", row.old.text), row.kind != "same")
    if row.new is not None:
        new = Cell(row.new.number, _words(row, "deleted", row.new.text), row.kind != "same")
    return ShownRow(row.kind, old, new, change, is_noise)


def _words(row: SideRow, other: str, text: str) -> tuple[Segment, ...]:
    segments = [each for each in row.segments if each.kind != other] or [Segment("same", text)]
    if row.kind != "changed":
        segments = [Segment("same", text)]
    left, kept = MOST_CELL, []
    for each in segments:
        if left <= 0:
            kept.append(Segment("same", "…"))
            break
        kept.append(Segment(each.kind, each.text[:left]))
        left -= len(each.text)
    return tuple(kept)

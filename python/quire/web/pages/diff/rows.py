"""Rows of two columns: the texts of two pages line by line, or their sources.

Sources are compared as plain texts with the same kernels as pages, so the cost stays linear. Very
long lines are broken between tags first: pages without line breaks would be one row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from quire.digest import encode
from quire.digest.page import Digest
from quire.sdiff import annotate
from quire.sdiff.views.lines import RowKind
from quire.sdiff.views.side_by_side import SideRow, side_by_side
from quire.sdiff.views.words import Segment

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
    """

    kind: RowKind
    old: Cell | None
    new: Cell | None
    change: int


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in groups, each with unchanged lines around its changes.

    Attributes:
        groups: the groups.
        count: the number of changes: of runs of changed rows.
        places: how far down each change is, from 0 to 1.
        left_out: rows that are not shown.
        is_broken: whether long lines of a source were broken between tags.
    """

    groups: list[list[ShownRow]]
    count: int
    places: list[float]
    left_out: int
    is_broken: bool = False


def text_rows_of(old: Digest, new: Digest) -> Rows:
    """Compare the texts of two pages, as a reader sees them, line by line."""
    return _rows(old, new)


def source_rows(old: Digest, new: Digest) -> Rows:
    """Compare the sources of two pages line by line."""
    texts = [_source(page) for page in (old, new)]
    pages = [encode(text.encode("utf-8"), kind="text", encoding="utf-8") for text, _ in texts]
    found = _rows(*pages)
    is_broken = any(broken for _, broken in texts)
    return Rows(found.groups, found.count, found.places, found.left_out, is_broken)


def _source(page: Digest) -> tuple[str, bool]:
    """Return the source of a page as text, and whether lines of it were broken."""
    if page.kind == "bytes":
        return "", False
    try:
        text = page.decode().decode(page.encoding or "utf-8", "replace")
    except LookupError:  # an encoding of the web that Python does not have
        text = page.decode().decode("utf-8", "replace")
    lines, is_broken = [], False
    for line in text.splitlines():
        if len(line) > LONG_LINE and _BETWEEN_TAGS.search(line):
            line, is_broken = _BETWEEN_TAGS.sub(">\n", line), True  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines), is_broken


def _rows(old: Digest, new: Digest) -> Rows:
    if "bytes" in {old.kind, new.kind}:
        return Rows([], 0, [], 0)
    found = side_by_side(annotate(old, new), context=CONTEXT)
    last = max([row.new.number for group in found for row in group if row.new], default=1)
    groups: list[list[ShownRow]] = []
    places: list[float] = []
    count = shown = written = left_out = line = 0
    for group in found:
        rows: list[ShownRow] = []
        is_open = False
        for row in group:
            line = row.new.number if row.new else line
            if shown >= MOST_ROWS or written >= MOST_CHARACTERS:
                left_out += 1
                continue
            begins = row.kind != "same" and not is_open
            is_open = row.kind != "same"
            count += begins
            if begins:
                places.append(min(line / max(last, 1), 1.0))
            rows.append(_row(row, count if begins else 0))
            shown += 1
            written += sum(min(len(each.text), MOST_CELL) for each in (row.old, row.new) if each)
        if rows:
            groups.append(rows)
    return Rows(groups, count, places, left_out)


def _row(row: SideRow, change: int) -> ShownRow:
    old = new = None
    if row.old is not None:
        old = Cell(row.old.number, _words(row, "inserted", row.old.text), row.kind != "same")
    if row.new is not None:
        new = Cell(row.new.number, _words(row, "deleted", row.new.text), row.kind != "same")
    return ShownRow(row.kind, old, new, change)


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

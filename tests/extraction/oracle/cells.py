"""Cells: everything that a record shows, read node by node."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np

from quire.extraction.table.cells import Cell, Key, Source
from tests.extraction.oracle.outline import Outline

# A record with more leaves than this is cut: of a hostile page, not of a list.
MOST_LEAVES = 400
# Parts of a text are fields of their own if so many records have the same parts.
_SAME_PARTS = 0.7
# Deeper nodes have the key of the node this far above them.
_MOST_LEVELS = 48
# Browsers treat larger spans of cells as this.
_MOST_SPAN = 1000
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "br",
        "cite",
        "code",
        "del",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "mark",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "wbr",
    ]
)
_DIGIT = re.compile(r"\d")
_CELLS = frozenset({"td", "th"})


def cells(view: Outline, records: tuple[tuple[int, ...], ...]) -> list[list[Cell]]:
    """Read the cells of every record, in the order of the page."""
    reader = _Reader(view, records)
    return [reader.record(record) for record in records]


class _Reader:
    """Reads records; knows which texts have the same parts in all of them."""

    def __init__(self, view: Outline, records: tuple[tuple[int, ...], ...]) -> None:
        self.view = view
        self.page = view.page
        self.plain = view.plain
        self.names = view.page.tag_names
        self.attributes: dict[int, dict[str, str]] = {}
        self.inner = _inner_records(view, records)
        self.labels: dict[int, str] = {}
        self.mixed: dict[int, bool] = {}
        self.columns: dict[int, dict[int, int]] = {}
        self.split: set[tuple[str, ...]] = set()
        parts: dict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
        for record in records:
            for path, found in self._mixed(record):
                parts[path][found] += 1
        for path, counts in parts.items():
            if counts.most_common(1)[0][1] >= _SAME_PARTS * sum(counts.values()):
                self.split.add(path)

    def record(self, record: tuple[int, ...]) -> list[Cell]:
        """The cells of one record."""
        found: list[Cell] = []
        merged: set[int] = set()
        for root in record:
            top = record[0] if len(record) == 1 else self.plain.parent[root]
            for node in self._nodes(root):
                if node in merged:
                    continue
                found += self._cells(node, root, top, merged)
        return found

    def _cells(self, node: int, root: int, top: int, merged: set[int]) -> list[Cell]:
        found: list[Cell] = []
        name = self.names[self.plain.tag[node]]
        if name == "#text":
            if self.plain.leaves[node]:
                around = self._text_around(node, root, top)
                path, column = self._path(around, top)
                if around != node:
                    merged.update(range(around, self.plain.end[around]))
                    # Links and images inside the text are still cells of their own.
                    for inside in range(around + 1, self.plain.end[around]):
                        found += self._attributes(inside, top)
                value = " ".join(self.page.text(around).split())
                found.insert(0, Cell(Key(path, Source.TEXT, column), around, value))
            return found
        return self._attributes(node, top)

    def _attributes(self, node: int, top: int) -> list[Cell]:
        """What the attributes of an element show: an address, an image, a property."""
        name = self.names[self.plain.tag[node]]
        if not self.plain.elements[node] and name != "meta":
            return []
        if name not in {"a", "img", "meta"} and self.plain.attr[node] < 0:
            return []
        attributes = self._attributes_of(node)
        found = []
        source, value = None, ""
        if name == "a":
            source, value = Source.LINK, attributes.get("href", "")
        elif name == "img":
            source = Source.IMAGE
            value = attributes.get("data-src") or attributes.get("src", "")
        elif "itemprop" in attributes and "content" in attributes:
            source, value = Source.PROPERTY, attributes["content"]
        if source is not None and value.strip():
            path, column = self._path(node, top)
            found.append(Cell(Key(path, source, column), node, value.strip()))
        return found

    def _nodes(self, root: int) -> list[int]:
        """The nodes of a record with something to show, without records inside it."""
        low, high = root, self.plain.end[root]
        shown = self.view.elements[low:high] | self.view.leaves[low:high]
        # A property may be in a `meta`, which readers do not see.
        shown = shown | (self.page.tag[low:high] == self.page.tag_id("meta"))
        wanted = np.flatnonzero(shown) + low
        skip = self.inner.get(root, ())
        nodes: list[int] = []
        leaves = at = 0
        for node in wanted.tolist():
            while at < len(skip) and node >= skip[at][1]:
                at += 1
            if at < len(skip) and node >= skip[at][0]:
                continue
            leaves += self.plain.leaves[node]
            if leaves > MOST_LEAVES:
                break
            nodes.append(node)
        return nodes

    def _mixed(self, record: tuple[int, ...]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """The texts with inline markup of a record: their paths and their parts."""
        found = []
        for root in record:
            top = record[0] if len(record) == 1 else self.plain.parent[root]
            seen: set[int] = set()
            for node in self._nodes(root):
                if self.names[self.plain.tag[node]] != "#text":
                    continue
                parent = self.plain.parent[node]
                if parent in seen or not self._is_mixed(parent, root):
                    continue
                seen.add(parent)
                inside = range(parent + 1, self.plain.end[parent])
                shown = [each for each in inside if self.plain.leaves[each]][:MOST_LEAVES]
                found.append(
                    (self._path(parent, top)[0], tuple(self._place(each, parent) for each in shown))
                )
        return found

    def _place(self, node: int, top: int) -> str:
        labels: list[str] = []
        at = node
        while at > top:
            labels.append(self._label(at))
            at = self.plain.parent[at]
        return " ".join(reversed(labels))

    def _is_mixed(self, node: int, root: int) -> bool:
        """Whether an element has texts of its own beside inline elements with texts."""
        if node < root:
            return False
        known = self.mixed.get(node)
        if known is None:
            known = self.mixed[node] = self._has_own_text(node)
        return known

    def _has_own_text(self, node: int) -> bool:
        low, high = node + 1, self.plain.end[node]
        shown = self.view.leaves_before[high] - self.view.leaves_before[low]
        if shown < 2:
            return False
        names = {self.names[tag] for tag in set(self.plain.tag[low:high])}
        if not {name for name in names if not name.startswith("#")} <= _INLINE:
            return False
        return any(
            self.plain.leaves[at]
            and self.plain.parent[at] == node
            and self.names[self.plain.tag[at]] == "#text"
            for at in range(low, high)
        )

    def _text_around(self, node: int, root: int, top: int) -> int:
        """The element whose whole text is the cell of this text; the text itself if it is split."""
        best = node
        at = self.plain.parent[node]
        for _ in range(_MOST_LEVELS):
            if at < root or at <= 0:
                break
            if self._is_mixed(at, root) and self._path(at, top)[0] not in self.split:
                best = at
            if self.names[self.plain.tag[at]] not in _INLINE:
                break
            at = self.plain.parent[at]
        return best

    def _path(self, node: int, top: int) -> tuple[tuple[str, ...], int]:
        """The labels from below `top` down to a node, and the column of the table cell it is in."""
        labels: list[str] = []
        column = -1
        at = node
        for _ in range(_MOST_LEVELS):
            if at <= top:
                break
            labels.append(self._label(at))
            if self.names[self.plain.tag[at]] in _CELLS and column < 0:
                column = self._column(at)
            at = self.plain.parent[at]
        if self.names[self.plain.tag[top]] in _CELLS:
            column = -1  # the record is a cell itself
        return tuple(reversed(labels)), column

    def _column(self, cell: int) -> int:
        """The number of the table column that a cell begins in."""
        row = self.plain.parent[cell]
        if row not in self.columns:
            self.columns[row] = columns_of(self.view, row)
        return self.columns[row].get(cell, 0)

    def _label(self, node: int) -> str:
        label = self.labels.get(node)
        if label is None:
            label = self.names[self.plain.tag[node]] + _first_class(self._attributes_of(node))
            self.labels[node] = label
        return label

    def _attributes_of(self, node: int) -> dict[str, str]:
        """The attributes of a node; nodes that are written alike share one dictionary."""
        run = self.plain.attr[node]
        found = self.attributes.get(run)
        if found is None:
            found = self.attributes[run] = self.page.attributes(node) if run >= 0 else {}
        return found


def _first_class(attributes: dict[str, str]) -> str:
    for token in attributes.get("class", "").split():
        if not _DIGIT.search(token):
            return "." + token
    return ""


def columns_of(view: Outline, row: int) -> dict[int, int]:
    """The cells of a table row, each with the number of the column it begins in."""
    found: dict[int, int] = {}
    column = 0
    for cell in view.children(row).tolist():
        found[cell] = column
        span = view.page.attributes(cell).get("colspan", "") if view.page.attr[cell] >= 0 else ""
        wide = int(span) if span.isascii() and span.isdigit() and len(span) < 5 else 1
        column += min(max(wide, 1), _MOST_SPAN)
    return found


def _inner_records(
    view: Outline, records: tuple[tuple[int, ...], ...]
) -> dict[int, tuple[tuple[int, int], ...]]:
    """For each record node, the records directly inside it, as start and end."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    open_: list[int] = []
    for node in sorted(node for record in records for node in record):
        while open_ and node >= view.end[open_[-1]]:
            open_.pop()
        if open_:
            found[open_[-1]].append((node, int(view.end[node])))
        open_.append(node)
    return {node: tuple(inside) for node, inside in found.items()}

"""The writer: walks the nodes of a page in order and writes Markdown.

The effect of an element is known from the role that ``Digest.text`` gives it (block, break, cell,
hidden, ...) and, for headings, lists and the like, from its name. Headings, code and data tables are
read at once; everything else as the walk goes on. Nothing recurses.

Cost: linear in the page. Addresses of links are written once, and all together take at most three
times as many bytes as the page: an element that a browser repeats in many blocks cannot make the
result large.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

import numpy as np

from quire.digest.markdown.blocks import Blocks, ListMarks
from quire.digest.markdown.line import PLAIN, Line, Style, fence, is_followed
from quire.digest.markdown.tables import MOST_COLUMNS, Cell, table_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quire.digest.page import Digest

_TEXTS = frozenset({"#text", "#cdata"})
_FRAMES = frozenset({"#document", "#fragment"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"dir", "menu", "ol", "ul"})
# What neither a heading nor a cell of Markdown can hold.
_STRUCTURE = frozenset(
    {"blockquote", "dl", "hr", "li", "listing", "plaintext", "pre", "table", "textarea", "xmp"}
    | _HEADINGS.keys()
    | _LISTS
)
_STRONG = frozenset({"b", "strong"})
_EM = frozenset({"em", "i"})
_CODE = frozenset({"code", "kbd", "samp", "tt"})
# A heading around more blocks than this was not closed where its text ends.
_MOST_IN_HEADING = 8
_RULE = "___"
_LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([A-Za-z0-9+#.-]{1,24})(?:\s|$)")
_LINE_END = re.compile(r"\r\n?")
_MOST_ROWS_SPANNED = 65_534  # as in browsers
_MOST_START = 999_999_999


def markdown(
    page: Digest, node: SupportsIndex = 0, without: Iterable[SupportsIndex] | None = None
) -> str:
    """Return a subtree as Markdown. ``Digest.markdown`` is the same, with its documentation."""
    first = node.__index__()
    left_out = [one.__index__() for one in without] if without is not None else []
    text = page.text(first, without=left_out)  # raises NodeNotFound
    roles = page._native.text_roles()  # noqa: SLF001 - its page, in the same room
    if not roles:
        return "\n".join(_fenced(text, "")) if text else ""
    gone = np.zeros(page.n, np.bool_)
    gone[left_out] = True
    return _Writer(page, roles, gone).read(first)


def _fenced(text: str, language: str) -> list[str]:
    ticks = fence(text, 3)
    return [f"{ticks}{language}", *_LINE_END.sub("\n", text).split("\n"), ticks]


class _Open(NamedTuple):
    """An element that has not ended: where it ends, the style outside it, and whether it began a block, a list or an item."""

    end: int
    style: Style
    is_block: bool
    is_list: bool
    is_inside: bool


class _Writer:
    """Walks one page."""

    def __init__(self, page: Digest, roles: list[str], gone: NDArray[np.bool_]) -> None:
        self._page = page
        names = [name.rpartition(":")[2] for name in page.tag_names]
        spaces = page.tag_namespaces
        # Elements of SVG and MathML have no meaning here, whatever their names are.
        known = [
            name if space not in {"svg", "math"} else ""
            for name, space in zip(names, spaces, strict=True)
        ]
        tags = page.tag.tolist()
        self._tag: list[int] = tags
        self._names = known
        self._roles = roles
        self._size: list[int] = page.size.tolist()
        self._attr: list[int] = page.attr.tolist()
        self._gone: list[bool] = gone.tolist()
        self._known: dict[int, Mapping[str, str]] = {}
        self._blocks, self._line = Blocks(), Line()
        self._opened: list[_Open] = []
        self._lists: list[ListMarks] = []
        self._style = PLAIN
        self._used: set[int] = set()
        self._left = 3 * page.source_bytes  # bytes of addresses

    def read(self, first: int) -> str:
        """Read a subtree."""
        end = first + self._size[first]
        at = first
        while at < end:
            while self._opened and self._opened[-1].end == at:
                self._leave(self._opened.pop())
            tag = self._tag[at]
            name, role = self._names[tag], self._roles[tag]
            is_hidden = self._gone[at] or (role == "hidden" and at != first)
            if name in _TEXTS and not is_hidden:
                self._line.add(self._page.text(at), self._style)
            is_other = name.startswith("#") and name not in _FRAMES
            if is_hidden or is_other or self._whole(at, name, role):
                at += self._size[at]
            else:
                self._enter(at, name, role)
                at += 1
        self._flush()
        return "\n".join(self._blocks.lines)

    def _enter(self, at: int, name: str, role: str) -> None:
        """Begin an element that is read as the walk goes on."""
        is_block = role not in {"inline", "hidden"}
        if is_block:
            self._flush()
        is_list, is_inside = name in _LISTS, False
        if is_list:
            self._lists.append(ListMarks(self._start(at) if name == "ol" else None))
        elif name == "li":
            is_inside = self._blocks.enter(self._lists[-1] if self._lists else ListMarks())
        elif name == "blockquote":
            is_inside = self._blocks.enter(None)
        end = at + self._size[at]
        self._opened.append(_Open(end, self._style, is_block, is_list, is_inside))
        self._style = self._style_in(at, name, self._style)

    def _leave(self, one: _Open) -> None:
        """End an element."""
        self._style = one.style
        if one.is_block:
            self._flush()
        if one.is_list:
            self._lists.pop()
        if one.is_inside:
            self._blocks.leave()

    def _whole(self, at: int, name: str, role: str) -> bool:
        """Read an element with everything in it, if that is the way to read it."""
        if role == "break":
            if self._line.line_break():
                self._flush()
        elif name == "hr":
            self._flush()
            self._blocks.write([_RULE])
        elif name == "img":
            self._image(at, self._line, self._style)
        elif role == "pre":
            self._flush()
            self._pre(at)
        elif name in _HEADINGS and self._is_heading(at):
            self._flush()
            self._collect(at, self._line, self._style)
            words = self._line.written("heading", self._used)
            if words:
                self._blocks.write([f"{'#' * _HEADINGS[name]} {words[0]}"])
        elif name == "table":
            return self._table(at, self._style)
        else:
            return False
        return True

    def _flush(self) -> None:
        """End the paragraph."""
        lines = self._line.written("paragraph", self._used)
        if lines:
            self._blocks.write(lines)

    # ------------------------------------------------------------ within a block

    def _style_in(self, at: int, name: str, style: Style) -> Style:
        """The style inside an element."""
        if name in _STRONG:
            return replace(style, strong=True)
        if name in _EM:
            return replace(style, em=True)
        if name in _CODE:
            return replace(style, code=style.code or at)
        if name == "a":
            given = self._address(at, "href")
            return replace(style, link=at, address=given) if given else style
        return style

    def _address(self, at: int, attribute: str) -> str:
        """An address that is worth writing; empty if it is not, or too much was written."""
        given = self._attributes(at).get(attribute, "").strip("".join(map(chr, range(0x21))))
        if not is_followed(given):
            return ""
        self._left -= len(given)
        return given if self._left >= 0 else ""

    def _attributes(self, at: int) -> Mapping[str, str]:
        # Elements that a browser repeats have the same attributes: they are read once.
        run = self._attr[at]
        if run < 0:
            return {}
        if run not in self._known:
            self._known[run] = self._page.attributes(at)
        return self._known[run]

    def _image(self, at: int, line: Line, style: Style) -> None:
        alt = self._attributes(at).get("alt", "")
        if alt.strip():
            line.image(alt, self._address(at, "src"), style)

    def _collect(self, at: int, line: Line, style: Style) -> None:
        """Read an element as words of one line."""
        opened: list[tuple[int, Style, bool]] = []
        end, node = at + self._size[at], at + 1
        while node < end:
            while opened and opened[-1][0] == node:
                _, style, is_block = opened.pop()
                if is_block:
                    line.gap()
            tag = self._tag[node]
            name, role = self._names[tag], self._roles[tag]
            after = node + self._size[node]
            if name in _TEXTS and not self._gone[node]:
                line.add(self._page.text(node), style)
            elif self._gone[node] or role == "hidden" or name.startswith("#"):
                node = after
                continue
            elif name == "img":
                self._image(node, line, style)
            if role != "inline":
                line.gap()
            if after > node + 1:
                opened.append((after, style, role != "inline"))
                style = self._style_in(node, name, style)
            node += 1

    # ------------------------------------------------------------ whole elements

    @cached_property
    def _structure(self) -> NDArray[np.int64]:
        """How many elements before each node neither a heading nor a cell can hold."""
        return self._counted([name in _STRUCTURE for name in self._names])

    @cached_property
    def _block_count(self) -> NDArray[np.int64]:
        return self._counted([role == "block" for role in self._roles])

    def _counted(self, tags: list[bool]) -> NDArray[np.int64]:
        wanted = np.array(tags, np.bool_)[self._page.tag]
        return np.concatenate([[0], np.cumsum(wanted)])

    def _is_heading(self, at: int) -> bool:
        inside, end = at + 1, at + self._size[at]
        blocks = self._block_count[end] - self._block_count[inside]
        return bool(self._structure[end] == self._structure[inside] and blocks <= _MOST_IN_HEADING)

    def _pre(self, at: int) -> None:
        """Write preformatted text as a block of code."""
        pieces: list[str] = []
        node, end = at + 1, at + self._size[at]
        language = self._language(at)
        while node < end:
            tag = self._tag[node]
            name, role = self._names[tag], self._roles[tag]
            if self._gone[node] or role == "hidden":
                node += self._size[node]
                continue
            if name in _TEXTS:
                pieces.append(self._page.text(node))
            elif role != "inline" and pieces and not pieces[-1].endswith("\n"):
                pieces.append("\n")
            elif name in _CODE and not pieces:
                language = language or self._language(node)
            node += 1
        text = _LINE_END.sub("\n", "".join(pieces)).rstrip(" \t\n\f")
        if text.strip():
            self._blocks.write(_fenced(text, language))

    def _language(self, at: int) -> str:
        found = _LANGUAGE.search(self._attributes(at).get("class", ""))
        return found[1] if found else ""

    def _start(self, at: int) -> int:
        given = self._attributes(at).get("start", "").strip()
        return _number(given, _MOST_START) if given != "0" else 0

    def _table(self, at: int, style: Style) -> bool:
        """Write a data table. Returns False if it is there for its layout: then it is only blocks."""
        rows, caption = self._cells_of(at)
        if rows is None:
            return False
        self._flush()
        if caption is not None:
            self._collect(caption, self._line, style)
            self._flush()
        written: list[list[Cell]] = []
        has_head = False
        for row in rows:
            cells = []
            for cell in row:
                self._collect(cell, self._line, style)
                words = self._line.written("cell", self._used)
                given = self._attributes(cell)
                cells.append(
                    Cell(
                        words[0] if words else "",
                        _number(given.get("colspan", ""), MOST_COLUMNS),
                        _number(given.get("rowspan", ""), _MOST_ROWS_SPANNED),
                    )
                )
            if not written:
                has_head = all(self._names[self._tag[cell]] == "th" for cell in row)
            if any(cell.words for cell in cells):
                written.append(cells)
        if written:
            self._blocks.write(table_lines(written, has_head=has_head))
        return True

    def _cells_of(self, at: int) -> tuple[list[list[int]] | None, int | None]:
        """The cells of each row and the caption of a data table; None for other tables.

        A data table has at least two rows and two columns, no lists, tables and the like in its
        cells, and no words beside them.
        """
        end = at + self._size[at]
        if self._structure[end] != self._structure[at + 1]:
            return None, None
        rows: list[list[int]] = []
        caption = None
        node = at + 1
        while node < end:
            tag = self._tag[node]
            name, role = self._names[tag], self._roles[tag]
            after = node + self._size[node]
            if self._gone[node] or role == "hidden":
                node = after
            elif role == "row":
                rows.append([])
                node += 1
            elif role == "cell" and rows:
                rows[-1].append(node)
                node = after
            elif name == "caption" and caption is None and not rows:
                caption, node = node, after
            elif name == "caption" or (name in _TEXTS and self._page.text(node).strip()):
                return None, None
            else:
                node += 1
        rows = [row for row in rows if row]
        widest = max(map(len, rows), default=0)
        if len(rows) < 2 or not 2 <= widest <= MOST_COLUMNS:  # noqa: PLR2004 - see above
            return None, None
        return rows, caption


def _number(given: str, most: int) -> int:
    """Read a number from 1; 1 if it is none."""
    digits = given.strip()
    if not (digits.isascii() and digits.isdigit()):
        return 1
    return most if len(digits) > len(str(most)) else max(1, min(int(digits), most))

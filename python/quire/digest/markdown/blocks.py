"""Blocks of Markdown: paragraphs, headings and the like, in lists and quotes.

A block is written with the marks of the lists and quotes it is in. A list item or quote without any
block leaves no trace: its mark is written with its first block. Nesting is bounded, so that the
marks of a line are.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Lists and quotes that may be inside each other; deeper ones only separate their blocks.
MOST_NESTED = 10
_MOST_NUMBER = 999_999_999


@dataclass(slots=True, eq=False)
class ListMarks:
    """A list: its kind of marks, and the number of its next item.

    Attributes:
        number: the next number; None for bullets.
        mark: the bullet, or the sign after a number; empty until the first item is written.
    """

    number: int | None = None
    mark: str = ""


@dataclass(slots=True, eq=False)
class Container:
    """A list item or a quote that blocks are in.

    Attributes:
        marks: the list of an item; None for a quote.
        number: the number of the item.
        indent: what the lines after the first begin with; empty until the first block is written.
    """

    marks: ListMarks | None
    number: int = 0
    indent: str = ""

    def begin(self, other: ListMarks | None) -> str:
        """Return what the first line begins with.

        Args:
            other: the list that ends where this one begins, if any: its marks have to differ.
        """
        if self.marks is None:
            self.indent = "> "
            return "> "
        if not self.marks.mark:
            first, second = ("-", "+") if self.marks.number is None else (".", ")")
            self.marks.mark = second if other is not None and other.mark == first else first
        bullet = self.marks.mark
        begin = f"{bullet} " if self.marks.number is None else f"{self.number}{bullet} "
        self.indent = " " * len(begin)
        return begin


class Blocks:
    """The blocks so far, as lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._open: list[Container] = []
        self._last: list[Container] = []  # those that the last block is in

    def enter(self, marks: ListMarks | None) -> bool:
        """Begin an item of a list, or a quote. Returns whether it counts; then leave it later."""
        number = 0
        if marks is not None and marks.number is not None:
            number = marks.number
            marks.number = min(number + 1, _MOST_NUMBER)
        if len(self._open) >= MOST_NESTED:
            return False
        self._open.append(Container(marks, number))
        return True

    def leave(self) -> None:
        """End the innermost item or quote."""
        self._open.pop()

    def write(self, lines: list[str]) -> None:
        """Add a block of one or more lines."""
        same = 0
        for one, other in zip(self._open, self._last, strict=False):
            if one is not other:
                break
            same += 1
        if self.lines and not self._is_tight(same):
            self.lines.append("".join(one.indent for one in self._open[:same]).rstrip(" "))
        beside = self._last[same].marks if same < len(self._last) else None
        first = "".join(one.indent for one in self._open[:same])
        for one in self._open[same:]:
            first += one.begin(beside)
            beside = None
        rest = "".join(one.indent for one in self._open)
        self.lines.append(f"{first}{lines[0]}")
        self.lines += [
            f"{rest}{line}".rstrip(" ") if not line else f"{rest}{line}" for line in lines[1:]
        ]
        self._last = self._open.copy()

    def _is_tight(self, same: int) -> bool:
        """Whether the block needs no blank line: it begins an item after another of its list.

        The same for the first item of a list in an item, unless its number is not 1: such an item
        cannot end a paragraph.
        """
        begun = self._open[same].marks if same < len(self._open) else None
        if begun is None:
            return False
        if same < len(self._last):
            return self._last[same].marks is begun
        in_item = same > 0 and self._open[same - 1].marks is not None
        return in_item and (begun.number is None or self._open[same].number == 1)

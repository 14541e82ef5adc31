"""Fill the figures in ``docs/papers.md`` from stored results, so that none is written by hand.

A figure stands between two comments. The first says where it comes from:

    <!-- cell experiment4 0 ; 500,000 ; lxml.etree tree / loaded -->16.5x<!-- end -->
    <!-- range experiment5 0 ; bushy ; xmldiff / Sdiff -->24x to 775x<!-- end -->
    <!-- goal monitor-dom ; claim: less than half, for every type -->0.19x to 0.37x<!-- end -->
    <!-- verdict figure19 ; faster at 19,000 characters -->**does not hold**<!-- end -->
    <!-- note monitor-zipf ; the paper claims -->the paper claims 50 to 70 %: ...<!-- end -->

``cell`` is one cell of a table (its number, the first cells of its row, its heading). ``range`` is
the least and the greatest number below a heading, in all rows that start with the given cells.
``goal`` is the measured figure of a goal, found by its name, and ``verdict`` says whether the goal
was met: "holds" or "**does not hold**". ``note`` is a note, found by how it
begins; what follows is shown. A benchmark that has not been run leaves "not run yet".

Semicolons separate, because a ``|`` would end the cell of a Markdown table.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

#: A benchmark's name, and its result as read from JSON.
Results = Mapping[str, Mapping[str, Any]]

NOT_RUN = "not run yet"
#: What a cell says about a goal that was missed, or met.
_VERDICTS = {False: "**does not hold**", True: "holds"}
_MARK = re.compile(
    r"(?P<open><!-- (?P<kind>cell|range|goal|verdict|note) (?P<benchmark>[\w-]+)(?: (?P<table>\d+))? ; "
    r"(?P<rest>[^>]*?) -->)(?P<shown>.*?)(?P<close><!-- end -->)",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def fill(text: str, results: Results) -> str:
    """Return the text with every figure written again.

    Raises:
        LookupError: a stored result has no such cell, goal or note.
    """

    def filled(mark: re.Match[str]) -> str:
        shown = _figure(mark, results)
        return f"{mark['open']}{shown}{mark['close']}"

    return _MARK.sub(filled, text)


def benchmarks_of(text: str) -> list[str]:
    """Return the names of the benchmarks that figures of a text come from."""
    return [mark["benchmark"] for mark in _MARK.finditer(text)]


def _figure(mark: re.Match[str], results: Results) -> str:
    stored = results.get(mark["benchmark"])
    if stored is None:
        return NOT_RUN
    parts = [part.strip() for part in mark["rest"].split(" ; ")]
    if mark["kind"] == "goal":
        return str(_named(stored["goals"], "what", parts[0], mark)["measured"])
    if mark["kind"] == "verdict":
        return _VERDICTS[bool(_named(stored["goals"], "what", parts[0], mark)["met"])]
    if mark["kind"] == "note":
        found = [note for note in stored["notes"] if note.startswith(parts[0])]
        if len(found) != 1:
            raise LookupError(_missing(mark, [note[:60] for note in stored["notes"]]))
        return str(found[0][len(parts[0]) :]).strip(" :").replace("|", "/")
    table = stored["tables"][int(mark["table"] or 0)]
    *start, heading = parts
    if heading not in table["headings"]:
        raise LookupError(_missing(mark, table["headings"]))
    column = table["headings"].index(heading)
    cells = [str(row[column]) for row in table["rows"] if list(row[: len(start)]) == start]
    if not cells or (mark["kind"] == "cell" and len(cells) > 1):
        raise LookupError(_missing(mark, [row[: len(start)] for row in table["rows"]]))
    return cells[0] if mark["kind"] == "cell" else _range(cells)


def _range(cells: Sequence[str]) -> str:
    """The cells with the least and the greatest first number, as they were printed."""
    numbered = [
        (float(found[0].replace(",", "")), cell)
        for cell in cells
        if (found := _NUMBER.search(cell))
    ]
    low, high = min(numbered)[1], max(numbered)[1]
    return low if low == high else f"{low} to {high}"


def _named(rows: Sequence[Any], key: str, name: str, mark: re.Match[str]) -> Any:
    for row in rows:
        if row[key] == name:
            return row
    raise LookupError(_missing(mark, [row[key] for row in rows]))


def _missing(mark: re.Match[str], there: Sequence[object]) -> str:
    return f"{mark['open']}: no such figure, or several; there are {', '.join(map(str, there))}"

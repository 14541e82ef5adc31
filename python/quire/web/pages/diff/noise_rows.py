"""Rows in which only noise differs: of the texts of two pages, and of their sources.

A row is noise if every difference in it lies in nodes whose changes are noise. Lines of a text know
their nodes. Lines of a source do not, so the places of the nodes in the source are compared with the
places of the words that differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from quire.digest.page import Digest
from quire.reports.changes.marks import LOUD, Quiet
from quire.sdiff.annotation import Annotation
from quire.sdiff.facets import Status
from quire.sdiff.views.lines import TextLine
from quire.sdiff.views.side_by_side import SideRow

#: Tells whether everything that differs in a row is noise.
IsNoise: TypeAlias = Callable[[SideRow], bool]

_EDITED = int(Status.ALONE | Status.TAG | Status.ATTRIBUTES | Status.CONTENT)
_MOVES = frozenset({"moved_away", "moved_here"})


def nothing_is_noise(_: SideRow) -> bool:
    """Return False."""
    return False


def text_noise(annotation: Annotation, quiet: Quiet) -> IsNoise:
    """Return the function that tells noise among the rows of two texts.

    >>> import quire
    >>> from quire.sdiff.views.side_by_side import side_by_side
    >>> old, new = quire.encode(b"<p>Cod 8<p>Ad 17"), quire.encode(b"<p>Cod 9<p>Ad 23")
    >>> annotation = quire.annotate(old, new)
    >>> ad = frozenset([7])
    >>> [text_noise(annotation, Quiet(ad, ad))(row) for row in side_by_side(annotation)[0]]
    [False, True]

    Args:
        annotation: the annotation of the two pages.
        quiet: nodes whose changes are noise.
    """
    if quiet == LOUD:
        return nothing_is_noise
    old = annotation.old_status.tolist(), annotation.to_new.tolist(), quiet.old, quiet.old_moved
    new = annotation.new_status.tolist(), annotation.to_old.tolist(), quiet.new, quiet.new_moved

    def is_noise(row: SideRow) -> bool:
        found = False
        for line, other, (statuses, partners, noisy, shuffled) in (
            (row.old, row.new, old),
            (row.new, row.old, new),
        ):
            beside = other.nodes if other is not None else ()
            for node in line.nodes if line is not None else ():
                is_edited = bool(statuses[node] & _EDITED)
                if not is_edited and partners[node] in beside:
                    continue
                found = True
                is_shuffled = row.kind in _MOVES and not is_edited and node in shuffled
                if node not in noisy and not is_shuffled:
                    return False
        return found

    return is_noise


@dataclass(frozen=True, slots=True)
class SourceLines:
    """The source of a page as lines.

    Attributes:
        lines: the lines.
        starts: where each begins in the source, in characters.
        is_broken: whether long lines were broken between tags.
        quiet: places of noise in the source, in characters: none are inside each other.
        moved: places whose order is noise, likewise.
    """

    lines: list[str]
    starts: list[int]
    is_broken: bool = False
    quiet: list[tuple[int, int]] = field(default_factory=list)
    moved: list[tuple[int, int]] = field(default_factory=list)


def source_noise(old: SourceLines, new: SourceLines) -> IsNoise:
    """Return the function that tells noise among the rows of two sources."""
    if not (old.quiet or new.quiet or old.moved or new.moved):
        return nothing_is_noise

    def is_noise(row: SideRow) -> bool:
        found = False
        for line, source, other in ((row.old, old, "inserted"), (row.new, new, "deleted")):
            if line is None:
                continue
            if not source.lines[line.number - 1].startswith(line.text):
                return False
            places = source.moved + source.quiet if row.kind in _MOVES else source.quiet
            places = _joined(places) if row.kind in _MOVES else places
            start = source.starts[line.number - 1]
            for begin, end in _differing(row, line, other):
                found = True
                if not _is_inside(places, start + begin, start + end):
                    return False
        return found

    return is_noise


def quiet_places(
    page: Digest, nodes: Iterable[int], tags: Iterable[int], text: str, encoding: str
) -> list[tuple[int, int]]:
    """Return where nodes, and the start tags of other nodes, are in the source, in characters.

    Args:
        page: the page.
        nodes: nodes, each with everything in it.
        tags: elements of which only the start tag is wanted.
        text: the source as text.
        encoding: the encoding that it was decoded with.
    """
    try:
        spans = [page.span(node) for node in nodes]
        spans += [_start_tag(page, node) for node in tags]
    except ValueError:  # a page that is flagged verbatim
        return []
    data, at, count = page.decode(), 0, 0
    places = {}
    for place in sorted({edge for span in spans for edge in span} | {len(data)}):
        count += len(data[at:place].decode(encoding, "replace"))
        at = place
        places[place] = count
    if count != len(text):  # a character was cut in two
        return []
    return _joined((places[start], places[end]) for start, end in spans)


def _start_tag(page: Digest, node: int) -> tuple[int, int]:
    start, end = page.span(node)
    if page.children[node]:
        end = page.span(node + 1)[0]
    return start, max(start, end)


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort places, and join those that touch."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(each for each in places if each[0] < each[1]):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _differing(row: SideRow, line: TextLine, other: str) -> Iterator[tuple[int, int]]:
    """Yield the places in a line that differ, without white space around them."""
    pieces = [("deleted", line.text)]
    if row.kind == "changed" and row.segments:
        pieces = [(each.kind, each.text) for each in row.segments if each.kind != other]
    at = 0
    for kind, text in pieces:
        if kind != "same" and text.strip():
            begin = at + len(text) - len(text.lstrip())
            yield begin, begin + len(text.strip())
        at += len(text)


def _is_inside(places: list[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_right(places, (start, len(places) and places[-1][1] + 1)) - 1
    return at >= 0 and places[at][0] <= start and end <= places[at][1]

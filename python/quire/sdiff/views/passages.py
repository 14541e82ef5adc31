"""The view ``words``: every passage of a page that reads differently, and where it is.

A passage is a line of the text as a reader sees it. Edited passages have their changed words,
inserted and deleted ones stand whole. Edited texts that no reader sees, such as scripts and
comments, come last. Passages that only moved have no changed words, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, Side
from quire.sdiff.facets import Status
from quire.sdiff.views.lines import Row, TextLine, text_rows
from quire.sdiff.views.places import places
from quire.sdiff.views.words import Segment, text_changes, word_changes

PassageKind: TypeAlias = Literal["edited", "inserted", "deleted"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that reads differently.

    Attributes:
        kind: ``edited``, ``inserted`` or ``deleted``.
        place: a selector; for JSON a JSON Pointer, for plain text the number of the line.
        page: the page that ``place`` and ``node`` are on: ``old`` if it was deleted, else ``new``.
        node: the text, or the element around all texts of the passage that changed.
        segments: its words: leave out the ``inserted`` ones to get the old passage, or the
            ``deleted`` ones to get the new one.
    """

    kind: PassageKind
    place: str
    page: Side
    node: int
    segments: tuple[Segment, ...]


def passages(annotation: Annotation) -> list[Passage]:
    """List the passages that read differently, in the order of the new page.

    >>> import quire
    >>> old, new = quire.encode(b"<h1>Fish</h1><p>8.40"), quire.encode(b"<h1>Fish</h1><p>8.60<p>Hake")
    >>> for passage in passages(quire.annotate(old, new)):
    ...     print(passage.kind, passage.place, [part.text for part in passage.segments])
    edited html > body > p:nth-of-type(1) ['8.40', '8.60']
    inserted html > body > p:nth-of-type(2) ['Hake']

    Raises:
        TypeError: the argument is not an annotation.
    """
    found = [each for each in _drafts(annotation) if _reads_differently(each.segments)]
    named = {
        "old": places(annotation.old, [each.node for each in found if each.page == "old"]),
        "new": places(annotation.new, [each.node for each in found if each.page == "new"]),
    }
    return [
        Passage(each.kind, named[each.page][each.node], each.page, each.node, each.segments)
        for each in found
    ]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A passage without its place: finding all places at once is faster."""

    kind: PassageKind
    page: Side
    node: int
    segments: tuple[Segment, ...]


def _drafts(annotation: Annotation) -> Iterator[_Draft]:
    on_lines: set[int] = set()
    for row in text_rows(annotation):
        on_lines.update(row.new.nodes if row.new else ())
        if row.kind == "inserted" and row.new:
            node = _around(annotation.new, row.new.nodes)
            yield _Draft("inserted", "new", node, (Segment("inserted", row.new.text),))
        elif row.kind == "deleted" and row.old:
            node = _around(annotation.old, row.old.nodes)
            yield _Draft("deleted", "old", node, (Segment("deleted", row.old.text),))
        elif row.kind in {"changed", "moved_here"} and row.old and row.new:
            yield _edited(annotation, row, row.old, row.new)
    for change in text_changes(annotation):
        if change.node not in on_lines:
            yield _Draft("edited", "new", change.node, change.segments)


def _edited(annotation: Annotation, row: Row, old: TextLine, new: TextLine) -> _Draft:
    """Show only the text that was edited if it is the only one of its line, else the whole line."""
    differs = Status.CONTENT | Status.ALONE
    edited = [node for node in new.nodes if annotation.new_status[node] & differs]
    gone = [node for node in old.nodes if annotation.old_status[node] & Status.ALONE]
    if len(edited) == 1 and not gone and row.kind == "changed":
        (node,) = edited
        partner = annotation.partner(node)
        if partner is not None:
            before, after = annotation.old.text(partner), annotation.new.text(node)
            return _Draft("edited", "new", node, word_changes(before, after))
    node = _around(annotation.new, edited or new.nodes)
    return _Draft("edited", "new", node, word_changes(old.text, new.text))


def _around(page: Digest, nodes: Sequence[int]) -> int:
    """Return the deepest node that has all of these nodes in it."""
    first, last = min(nodes, default=0), max(nodes, default=0)
    while first > 0 and last >= first + int(page.size[first]):
        first = int(page.parent[first])
    return first


def _reads_differently(segments: Sequence[Segment]) -> bool:
    """Tell whether anything other than white space differs."""
    before = "".join(segment.text for segment in segments if segment.kind != "inserted")
    after = "".join(segment.text for segment in segments if segment.kind != "deleted")
    return before.split() != after.split()

"""Word by word changes inside a text.

Words are found without dictionaries, in any script; if a script has no spaces between words, each
character counts as a word. A kernel compares them, with a limit on its cost for hostile texts: see
``crates/quire-core/src/sdiff/words.rs``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire import _core
from quire.digest.arguments import shown
from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, check_annotation
from quire.sdiff.facets import Status

SegmentKind: TypeAlias = Literal["same", "deleted", "inserted"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a text and what happened to it."""

    kind: SegmentKind
    text: str


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text whose words changed.

    Attributes:
        node: the text on the new page.
        partner: the text on the old page.
        segments: both texts merged; leave out the ``inserted`` segments to get the old text, or the
            ``deleted`` ones to get the new text.
    """

    node: int
    partner: int
    segments: tuple[Segment, ...]


def word_changes(old: str, new: str) -> tuple[Segment, ...]:
    """Compare two texts word by word.

    >>> for segment in word_changes("Open 9 to 5", "Open 10 to 5"):
    ...     print(segment.kind, repr(segment.text))
    same 'Open '
    deleted '9'
    inserted '10'
    same ' to 5'

    Raises:
        TypeError: a text is not a ``str``.
    """
    for name, text in (("old", old), ("new", new)):
        if not isinstance(text, str):
            raise TypeError(f"{name} is {shown(text)}; expected a str{_way(text)}")
    segments: list[Segment] = []
    at = 0

    def add(kind: SegmentKind, text: str) -> None:
        if text:
            segments.append(Segment(kind, text))

    for old_start, old_end, new_start, new_end in _core.word_changes(
        whole_characters(old), whole_characters(new)
    ):
        add("same", new[at:new_start])
        add("deleted", old[old_start:old_end])
        add("inserted", new[new_start:new_end])
        at = new_end
    add("same", new[at:])
    return tuple(segments)


def text_changes(annotation: Annotation) -> Iterator[TextChange]:
    """List the changed texts of a page in document order, including comments and scripts.

    Inserted and deleted texts are not included; see ``Annotation.changes``.

    >>> import quire
    >>> annotation = quire.annotate(quire.encode(b"<p>9 to 5"), quire.encode(b"<p>9 to 6"))
    >>> [change.segments[-1] for change in text_changes(annotation)]
    [Segment(kind='inserted', text='6')]
    """
    check_annotation(annotation)
    for node in ((annotation.new_status & Status.CONTENT) != 0).nonzero()[0].tolist():
        partner = annotation.partner(node)
        if partner is not None:
            before, after = annotation.old.text(partner), annotation.new.text(node)
            yield TextChange(node, partner, word_changes(before, after))


def whole_characters(text: str) -> str:
    """Return a text that has a UTF-8 form, with the same number of characters."""
    # Half a surrogate pair has no UTF-8 form. Replacing it by one character keeps all offsets.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _way(text: object) -> str:
    if isinstance(text, bytes):
        return ": use .decode() on the bytes"
    return ": use its .text()" if isinstance(text, Digest) else ""

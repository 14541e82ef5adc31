"""Differences that no reader sees: what differs between two pages that read the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from quire.sdiff.annotation import Annotation, Change, check_annotation

if TYPE_CHECKING:
    from quire.digest.page import Digest

Unseen: TypeAlias = Literal[
    "encoding", "markup", "order of members", "white space", "comments", "scripts", "styles"
]

_SPACE = re.compile(r"\s+")
_LEAVES: dict[str, Unseen] = {
    "#comment": "comments",
    "#doctype": "markup",
    "#instruction": "markup",
    "script": "scripts",
    "style": "styles",
}


def unseen_differences(annotation: Annotation) -> tuple[Unseen, ...] | None:
    """Say in what two pages differ that read the same: None if they do not, empty if nothing differs.

    >>> import quire
    >>> def differs(old: bytes, new: bytes) -> tuple[str, ...] | None:
    ...     return unseen_differences(quire.annotate(quire.encode(old), quire.encode(new)))
    >>> differs(b"<p>Fish", b"<p>Chips") is None, differs(b"<p>Fish", b"<p>Fish")
    (True, ())
    >>> differs(b"<p>Fish</p>", b"<P>Fish"), differs(b"<p>Fish", b"<p>Fish <!-- 2 -->")
    (('markup',), ('white space', 'comments'))

    Only what the rules of the annotation compare counts; what they ignore is one of the differences
    of the source, called ``markup``.
    """
    check_annotation(annotation)
    found: set[Unseen] = set()
    for change in annotation.changes():
        kind = _kind(annotation, change)
        if kind is None:
            return None
        found.add(kind)
    if not found and annotation.old.signatures.source != annotation.new.signatures.source:
        found = _of_sources(annotation.old, annotation.new)
    return tuple(kind for kind in get_args(Unseen) if kind in found)


def _kind(annotation: Annotation, change: Change) -> Unseen | None:
    page = annotation.old if change.page == "old" else annotation.new
    if change.kind == "layout":
        return "white space"
    name = page.tags[int(page.tag[change.node])]
    parent = page.tags[int(page.tag[int(page.parent[change.node])])] if change.node else ""
    if name in _LEAVES or parent in _LEAVES:
        return _LEAVES.get(name) or _LEAVES[parent]
    if int(page.content[change.node]) < 0 or name == "#bytes":
        return None
    after = page.text(change.node).split()
    before = []
    if change.kind == "updated" and change.partner is not None:
        before = annotation.old.text(change.partner).split()
    return "white space" if before == after else None


def _of_sources(old: Digest, new: Digest) -> set[Unseen]:
    """Say in what the sources of two equal trees differ."""
    found: set[Unseen] = {"encoding"} if old.encoding != new.encoding else set()
    before, after = _source(old), _source(new)
    if before == after:
        return found or {"markup"}
    if _SPACE.sub("", before) == _SPACE.sub("", after):
        found.add("white space")
    elif old.kind == "json":
        found.add("order of members" if sorted(before) == sorted(after) else "markup")
    else:
        found.add("markup")
    return found


def _source(page: Digest) -> str:
    """Return the source as text; what its encoding does not know stays apart."""
    try:
        return page.decode().decode(page.encoding, "backslashreplace").removeprefix("\ufeff")
    except LookupError:  # an encoding of the web that Python does not have
        return page.decode().decode("latin-1")

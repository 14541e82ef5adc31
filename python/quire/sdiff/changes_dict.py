"""An annotation as plain values, for JSON.

The schema is in ``docs/guide/compare-pages.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

from quire.sdiff.facets import ALL_FACETS, Facet
from quire.sdiff.views.words import word_changes

if TYPE_CHECKING:
    from quire.digest.page import Digest
    from quire.sdiff.annotation import Annotation, Change

SCHEMA = "quire-changes/1"

# Parts can be nested, and each one repeats the text below it. This is how often the text of a page
# may be repeated on average.
MAX_READINGS = 8

# Texts are cut at this many characters, which is enough to recognise them.
MAX_TEXT = 2_000

# Parts with at most this many nodes show their text whatever their kind of change.
FEW_NODES = 64

Json: TypeAlias = dict[str, object]


def changes_dict(annotation: Annotation, facets: Iterable[Facet] | Facet = ALL_FACETS) -> Json:
    """Turn an annotation into plain values: see ``Annotation.to_dict``."""
    parts = list(annotation.parts(facets))
    named = [_nodes(part) for part in parts]
    old = _Side(annotation.old, [was for was, _ in named if was is not None])
    new = _Side(annotation.new, [now for _, now in named if now is not None])
    changes = [_entry(annotation, part, old, new) for part in parts]
    return {
        "schema": SCHEMA,
        "changed": bool(changes) or annotation.differs(facets),
        "old": _page(annotation.old),
        "new": _page(annotation.new),
        "summary": asdict(annotation.summary()),
        "coarse": [list(pair) for pair in annotation.coarse],
        "changes": changes,
    }


def _page(page: Digest) -> Json:
    return {"kind": page.kind, "nodes": page.n, "source": f"{page.signatures.source:032x}"}


def _nodes(change: Change) -> tuple[int | None, int | None]:
    """Return the node on the old page and the node on the new page."""
    return (change.node, None) if change.page == "old" else (change.partner, change.node)


def _entry(annotation: Annotation, change: Change, old: _Side, new: _Side) -> Json:
    was, now = _nodes(change)
    # Elements with changed attributes can be nested, and each would repeat all the text below it.
    with_text = change.kind not in {"updated", "renamed"}
    entry: Json = {
        "kind": change.kind,
        "facets": sorted(change.facets),
        "old": old.node(was, with_text=with_text),
        "new": new.node(now, with_text=with_text),
    }
    if was is not None and now is not None:
        if "attributes" in change.facets:
            entry["attributes"] = [asdict(each) for each in annotation.attribute_changes(now)]
        if "content" in change.facets:
            segments = word_changes(annotation.old.text(was), annotation.new.text(now))
            entry["words"] = [asdict(segment) for segment in segments]
    return entry


class _Side:
    """A page, the paths of its nodes, and how much of its text may still be read."""

    def __init__(self, page: Digest, named: Sequence[int]) -> None:
        self.page = page
        self.paths = dict(zip(named, page._native.css_paths(named), strict=True))
        self.unread = MAX_READINGS * page.n

    def node(self, node: int | None, *, with_text: bool) -> Json | None:
        if node is None:
            return None
        page = self.page
        nodes = int(page.size[node])
        said = None
        if nodes <= FEW_NODES or (with_text and nodes <= self.unread):
            said = page.text(node)[:MAX_TEXT]
            self.unread -= nodes
        return {
            "node": node,
            "name": page.tags[int(page.tag[node])],
            "path": self.paths.get(node),
            "nodes": nodes,
            "text": said,
        }

"""Report: an annotation as plain values, for JSON. The schema is in ``docs/guide/compare-pages.md``.

Above: ``cli``. Below: ``annotation``, ``words``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TypeAlias

from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, Change
from quire.sdiff.facets import ALL_FACETS, Facet
from quire.sdiff.words import word_changes

SCHEMA = "quire-changes/1"

# Naming a place looks at its siblings, so naming every row of a long list would be quadratic.
MAX_PATHS = 1_000

# What a node says is shown up to here, in characters; enough to know it by.
MAX_TEXT = 2_000

# A part with no more nodes than this shows its text whatever became of it.
FEW_NODES = 64

Json: TypeAlias = dict[str, object]


def report(annotation: Annotation, facets: Iterable[Facet] | Facet = ALL_FACETS) -> Json:
    """Give what changed as plain values that ``json.dumps`` takes.

    Parts that are new or gone are one entry each, however large.

    >>> import quire
    >>> found = report(quire.annotate(quire.encode(b"<p>9 to 5"), quire.encode(b"<p>9 to 6")))
    >>> found["changes"][0]["words"]
    [{'kind': 'same', 'text': '9 to '}, {'kind': 'deleted', 'text': '5'}, {'kind': 'inserted', 'text': '6'}]

    Args:
        annotation: what became of the nodes.
        facets: only changes in these.
    """
    changes: list[Json] = []
    for change in annotation.parts(facets):
        changes.append(_entry(annotation, change, with_paths=len(changes) < MAX_PATHS))
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


def _entry(annotation: Annotation, change: Change, *, with_paths: bool) -> Json:
    was, now = (change.node, None) if change.page == "old" else (change.partner, change.node)
    # Elements with other attributes can be nested in one another, and each would repeat the text of all below.
    with_text = change.kind not in {"updated", "renamed"}
    entry: Json = {
        "kind": change.kind,
        "facets": sorted(change.facets),
        "old": _node(annotation.old, was, with_paths=with_paths, with_text=with_text),
        "new": _node(annotation.new, now, with_paths=with_paths, with_text=with_text),
    }
    if was is not None and now is not None:
        if "attributes" in change.facets:
            entry["attributes"] = [asdict(each) for each in annotation.attribute_changes(now)]
        if "content" in change.facets:
            segments = word_changes(annotation.old.text(was), annotation.new.text(now))
            entry["words"] = [asdict(segment) for segment in segments]
    return entry


def _node(page: Digest, node: int | None, *, with_paths: bool, with_text: bool) -> Json | None:
    if node is None:
        return None
    nodes = int(page.size[node])
    return {
        "node": node,
        "name": page.tags[int(page.tag[node])],
        "path": page.path(node) if with_paths else None,
        "nodes": nodes,
        "text": page.text(node)[:MAX_TEXT] if with_text or nodes <= FEW_NODES else None,
    }

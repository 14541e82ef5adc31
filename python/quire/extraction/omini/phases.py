"""The four phases of Omini, each a function of its own, so that each can be timed and replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from quire.digest.files import encode
from quire.digest.page import Digest
from quire.extraction.omini.combination import combined
from quire.extraction.omini.separators import Ranked, Separator
from quire.extraction.omini.subtrees import Subtree, best
from quire.extraction.outline import Outline, outline


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Phase 1: read the bytes of a page."""
    return Path(path).read_bytes()


def parse(source: bytes) -> Digest:
    """Phase 2: make the digest of a page.

    >>> parse(b"<p>Fish")
    <Digest html, 6 nodes, 7 bytes>
    """
    return encode(source)


def identify_subtree(page: Digest, heuristic: Subtree = Subtree.VOLUME) -> tuple[Outline, int]:
    """Phase 3: find the node that holds the objects; also gives the outline, for the next phase.

    >>> page = parse(b"<p>x<ul><li>one<li>two<li>three</ul>")
    >>> view, node = identify_subtree(page)
    >>> page.node(node)
    <Node 6 ul>
    """
    view = outline(page)
    return view, best(view, heuristic)


def determine_delimiters(
    view: Outline, node: int, heuristics: Iterable[Separator] = tuple(Separator)
) -> list[Ranked]:
    """Phase 4: rank the tags that may divide the children of a node into objects.

    >>> view, node = identify_subtree(parse(b"<p>x<ul><li>one<li>two<li>three</ul>"))
    >>> determine_delimiters(view, node)[0].tag
    'li'
    """
    return combined(view, node, heuristics)


def objects(view: Outline, node: int, separator: str) -> list[tuple[int, ...]]:
    """Divide the children of a node: an object is a separator and all siblings up to the next.

    >>> page = parse(b"<dl><dt>a<dd>b<dt>c<dd>d<dd>e</dl>")
    >>> view, node = identify_subtree(page)
    >>> objects(view, node, "dt")
    [(5, 7), (9, 11, 13)]
    """
    runs: list[list[int]] = []
    for child in view.children(node):
        if view.page.tags[int(view.page.tag[child])] == separator:
            runs.append([])
        if runs:
            runs[-1].append(int(child))
    return [tuple(run) for run in runs]

"""A digest drawn as a tree, one node a line.

Nodes are in document order, so drawing is one pass over the columns with a
stack of guides; a page of any depth needs no recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.cli.common.terminal import one_line, printable

if TYPE_CHECKING:
    from quire.digest import Digest

# A page can nest thousands deep; past this, guides would be all one sees.
MAX_GUIDES = 24


def draw(page: Digest, root: int = 0, *, depth: int | None = None) -> Iterator[str]:
    """Give the lines of a subtree.

    Args:
        page: the page.
        root: the node to start from.
        depth: how many levels below it are drawn; None for all.
    """
    depths, sizes = page.depth, page.size
    top = int(depths[root])
    ends: list[int] = []  # for each level, where the last child's subtree ends
    node, end = root, root + int(sizes[root])
    guides: list[str] = []
    while node < end:
        level = int(depths[node]) - top
        size = int(sizes[node])
        del guides[max(level - 1, 0) :], ends[level:]
        last = level > 0 and node + size == ends[level - 1]
        branch = "" if level == 0 else ("└─ " if last else "├─ ")
        hidden = size - 1 if depth is not None and level >= depth else 0
        more = f"  … {hidden:,} below" if hidden else ""
        yield "".join(guides[-MAX_GUIDES:]) + branch + label(page, node) + more
        if level > 0:
            guides.append("   " if last else "│  ")
        ends.append(node + size)
        node += 1 + hidden


def label(page: Digest, node: int) -> str:
    """Name a node: a tag with its attributes as written, or what a leaf says."""
    name = printable(page.tags[int(page.tag[node])])
    run = int(page.attr[node])
    if int(page.content[node]) >= 0:
        name += " " + (one_line(page.text(node)) or "(white space)")
    elif run >= 0:
        name += " " + one_line(page.attrs[run].decode("utf-8", "replace"))
    return name.rstrip()

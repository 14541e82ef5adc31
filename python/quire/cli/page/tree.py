"""Draw a digest as a tree, one node per line.

Nodes are in document order, so drawing takes one pass over the columns with a stack of guide lines,
and no recursion for a page of any depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.cli.common.terminal import one_line, printable

if TYPE_CHECKING:
    from quire.digest import Digest

# A page can be thousands of levels deep. With more guides than this, they would fill the line.
MAX_GUIDES = 24


def draw(page: Digest, root: int = 0, *, depth: int | None = None) -> Iterator[str]:
    """Yield the lines of a subtree.

    Args:
        page: the page.
        root: the root of the subtree.
        depth: number of levels to draw below the root; None for all.
    """
    depths, sizes = page.depth, page.size
    top = int(depths[root])
    ends: list[int] = []  # for each level, the end of the last child's subtree
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
    """Describe a node: its tag with the attributes as written, or the content of a leaf."""
    name = printable(page.tags[int(page.tag[node])])
    run = int(page.attr[node])
    if name == "#bytes":
        name += f" {len(page.contents[int(page.content[node])]):,} bytes, binary"
    elif int(page.content[node]) >= 0:
        name += " " + (one_line(page.text(node)) or "(white space)")
    elif run >= 0:
        name += " " + one_line(page.attrs[run].decode("utf-8", "replace"))
    return name.rstrip()

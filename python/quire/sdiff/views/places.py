"""Places of nodes, as a person who has the source before them would say it.

A selector for HTML and XML, a JSON Pointer (RFC 6901) for JSON, the number of the line for plain
text, and the whole page for bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.digest.page import Digest

# Making a selector looks at the siblings and names all ancestors, so making one for every row of a
# long list is quadratic. After this many, and below this depth, the place is the nearest element
# that was named before, or the number of the node.
MAX_PATHS = 1_000
MAX_DEPTH = 1_000

_LINE_END = re.compile(r"\r\n|\r|\n")


def places(page: Digest, nodes: Iterable[int]) -> dict[int, str]:
    r"""Say where nodes of a page are.

    >>> import quire
    >>> places(quire.encode(b'{"fish": [{"cod/kg": 8}]}'), [7])
    {7: '/fish/0/cod~1kg'}
    >>> places(quire.encode(b"Fish\n\n\nCod 8.40\nHake 9.10\n"), [5])
    {5: 'line 5'}
    >>> places(quire.encode(b"<h1>Fish</h1><p>Cod"), [7])
    {7: 'html > body > p'}
    """
    wanted = sorted(set(nodes))
    if page.kind == "json":
        return {node: _pointer(page, node) for node in wanted}
    if page.kind == "text":
        return _lines(page, wanted)
    if page.kind == "bytes":
        return dict.fromkeys(wanted, "the whole file")
    named = [node for node in wanted if page.depth[node] <= MAX_DEPTH][:MAX_PATHS]
    found = dict(zip(named, page._native.css_paths(named), strict=True))
    return {node: found.get(node) or f"node {node}" for node in wanted}


def _pointer(page: Digest, node: int) -> str:
    """Return the JSON Pointer of a value or of a member; ``/`` is for the member with no name."""
    steps: list[str] = []
    above = 0
    while node > 0 and above < MAX_DEPTH:
        parent = int(page.parent[node])
        if page.tag_namespaces[int(page.tag[node])] == "json":
            name = page.tag_names[int(page.tag[node])]
            steps.append("/" + name.replace("~", "~0").replace("/", "~1"))
        elif page.tags[int(page.tag[parent])] == "#array":
            steps.append(f"/{_place_among(page, node, parent)}")
        elif parent == 0 and page.children[0] > 1:  # lines of JSON
            steps.append(f"value {_place_among(page, node, parent) + 1}: ")
        node, above = parent, above + 1
    return "".join(reversed(steps)) or "the whole document"


def _place_among(page: Digest, node: int, parent: int) -> int:
    """Count the siblings before a node that are not white space."""
    import numpy as np  # noqa: PLC0415 - heavy

    before = page.parent[parent + 1 : node] == parent
    blank = page.tag_id("#blank")
    return int(np.count_nonzero(before & (page.tag[parent + 1 : node] != blank)))


def _lines(page: Digest, nodes: list[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    line, at = 1, 0
    for node in nodes:
        for earlier in range(at, node):
            if int(page.content[earlier]) >= 0:
                line += len(_LINE_END.findall(page.text(earlier)))
        at = node
        found[node] = f"line {line}"
    return found

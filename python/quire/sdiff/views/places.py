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
# long list is quadratic. After this many, and below this depth, the place is the number of the node.
MAX_PATHS = 1_000
MAX_DEPTH = 1_000

_LINE_END = re.compile(r"\r\n|\r|\n")


def places(page: Digest, nodes: Iterable[int]) -> dict[int, str]:
    r"""Say where nodes of a page are.

    >>> import quire
    >>> places(quire.encode(b'{"fish": [{"cod/kg": 8}]}'), [6])
    {6: '/fish/0/cod~1kg'}
    >>> places(quire.encode(b"Fish\n\n\nCod 8.40\nHake 9.10\n"), [6])
    {6: 'line 5'}
    >>> places(quire.encode(b"<h1>Fish</h1><p>Cod"), [7])
    {7: 'html > body > p'}
    """
    wanted = sorted(set(nodes))
    if page.kind == "json":
        return _pointers(page, wanted)
    if page.kind == "text":
        return _lines(page, wanted)
    if page.kind == "bytes":
        return dict.fromkeys(wanted, "the whole file")
    named = [node for node in wanted if page.depth[node] <= MAX_DEPTH][:MAX_PATHS]
    found = dict(zip(named, page._native.css_paths(named), strict=True))
    return {node: found.get(node) or f"node {node}" for node in wanted}


def _pointers(page: Digest, nodes: list[int]) -> dict[int, str]:
    """Return the JSON Pointers of values and members; ``/`` is for the member with no name."""
    tags, parents = page.tag.tolist(), page.parent.tolist()
    names = [name.replace("~", "~0").replace("/", "~1") for name in page.tag_names]
    blank, array = page.tag_id("#blank"), page.tag_id("#array")
    # The place of every node among its siblings that are not white space.
    seen, places_among = [0] * page.n, [0] * page.n
    for node in range(1, page.n):
        places_among[node] = seen[parents[node]]
        seen[parents[node]] += tags[node] != blank

    def pointer(node: int) -> str:
        if page.depth[node] > MAX_DEPTH:
            return f"node {node}"
        steps: list[str] = []
        while node > 0:
            parent = parents[node]
            if page.tag_namespaces[tags[node]] == "json":
                steps.append("/" + names[tags[node]])
            elif tags[parent] == array:
                steps.append(f"/{places_among[node]}")
            elif parent == 0 and seen[0] > 1:  # lines of JSON
                steps.append(f"value {places_among[node] + 1}: ")
            node = parent
        return "".join(reversed(steps)) or "the whole document"

    return {node: pointer(node) for node in nodes}


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

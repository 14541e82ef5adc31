"""turbohtml: own C core, WHATWG trees, the nearest neighbour in what it offers."""

from collections import Counter
from typing import Any

import turbohtml


class TurboHtml:
    """Trees are ``Document`` objects."""

    name = "turbohtml"

    def parse(self, body: bytes) -> Any:
        return turbohtml.parse(body)

    def count_by_walk(self, tree: Any) -> Counter[str]:
        return Counter(node.tag for node in tree.iter_elements())

    def count_by_query(self, tree: Any) -> Counter[str]:
        return Counter(node.tag for node in tree.select("*"))

    def serialise(self, tree: Any) -> bytes:
        written: str = tree.serialize()
        return written.encode()

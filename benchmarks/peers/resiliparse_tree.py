"""resiliparse: lexbor again, through another binding."""

from collections import Counter
from typing import Any

from resiliparse.parse.html import HTMLTree, NodeType


class Resiliparse:
    """Trees are ``HTMLTree`` objects."""

    name = "resiliparse"

    def parse(self, body: bytes) -> Any:
        return HTMLTree.parse_from_bytes(body)

    def count_by_walk(self, tree: Any) -> Counter[str]:
        return Counter(node.tag for node in tree.document if node.type != NodeType.DOCUMENT_TYPE)

    def count_by_query(self, tree: Any) -> Counter[str]:
        return Counter(node.tag for node in tree.document.query_selector_all("*"))

    def serialise(self, tree: Any) -> bytes:
        written: str = tree.document.html
        return written.encode()

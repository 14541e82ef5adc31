"""ElementTree of the standard library, on expat: what a Python programmer has without installing anything."""

import xml.etree.ElementTree as Tree
from collections import Counter


class ElementTree:
    """Trees are root elements."""

    name = "ElementTree"

    def parse(self, body: bytes) -> Tree.Element:
        return Tree.fromstring(body)  # noqa: S314  the documents are our own

    def count_by_walk(self, tree: Tree.Element) -> Counter[str]:
        return Counter(node.tag for node in tree.iter())

    def count_by_query(self, tree: Tree.Element) -> Counter[str]:
        counts = Counter(node.tag for node in tree.findall(".//*"))
        counts[tree.tag] += 1
        return counts

    def serialise(self, tree: Tree.Element) -> bytes:
        written: bytes = Tree.tostring(tree)
        return written

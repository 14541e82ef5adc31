"""lxml on libxml2: ``lxml.html`` for pages (not a WHATWG tree), ``lxml.etree`` for XML."""

from collections import Counter
from typing import Any

from lxml import etree, html


class LxmlEtree:
    """Trees are root elements. ``huge_tree`` lifts libxml2's limits on depth and text length."""

    name = "lxml.etree"

    def __init__(self) -> None:
        self._parser = etree.XMLParser(
            huge_tree=True, resolve_entities=False, no_network=True, load_dtd=False
        )

    def parse(self, body: bytes) -> Any:
        return etree.fromstring(body, self._parser)

    def count_by_walk(self, tree: Any) -> Counter[str]:
        # Comments and processing instructions have a function for a tag.
        return Counter(node.tag for node in tree.iter() if isinstance(node.tag, str))

    def count_by_query(self, tree: Any) -> Counter[str]:
        return Counter(node.tag for node in tree.xpath("//*"))

    def serialise(self, tree: Any) -> bytes:
        written: bytes = etree.tostring(tree.getroottree())
        return written


class LxmlHtml(LxmlEtree):
    """The same on pages, with libxml2's own HTML rules."""

    name = "lxml.html"

    def __init__(self) -> None:
        super().__init__()
        self._html_parser = html.HTMLParser(huge_tree=True)

    def parse(self, body: bytes) -> Any:
        return html.document_fromstring(body, parser=self._html_parser)

    def serialise(self, tree: Any) -> bytes:
        written: bytes = html.tostring(tree.getroottree())
        return written

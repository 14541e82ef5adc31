"""selectolax on lexbor: the fastest conformant parser with a Python face, and the bar for encoding."""

from collections import Counter

from selectolax.lexbor import LexborHTMLParser, LexborNode

#: A page as a walk sees it: (name, depth below ``html``) in pre-order.
Outline = list[tuple[str, int]]


class Selectolax:
    """Trees are ``LexborHTMLParser`` objects. Scripting is off: ``noscript`` holds elements."""

    name = "selectolax"

    def parse(self, body: bytes) -> LexborHTMLParser:
        return LexborHTMLParser(body)

    def count_by_walk(self, tree: LexborHTMLParser) -> Counter[str]:
        root = tree.root
        if root is None:
            return Counter()
        return Counter(node.tag or "-comment" for node in root.traverse(include_text=True))

    def count_by_query(self, tree: LexborHTMLParser) -> Counter[str]:
        return Counter(node.tag or "" for node in tree.css("*"))

    def serialise(self, tree: LexborHTMLParser) -> bytes:
        return (tree.html or "").encode()

    def outline(self, tree: LexborHTMLParser) -> Outline:
        """Every node below and with ``html``; texts and comments under ``#text`` and ``#comment``.

        ``<?php ... ?>`` is a processing instruction to lexbor, without a name here, and a comment to
        the other parsers; it is given as a comment.
        """
        out: Outline = []
        node: LexborNode | None = tree.root
        depth = 0
        while node is not None:
            out.append((_name(node.tag), depth))
            child = node.first_child
            if child is not None:
                node, depth = child, depth + 1
                continue
            while node is not None and depth and node.next is None:
                node, depth = node.parent, depth - 1
            node = node.next if node is not None and depth else None
        return out


def _name(tag: str | None) -> str:
    return "#comment" if tag is None or tag == "-comment" else "#text" if tag == "-text" else tag

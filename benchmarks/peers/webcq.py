"""A monitor in the manner of WebCQ: every sentinel is a program of its own, over lxml.

A sentinel parses the page that was fetched for it, extracts the object it watches, and compares it with
what it extracted last time. It stores a hash of the object, so the old page is neither loaded
nor parsed. The extraction uses libxml2 as far as possible: texts come from ``text_content``.
"""

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from lxml import etree, html

if TYPE_CHECKING:
    from benchmarks.sentinels.workload import Kind

#: Elements whose content is not text for a reader.
HIDDEN = ("script", "style", "template", "noscript", "iframe", "datalist", "noembed", "noframes")
IMAGES = {
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "input": ("src",),
    "image": ("href", "xlink:href"),
}


class SentinelOnItsOwn:
    """One sentinel.

    Args:
        kind: what it watches.
        checksum: whether it first compares a checksum of the bytes, and stops if it is the same.
    """

    def __init__(self, kind: "Kind", *, checksum: bool = False) -> None:
        self.kind = kind
        self.checksum = checksum
        self.pattern = re.compile(kind.pattern) if kind.pattern else None
        self.source = b""
        self.seen = b""

    def copy_state(self, other: "SentinelOnItsOwn") -> None:
        """Start from what an equal sentinel has seen on the same page."""
        self.source, self.seen = other.source, other.seen

    def check(self, body: bytes) -> tuple[bool, bool]:
        """Tell whether the object changed since the last check, and whether the sentinel fires."""
        if self.checksum:
            source = blake2b(body, digest_size=16).digest()
            if source == self.source:
                return False, False
            self.source = source
        found = self.extracted(parsed(body))
        seen = blake2b(repr(found).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if seen == self.seen:
            return False, False
        is_first, self.seen = not self.seen, seen
        if is_first:
            return False, False
        return True, self.pattern is None or self.pattern.search(str(found[0])) is not None

    def extracted(self, root: Any) -> list[object]:
        """Extract what the sentinel watches."""
        roots = _outermost(root, self.kind.tag) if self.kind.tag else [root]
        return [extract(aspect, roots) for aspect in self.kind.watch]


def parsed(body: bytes) -> Any:
    """Parse a page as a browser with scripts does: ``noscript`` has no elements."""
    parser = html.HTMLParser(huge_tree=True)
    root = etree.fromstring(body, parser)
    if root is None:
        return etree.Element("html")
    etree.strip_elements(root, "noscript", with_tail=False)
    return root


def extract(aspect: str, roots: Iterable[Any]) -> object:
    """Extract one aspect of some elements."""
    if aspect == "text":
        return [text(root) for root in roots]
    if aspect == "links":
        return [
            each.get("href")
            for root in roots
            for each in root.iter("a", "area")
            if each.get("href") is not None
        ]
    if aspect == "images":
        return [
            each.get(name)
            for root in roots
            for each in root.iter(*IMAGES)
            for name in IMAGES[each.tag]
            if each.get(name) is not None
        ]
    if aspect == "tags":
        return [each.tag for root in roots for each in root.iter(etree.Element)]
    if aspect == "structure":
        return [shape(root) for root in roots]
    return [
        (each.tag, sorted(each.items()))
        for root in roots
        for each in root.iter(etree.Element)
        if each.attrib
    ]


def text(root: Any) -> str:
    """The visible text of an element, white space collapsed."""
    etree.strip_elements(root, *HIDDEN, with_tail=False)
    return " ".join(html.HtmlElement.text_content(root).split())


def shape(root: Any) -> list[tuple[int, str]]:
    """All elements below an element with their depths."""
    found = []
    depth = 0
    for event, each in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            found.append((depth, each.tag))
            depth += 1
        else:
            depth -= 1
    return found


def _outermost(root: Any, tag: str) -> list[Any]:
    return [each for each in root.iter(tag) if next(each.iterancestors(tag), None) is None]

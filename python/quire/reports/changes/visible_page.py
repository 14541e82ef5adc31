"""What a reader sees of a page: its texts and its elements without text, in order."""

from __future__ import annotations

from dataclasses import dataclass

from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.reports.changes import safe_markup as safe

# Elements of menus, and where they belong.
_OPTIONS = {"option": {"select", "optgroup"}, "optgroup": {"select"}}
# Text that stands for an element without text, such as an image.
_ATOM = "\ufffc"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A visible text, or an element without text.

    Attributes:
        node: its number.
        text: the text; empty for an element.
        line: leaves with the same number are on one line, as far as elements tell.
        key: two leaves with the same key look the same.
        is_apart: whether white space is between it and the leaf before.
    """

    node: int
    text: str
    line: int
    key: str
    is_apart: bool = False


class VisiblePage:
    """The columns of a page as lists, and its visible leaves: texts, and elements without text."""

    def __init__(self, digest: Digest, base: str | None = None) -> None:
        self.digest: Digest = digest
        tags = digest.tag.tolist()
        self.names: list[str] = [digest.tags[tag] for tag in tags]
        self.spaces: list[str] = [digest.tag_namespaces[tag] for tag in tags]
        self.sizes: list[int] = digest.size.tolist()
        self.parents: list[int] = digest.parent.tolist()
        self.has_attributes: list[bool] = (digest.attr >= 0).tolist()
        self.base: str | None = base_of(base, digest._native.base())
        self.written: list[str | None] = self._written()
        self.leaves: list[Leaf] = self._find_leaves()
        self.leaf_of: dict[int, int] = {leaf.node: place for place, leaf in enumerate(self.leaves)}

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of an element."""
        return self.digest.attributes(node) if self.has_attributes[node] else {}

    def _written(self) -> list[str | None]:
        """Return the name of the element to write for each node; None to leave it out."""
        known: dict[tuple[str, str], str | None] = {}
        found: list[str | None] = []
        for node, (name, space) in enumerate(zip(self.names, self.spaces, strict=True)):
            if name.startswith("#"):
                found.append(None)
                continue
            if (name, space) not in known:
                known[name, space] = safe.element(name, space)
            written = known[name, space]
            if name == "form" and self.names[self.parents[node]] in safe.TABLE_PARTS:
                written = None  # always empty; browsers would move another element out of the table
            elif name in _OPTIONS and self.names[self.parents[node]] not in _OPTIONS[name]:
                written = "span"  # outside of a menu, browsers show it as text
            found.append(written)
        return found

    def _find_leaves(self) -> list[Leaf]:
        leaves: list[Leaf] = []
        ends: list[int] = []  # of the open elements that end a line
        line = node = 0
        is_apart = False  # white space between elements came before
        n = len(self.names)
        while node < n:
            while ends and ends[-1] <= node:
                ends.pop()
                line += 1
            name, written = self.names[node], self.written[node]
            if name == "#text":
                text = self.digest.text(node)
                if text and not text.isspace():
                    leaves.append(Leaf(node, text, line, " ".join(text.split()), is_apart))
                is_apart = text.isspace()
                node += 1
            elif written in safe.ATOMS:
                if self.attributes(node).get("type", "").lower() != "hidden":
                    leaves.append(self._atom(node, written, line))
                node += self.sizes[node]
            elif written is None and name not in {"#document", "head"}:
                node += self.sizes[node]
            else:
                if written not in safe.INLINE:
                    line += 1
                    ends.append(node + self.sizes[node])
                node += 1
        return leaves

    def _atom(self, node: int, written: str, line: int) -> Leaf:
        found = self.attributes(node)
        parts = [found.get(key, "") for key in ("src", "alt", "type", "name", "placeholder")]
        if written in safe.PLAIN:
            parts.append(self.digest.text(node))
        return Leaf(node, "", line, f"{_ATOM}{written} {' '.join(' '.join(parts).split())}")

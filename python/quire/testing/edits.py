"""Make one random edit of a document, guaranteed to be exactly one.

A test is misleading if its edit happens to do nothing, or could be expressed as a smaller one. So
new texts, values and names do not occur anywhere else in the document, inserted parts have new
text, and moved parts end up somewhere else. All other bytes stay the same.

Documents can come from ``generate``, or be any XML as simple as that: start and end tags, no
comments, and no text next to elements.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, get_args

from quire.digest.files import encode
from quire.digest.page import Digest

EditKind: TypeAlias = Literal["text", "attribute", "insert", "delete", "rename", "move"]

EDITS: tuple[EditKind, ...] = get_args(EditKind)

# The first attribute of a list of attributes.
_ATTRIBUTE = re.compile(rb"""(\s*[^=\s]+\s*=\s*)(?:"[^"]*"|'[^']*')""")

# A random move rarely leaves the document unchanged. Give up after this many that did.
_MAX_TRIES = 1_000


def edit(source: bytes | Digest, kind: EditKind, seed: int = 0) -> bytes:
    """Make one random edit of a document and return the new source.

    >>> from quire.testing import generate
    >>> edit(b"<a><b>nine</b></a>", "text", seed=1)
    b'<a><b>amended290</b></a>'
    >>> edit(generate("bushy", 100), "move") == generate("bushy", 100)
    False

    Args:
        source: the document, or its digest.
        kind: ``text`` changes a word; ``attribute`` changes, adds or removes an attribute;
            ``insert``, ``delete`` and ``move`` affect an element with everything in it; ``rename``
            gives an element a new name.
        seed: random seed; the same seed makes the same edit.

    Raises:
        ValueError: the kind does not exist, the document is not plain XML, or it has nothing to
            edit in this way.
    """
    if kind not in EDITS:
        raise ValueError(f"unknown edit {kind!r}; expected {', '.join(EDITS)}")
    document = _Document.read(source)
    # Each kind draws its own numbers, so that edits of two kinds with the same seed do not hit the
    # same node.
    draw = random.Random(f"{kind} {seed}")  # noqa: S311 - makes documents, not secrets
    _EDITORS[kind](document, draw)
    return document.written()


@dataclass(slots=True)
class _Document:
    """A document as mutable columns in pre-order; node 0 is the root element."""

    names: list[str]
    runs: list[bytes]
    texts: list[bytes | None]
    sizes: list[int]
    parents: list[int]

    @classmethod
    def read(cls, source: bytes | Digest) -> Self:
        """Parse a document and check that it can be written back unchanged."""
        page = source if isinstance(source, Digest) else encode(source, kind="xml")
        attrs, contents = list(page.attrs), list(page.contents)
        document = cls(
            [page.tags[tag] for tag in page.tag.tolist()[1:]],
            [attrs[run] if run >= 0 else b"" for run in page.attr.tolist()[1:]],
            [contents[content] if content >= 0 else None for content in page.content.tolist()[1:]],
            page.size.tolist()[1:],
            [parent - 1 for parent in page.parent.tolist()[1:]],
        )
        is_plain = all(not name.startswith("#") or name == "#text" for name in document.names)
        if not is_plain or document.written() != page.decode():
            raise ValueError(
                "not plain XML; expected only elements with start and end tags, and text"
            )
        return document

    def elements(self) -> list[int]:
        """List the elements; the root comes first."""
        return [node for node, text in enumerate(self.texts) if text is None]

    def homes(self) -> list[int]:
        """List the elements that can take children without mixing them with text."""
        with_text = {self.parents[node] for node, text in enumerate(self.texts) if text is not None}
        return [node for node in self.elements() if node not in with_text]

    def gaps(self, home: int) -> list[int]:
        """List the positions for a new child: before each child, and after the last."""
        found, child = [], home + 1
        while child < home + self.sizes[home]:
            found.append(child)
            child += self.sizes[child]
        return [*found, child]

    def resize(self, node: int, by: int) -> None:
        """Enlarge a subtree and all subtrees that contain it."""
        while node >= 0:
            self.sizes[node] += by
            node = self.parents[node]

    def reorder(self, order: list[int]) -> None:
        """Keep these nodes, in this order. ``parents`` is not valid afterwards."""
        self.names = [self.names[node] for node in order]
        self.runs = [self.runs[node] for node in order]
        self.texts = [self.texts[node] for node in order]
        self.sizes = [self.sizes[node] for node in order]

    def written(self) -> bytes:
        """Return the source of the document."""
        out: list[bytes] = []
        ends: list[tuple[int, bytes]] = []
        for node, (name, run, text, size) in enumerate(
            zip(self.names, self.runs, self.texts, self.sizes, strict=True)
        ):
            while ends and ends[-1][0] <= node:
                out.append(ends.pop()[1])
            if text is not None:
                out.append(text)
                continue
            tag = name.encode()
            out.append(b"<%b%b>" % (tag, run))
            ends.append((node + size, b"</%b>" % tag))
        while ends:
            out.append(ends.pop()[1])
        return b"".join(out)


def _pick(draw: random.Random, nodes: list[int], kind: str) -> int:
    if not nodes:
        raise ValueError(f"the document has nothing to {kind}")
    return draw.choice(nodes)


def _fresh(draw: random.Random, stem: str, taken: Callable[[str], bool]) -> str:
    """Make up a word that is not in use."""
    while True:
        word = f"{stem}{draw.randrange(1000)}"
        if not taken(word):
            return word
        stem += "x"


def _edit_text(document: _Document, draw: random.Random) -> None:
    texts = [node for node, text in enumerate(document.texts) if text is not None and text.strip()]
    node = _pick(draw, texts, "give another text")
    before = document.texts[node] or b""
    words = before.split(b" ")
    at = draw.choice([place for place, word in enumerate(words) if word.strip()])
    words[at] = _fresh(draw, "amended", lambda word: word.encode() in before).encode()
    document.texts[node] = b" ".join(words)


def _edit_attribute(document: _Document, draw: random.Random) -> None:
    node = _pick(draw, document.elements(), "give another attribute")
    run = document.runs[node]
    value = _fresh(draw, "amended", lambda word: word.encode() in run).encode()
    first = _ATTRIBUTE.match(run)
    choice = draw.randrange(3) if first else 0
    if first is None or choice == 0:
        document.runs[node] = run + b' %b="1"' % value
    elif choice == 1:
        document.runs[node] = run[first.end() :]
    else:
        document.runs[node] = b'%b"%b"%b' % (first[1], value, run[first.end() :])


def _edit_insert(document: _Document, draw: random.Random) -> None:
    home = _pick(draw, document.homes(), "insert into")
    at = draw.choice(document.gaps(home))
    tag = document.names[draw.choice(document.elements())]
    said = _fresh(draw, "inserted", lambda word: word in document.names).encode()
    # An element with a text, or with two or three such elements. Each text is new.
    leaves = draw.randint(1, 3)
    names, texts, sizes = [tag, "#text"] * leaves, [None, said] * leaves, [2, 1] * leaves
    if leaves > 1:
        names, texts, sizes = [tag, *names], [None, *texts], [2 * leaves + 1, *sizes]
    document.resize(home, len(names))
    document.names[at:at] = names
    document.texts[at:at] = [
        None if text is None else text + b" %d" % place for place, text in enumerate(texts)
    ]
    document.sizes[at:at] = sizes
    document.runs[at:at] = [b""] * len(names)


def _edit_delete(document: _Document, draw: random.Random) -> None:
    node = _pick(draw, document.elements()[1:], "delete")
    end = node + document.sizes[node]
    document.resize(document.parents[node], node - end)
    document.reorder([*range(node), *range(end, len(document.names))])


def _edit_rename(document: _Document, draw: random.Random) -> None:
    node = _pick(draw, document.elements(), "rename")
    names = set(document.names)
    document.names[node] = _fresh(draw, "renamed", lambda word: word in names)


def _edit_move(document: _Document, draw: random.Random) -> None:
    before = document.written()
    homes = document.homes()
    for _ in range(_MAX_TRIES):
        node = _pick(draw, document.elements()[1:], "move")
        home = _pick(draw, homes, "move into")
        at = draw.choice(document.gaps(home))
        size = document.sizes[node]
        is_inside = node <= home < node + size
        is_here = home == document.parents[node] and at in {node, node + size}
        if is_inside or is_here:
            continue
        moved = _Document(
            document.names, document.runs, document.texts, list(document.sizes), document.parents
        )
        moved.resize(document.parents[node], -size)
        moved.resize(home, size)
        rest = [*range(node), *range(node + size, len(document.names))]
        place = at if at <= node else at - size
        moved.reorder([*rest[:place], *range(node, node + size), *rest[place:]])
        if moved.written() != before:  # moving a part past equal ones changes nothing
            document.names, document.runs = moved.names, moved.runs
            document.texts, document.sizes = moved.texts, moved.sizes
            return
    raise ValueError("the document has nothing to move")


_EDITORS: dict[EditKind, Callable[[_Document, random.Random], None]] = {
    "text": _edit_text,
    "attribute": _edit_attribute,
    "insert": _edit_insert,
    "delete": _edit_delete,
    "rename": _edit_rename,
    "move": _edit_move,
}

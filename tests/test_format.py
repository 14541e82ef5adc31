"""docs/format.md is enough to read a digest: a reader written from it gives sources back.

This reader imports nothing of quire. It leaves out what the standard library cannot do
(XXH3, zstd), so it checks no checksums and reads neither compressed nor verbatim files.
"""

from __future__ import annotations

import struct
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "crates/quire-core/tests/golden/v1"
FILES = sorted(path for path in GOLDEN.glob("*.qd") if ".compressed" not in path.name)
JSON, VERBATIM, TRANSCODED = 2, 1 << 5, 1 << 8
ELEMENT, OBJECT, ARRAY, MEMBER, SCALAR = 1, 8, 9, 10, 11
LEAVES = {2, 3, 4, 5, 6, SCALAR, 13, 14}


class File:
    """The sections of a file, as lists of numbers and strings."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        mark, version, self.kind, packed, self.flags, self.n, rows, self.source, body = (
            struct.unpack_from("<8sHBBIIIQQ", data)
        )
        assert mark == b"\x89quire\r\n"
        assert (version, packed) == (1, 0)
        assert len(data) == 152 + 32 * rows + 8 + body
        self.rows = {
            row[0]: row[1:]
            for row in (struct.unpack_from("<HB5xQQ", data, 152 + 32 * i) for i in range(rows))
        }

    def string(self, section: int) -> bytes:
        """Give the bytes of a section."""
        _, offset, length = self.rows.get(section, (1, 0, 0))
        return self.data[offset : offset + length]

    def numbers(self, section: int, *, signed: bool = False) -> list[int]:
        """Read a section as numbers of its width."""
        width = self.rows.get(section, (1, 0, 0))[0]
        data = self.string(section)
        return [
            int.from_bytes(data[at : at + width], "little", signed=signed)
            for at in range(0, len(data), width)
        ]

    def strings(self, lengths: int, heap: int) -> list[bytes]:
        """Cut a heap by its lengths."""
        data = self.string(heap)
        return [data[a:b] for a, b in pairwise(accumulate(self.numbers(lengths), initial=0))]

    def meta(self) -> list[bytes]:
        """Give the four strings of section 17."""
        data, found = self.string(17), []
        while data:
            found.append(data[1 : 1 + data[0]])
            data = data[1 + data[0] :]
        return found


class Layout:
    """The gaps of a JSON page, from its layout and the open nodes."""

    def __init__(self, stored: bytes) -> None:
        kind, width, newline, self.item, lead, after, self.arrays, pad = stored
        self.indent = None if kind == 0 else b" \t"[kind - 1 : kind] * width
        self.newline = b"\r\n" if newline else b"\n"
        self.colon = b" " * lead + b":" + b" " * after
        self.pad = b" " * pad
        self.open: list[tuple[int, bool, list[int]]] = [(0, False, [])]

    def line(self, levels: int) -> bytes | None:
        """Give a line end and its indent, unless there is no indent."""
        return None if self.indent is None else self.newline + self.indent * levels

    def levels(self) -> int:
        """Count the open brackets that are not inline."""
        return sum(kind in {OBJECT, ARRAY} and not inline for kind, inline, _ in self.open)

    def enter(self, node: int, kind: int, *, scalars: bool) -> bytes:
        """Open a node, and give the gap before it."""
        parent, inline, children = self.open[-1]
        first = not children
        children.append(node)
        gap = b""
        if parent == MEMBER:
            gap = self.colon
        elif parent in {OBJECT, ARRAY}:
            line = None if inline else self.line(self.levels())
            shared = self.pad if first else b" " * self.item
            gap = (b"" if first else b",") + (shared if line is None else line)
        elif not first:
            gap = self.newline
        if kind not in LEAVES:
            inline = kind == ARRAY and (self.arrays == 2 or (self.arrays == 1 and scalars))
            self.open.append((kind, inline, []))
        return gap

    def leave(self) -> bytes:
        """Close the innermost open node, and give its gap and bracket."""
        kind, inline, children = self.open.pop()
        if kind not in {OBJECT, ARRAY}:
            return b""
        line = None if inline or not children else self.line(self.levels())
        return (self.pad if line is None else line) + (b"}" if kind == OBJECT else b"]")


class Walk:
    """The walk of docs/format.md, "From columns to the source"."""

    def __init__(self, file: File) -> None:
        self.children, self.tags = file.numbers(1), file.numbers(2)
        self.attr, self.content = file.numbers(3, signed=True), file.numbers(4, signed=True)
        self.info = list(struct.iter_unpack("3B", file.string(5)))
        self.spellings = file.strings(6, 7)
        # The empty string at the end is what -1 names.
        self.runs = [*file.strings(8, 18), b""]
        self.contents = [*file.strings(9, 19), b""]
        self.implied, self.flipped = set(file.numbers(11)), set(file.numbers(12))
        places = (file.numbers(section) for section in (13, 14, 15))
        self.strays = list(zip(*places, file.strings(16, 20), strict=True))
        self.layout = Layout(file.meta()[3]) if file.kind == JSON else None
        self.out: list[bytes] = []

    def run(self) -> bytes:
        """Visit every node; give the source."""
        open_nodes: list[list[int]] = []
        for i, count in enumerate(self.children):
            self.enter(i, len(open_nodes))
            open_nodes.append([i, count])
            while open_nodes and open_nodes[-1][1] == 0:
                self.leave(open_nodes.pop()[0])
                if open_nodes:
                    self.put_strays(i, len(open_nodes) - 1)
            if open_nodes:
                open_nodes[-1][1] -= 1
        return b"".join(self.out)

    def put_strays(self, node: int, depth: int, text: bytes = b"") -> None:
        """Write the strays at a place, with a text around them."""
        written = 0
        while self.strays and self.strays[0][:2] == (node, depth):
            _, _, offset, stray = self.strays.pop(0)
            offset = max(written, min(offset, len(text)))
            self.out += [text[written:offset], stray]
            written = offset
        self.out.append(text[written:])

    def enter(self, i: int, depth: int) -> None:
        """Write what a node begins with."""
        kind = self.info[self.tags[i]][0]
        token = self.json_token(i, kind) if self.layout and i > 0 else self.token(i, kind)
        token = b"" if i in self.implied else token
        if kind in LEAVES and not self.layout:
            self.put_strays(i, depth, token)
        else:
            self.out.append(token)
            self.put_strays(i, depth)

    def token(self, i: int, kind: int) -> bytes:
        """Give the start tag of an element, the content of a leaf."""
        name, start, _ = self.spelling(i)
        if kind == ELEMENT:
            return b"<" + (start or name) + self.runs[self.attr[i]] + b">"
        return self.contents[self.content[i]] if kind in LEAVES else b""

    def json_token(self, i: int, kind: int) -> bytes:
        """Give the bracket, key or scalar of a node, with the gap before it."""
        assert self.layout
        following = self.tags[i + 1 : i + 1 + self.children[i]]
        scalars = all(self.info[tag][0] == SCALAR for tag in following)
        gap = self.layout.enter(i, kind, scalars=scalars)
        key = b'"' + self.spelling(i)[0] + b'"'
        tokens = {OBJECT: b"{", ARRAY: b"[", MEMBER: key}
        return gap + tokens.get(kind, self.contents[self.content[i]])

    def spelling(self, i: int) -> list[bytes]:
        """Give the name, start spelling and end spelling of a node."""
        return self.spellings[3 * self.tags[i] : 3 * self.tags[i] + 3]

    def leave(self, i: int) -> None:
        """Write the end tag of a node, if it has one."""
        kind, namespace, usually = self.info[self.tags[i]]
        closed = namespace != 0 and self.runs[self.attr[i]].endswith(b"/")
        has_end = (bool(usually & 1) and not closed) != (i in self.flipped)
        name, _, end = self.spelling(i)
        closing = end or b"</" + name + b">"
        if self.layout:
            closing = self.layout.leave() if i > 0 and kind not in LEAVES else b""
        if has_end:
            self.out.append(closing)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_reader_written_from_the_format_page_gives_the_source_back(path: Path) -> None:
    file = File(path.read_bytes())
    source = path.with_suffix(".source").read_bytes()

    assert file.source == len(source)
    if file.flags & VERBATIM:
        assert file.string(21).startswith(b"\x28\xb5\x2f\xfd")  # a zstd frame
        return
    decoded = Walk(file).run()
    if file.flags & TRANSCODED:
        decoded = decoded.decode().encode("utf-16-le")
    assert decoded == source


def test_the_golden_files_are_there() -> None:
    assert len(FILES) >= 12

"""Writes digests with right checksums and any content, as an attacker would."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from quire import _core

_FIXED = 152
_ROW = struct.Struct("<HB5xQQQ")

CHILDREN, TAG, ATTR, CONTENT = 1, 2, 3, 4
TAG_INFO, TAG_LENGTHS, TAG_HEAP = 5, 6, 7
ATTR_LENGTHS, CONTENT_LENGTHS, CONTENT_MODES = 8, 9, 10
META, ATTR_HEAP, CONTENT_HEAP = 17, 18, 19


@dataclass
class Forged:
    """A digest in parts: the bytes of its header up to the sections, and each section.

    Attributes:
        head: The first 152 bytes.
        sections: Width of a value and bytes of every section, by id.
    """

    head: bytearray
    sections: dict[int, tuple[int, bytes]] = field(default_factory=dict)

    def column(self, section: int, values: list[int], *, width: int = 4) -> None:
        """Replace a section by numbers, which may be negative."""
        kind = {1: "b", 2: "h", 4: "i"}[width]
        self.sections[section] = (width, struct.pack(f"<{len(values)}{kind}", *values))

    def nodes(self, n: int) -> None:
        """Claim a number of nodes."""
        self.head[16:20] = struct.pack("<I", n)

    def source_bytes(self, length: int) -> None:
        """Claim a length of the source."""
        self.head[24:32] = struct.pack("<Q", length)

    def write(self) -> bytes:
        """Return the digest, with right lengths and checksums."""
        head = bytearray(self.head)
        start = _FIXED + len(self.sections) * _ROW.size + 8
        rows, body = b"", b""
        for section, (width, data) in sorted(self.sections.items()):
            body += bytes(-(start + len(body)) % 8)
            rows += _ROW.pack(section, width, start + len(body), len(data), _core.hash64(data))
            body += data
        head[20:24] = struct.pack("<I", len(self.sections))
        head[32:40] = struct.pack("<Q", len(body))
        head += rows
        return bytes(head) + struct.pack("<Q", _core.hash64(bytes(head))) + body


def taken_apart(digest: bytes) -> Forged:
    """Split an uncompressed digest into its parts."""
    found = Forged(bytearray(digest[:_FIXED]))
    (rows,) = struct.unpack_from("<I", digest, 20)
    for row in range(rows):
        at = _FIXED + row * _ROW.size
        section, width, offset, length, _ = _ROW.unpack_from(digest, at)
        found.sections[section] = (width, digest[offset : offset + length])
    return found

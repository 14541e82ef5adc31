"""The base of a cluster: which of its pages it is made of.

Greedy coverage, as ``codec::base`` of the kernels does it: those that between them hold what the others repeat. They are
joined in a row, the most useful last, where matches are nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quire import _core
from quire.archive.format.page_meta import About

#: Base pages of a cluster, and bytes of them, at most: they are decoded when the first page of the cluster is read.
BASE_PAGES = 64
BASE_BYTES = 5 << 18
#: Pages of a cluster that the base is chosen from.
SAMPLE_PAGES = 256
SAMPLE_BYTES = 64 << 20
#: What the dense codec makes of what zstd makes of a base, about, in parts of a hundred.
DENSE_SHARE = 77
#: How zstd tries.
_LEVEL = 12


class Member(Protocol):
    """A page of a cluster."""

    @property
    def url(self) -> str:
        """Its address."""
        ...

    @property
    def digest(self) -> bytes:
        """The beginning of the SHA-256 of its body."""
        ...

    @property
    def length(self) -> int:
        """Bytes of its body."""
        ...

    def read(self) -> tuple[About, bytes]:
        """Read it, checked."""
        ...


def most_pages(members: Sequence[Member]) -> int:
    """How many pages a base has at most: some must be left to lean on it."""
    return min(BASE_PAGES, len(members) // 2)


def sample(members: Sequence[Member]) -> list[bytes]:
    """Read some of the pages, spread over all, as many as fit into memory."""
    step = max(1, len(members) // SAMPLE_PAGES)
    bodies: list[bytes] = []
    held = 0
    for member in members[::step][:SAMPLE_PAGES]:
        _, body = member.read()
        held += len(body)
        if held > SAMPLE_BYTES:
            break
        bodies.append(body)
    return bodies


def joined(bodies: list[bytes], most: int, known: bytes) -> bytes:
    """Join pages that hold what others repeat, the most useful last, where matches are nearest."""
    chosen = _core.choose_base(bodies, most, BASE_BYTES, known)
    return b"".join(bodies[at] for at in reversed(chosen))


def joined_within(bodies: list[bytes], most: int, known: bytes, budget: int) -> bytes:
    """As ``joined``, as many as the dense codec stores in so many bytes; of a page that alone has more, a part."""
    chosen = _core.choose_base(bodies, most, BASE_BYTES, known)
    below = _core.Base(known)
    while chosen:
        content = b"".join(bodies[at] for at in reversed(chosen))
        size = len(below.encode(content, _LEVEL)) * DENSE_SHARE // 100
        if size <= budget:
            return content
        if len(chosen) == 1:
            return content[: len(content) * budget // size]
        chosen = chosen[: max(1, min(len(chosen) - 1, len(chosen) * budget // size))]
    return b""

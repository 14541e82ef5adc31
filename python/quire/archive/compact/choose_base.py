"""Chooses the pages that make up the base of a cluster.

Greedy coverage, as in ``codec::base`` of the kernels: choose the pages that together contain what
the other pages repeat. They are concatenated with the most useful page last, because the nearest
matches are the cheapest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quire import _core
from quire.archive.format.page_meta import About

#: Maximum pages and bytes (1.25 MiB) of a base: all of it is decoded when the first page of the
#: cluster is read.
BASE_PAGES = 256
BASE_BYTES = 1280 << 10
#: Maximum pages and bytes of the sample from which the base is chosen.
SAMPLE_PAGES = 1024
SAMPLE_BYTES = 64 << 20
#: Size of a base in the dense codec, in percent of its size in zstd (an estimate).
DENSE_SHARE = 77
#: zstd level for the estimate.
_LEVEL = 12


class Member(Protocol):
    """A page of a cluster."""

    @property
    def url(self) -> str:
        """Address of the page."""
        ...

    @property
    def time(self) -> int:
        """Fetch time in microseconds since 1970, UTC."""
        ...

    @property
    def sketch(self) -> bytes:
        """Sketch of the body."""
        ...

    @property
    def digest(self) -> bytes:
        """First bytes of the SHA-256 of the body."""
        ...

    @property
    def length(self) -> int:
        """Length of the body in bytes."""
        ...

    def read(self) -> tuple[About, bytes]:
        """Read and check the page."""
        ...


def most_pages(members: Sequence[Member]) -> int:
    """Return the maximum number of pages in a base: at most a quarter, for others to use it."""
    return min(BASE_PAGES, -(-len(members) // 4))


def sample(members: Sequence[Member]) -> list[bytes]:
    """Read a sample of pages, spread over the cluster, as many as fit into memory."""
    length = sum(member.length for member in members)
    step = max(1, -(-len(members) // SAMPLE_PAGES), -(-length // SAMPLE_BYTES))
    bodies: list[bytes] = []
    held = 0
    for member in members[::step]:
        # The pages that were picked may be the long ones.
        held += member.length
        if held <= SAMPLE_BYTES:
            bodies.append(member.read()[1])
    return bodies


def joined(bodies: list[bytes], most: int, known: bytes) -> bytes:
    """Concatenate the pages that contain what others repeat, the most useful page last."""
    chosen = _core.choose_base(bodies, most, BASE_BYTES, known)
    return b"".join(bodies[at] for at in reversed(chosen))


def joined_within(bodies: list[bytes], most: int, known: bytes, budget: int) -> bytes:
    """Like ``joined``, but limited to what the dense codec stores in ``budget`` bytes.

    If a single page exceeds the budget, only its beginning is used.
    """
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

"""Passages: runs of words that no block, line break or cell of a table interrupts.

A passage is a unit of reading: a heading, a paragraph with its links and emphasis, an entry of a
menu, a cell of a table, a preformatted text. Each text node with words is in exactly one passage, and ``Digest.text``
joins passages with line ends and tabs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """The passages of a page as columns.

    Attributes:
        node: the text nodes with words, in document order.
        passage: for each of these nodes, the passage it is in.
        hash: 64-bit hash of the text of each passage; equal texts have equal hashes on every page.
        bytes: length of its text in UTF-8.
    """

    node: NDArray[np.uint32]
    passage: NDArray[np.int64]
    hash: NDArray[np.uint64]
    bytes: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.hash)


def passages(page: Digest) -> Passages:
    """Find the passages of a page. Linear in its text.

    >>> import quire
    >>> found = passages(quire.encode(b"<p>Fish &amp; <b>chips</b><p>9.50"))
    >>> found.node.tolist(), found.passage.tolist(), found.bytes.tolist()
    ([5, 7, 9], [0, 0, 1], [12, 4])
    """
    nodes, ends, lengths, hashes = page._native.passages()  # noqa: SLF001 - its page, in the same room
    end = np.frombuffer(ends, "<u4").astype(np.int64)
    count = np.diff(end, prepend=0)
    return Passages(
        np.frombuffer(nodes, "<u4"),
        np.repeat(np.arange(len(end)), count),
        np.frombuffer(hashes, "<u8"),
        np.frombuffer(lengths, "<u4"),
    )

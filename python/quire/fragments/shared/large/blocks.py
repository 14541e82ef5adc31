"""Blocks: the parts of some pages, as the first step wrote them, and the numbers of pages.

A block is a row group of a file of parts. Blocks are numbered in the order of files and of their
row groups. Pages have numbers in reading order, which the driver writes beside the files.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.engines.arrow import as_text
from quire.engines.tables import read_group, read_groups, write_groups
from quire.errors import MissingExtra
from quire.fragments.shared.large.records import PART, Records
from quire.sources import Trouble

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None


@dataclass(frozen=True, slots=True)
class Blocks:
    """Where the blocks are.

    Attributes:
        folder: has a file of page numbers for each file of parts.
        files: the files of parts.
        firsts: the number of each file's first block, and the number of all blocks at the end.
    """

    folder: str
    files: tuple[str, ...]
    firsts: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of blocks."""
        return self.firsts[-1]

    def first_of(self, file: str) -> int:
        """Return the number of a file's first block."""
        return self.firsts[self.files.index(file)]

    def parts_of(self, block: int) -> tuple[Parts, NDArray[np.int64]]:
        """Read a block; the second array has the number of each page, -1 for troubles."""
        at = int(np.searchsorted(self.firsts, block, "right")) - 1
        file, group = self.files[at], block - self.firsts[at]
        parts = Parts.of(read_group(file, group, ["parts"]))
        numbers = read_group(self.numbers_of(file), group, ["number"])["number"].to_numpy()
        return parts, numbers

    def numbers_of(self, file: str) -> str:
        """Return the file with the page numbers of a file of parts."""
        return numbers_path(self.folder, file)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of some pages.

    Attributes:
        records: one for each part, by page, in pre-order.
        page: the page of each part, as its row in the block.
        row: the position of each part on its page.
        shingles: the shingles that were sent with these parts.
    """

    records: Records
    page: NDArray[np.int64]
    row: NDArray[np.int64]
    shingles: NDArray[np.uint32]

    @classmethod
    def of(cls, table: pa.Table) -> Parts:
        """Read the column ``parts``."""
        counts: list[int] = []
        records: list[memoryview] = []
        shingles: list[memoryview] = []
        for value in table["parts"]:
            if not value.is_valid:
                counts.append(0)
                continue
            packed = memoryview(value.as_buffer())
            count = int.from_bytes(packed[:4], "little")
            end = 4 + PART.itemsize * count
            counts.append(count)
            records.append(packed[4:end])
            shingles.append(packed[end:])
        of_page = np.array(counts, np.int64)
        first = np.cumsum(of_page) - of_page
        return cls(
            records=np.frombuffer(b"".join(records), PART),
            page=np.repeat(np.arange(len(counts)), of_page),
            row=np.arange(int(of_page.sum())) - np.repeat(first, of_page),
            shingles=np.frombuffer(b"".join(shingles), "<u4"),
        )


def numbers_path(folder: str, file: str) -> str:
    """Return the file of numbers that belongs to another file."""
    return posixpath.join(folder, posixpath.basename(file))


@dataclass(frozen=True, slots=True)
class Numbered:
    """The pages of a crawl, as the driver knows them.

    Attributes:
        blocks: the blocks.
        pages: number of pages.
        total_bytes: bytes of all pages.
        troubles: what could not be read, in reading order.
    """

    blocks: Blocks
    pages: int
    total_bytes: int
    troubles: tuple[Trouble, ...]


def number_pages(
    files: list[str], folder: str, file_of: Mapping[str, int], odd: Iterable[Trouble]
) -> Numbered:
    """Number the pages in reading order, and write their numbers into a folder.

    Args:
        files: the files of parts.
        folder: where to write.
        file_of: the position of each path of the crawl.
        odd: files that could not be given to a task.
    """
    troubles = [((file_of[one.name], 0), Trouble(as_text(one.name), one.reason)) for one in odd]
    paths: list[NDArray[np.int64]] = []
    places: list[NDArray[np.int64]] = []
    lengths: list[list[int]] = []
    total = 0
    for file in files:
        lengths.append([])
        for table in read_groups(file, ["path", "place", "name", "bytes", "trouble"]):
            path = np.array([file_of[str(one)] for one in table["path"].to_pylist()], np.int64)
            place = table["place"].to_numpy()
            is_page = table["trouble"].is_null().to_numpy()
            for at in np.flatnonzero(~is_page).tolist():
                found = Trouble(str(table["name"][at]), str(table["trouble"][at]))
                troubles.append(((int(path[at]), int(place[at])), found))
            paths.append(np.where(is_page, path, -1).astype(np.int32))
            places.append(place)
            lengths[-1].append(len(table))
            total += int(table["bytes"].to_numpy()[is_page].sum())
    path = np.concatenate([*paths, np.empty(0, np.int32)])
    order = np.lexsort((np.concatenate([*places, np.empty(0, np.int64)]), path))
    del paths, places
    missing = int((path < 0).sum())
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order)) - missing
    numbers[path < 0] = -1
    at = 0
    for file, groups in zip(files, lengths, strict=True):
        tables = [pa.table({"number": numbers[:0]})] if not groups else []
        for length in groups:
            tables.append(pa.table({"number": numbers[at : at + length]}))
            at += length
        write_groups(numbers_path(folder, file), tables)
    firsts = np.concatenate([[0], np.cumsum([len(groups) for groups in lengths])])
    blocks = Blocks(folder, tuple(files), tuple(firsts.astype(int).tolist()))
    in_order = sorted(troubles, key=lambda one: one[0])
    listed = tuple(one for _, one in in_order)
    return Numbered(blocks, len(order) - missing, total, listed)

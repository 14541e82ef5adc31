"""Damage: finds damage in the files of an archive and reports where it is.

There are two depths: the structure (every record, address and length, but not the bodies of
pages), or every byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from quire.archive.format import index as indexes
from quire.archive.format.index import Index
from quire.archive.format.marker import MARK, wrong_mark
from quire.archive.format.record import Gap
from quire.archive.format.stored_file import StoredFile
from quire.errors import ArchiveError


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in an archive that cannot be read.

    Attributes:
        file: The file it is in.
        offset: Offset of the record in the file; 0 for the file as a whole.
        what: Description of the damage.
        kind: ``lost``: acknowledged data is gone. ``spare``: one of several copies is damaged, so
            nothing is lost. ``torn``: a crash cut it off before it was acknowledged.
        url: Address of the page, if known.
    """

    file: Path
    offset: int
    what: str
    kind: Literal["lost", "spare", "torn"] = "lost"
    url: str | None = None

    def __str__(self) -> str:
        page = f" ({self.url})" if self.url is not None else ""
        return f"{self.file}: at {self.offset:,}: {self.what}{page}"


def mark_findings(folder: Path) -> Iterator[Finding]:
    """Check the marker file of an archive. Pages can be read without it."""
    wrong = wrong_mark(folder)
    if wrong is not None:
        yield Finding(folder / MARK, 0, wrong, "spare")


def findings(file: StoredFile, *, every_byte: bool) -> Iterator[Finding]:
    """Check a file and yield everything that is wrong with it."""
    index = file.scan()
    for gap in index.gaps:
        yield Finding(file.path, gap.offset, _words(gap))
    known = indexes.known(file.index_path, file.source, lambda: index)
    for gap in index.torn:
        # The index lists the parts that were torn when it was written; the rest was intact.
        was_whole = known is not None and gap.offset < known.length and gap not in known.torn
        yield Finding(file.path, gap.offset, _words(gap), "lost" if was_whole else "torn")
    cut = 0 if known is None else _rows_after(known, index.length)
    if max(cut, index.missing):
        what = f"{max(cut, index.missing):,} of the pages stored here are gone"
        yield Finding(file.path, index.length, what)
    yield from _bases(file, index, every_byte=every_byte)
    if every_byte:
        for offset, slot in index.places():
            try:
                file.page(offset, slot)
            except ArchiveError as error:
                yield Finding(
                    file.path, offset, _own_words(file, error), url=_url(file, offset, slot)
                )


def _rows_after(index: Index, length: int) -> int:
    return sum(
        int((rows["offset"] >= length).sum())
        for rows in (index.pages.array(), index.companions.array())
    )


def _bases(file: StoredFile, index: Index, *, every_byte: bool) -> Iterator[Finding]:
    for number, places in sorted(index.bases.items()):
        try:
            file.bases.get(number)
        except ArchiveError as error:
            yield Finding(file.path, places[0], _own_words(file, error))
            continue
        if every_byte:
            for place in places:
                if not file.bases.is_whole(number, place):
                    what = f"base {number} is damaged here, but another copy is intact"
                    yield Finding(file.path, place, what, "spare")


def _words(gap: Gap) -> str:
    if gap.end == gap.offset:
        return "the end of the file is missing"
    return f"{gap.end - gap.offset:,} bytes are not a readable record"


def _own_words(file: StoredFile, error: ArchiveError) -> str:
    return str(error).removeprefix(f"{file.path}: ")


def _url(file: StoredFile, offset: int, slot: int) -> str | None:
    try:
        return file.about(offset, slot).url
    except ArchiveError:
        return None

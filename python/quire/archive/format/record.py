"""Records: the building blocks of every file in an archive.

Journals and segments are sequences of records. A record has a head of 32 bytes, then its *meta*
and its *payload*:

| bytes | |
| --- | --- |
| 4 | ``AB 51 52 0A`` |
| 1 | kind of record |
| 3 | tag: random for each file, the same in all its records |
| 4 | length of the meta |
| 8 | length of the payload |
| 8 | XXH3 of the meta |
| 4 | lower half of the XXH3 of the 28 bytes before |

All numbers are little-endian. The meta holds the checksum of the payload. An intact head leads to
the next record, whatever lies in between. After a damaged head, reading resumes at the next
intact head with the tag of the file, so damage costs only the record it is in. A page may itself
contain complete records, but its author did not know the tag.

Kinds: 1 file (describes the file; the first record, in segments also the last), 2 page,
7 companion and 6 commit (journals), 3 base, 4 block, 8 block of companions and 5 guard (segments).

Version 2 added companions, and duplicates in journals. Files of version 1 are read as before.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from quire import _core
from quire.errors import ArchiveError, DamagedRecord
from quire.safe_read import NotPlain, open_plain

SYNC = b"\xabQR\n"
FORMAT = "quire archive"
VERSION = 2
#: Versions that can be read; a writer adds files of the newest to an archive of any of them.
VERSIONS = frozenset({1, VERSION})
_HEAD = struct.Struct("<4sB3sIQQI")
HEAD_BYTES = _HEAD.size
#: Maximum length of a meta: a few columns of a block. A longer one is damage or an attack.
MOST_META_BYTES = 1 << 28
#: Maximum length of a file record: room for the names of a hundred thousand replaced files.
MOST_FILE_META_BYTES = 1 << 22
NO_TAG = bytes(3)
#: zstd without a base: compresses what stands alone. Any number of threads may share it.
PLAIN_ZSTD = _core.Base(b"")

_WINDOW_BYTES = 1 << 20
_SECTOR_BYTES = 4096
_MOST_OFFSET = 1 << 62


class RecordKind(IntEnum):
    """The kind of a record."""

    FILE = 1
    PAGE = 2
    BASE = 3
    BLOCK = 4
    GUARD = 5
    COMMIT = 6
    COMPANION = 7
    COMPANION_BLOCK = 8


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a record: its position, kind and lengths.

    Attributes:
        offset: Offset of the record in its file.
        kind: RecordKind of the record.
        meta_bytes: Length of the meta.
        payload_bytes: Length of the payload.
        meta_hash: XXH3 of the meta.
        tag: Tag of the file the record was written for.
    """

    offset: int
    kind: int
    meta_bytes: int
    payload_bytes: int
    meta_hash: int
    tag: bytes

    @property
    def payload_offset(self) -> int:
        """Offset of the payload."""
        return self.offset + HEAD_BYTES + self.meta_bytes

    @property
    def end(self) -> int:
        """Offset of the end of the record."""
        return self.payload_offset + self.payload_bytes


def new_tag() -> bytes:
    """Choose a random tag for a new file."""
    return secrets.token_bytes(len(NO_TAG))


def record(kind: RecordKind, meta: bytes, payload_bytes: int, tag: bytes = NO_TAG) -> bytes:
    """Return the bytes of a record up to its payload."""
    head = _HEAD.pack(SYNC, kind, tag, len(meta), payload_bytes, _core.hash64(meta), 0)[:-4]
    check = _core.hash64(head) & 0xFFFF_FFFF
    return head + check.to_bytes(4, "little") + meta


def read_head(data: bytes, offset: int) -> Head | None:
    """Read the head of a record; None if it is not intact."""
    if len(data) < HEAD_BYTES:
        return None
    sync, kind, tag, meta_bytes, payload_bytes, meta_hash, check = _HEAD.unpack(data[:HEAD_BYTES])
    is_whole = (
        sync == SYNC
        and _core.hash64(data[: HEAD_BYTES - 4]) & 0xFFFF_FFFF == check
        and meta_bytes <= MOST_META_BYTES
    )
    return Head(offset, kind, meta_bytes, payload_bytes, meta_hash, tag) if is_whole else None


class Source:
    """A file that any number of threads read in pieces.

    Raises:
        ArchiveError: The path is a link, a pipe, a device or a folder.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: os.PathLike[str]) -> None:
        self.name: str = os.fspath(path)
        try:
            self._file = open_plain(path)
        except NotPlain:
            raise ArchiveError(
                f"{self.name}: not a plain file, as every file of an archive is; move it away"
            ) from None

    def length(self) -> int:
        """Return the current length of the file."""
        return os.fstat(self._file).st_size

    def at(self, offset: int, length: int) -> bytes:
        """Read a piece; it is shorter if the file ends.

        Sectors that the disk cannot read come back as zeros, which no checksum matches.
        """
        if offset > _MOST_OFFSET:  # false: no file is that long, and the system refuses the number
            return b""
        if length > _WINDOW_BYTES:  # do not allocate memory for a false length
            length = min(length, max(0, self.length() - offset))
        parts = []
        while length > 0:
            try:
                part = os.pread(self._file, length, offset)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                part = self._around_damage(offset, length)
            if not part:
                break
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return b"".join(parts) if len(parts) != 1 else parts[0]

    def _around_damage(self, offset: int, length: int) -> bytes:
        """Read up to the next sector boundary, or return zeros up to there."""
        length = min(length, _SECTOR_BYTES - offset % _SECTOR_BYTES)
        try:
            return os.pread(self._file, length, offset)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return bytes(length)

    def meta(self, head: Head) -> bytes:
        """Read the meta of a record.

        Raises:
            DamagedRecord: The meta does not match its checksum.
        """
        data = self.at(head.offset + HEAD_BYTES, head.meta_bytes)
        if len(data) != head.meta_bytes or _core.hash64(data) != head.meta_hash:
            raise self.damaged(head.offset, "is damaged")
        return data

    def damaged(self, offset: int, finding: str) -> DamagedRecord:
        """Make the error for a record: ``finding`` continues "the record at 17"."""
        return DamagedRecord(
            f"{self.name}: the record at {offset} {finding}", file=self.name, offset=offset
        )

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            file, self._file = self._file, -1
            os.close(file)

    def __del__(self) -> None:
        # Closed with the last reference: another thread may still be reading.
        if hasattr(self, "_file"):
            self.close()


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that are not a record.

    Attributes:
        offset: Offset of the first byte.
        end: Offset of the next record, or the end of the file.
    """

    offset: int
    end: int


def heads(source: Source, start: int = 0, end: int | None = None) -> Iterator[Head | Gap]:
    """Find the records of a file in order; bytes in between that are not a record are a gap.

    A record that extends beyond the end of the file was cut off and is a gap too.
    """
    length = source.length() if end is None else end
    at = start
    tag: bytes | None = None
    while at < length:
        head = read_head(source.at(at, HEAD_BYTES), at)
        if head is not None and head.end <= length:
            tag = head.tag if tag is None else tag
            yield head
            at = head.end
            continue
        behind = _next(source, at + 1, length, tag)
        yield Gap(at, behind)
        at = behind


def _next(source: Source, at: int, length: int, tag: bytes | None) -> int:
    """Find the next intact head whose record fits into the file; the end of the file if none."""
    while at < length:
        window = source.at(at, _WINDOW_BYTES + HEAD_BYTES)
        place = window.find(SYNC)
        while 0 <= place < _WINDOW_BYTES:
            head = read_head(window[place : place + HEAD_BYTES], at + place)
            if head is not None and head.end <= length and tag in {None, head.tag}:
                return at + place
            place = window.find(SYNC, place + 1)
        at += _WINDOW_BYTES
    return length


def file_record(kind: str, tag: bytes, **about: object) -> bytes:
    """Return the record that describes a file."""
    meta = json.dumps({"format": FORMAT, "version": VERSION, "kind": kind, **about})
    return record(RecordKind.FILE, meta.encode(), 0, tag)


def read_file_record(source: Source, head: Head) -> dict[str, Any]:
    """Read the record that describes a file.

    Raises:
        DamagedRecord: The record does not match its checksum.
        ArchiveError: The file is not part of an archive, or a later version wrote it.
    """
    try:
        about = json.loads(source.meta(head)) if head.meta_bytes <= MOST_FILE_META_BYTES else None
    except (ValueError, RecursionError) as error:
        if isinstance(error, DamagedRecord):
            raise
        about = None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ArchiveError(f"{source.name}: not part of an archive")
    # The type too: JSON has numbers and lists, which are not in any set.
    if not isinstance(about.get("version"), int) or about["version"] not in VERSIONS:
        raise ArchiveError(
            f"{source.name}: archive format {about.get('version')!r}, "
            f"but this version reads up to {VERSION}"
        )
    return about

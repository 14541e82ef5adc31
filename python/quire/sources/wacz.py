"""WACZ: a zip file with the WARC files of a crawl in its folder ``archive/``.

A file inside has a path like any other, ``crawl.wacz/archive/data.warc.gz``, so everything that
reads WARC also reads WACZ. The standard stores these files uncompressed; such a file is read in
place. A compressed one is decompressed into an unnamed temporary file. Nothing is ever written
under a name taken from a zip file.

Zip files may be hostile: a kilobyte can decompress to a gigabyte, and a directory can list millions
of files. Both are limited.
"""

from __future__ import annotations

import io
import os
import re
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    import zipfile

#: Maximum number of files in a WACZ, and maximum bytes of its directory.
MOST_ENTRIES = 10_000
MOST_DIRECTORY_BYTES = 16 << 20
# Compressed WARC data shrinks little, plain WARC tenfold; a zip bomb a thousandfold.
_MOST_GROWTH = 100
_SMALL_BYTES = 1 << 20
_PIECE_BYTES = 1 << 18

_SUFFIX = ".wacz"
_FOLDER = "archive/"
_INSIDE = re.compile(r"\.wacz/", re.IGNORECASE)
_ENCRYPTED = 1
_LOCAL_HEAD = struct.Struct("<4s22xHH")
# At the end of a zip: size and place of the directory; for zip64, where its own end record is.
_END = struct.Struct("<4s8xIIH")
_LOCATOR = struct.Struct("<4sIQI")
_END_64 = struct.Struct("<4s36xQQ")
_UNKNOWN = 0xFFFF_FFFF
_MOST_COMMENT_BYTES = 1 << 16
_STORED, _DEFLATED = 0, 8
# What the standard library raises for a damaged zip file, besides BadZipFile.
_FAULTS = (
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)


class BadZip(Exception):
    """A zip file that cannot be read; the message says why."""


def is_wacz(path: str) -> bool:
    """Tell whether a path names a WACZ file."""
    return path.lower().endswith(_SUFFIX)


def split(path: str, is_file: Callable[[str], bool]) -> tuple[str, str] | None:
    """Split the path of a file in a WACZ; None if it is not such a path.

    >>> split("crawl.wacz/archive/data.warc.gz", lambda _: True)
    ('crawl.wacz', 'archive/data.warc.gz')
    """
    for found in _INSIDE.finditer(path):
        outer = path[: found.end() - 1]
        if is_file(outer):  # and not a folder of that name
            return outer, path[found.end() :]
    return None


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in a WACZ, as its directory describes it.

    Attributes:
        name: Its name.
        at: Offset of its head in the WACZ.
        stored_bytes: Length as it is stored.
        plain_bytes: Length after decompression.
        check: CRC-32 after decompression.
        method: How it is compressed.
        is_encrypted: Whether it is encrypted.
    """

    name: str
    at: int
    stored_bytes: int
    plain_bytes: int
    check: int
    method: int
    is_encrypted: bool


def list_members(file: BinaryIO, is_wanted: Callable[[str], bool]) -> list[str]:
    """List the files in an open WACZ that are part of its crawl.

    Raises:
        BadZip: The zip file cannot be read.
    """
    names = [name for name in _directory(file) if name.startswith(_FOLDER) and is_wanted(name)]
    if not names:
        raise BadZip(f"has no WARC file in its folder {_FOLDER}")
    return sorted(names)


def open_member(file: BinaryIO, name: str) -> BinaryIO:
    """Open a file in an open WACZ for reading at any position; closing it closes both.

    Args:
        file: The open WACZ.
        name: Name of the file in it; an empty name always fails, with a message that explains it.

    Raises:
        BadZip: The file is not in the WACZ, or cannot be read.
    """
    entry = _directory(file).get(name)
    if entry is None:
        raise BadZip(f"{name} is not in it" if name else "holds WARC files; expected one of them")
    if entry.is_encrypted:
        raise BadZip(f"{name} is encrypted")
    section = _Section(file, _start(file, entry), entry.stored_bytes)
    if entry.method == _STORED:
        return io.BufferedReader(section, _PIECE_BYTES)
    if entry.method != _DEFLATED:
        raise BadZip(f"{name} is compressed by method {entry.method}; expected 0 or 8")
    try:
        inflated = _inflated(section, entry)
    except (BadZip, *_FAULTS) as error:
        raise BadZip(f"{name}: {error}") from None
    file.close()
    return inflated


# The directories read last. A file in a WACZ is opened by its path, and a WACZ can have thousands of
# files: reading its directory for each of them would take the square of their number.
_KEPT_DIRECTORIES = 8
_kept: OrderedDict[tuple[int, ...], dict[str, _Entry]] = OrderedDict()
_lock = Lock()


def _directory(file: BinaryIO) -> dict[str, _Entry]:
    """Read the directory of a WACZ, once for as long as the file does not change."""
    key = _identity(file)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    entries = _entries(file)
    if key:
        with _lock:
            _kept[key] = entries
            while len(_kept) > _KEPT_DIRECTORIES:
                _kept.popitem(last=False)
    return entries


def _identity(file: BinaryIO) -> tuple[int, ...]:
    """Return what identifies the content of a file; nothing if it is not on this machine."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, ValueError, AttributeError):
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def open_zip(file: BinaryIO, most_entries: int | None = None) -> zipfile.ZipFile:
    """Open a zip file whose directory is not too long.

    Raises:
        BadZip: The file is not a zip file, is damaged, or lists too many files.
    """
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415 - heavy

    try:
        _check_directory(file)
        zipped = ZipFile(file)
    except (BadZipFile, *_FAULTS) as error:
        raise BadZip(f"not a readable zip file: {error}") from None
    most = MOST_ENTRIES if most_entries is None else most_entries
    if len(zipped.filelist) > most:
        raise BadZip(f"{len(zipped.filelist):,} files in it; expected at most {most:,}")
    return zipped


def _entries(file: BinaryIO) -> dict[str, _Entry]:
    with open_zip(file) as zipped:
        infos = zipped.filelist
    entries = [
        _Entry(
            info.filename,
            info.header_offset,
            info.compress_size,
            info.file_size,
            info.CRC,
            info.compress_type,
            bool(info.flag_bits & _ENCRYPTED),
        )
        for info in infos
    ]
    # Thousands of names for the same bytes would give thousands of times the pages.
    entries.sort(key=lambda entry: entry.at)
    for entry, following in pairwise(entries):
        if entry.at + _LOCAL_HEAD.size + entry.stored_bytes > following.at:
            raise BadZip(f"{entry.name} and {following.name} in it overlap")
    return {entry.name: entry for entry in entries}


def read_member(zipped: zipfile.ZipFile, info: zipfile.ZipInfo, most_bytes: int) -> bytes:
    """Read a file of a zip file into memory.

    Raises:
        BadZip: It is encrypted, damaged, packed by a rare method, or longer than ``most_bytes``.
    """
    from zipfile import BadZipFile  # noqa: PLC0415 - heavy

    if info.flag_bits & _ENCRYPTED:
        raise BadZip(f"{info.filename} is encrypted")
    if info.compress_type not in (_STORED, _DEFLATED):
        raise BadZip(f"{info.filename} is compressed by method {info.compress_type}")
    try:
        with zipped.open(info) as file:
            found = file.read(most_bytes + 1)
    except (BadZipFile, *_FAULTS) as error:
        raise BadZip(f"{info.filename}: {error}") from None
    if len(found) > most_bytes:
        raise BadZip(f"{info.filename} is longer than {most_bytes:,} bytes")
    return found


def _check_directory(file: BinaryIO) -> None:
    """Refuse a directory that is too long, before all of it is read into memory."""
    length = file.seek(0, io.SEEK_END)
    start = max(0, length - _END.size - _MOST_COMMENT_BYTES)
    file.seek(start)
    tail = file.read(_END.size + _MOST_COMMENT_BYTES)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + _END.size > len(tail):
        return  # zipfile does not find it either, and reports that
    size = _END.unpack_from(tail, at)[1]
    if at >= _LOCATOR.size:
        magic, _, place, _ = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
        if magic == b"PK\6\7" and place < length:
            # zipfile reads the record before the locator, wherever the locator points: check both.
            for record in {place, start + at - _LOCATOR.size - 56}:
                file.seek(max(0, record))
                end = file.read(_END_64.size)
                if len(end) == _END_64.size and end.startswith(b"PK\6\6"):
                    size = max(0 if size == _UNKNOWN else size, _END_64.unpack(end)[1])
    if size > MOST_DIRECTORY_BYTES:
        raise BadZip(f"a directory of {size:,} bytes; expected at most {MOST_DIRECTORY_BYTES:,}")


def _start(file: BinaryIO, entry: _Entry) -> int:
    """Return the offset of the bytes of a file."""
    file.seek(entry.at)
    head = file.read(_LOCAL_HEAD.size)
    if len(head) < _LOCAL_HEAD.size or not head.startswith(b"PK\3\4"):
        raise BadZip(f"{entry.name} is not where the directory says")
    _, name_bytes, extra_bytes = _LOCAL_HEAD.unpack(head)
    return entry.at + _LOCAL_HEAD.size + int(name_bytes) + int(extra_bytes)


def _inflated(packed: io.RawIOBase, entry: _Entry) -> BinaryIO:
    from tempfile import TemporaryFile  # noqa: PLC0415 - heavy

    most = min(entry.plain_bytes, _SMALL_BYTES + _MOST_GROWTH * entry.stored_bytes)
    plain = cast("BinaryIO", TemporaryFile())  # noqa: SIM115 - the caller closes it
    try:
        _inflate(packed, plain, most, entry.check)
        plain.seek(0)
    except BaseException:
        plain.close()
        raise
    return plain


def _inflate(packed: io.RawIOBase, plain: BinaryIO, most: int, check: int) -> None:
    engine = zlib.decompressobj(-zlib.MAX_WBITS)
    size = found = 0
    while not engine.eof:
        data = engine.unconsumed_tail or packed.read(_PIECE_BYTES) or b""
        piece = engine.decompress(data, _PIECE_BYTES)
        if not data and not piece:
            raise BadZip("ends before its last byte")
        size += len(piece)
        if size > most:
            raise BadZip(f"decompresses to more than {most:,} bytes")
        found = zlib.crc32(piece, found)
        plain.write(piece)
    if found != check:
        raise BadZip("its bytes do not match the checksum")


class _Section(io.RawIOBase):
    """A section of a file, as a file."""

    def __init__(self, file: BinaryIO, start: int, length: int) -> None:
        self._file = file
        self._start, self._length, self._at = start, length, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override] # callers pass bytes
        size = min(len(buffer), max(0, self._length - self._at))
        self._file.seek(self._start + self._at)
        piece = self._file.read(size)
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()

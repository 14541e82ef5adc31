"""Two uploaded crawls: WARC or WACZ files, or zip files of folders, compared page by page.

Files are written to a folder of their own under names of ours. Of a zip file, pages are written under
paths without steps upwards, as long as their number and length are within limits; ``folder_files``
writes what they need to look like pages.
"""

from __future__ import annotations

import io
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize

from quire.captures.compare import ComparedPage, Comparison, compare
from quire.captures.reading import read_one
from quire.digest import encode
from quire.digest.page import Digest
from quire.display import format_bytes
from quire.errors import QuireError
from quire.sentinels.resources import FoundLooks, Resource, sniffed
from quire.viewing import Use
from quire.web.pages.compare.folder_files import file_at, write_files
from quire.web.pages.compare.given import MOST_PAGE, GivenError
from quire.web.pages.compare.zip_files import FAULTS, clean_steps
from quire.web.pages.forms import Upload

#: Pages of a zip file, and bytes of all of them.
MOST_PAGES = 5_000
MOST_BYTES = 100_000_000

#: Bytes of the list of files in a zip file; every file in it takes 46 or more.
MOST_DIRECTORY_BYTES = 2_000_000

#: Bytes that are unpacked at a time.
_STEP_BYTES = 1 << 20

_END, _END_BYTES = b"PK\x05\x06", 22
_GZIP, _ZIP, _WARC = b"\x1f\x8b", b"PK\x03\x04", b"WARC/"
_PAGE = re.compile(r"\.(x?html?|xml|json|txt|md|csv|rss|atom)$", re.IGNORECASE)


class Kind(Enum):
    """The kind of an uploaded file."""

    PAGE = "page"
    WARC = "warc"
    ZIPPED_WARC = "warc.gz"
    WACZ = "wacz"
    FOLDER = "zip"


class Folder:
    """A folder that is deleted when it is forgotten, and at the latest when the service stops.

    Attributes:
        path: where it is.
        delete: deletes it; a second call does nothing.
    """

    def __init__(self) -> None:
        self.path: Path = Path(mkdtemp(prefix="quire-compare-"))
        self.delete: Callable[[], object] = finalize(
            self, shutil.rmtree, self.path, ignore_errors=True
        )

    def size(self) -> int:
        """Return the bytes of all files in it."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())


@dataclass(frozen=True, slots=True)
class ComparedCrawls:
    """Two crawls that were compared.

    Attributes:
        names: what to call them.
        comparison: every page of both.
        folder: the files, until the result is forgotten.
        files: style sheets, images and fonts of zipped folders by their paths, the old ones first.
        names_of: everything in both crawls by its address; filled when it is first needed.
    """

    names: tuple[str, str]
    comparison: Comparison
    folder: Folder
    files: tuple[dict[str, Path], dict[str, Path]] = ({}, {})
    names_of: dict[str, ComparedPage] = field(default_factory=dict, repr=False, compare=False)

    def pages(self, number: int) -> tuple[ComparedPage, Digest, Digest] | None:
        """Read a page of both crawls again; None if it is not in both."""
        if not 0 <= number < len(self.comparison.pages):
            return None
        found = self.comparison.pages[number]
        if found.old is None or found.new is None:
            return None
        captures = [read_one(name, most_bytes=MOST_PAGE) for name in (found.old, found.new)]
        old, new = (
            encode(each.body, content_type=each.content_type, recover=True) for each in captures
        )
        return found, old, new

    def looks(self, *, is_old: bool) -> FoundLooks:
        """Return the style sheets, images and fonts in one of the crawls, or else in the other."""
        if not self.names_of:
            self.names_of.update((each.address, each) for each in self.comparison.pages)

        sides = self.files if is_old else self.files[::-1]

        def find(url: str, use: Use) -> Resource | None:
            for files in sides:
                if (found := file_at(url, use, files)) is not None:
                    return found
            known = self.names_of.get(url)
            if known is None:
                return None
            name = (known.old or known.new) if is_old else (known.new or known.old)
            try:
                capture = read_one(name or "", most_bytes=MOST_PAGE)
            except QuireError:
                return None
            return sniffed(url, capture.body, capture.content_type or "", use)

        return FoundLooks(f"crawl {self.folder.path} {is_old}", find)


def kind_of(file: Upload | None) -> Kind:
    """Tell the kind of a file by its first bytes.

    >>> kind_of(Upload("a.html", b"<p>")), kind_of(Upload("b", b"WARC/1.1"))
    (<Kind.PAGE: 'page'>, <Kind.WARC: 'warc'>)
    """
    if file is None:
        return Kind.PAGE
    if file.data.startswith(_WARC):
        return Kind.WARC
    if file.data.startswith(_GZIP):
        return Kind.ZIPPED_WARC
    if file.data.startswith(_ZIP):
        return Kind.WACZ if file.name.lower().endswith(".wacz") else Kind.FOLDER
    return Kind.PAGE


def compare_crawls(old: Upload, new: Upload) -> ComparedCrawls:
    """Compare two uploaded crawls.

    Raises:
        GivenError: a file cannot be read.
    """
    folder = Folder()
    try:
        sides = ("old", old), ("new", new)
        paths = [written(file, folder.path, side) for side, file in sides]
        files = [_written_files(file, folder.path, side) for side, file in sides]
        comparison = compare(*paths, most_bytes=MOST_PAGE)
    except GivenError:
        folder.delete()
        raise
    except (QuireError, OSError) as error:
        folder.delete()
        raise GivenError(str(error).replace(str(folder.path), ""), "new") from None
    except BaseException:
        folder.delete()
        raise
    if not comparison.pages:
        folder.delete()
        raise GivenError("neither file has pages", "new")
    return ComparedCrawls(
        (old.name[:200], new.name[:200]), comparison, folder, (files[0], files[1])
    )


def written(file: Upload, folder: Path, side: str) -> str:
    """Write an uploaded file, or the pages in it, and return the path to read.

    Args:
        file: the file.
        folder: where to write it.
        side: the field of the form, for errors; the file is called so.

    Raises:
        GivenError: it cannot be read.
    """
    kind = kind_of(file)
    if kind is not Kind.FOLDER:
        _check_unpacked(file, kind, side)
        path = folder / f"{side}.{kind.value}"
        path.write_bytes(file.data)
        return str(path)
    _check_directory(file, side)
    target = folder / side
    target.mkdir()
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as opened:
            for member, path in _members(opened, target, side):
                with opened.open(member) as inside:
                    data = inside.read(min(MOST_PAGE, left) + 1)
                left -= len(data)
                if left < 0:
                    raise GivenError(
                        f"the pages have more than {format_bytes(MOST_BYTES)} when unpacked", side
                    )
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)  # with one byte too many, it becomes a Trouble
    except (*FAULTS, OSError) as error:
        raise GivenError(f"{file.name}: the zip file cannot be read ({error})", side) from None
    return str(target)


def _written_files(file: Upload, folder: Path, side: str) -> dict[str, Path]:
    """Write the style sheets, images and fonts of a zipped folder; of other files, nothing."""
    if kind_of(file) is not Kind.FOLDER:
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as opened:
            pages = [clean_steps(each.filename) for each in _pages(opened)]
        return write_files(file, folder / f"{side}-files", _top(pages))
    except (*FAULTS, OSError) as error:
        raise GivenError(f"{file.name}: the zip file cannot be read ({error})", side) from None


def _check_unpacked(file: Upload, kind: Kind, side: str) -> None:
    """Refuse a crawl that is much longer when it is unpacked: it would be read for hours.

    Raises:
        GivenError: it is too long, or cannot be unpacked.
    """
    left = MOST_BYTES
    if kind is Kind.ZIPPED_WARC:
        left -= _unpacked(file.data, left)
    elif kind is Kind.WACZ:
        _check_directory(file, side)
        try:
            with zipfile.ZipFile(io.BytesIO(file.data)) as opened:
                for member in opened.infolist():
                    with opened.open(member) as inside:
                        data = inside.read(max(0, left) + 1)
                    left -= max(len(data), _unpacked(data, left))
                    if left < 0:
                        break
        except (*FAULTS, OSError) as error:
            raise GivenError(f"{file.name}: the WACZ file cannot be read ({error})", side) from None
    if left < 0:
        raise GivenError(
            f"{file.name}: has more than {format_bytes(MOST_BYTES)} when unpacked", side
        )


def _unpacked(data: bytes, most: int) -> int:
    """Count the bytes in gzip data, up to a little more than a limit; 0 for other data.

    >>> import gzip
    >>> _unpacked(gzip.compress(bytes(500)) * 2, 10_000), _unpacked(b"WARC/1.1", 10)
    (1000, 0)
    """
    size, rest = 0, memoryview(data)
    while size <= most and bytes(rest[:2]) == _GZIP:
        member = zlib.decompressobj(31)
        try:
            found = member.decompress(rest, _STEP_BYTES)
            while found and size <= most:
                size += len(found)
                found = member.decompress(member.unconsumed_tail, _STEP_BYTES)
        except zlib.error:
            break  # the reader of crawls says what is damaged
        if not member.eof or not member.unused_data:
            break
        rest = rest[len(rest) - len(member.unused_data) :]
    return size


def _check_directory(file: Upload, side: str) -> None:
    """Refuse a zip file whose list of files is long, before it is read into memory.

    Raises:
        GivenError: it is too long, or there is none.
    """
    at = file.data.rfind(_END)
    if at < 0 or len(file.data) < at + _END_BYTES:
        raise GivenError(f"{file.name}: the zip file cannot be read (it has no end)", side)
    size = int.from_bytes(file.data[at + 12 : at + 16], "little")
    if size > MOST_DIRECTORY_BYTES:
        raise GivenError(f"{file.name}: the zip file lists too many files", side)


def _members(
    opened: zipfile.ZipFile, target: Path, side: str
) -> Iterator[tuple[zipfile.ZipInfo, Path]]:
    """List the pages in a zip file, each with the path that it is written to."""
    found = _pages(opened)
    if len(found) > MOST_PAGES:
        raise GivenError(
            f"the zip file has {len(found):,} pages; expected at most {MOST_PAGES:,}", side
        )
    parts = [clean_steps(each.filename) for each in found]
    has_top = bool(_top(parts))
    for each, steps in zip(found, parts, strict=True):
        inside = steps[1:] if has_top else steps
        if inside:
            yield each, target.joinpath(*inside)


def _pages(opened: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [each for each in opened.infolist() if _PAGE.search(each.filename)]


def _top(pages: list[list[str]]) -> str:
    """Return the folder around everything; empty if there is none.

    It is left out, so that site-may.zip and site-june.zip have equal paths.
    """
    tops = {each[0] for each in pages if len(each) > 1}
    has_top = len(tops) == 1 and all(len(each) > 1 for each in pages)
    return tops.pop() if has_top else ""

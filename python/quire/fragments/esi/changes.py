"""Changes: which objects of a cache are out of date after a site was composed again.

Two compositions in, the objects to purge out. A cache holds every file as an object of its own, and
pages depend on the files that they include: the object dependency graph of paper 004 (section 5).
Only a file whose own bytes changed has to be purged; the pages that include it are composed of it
again. Other caches that hold composed pages have to purge the addresses of these pages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quire.fragments.esi.compose import folder_reader
from quire.fragments.esi.manifest import ComposedPage, FragmentFile, Manifest
from quire.fragments.esi.vcl import varnish_vcl

#: Maximum number of keys in one request to purge; ``varnish.vcl`` accepts no more.
MOST_KEYS = 100


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that has other bytes than before, under the same name.

    Attributes:
        folder: its folder.
        name: its name, which is its key in the cache.
        pages: number of pages that show it.
    """

    folder: str
    name: str
    pages: int


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between two compositions of a site.

    Attributes:
        purge: files to purge, those on most pages first.
        added: paths of files that are new.
        gone: paths of files that the new composition lacks.
        pages: addresses (or names) of pages whose content is other than before.
        new_pages: addresses of pages that are new.
        gone_pages: addresses of pages that the new composition lacks.
        is_vcl_changed: whether the VCL is another: files or policies of pages changed.
    """

    purge: tuple[FileChange, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    pages: tuple[str, ...]
    new_pages: tuple[str, ...]
    gone_pages: tuple[str, ...]
    is_vcl_changed: bool

    def key_lines(self) -> Iterator[str]:
        """Yield values of the header ``Surrogate-Key`` for requests to purge.

        >>> changes = Changes((FileChange("fragments", "a" * 32, 1),), (), (), (), (), (), False)
        >>> list(changes.key_lines()) == ["a" * 32]
        True
        """
        names = list(dict.fromkeys(one.name for one in self.purge))
        for start in range(0, len(names), MOST_KEYS):
            yield " ".join(names[start : start + MOST_KEYS])


def changed_files(old: Path, new: Path) -> Changes:
    """Compare two compositions of a site.

    Args:
        old: the folder that the cache was filled from.
        new: the folder that it will be filled from.

    Raises:
        PlanError: a folder is not a composition, or its manifest is damaged.
        CompositionError: a file is missing or cannot be read.
    """
    before, after = _Files(old), _Files(new)
    changed = []
    for key, one in after.files.items():
        if key in before.files and before.digest(key) != after.digest(key):
            changed.append(FileChange(key[0], key[1], one))
    changed.sort(key=lambda one: (-one.pages, one.folder, one.name))
    pages, others = before.pages, after.pages
    return Changes(
        purge=tuple(changed),
        added=tuple(sorted(_path(*key) for key in after.files.keys() - before.files.keys())),
        gone=tuple(sorted(_path(*key) for key in before.files.keys() - after.files.keys())),
        pages=tuple(one for one in others if one in pages and pages[one] != others[one]),
        new_pages=tuple(one for one in others if one not in pages),
        gone_pages=tuple(one for one in pages if one not in others),
        is_vcl_changed=varnish_vcl(before.manifest) != varnish_vcl(after.manifest),
    )


def _path(folder: str, name: str) -> str:
    return f"{folder}/{name}.html"


class _Files:
    """The files of a composition: how many pages show each, and digests of their bytes."""

    def __init__(self, folder: Path) -> None:
        self.manifest = Manifest.load(folder)
        self._read = folder_reader(folder)
        self.files: dict[tuple[str, str], int] = {}
        self._most: dict[tuple[str, str], int] = {}
        self.pages: dict[str, str] = {}
        for page in self.manifest.pages:
            # As long as the page, and an include for each part.
            longest = page.length + page.includes * self.manifest.include_bytes
            self._note(page, 1, longest)
            self.pages.setdefault(page.address or page.name, page.sha256)
        for one in self.manifest.fragments:
            self._note(one, one.pages, one.stored)

    def _note(self, one: ComposedPage | FragmentFile, pages: int, most_bytes: int) -> None:
        key = (one.folder, one.file)
        self.files[key] = self.files.get(key, 0) + pages
        self._most[key] = max(self._most.get(key, 0), most_bytes)

    def digest(self, key: tuple[str, str]) -> bytes:
        """Return a digest of the bytes of a file, as it is stored."""
        folder, name = key
        data = self._read(folder, name, self._most[key])  # type: ignore[arg-type]
        return hashlib.sha256(data).digest()

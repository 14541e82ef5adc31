"""Verifying: quire composes every page of a composition and compares it with the original.

Either the composer of this package (``compose``) does it, or a real Varnish (``varnish``), which is
asked for the addresses of the pages. The manifest has the expected length and SHA-256 of each page.
Refused pages are whole, and are checked too.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from quire.errors import CompositionError, ProxyError
from quire.fragments.cuts.includes import include_pattern
from quire.fragments.esi.compose import Composer as OwnComposer
from quire.fragments.esi.compose import folder_reader
from quire.fragments.esi.manifest import ComposedPage, Manifest
from quire.fragments.esi.vcl import VCL_NAME, varnish_vcl
from quire.progress import Progress, no_progress
from quire.safe_read import read_plain

Composer: TypeAlias = Literal["own", "varnish"]
_BACKEND = re.compile(r"backend default \{.*?\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fault:
    """A page that differs from the original.

    Attributes:
        page: its name.
        reason: the difference, with the offset of its first byte if that is known.
        address: the address it is served at, or nothing.
    """

    page: str
    reason: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """How many pages equal the originals.

    Attributes:
        pages: all of them: equal, refused and unequal ones.
        equal: composed, or whole because there was nothing to cut, and equal to the original.
        refused: left whole because they must not be composed, and equal to the original.
        unequal: all others.
        composer: the composer that was used.
        faults: the differences.
        is_vcl_changed: whether the VCL in the folder is another than the one for this manifest, not
            counting the backend. Varnish ran with the one for the manifest.
    """

    pages: int
    equal: int
    refused: int
    unequal: int
    composer: Composer
    faults: tuple[Fault, ...]
    is_vcl_changed: bool = False


def verify(
    folder: Path,
    *,
    composer: Composer | Literal["auto"] = "own",
    progress: Progress = no_progress,
) -> Verification:
    """Compose every page of a folder, and compare it with the original.

    Args:
        folder: the folder that ``write_composition`` wrote.
        composer: the composer; ``auto`` is Varnish if it is installed.
        progress: called with the pages done and their number.

    Raises:
        PlanError: the folder is not a composition, or its manifest is damaged.
        ProxyError: Varnish was asked for, and is not installed or does not start.
    """
    manifest = Manifest.load(folder)
    chosen: Composer = composer if composer != "auto" else "varnish" if has_varnish() else "own"
    if chosen == "own":
        return _verified(manifest, chosen, _Folder(folder, manifest), progress)
    from quire.fragments.esi.varnish import composing_varnish  # noqa: PLC0415 - heavy

    with composing_varnish(folder, manifest) as fetch:
        found = _verified(manifest, chosen, _Folder(folder, manifest), progress, fetch)
    return replace(found, is_vcl_changed=_is_vcl_changed(folder, manifest))


def has_varnish() -> bool:
    """Tell whether Varnish is installed."""
    return shutil.which("varnishd") is not None


def _is_vcl_changed(folder: Path, manifest: Manifest) -> bool:
    expected = varnish_vcl(manifest)
    try:
        found = read_plain(folder / VCL_NAME, 2 * len(expected)).decode("utf-8", "replace")
    except OSError:
        return True
    return _BACKEND.sub("", found, count=1) != _BACKEND.sub("", expected, count=1)


class _Folder:
    """The composer of this package for the pages of a folder."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._read = folder_reader(folder)
        self._composer = OwnComposer(self._read, prefix=manifest.prefix)
        self._pattern = include_pattern(manifest.prefix)
        self._include_bytes = manifest.include_bytes
        self._sha256 = {one.file: one.sha256 for one in manifest.fragments}

    def __call__(self, page: ComposedPage) -> bytes:
        """Compose a page."""
        data = self._template(page)
        return data if page.folder == "whole" else self._filled(data, page)

    def wrong_file(self, page: ComposedPage) -> str:
        """Say which file of a page has other content than it should, and where it begins."""
        template, at, length = self._template(page), 0, 0
        for found in self._pattern.finditer(template) if page.folder != "whole" else ():
            length += found.start() - at
            part = self._filled(found[0], page)
            file = found[2].decode("ascii")
            if hashlib.sha256(part).hexdigest() != self._sha256.get(file):
                name = f"{found[1].decode('ascii')}/{file}.html"
                return f"{name} has other content; it begins at byte {length} of the page"
            length, at = length + len(part), found.end()
        return f"{page.folder}/{page.file}.html has other content"

    def _template(self, page: ComposedPage) -> bytes:
        # Isolated parts may be shorter than their includes, and so a template longer than its page.
        most_bytes = page.length + page.includes * self._include_bytes
        return self._read(page.folder, page.file, most_bytes)

    def _filled(self, data: bytes, page: ComposedPage) -> bytes:
        name = f"{page.folder}/{page.file}.html"
        return self._composer.page(data, most_bytes=page.length, file=name)


def _verified(
    manifest: Manifest,
    composer: Composer,
    folder: _Folder,
    progress: Progress,
    fetch: Callable[[ComposedPage], bytes] | None = None,
) -> Verification:
    equal = refused = 0
    faults: list[Fault] = []
    # Equal pages have one file, but each has an address.
    known: dict[tuple[str, str, str, str], str | None] = {}
    for done, page in enumerate(manifest.pages, 1):
        key = (page.folder, page.file, page.sha256, page.address if fetch else "")
        if key not in known:
            known[key] = _fault(page, folder, fetch or folder)
        reason = known[key]
        if reason is not None:
            faults.append(Fault(page.name, reason, page.address))
        elif page.is_refused:
            refused += 1
        else:
            equal += 1
        progress("compose", done, len(manifest.pages))
    return Verification(len(manifest.pages), equal, refused, len(faults), composer, tuple(faults))


def _fault(
    page: ComposedPage, folder: _Folder, composed: Callable[[ComposedPage], bytes]
) -> str | None:
    try:
        data = composed(page)
        if _is_right(page, data):
            return None
        expected = folder(page)
        # The folder does not have the original. If its files are unchanged, they compose to it.
        where = (
            f"differs at byte {_first_difference(data, expected)}"
            if _is_right(page, expected)
            else folder.wrong_file(page)
        )
    except (CompositionError, ProxyError) as error:
        return str(error)
    return f"{where} ({len(data)} bytes, expected {page.length})"


def _is_right(page: ComposedPage, data: bytes) -> bool:
    return len(data) == page.length and hashlib.sha256(data).hexdigest() == page.sha256


def _first_difference(one: bytes, other: bytes) -> int:
    """Return the first offset at which two different byte strings differ.

    >>> _first_difference(b"abc", b"abd"), _first_difference(b"ab", b"abc")
    (2, 2)
    """
    start, end = 0, min(len(one), len(other))
    if one[:end] == other[:end]:
        return end
    while end - start > 1:  # they are equal before start, and differ before end
        middle = (start + end) // 2
        start, end = (middle, end) if one[:middle] == other[:middle] else (start, middle)
    return start

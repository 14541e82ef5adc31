"""Verifying: quire composes every page of a composition and compares it with the original.

Either the composer of this package (``compose``) does it, or a real Varnish (``varnish``). The
manifest has the expected length and SHA-256 of each page. Refused pages are whole, and are checked
too.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from quire.errors import CompositionError, ProxyError
from quire.fragments.cuts.includes import include
from quire.fragments.esi.compose import Composer as OwnComposer
from quire.fragments.esi.compose import folder_reader
from quire.fragments.esi.manifest import ComposedPage, Manifest
from quire.progress import Progress, no_progress

Composer: TypeAlias = Literal["own", "varnish"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A page that differs from the original.

    Attributes:
        page: its name.
        reason: the difference.
    """

    page: str
    reason: str


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
    """

    pages: int
    equal: int
    refused: int
    unequal: int
    composer: Composer
    faults: tuple[Fault, ...]


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
        return _verified(manifest, chosen, _own(folder, manifest), progress)
    from quire.fragments.esi.varnish import composing_varnish  # noqa: PLC0415 - heavy

    with composing_varnish(folder, manifest) as fetch:
        return _verified(manifest, chosen, fetch, progress)


def has_varnish() -> bool:
    """Tell whether Varnish is installed."""
    return shutil.which("varnishd") is not None


def _own(folder: Path, manifest: Manifest) -> Callable[[ComposedPage], bytes]:
    read = folder_reader(folder)
    composer = OwnComposer(read, prefix=manifest.prefix)
    include_bytes = len(include(manifest.prefix, "templates", "0" * 32))

    def composed(page: ComposedPage) -> bytes:
        # Isolated parts may be shorter than their includes, and so a template longer than its page.
        data = read(page.folder, page.file, page.length + page.includes * include_bytes)
        if page.folder == "whole":
            return data
        name = f"{page.folder}/{page.file}.html"
        return composer.page(data, most_bytes=page.length, file=name)

    return composed


def _verified(
    manifest: Manifest,
    composer: Composer,
    composed: Callable[[ComposedPage], bytes],
    progress: Progress,
) -> Verification:
    equal = refused = 0
    faults: list[Fault] = []
    # Equal pages have one file.
    known: dict[tuple[str, str, str], str | None] = {}
    for done, page in enumerate(manifest.pages, 1):
        key = (page.folder, page.file, page.sha256)
        if key not in known:
            known[key] = _fault(page, composed)
        reason = known[key]
        if reason is not None:
            faults.append(Fault(page.name, reason))
        elif page.is_refused:
            refused += 1
        else:
            equal += 1
        progress("compose", done, len(manifest.pages))
    return Verification(len(manifest.pages), equal, refused, len(faults), composer, tuple(faults))


def _fault(page: ComposedPage, composed: Callable[[ComposedPage], bytes]) -> str | None:
    try:
        data = composed(page)
    except (CompositionError, ProxyError) as error:
        return str(error)
    if len(data) != page.length:
        return f"{len(data)} bytes, expected {page.length}"
    if hashlib.sha256(data).hexdigest() != page.sha256:
        return f"length matches ({len(data)} bytes), content differs"
    return None

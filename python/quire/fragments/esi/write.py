"""ESI files: the templates and fragments of a plan, and the folder that holds them.

``EsiFiles`` yields the template of every page, or the whole page, and each fragment before the
first page that uses it. ``write_composition`` writes them into a folder that is either complete or
absent.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.errors import PlanError
from quire.fragments.caching.plan import FragmentPlan
from quire.fragments.cuts.includes import FOLDERS, NAME, Folder, include
from quire.fragments.cuts.site_cuts import Part
from quire.fragments.esi.composition import Composition
from quire.fragments.esi.manifest import FILE_NAME, Manifest
from quire.fragments.esi.slots import Slots, slots_after
from quire.fragments.esi.vcl import ORIGIN, VCL_NAME, varnish_vcl
from quire.progress import Progress, no_progress


@dataclass(frozen=True, slots=True)
class EsiFile:
    """A file of a composition.

    Attributes:
        folder: its folder, which tells a cache whether it has includes.
        name: its name without ``.html``: a digest of its content with all includes filled in, or
            the name that its slot had before.
        data: its bytes.
        is_page: whether it composes to a page, not to a fragment.
    """

    folder: Folder
    name: str
    data: bytes
    is_page: bool


class EsiFiles:
    """The files of a plan.

    >>> from quire.fragments import SourcePage, plan_fragments
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> days = [f"{menu}<h1>Day {day}".encode() for day in range(3)]
    >>> pages = [SourcePage(f"{n}", f"{n}", page) for n, page in enumerate(days)]
    >>> with plan_fragments(pages) as plan:
    ...     for file in EsiFiles(plan):
    ...         print(file.folder, file.name[:8], file.data[:40])
    fragments f6878af5 b'<nav><a href=/0>Entry number 0</a><a hre'
    templates 825dbf69 b'<esi:include src="/fragments/f6878af590a'
    templates addb5d9c b'<esi:include src="/fragments/f6878af590a'
    templates 63f53345 b'<esi:include src="/fragments/f6878af590a'
    """

    def __init__(self, plan: FragmentPlan, slots: Slots | None = None) -> None:
        self._plan = plan
        self._slots = slots or Slots()

    @property
    def manifest(self) -> Manifest:
        """The pages, fragments and volumes of all files."""
        return Composition.of(self._plan, self._slots).manifest

    def __iter__(self) -> Iterator[EsiFile]:
        """Yield file after file."""
        done: set[str] = set()
        for body, page in self._plan.cuts.pages.items():
            source = self._plan.site.body(body)
            yield from self._fragments(source, page.parts, done)
            folder: Folder = "templates" if page.parts else "whole"
            data = self._template(source, page.parts)
            yield EsiFile(folder, self._slots.page(page.sha256), data, is_page=True)

    def _fragments(self, data: bytes, parts: Sequence[Part], done: set[str]) -> Iterator[EsiFile]:
        """Yield new fragments, inner ones first; recursion is as deep as includes nest."""
        for part in parts:
            if part.name in done:
                continue
            done.add(part.name)
            mine, inside = data[part.start : part.end], self._plan.cuts.fragments[part.name].parts
            yield from self._fragments(mine, inside, done)
            name = self._slots.fragment(part.name)
            yield EsiFile(self._folder(part), name, self._template(mine, inside), is_page=False)

    def _folder(self, part: Part) -> Folder:
        return "templates" if self._plan.cuts.fragments[part.name].parts else "fragments"

    def _template(self, data: bytes, parts: Sequence[Part]) -> bytes:
        """Put includes in the place of parts."""
        prefix = self._plan.rules.prefix
        pieces, at = [], 0
        for part in parts:
            pieces += [
                data[at : part.start],
                include(prefix, self._folder(part), self._slots.fragment(part.name)),
            ]
            at = part.end
        return b"".join([*pieces, data[at:]])


def write_composition(
    plan: FragmentPlan,
    folder: Path,
    *,
    force: bool = False,
    origin: tuple[str, int] = ORIGIN,
    after: Path | None = None,
    progress: Progress = no_progress,
) -> Manifest:
    """Write templates, fragments, VCL and manifest into a new folder: all of it, or nothing.

    Args:
        plan: the cuts and policies.
        folder: the new folder; its parents are created.
        force: replace an existing composition. Nothing else is ever replaced.
        origin: IP address and port of the server of the folder, for the VCL.
        after: an earlier composition of the same site; parts and pages that continue parts and
            pages of it keep their names (``slots``).
        progress: callback; the step is ``cut``, counted in pages.

    Raises:
        PlanError: the folder exists and may not be replaced, or ``after`` is not a composition.
        CompositionError: a file of ``after`` is missing or cannot be read.
    """
    check_free(folder, force=force)
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name[:60]}.", dir=folder.parent))
    try:
        made.chmod(0o755)
        for name in FOLDERS:
            (made / name).mkdir()
        files = EsiFiles(plan, slots_after(after, plan) if after is not None else None)
        done, of = 0, len(plan.cuts.pages)
        for file in files:
            (made / file.folder / f"{file.name}.html").write_bytes(file.data)
            done += file.is_page
            progress("cut", done, of)
        manifest = files.manifest
        (made / VCL_NAME).write_text(
            varnish_vcl(manifest, host=origin[0], port=origin[1]), encoding="ascii"
        )
        (made / FILE_NAME).write_text(manifest.to_json(), encoding="ascii")
        if folder.exists():
            check_free(folder, force=force)  # again: making the files took a while
            _replace(folder, made)
        else:
            made.replace(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return manifest


def _replace(folder: Path, made: Path) -> None:
    """Replace a folder by another; restore it if that fails."""
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name[:60]}.", dir=folder.parent))
    try:
        folder.replace(old)
        try:
            made.replace(folder)
        except OSError:
            old.replace(folder)
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def check_free(folder: Path, *, force: bool) -> None:
    """Refuse a folder that may not be written to.

    Raises:
        PlanError: it exists and is not a composition, holds other files, or ``force`` is not set.
    """
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise PlanError(f"{folder}: {'a link' if folder.is_symlink() else 'a file'}, not a folder")
    if folder.resolve() == Path.cwd():
        raise PlanError(f"{folder}: the current folder cannot be replaced; name another")
    if not any(folder.iterdir()):
        return
    if not force:
        raise PlanError(f"{folder}: exists")
    Manifest.load(folder)  # anything else is not ours to replace
    for path in _of_others(folder):
        raise PlanError(
            f"{path}: not part of the composition, and would be lost; move it elsewhere first"
        )


def _of_others(folder: Path) -> Iterator[Path]:
    """List files that this module does not write."""
    for path in sorted(folder.iterdir()):
        if path.name in FOLDERS and path.is_dir() and not path.is_symlink():
            for one in path.iterdir():
                if one.suffix != ".html" or NAME.fullmatch(one.stem) is None:
                    yield one
        elif path.name not in {FILE_NAME, VCL_NAME}:
            yield path

"""ESI: the files of a plan, made one after the other.

``EsiFiles`` cuts every page of a plan and gives its template, or the whole page, and each fragment when it is first used. When all have
been given, ``manifest`` tells what they are. Nothing is written here; ``write_composition`` does, into a folder that is there as
a whole or not at all.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.errors import InternalError, PlanError
from quire.fragments.cuts.cutting import Template, cut_out
from quire.fragments.cuts.includes import FOLDERS, NAME, Folder, include, name_of
from quire.fragments.cuts.plan import FragmentPlan
from quire.fragments.cuts.select import Cut
from quire.fragments.esi.manifest import (
    FILE_NAME,
    ComposedPage,
    FragmentFile,
    Manifest,
    Volumes,
)
from quire.fragments.esi.vcl import VCL_NAME, varnish_vcl
from quire.progress import Progress, no_progress


@dataclass(frozen=True, slots=True)
class EsiFile:
    """A file of a composition.

    Attributes:
        folder: the folder that it belongs into, which tells a cache whether it has includes.
        name: its name without ``.html``: a digest of what comes of it.
        data: its bytes.
        is_page: whether a page comes of it, and not a fragment.
    """

    folder: Folder
    name: str
    data: bytes
    is_page: bool


@dataclass(slots=True)
class _Fragment:
    """What is known of a fragment while pages are cut."""

    folder: Folder
    sha256: str
    length: int
    stored: int
    first_page: int
    first_offset: int
    inside: Counter[str]
    uses: int = 0
    pages: Counter[int] = field(default_factory=Counter)


class EsiFiles:
    """The files of a plan; go through them once, then ask for the manifest.

    >>> from quire.fragments import SourcePage, plan_fragments
    >>> menu = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a>" for n in range(30)) + "</nav>"
    >>> news = [SourcePage(f"{day}.html", f"{day}.html", f"{menu}<h1>Day {day}".encode()) for day in range(3)]
    >>> with plan_fragments(news) as plan:
    ...     files = EsiFiles(plan)
    ...     for file in files:
    ...         print(file.folder, file.name[:8], file.data[:40])
    fragments f6878af5 b'<nav><a href=/0>Entry number 0</a><a hre'
    templates 825dbf69 b'<esi:include src="/fragments/f6878af590a'
    templates addb5d9c b'<esi:include src="/fragments/f6878af590a'
    templates 63f53345 b'<esi:include src="/fragments/f6878af590a'
    """

    def __init__(self, plan: FragmentPlan) -> None:
        self._plan = plan
        self._fragments: dict[str, _Fragment] = {}
        self._bodies: dict[int, ComposedPage] = {}
        self._sizes: dict[int, int] = {}
        self._ready: list[EsiFile] = []

    def __iter__(self) -> Iterator[EsiFile]:
        """Cut page after page."""
        firsts: dict[int, int] = {}
        for place, page in enumerate(self._plan.pages):
            firsts.setdefault(page.body, place)
        for body, place in firsts.items():
            page = self._plan.pages[place]
            source = self._plan.spool.get(body)
            template, inside = self._cut(source, self._plan.choice.pages[body], place)
            for name, count in inside.items():
                self._fragments[name].pages[body] = count
            yield from self._take_ready()
            yield self._page(source, template, body, page.name, page.url)

    def _page(self, source: bytes, template: Template, body: int, name: str, url: str) -> EsiFile:
        refused = tuple(self._plan.refused.get(body, ()))
        folder: Folder = "templates" if template.includes else "whole"
        # What must be cut nowhere is refused; so is a page of which hazards have left nothing to cut.
        is_refused = bool(refused) or (not template.includes and bool(template.hazards))
        file = name_of(source)
        self._bodies[body] = ComposedPage(
            name=name,
            url=url,
            folder=folder,
            file=file,
            length=len(source),
            sha256=hashlib.sha256(source).hexdigest(),
            includes=template.includes,
            is_refused=is_refused,
            hazards=refused + template.hazards,
            policy=self._plan.page_policies.get(body, self._plan.other_policy),
            is_personal=False,
        )
        self._sizes[body] = len(template.data)
        return EsiFile(folder, file, template.data, is_page=True)

    def _take_ready(self) -> Iterator[EsiFile]:
        ready, self._ready = self._ready, []
        yield from ready

    def _cut(self, source: bytes, cuts: list[Cut], place: int) -> tuple[Template, Counter[str]]:
        """What is left of a page or a fragment, and how often each fragment is right inside it."""
        inside: Counter[str] = Counter()

        def include_for(cut: Cut, data: bytes) -> bytes:
            name = self._fragment(cut, data, place)
            inside[name] += 1
            return include(self._plan.rules.prefix, self._fragments[name].folder, name)

        return cut_out(source, cuts, include_for), inside

    def _fragment(self, cut: Cut, data: bytes, place: int) -> str:
        """The name of a fragment, whose file is made when it is new; recursion ends with the depth of includes."""
        digest = hashlib.sha256(data).hexdigest()
        name = name_of(data)
        known = self._fragments.get(name)
        if known is None:
            template, includes = self._cut(data, self._plan.cuts_inside(cut, data), place)
            folder: Folder = "templates" if template.includes else "fragments"
            known = self._fragments[name] = _Fragment(
                folder, digest, len(data), len(template.data), place, cut.start, includes
            )
            self._ready.append(EsiFile(folder, name, template.data, is_page=False))
        elif known.sha256 != digest:
            raise InternalError(f"fragments {digest} and {known.sha256} have one name")
        known.uses += 1
        return name

    def _holders(self) -> dict[str, Counter[int]]:
        """How often each fragment is on which page, in other fragments too."""
        found = {name: Counter(one.pages) for name, one in self._fragments.items()}
        # What is inside of another was made before it.
        for name in reversed(self._fragments):
            for inner, count in self._fragments[name].inside.items():
                for body, times in found[name].items():
                    found[inner][body] += count * times
        return found

    @property
    def manifest(self) -> Manifest:
        """What the files are, once all have been given."""
        plan = self._plan
        policies = {name: plan.policies.get(name, plan.other_policy) for name in self._fragments}
        holders = self._holders()
        personal = {
            body
            for name, bodies in holders.items()
            if policies[name].sharing == "private"
            for body in bodies
        }
        pages = []
        for planned in plan.pages:
            of_body = self._bodies[planned.body]
            is_personal = planned.body in personal or of_body.policy.sharing == "private"
            pages.append(
                replace(of_body, name=planned.name, url=planned.url, is_personal=is_personal)
            )
        fragments = [
            FragmentFile(
                file=name,
                folder=one.folder,
                length=one.length,
                stored=one.stored,
                sha256=one.sha256,
                uses=one.uses,
                pages=len(holders[name]),
                first_page=one.first_page,
                first_offset=one.first_offset,
                policy=policies[name],
            )
            for name, one in self._fragments.items()
        ]
        fragments.sort(key=lambda one: (-one.saved(plan.rules.include_bytes), one.file))
        # What no cache keeps comes with every page.
        moved = Counter(self._sizes)
        for name, one in self._fragments.items():
            for body, count in holders[name].items() if not policies[name].is_cached else ():
                moved[body] += count * one.stored
        volumes = Volumes(
            pages=sum(page.length for page in pages),
            templates=sum(self._sizes.values()),
            fragments=sum(one.stored for one in fragments),
            moved=sum(moved[planned.body] for planned in plan.pages),
        )
        rules = plan.rules
        return Manifest(
            rules.prefix, rules.max_depth, rules.xml_check, tuple(pages), tuple(fragments), volumes
        )


def write_composition(
    plan: FragmentPlan,
    folder: Path,
    *,
    force: bool = False,
    tell: Progress = no_progress,
) -> Manifest:
    """Write templates, fragments, VCL and manifest into a new folder, which is there as a whole or not at all.

    Args:
        plan: what is cut out of which pages.
        folder: where to; its parent is made.
        force: replace a composition that is there. Nothing else is ever replaced.
        tell: is told how many pages of how many are done.

    Raises:
        PlanError: the folder is there, and is not to be replaced.
    """
    check_free(folder, force=force)
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name[:60]}.", dir=folder.parent))
    try:
        made.chmod(0o755)
        for name in FOLDERS:
            (made / name).mkdir()
        files = EsiFiles(plan)
        done, of = 0, len(plan.spool)
        for file in files:
            (made / file.folder / f"{file.name}.html").write_bytes(file.data)
            done += file.is_page
            tell("cut", done, of)
        manifest = files.manifest
        (made / VCL_NAME).write_text(varnish_vcl(manifest), encoding="ascii")
        (made / FILE_NAME).write_text(manifest.to_json(), encoding="ascii")
        if folder.exists():
            check_free(folder, force=force)  # once more: making the files took a while
            _replace(folder, made)
        else:
            made.replace(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return manifest


def _replace(folder: Path, made: Path) -> None:
    """Put one folder in the place of another, which is put back where that fails."""
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
        PlanError: it is there, and is no composition and nothing else, or nobody said that it may be replaced.
    """
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise PlanError(f"{folder}: {'a link' if folder.is_symlink() else 'a file'}, not a folder")
    if folder.resolve() == Path.cwd():
        raise PlanError(f"{folder}: the folder that you are in cannot be replaced; name another")
    if not any(folder.iterdir()):
        return
    if not force:
        raise PlanError(f"{folder}: exists")
    Manifest.load(folder)  # what is no composition is not ours to replace
    for path in _of_others(folder):
        raise PlanError(f"{path}: not of a composition, and would be lost; move it elsewhere first")


def _of_others(folder: Path) -> Iterator[Path]:
    """Find what this module does not write."""
    for path in sorted(folder.iterdir()):
        if path.name in FOLDERS and path.is_dir() and not path.is_symlink():
            for one in path.iterdir():
                if one.suffix != ".html" or NAME.fullmatch(one.stem) is None:
                    yield one
        elif path.name not in {FILE_NAME, VCL_NAME}:
            yield path

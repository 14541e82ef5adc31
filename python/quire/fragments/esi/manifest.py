"""The manifest of a composition: which page comes of which file, what it must come to, and what was left alone.

``manifest.json`` in the folder that ``quire fragments esi`` writes. It is read as strictly as it is written: names are digests
and never paths, lengths are numbers, nothing is passed over in silence. So a manifest from elsewhere leads nowhere but into its folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from quire.errors import PlanError
from quire.fragments.cuts.hazards import Hazard, HazardKind
from quire.fragments.cuts.includes import FOLDERS, NAME, Folder, checked_prefix, include
from quire.fragments.esi.safe_read import read_plain
from quire.fragments.policy import Policy, PolicySource, Sharing

FILE_NAME = "manifest.json"
_FORMAT = "quire composition"
_VERSION = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")
# A hundred thousand pages take about 40 MB.
_MOST_BYTES = 1 << 30
# No page is longer: its digest could not be made.
_LONGEST = 1 << 32

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ComposedPage:
    """A page, and the file it comes of.

    Attributes:
        name: what it was called where it came from.
        url: its address.
        folder: ``templates`` where it has includes, else ``whole``.
        file: the name of the file in that folder.
        length: its bytes.
        sha256: of its bytes.
        includes: how many includes the file has.
        is_refused: whether it is whole because it must not be composed.
        hazards: why, and what else kept parts in it.
        policy: how long the file may be kept: without what it includes, which has policies of its own.
        is_personal: whether readers get different ones: the file is private, or a fragment of it is.
    """

    name: str
    url: str
    folder: Folder
    file: str
    length: int
    sha256: str
    includes: int
    is_refused: bool
    hazards: tuple[Hazard, ...]
    policy: Policy
    is_personal: bool


@dataclass(frozen=True, slots=True)
class FragmentFile:
    """A fragment, and the file that it is in.

    Attributes:
        file: its name.
        folder: ``templates`` where it has includes itself, else ``fragments``.
        length: its bytes, includes filled in.
        stored: the bytes of the file.
        sha256: of its bytes.
        uses: includes of it, in pages and in other fragments.
        pages: different pages that have it, by themselves or in another fragment.
        first_page: the first of them, by its place among the pages.
        first_offset: where it is in that page; in a fragment of it where fragments nest.
        policy: how long it may be kept.
    """

    file: str
    folder: Folder
    length: int
    stored: int
    sha256: str
    uses: int
    pages: int
    first_page: int
    first_offset: int
    policy: Policy

    def saved(self, include_bytes: int) -> int:
        """Bytes that are stored less because it is a file of its own: it is there once, and has an include in each place.

        Those of all fragments come together to what different pages take less, also where fragments are in fragments: what is inside
        of one is in its length, and not in what its file takes.

        Args:
            include_bytes: the length of an include.
        """
        return self.uses * (self.length - include_bytes) - self.length


@dataclass(frozen=True, slots=True)
class Volumes:
    """Bytes, before and after.

    Attributes:
        pages: all pages, each as often as it is there.
        templates: files with includes, and pages without, each once.
        fragments: the fragments, each once.
        moved: what is fetched when every page is asked for again and all fragments that are kept at all are still fresh.
    """

    pages: int
    templates: int
    fragments: int
    moved: int

    @property
    def stored(self) -> int:
        """What a cache of fragments stores; a cache of pages stores ``pages``."""
        return self.templates + self.fragments


@dataclass(frozen=True, slots=True)
class Manifest:
    """All of a composition but its bytes.

    Attributes:
        prefix: what addresses in includes begin with.
        max_depth: how deep includes nest, at most.
        xml_check: whether pages begin with a tag, which caches ask for unless told otherwise.
        pages: the pages, as they came in.
        fragments: the fragments; those that save most come first.
        volumes: bytes before and after.
    """

    prefix: str
    max_depth: int
    xml_check: bool
    pages: tuple[ComposedPage, ...]
    fragments: tuple[FragmentFile, ...]
    volumes: Volumes

    @property
    def include_bytes(self) -> int:
        """How long an include is."""
        return len(include(self.prefix, "fragments", "0" * 32))

    def to_json(self) -> str:
        """Write it. ASCII only: names and addresses are other people's."""
        told = {"format": _FORMAT, "version": _VERSION, **asdict(self)}
        return json.dumps(told, indent=1, ensure_ascii=True) + "\n"

    @classmethod
    def from_json(cls, text: str, *, name: str = FILE_NAME) -> Manifest:
        """Read one.

        Raises:
            PlanError: it is none, or damaged.
        """
        try:
            told = json.loads(text)
            if not isinstance(told, dict) or told.get("format") != _FORMAT:
                raise PlanError(f"{name}: no manifest of a composition")
            if told.get("version") != _VERSION:
                found = str(told.get("version"))[:20]
                raise PlanError(f"{name}: version {found}, but this one reads {_VERSION}")
            return cls(
                checked_prefix(_of(str, told["prefix"])),
                _number(told["max_depth"]),
                _of(bool, told["xml_check"]),
                tuple(_page(one) for one in _of(list, told["pages"])),
                tuple(_fragment(one) for one in _of(list, told["fragments"])),
                Volumes(**{field: _number(told["volumes"][field]) for field in Volumes.__slots__}),
            )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, PlanError):
                raise
            raise PlanError(f"{name}: damaged: {type(error).__name__}: {error}") from None

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder.

        Raises:
            PlanError: there is none, or it is damaged.
        """
        path = folder / FILE_NAME
        try:
            data = read_plain(path, _MOST_BYTES)
        except FileNotFoundError:
            raise PlanError(f"{folder}: no composition: it has no {FILE_NAME}") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise PlanError(f"{path}: cannot be read: {reason}") from None
        if len(data) > _MOST_BYTES:
            raise PlanError(f"{path}: more than {_MOST_BYTES} bytes")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise PlanError(f"{path}: damaged: not UTF-8") from None
        return cls.from_json(text, name=str(path))


def _page(told: dict[str, Any]) -> ComposedPage:
    folder = _folder(told["folder"], ("templates", "whole"))
    return ComposedPage(
        name=_of(str, told["name"]),
        url=_of(str, told["url"]),
        folder=folder,
        file=_matching(NAME.fullmatch, told["file"]),
        length=_length(told["length"]),
        sha256=_matching(_SHA256.fullmatch, told["sha256"]),
        includes=_number(told["includes"]),
        is_refused=_of(bool, told["is_refused"]),
        hazards=tuple(
            Hazard(HazardKind(one["kind"]), _number(one["offset"]), _number(one["kept"]))
            for one in _of(list, told["hazards"])
        ),
        policy=_policy(told["policy"]),
        is_personal=_of(bool, told["is_personal"]),
    )


def _fragment(told: dict[str, Any]) -> FragmentFile:
    numbers = ("stored", "uses", "pages", "first_page", "first_offset")
    return FragmentFile(
        file=_matching(NAME.fullmatch, told["file"]),
        folder=_folder(told["folder"], ("templates", "fragments")),
        sha256=_matching(_SHA256.fullmatch, told["sha256"]),
        policy=_policy(told["policy"]),
        length=_length(told["length"]),
        **{field: _number(told[field]) for field in numbers},
    )


def _policy(value: object) -> Policy:
    told: dict[str, Any] = _of(dict, value)
    return Policy(
        _number(told["ttl_s"]),
        tuple(_of(str, one) for one in _of(list, told["vary"])),
        cast("Sharing", _of(str, told["sharing"])),  # a policy refuses what is none
        cast("PolicySource", _of(str, told.get("source", "given"))),  # older ones have none
        _of(str, told["reason"]),
    )


def _of(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind):
        raise ValueError(f"{str(value)[:40]!r}: expected {kind.__name__}")  # noqa: TRY004 - damage, not a slip
    return value


def _length(value: object) -> int:
    if _number(value) > _LONGEST:
        raise ValueError(f"{value}: expected the length of a page, {_LONGEST} bytes at most")
    return _number(value)


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
        raise ValueError(f"{str(value)[:40]!r}: expected a number")
    return value


def _matching(matches: Callable[[str], object], value: object) -> str:
    text = _of(str, value)
    if matches(text) is None:
        raise ValueError(f"{text[:80]!r}: expected hexadecimal digits of a digest")
    return text


def _folder(value: object, allowed: tuple[str, ...]) -> Folder:
    for folder in FOLDERS:
        if folder == value and folder in allowed:
            return folder
    raise ValueError(f"{str(value)[:40]!r}: expected one of {', '.join(allowed)}")

"""The manifest of a composition: the file of each page, its expected content, and the hazards.

``manifest.json`` in the folder that ``quire fragments esi`` writes. It is read strictly: names are
digests and never paths, lengths are numbers, and nothing is ignored. So a manifest from elsewhere
cannot lead outside its folder.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from quire.errors import PlanError
from quire.fragments.cuts.hazards import Hazard
from quire.fragments.cuts.includes import NAME, checked_prefix, include
from quire.fragments.esi.addresses import ADDRESS, CONTENT_TYPE, Unserved
from quire.fragments.policy import Policy
from quire.safe_read import read_plain

FILE_NAME = "manifest.json"
_FORMAT = "quire composition"
_VERSION = 2
_SHA256 = re.compile(r"[0-9a-f]{64}")
# A hundred thousand pages take about 40 MB.
_MOST_BYTES = 1 << 30
# No page is longer: its digest could not be made.
_LONGEST = 1 << 32


@dataclass(frozen=True, slots=True)
class ComposedPage:
    """A page, and its file.

    Attributes:
        name: its name where it came from.
        url: its address.
        folder: ``templates`` if it has includes, else ``whole``.
        file: the name of the file in that folder.
        length: its bytes.
        sha256: of its bytes.
        includes: number of includes in the file.
        is_refused: whether it is whole because it must not be composed.
        hazards: the reasons, and others that kept parts in it.
        policy: how long the file may be cached; fragments that it includes have their own policies.
        is_personal: whether users get different content: the file is private, or a fragment of it.
        address: the address that the cache serves it at, or nothing.
        unserved: why it has no address.
        content_type: the content type that it is served as.
    """

    name: str
    url: str
    folder: Literal["templates", "whole"]
    file: str
    length: int
    sha256: str
    includes: int
    is_refused: bool
    hazards: tuple[Hazard, ...]
    policy: Policy
    is_personal: bool
    address: str = ""
    unserved: Unserved = ""
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class FragmentFile:
    """A fragment, and its file.

    Attributes:
        file: its name.
        folder: ``templates`` if it has includes itself, else ``fragments``.
        length: its bytes, includes filled in.
        stored: the bytes of the file.
        sha256: of its bytes.
        uses: includes of it, in pages and in other fragments.
        pages: different pages that have it, directly or in another fragment.
        first_page: the first of them, by its place among the pages.
        first_offset: its first byte in that page.
        policy: how long it may be cached.
    """

    file: str
    folder: Literal["templates", "fragments"]
    length: int
    stored: int
    sha256: str
    uses: int
    pages: int
    first_page: int
    first_offset: int
    policy: Policy

    def saved(self, include_bytes: int) -> int:
        """Return how many bytes less are stored because of it.

        The figures of all fragments add up to the saving on all different pages, also if fragments
        are inside fragments: an inner one is part of the length, but not of the file around it.

        Args:
            include_bytes: the length of an include.
        """
        return self.uses * (self.length - include_bytes) - self.length


@dataclass(frozen=True, slots=True)
class Volumes:
    """Bytes, before and after.

    Attributes:
        pages: all pages, equal ones each time.
        templates: files with includes, and pages without, each once.
        fragments: the fragments, each once.
        moved: fetched when every page is requested again while all fragments that are cached at all
            are still fresh.
    """

    pages: int
    templates: int
    fragments: int
    moved: int

    @property
    def stored(self) -> int:
        """Bytes in a cache of fragments; a cache of pages holds ``pages``."""
        return self.templates + self.fragments


#: Identifies a page in compositions that follow each other.
PageKey = tuple[str, str]


def page_key(address: str, name: str) -> PageKey:
    """Identify a page by its address, or by its name if it has none."""
    return (address, "") if address else ("", name)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A composition without the bytes of its files.

    Attributes:
        prefix: begins the addresses in includes.
        max_depth: how deep includes nest at most.
        xml_check: whether pages with includes begin with a tag, as caches expect by default.
        pages: the pages, in the order of the sources.
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
        """The length of an include."""
        return len(include(self.prefix, "fragments", "0" * 32))

    def pages_by_key(self) -> dict[PageKey, ComposedPage]:
        """Return the pages by ``page_key``; of several with the same key, the first."""
        found: dict[PageKey, ComposedPage] = {}
        for page in self.pages:
            found.setdefault(page_key(page.address, page.name), page)
        return found

    def to_json(self) -> str:
        """Return it as JSON, in ASCII: names and addresses are other people's."""
        told = {"format": _FORMAT, "version": _VERSION, **asdict(self)}
        return json.dumps(told, indent=1, ensure_ascii=True) + "\n"

    @classmethod
    def from_json(cls, text: str, *, name: str = FILE_NAME) -> Manifest:
        """Read one.

        Raises:
            PlanError: it is something else, or damaged.
        """
        try:
            told = json.loads(text)
            if not isinstance(told, dict) or told.get("format") != _FORMAT:
                raise PlanError(f"{name}: not the manifest of a composition")
            if told.get("version") != _VERSION:
                found = str(told.get("version"))[:20]
                raise PlanError(f"{name}: version {found}, but this one reads {_VERSION}")
            del told["format"], told["version"]
            return cast("Manifest", _read(cls, told))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, PlanError):
                raise
            raise PlanError(f"{name}: damaged: {type(error).__name__}: {error}") from None

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder.

        Raises:
            PlanError: there is no manifest, or it is damaged.
        """
        path = folder / FILE_NAME
        try:
            data = read_plain(path, _MOST_BYTES)
        except FileNotFoundError:
            raise PlanError(f"{folder}: not a composition: it has no {FILE_NAME}") from None
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


#: Fields with a grammar of their own; their types are not enough.
_GRAMMARS: dict[str, Callable[[Any], object]] = {
    "address": lambda value: not value or ADDRESS.fullmatch(value),
    "content_type": CONTENT_TYPE.fullmatch,
    "file": NAME.fullmatch,
    "sha256": _SHA256.fullmatch,
    "length": lambda value: value <= _LONGEST,
    "prefix": lambda value: checked_prefix(value) == value,
}


@cache
def _fields(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a class
    return get_type_hints(kind)


def _read(kind: Any, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Read a value of JSON strictly as the type that is declared for it."""
    if dataclasses.is_dataclass(kind):
        made: Any = kind
        told = {"source": "given"} | _read(dict, value) if kind is Policy else _read(dict, value)
        fields = _fields(made)
        if told.keys() != fields.keys():
            raise ValueError(f"{made.__name__}: expected {', '.join(fields)}")
        for name, of in fields.items():
            found = _read(of, told[name])
            if name in _GRAMMARS and not _GRAMMARS[name](found):
                raise ValueError(f"{str(found)[:80]!r}: not the {name} of a page or fragment")
            told[name] = found
        return made(**told)
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], one) for one in _read(list, value))
    if get_origin(kind) is Literal:
        is_right = isinstance(value, str) and value in get_args(kind)
    elif issubclass(kind, Enum):
        return kind(value)
    elif kind is int:
        is_right = type(value) is int and 0 <= value < 1 << 62
    else:
        is_right = isinstance(value, kind)
    if not is_right:
        raise ValueError(f"{str(value)[:40]!r}: expected {getattr(kind, '__name__', kind)}")
    return value

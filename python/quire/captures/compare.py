"""Compare two crawls, archives or folders page by page: new, gone, changed or the same.

Pages are paired by their addresses; files by their paths below the folder that was named. Of
several captures of one address the newest counts. Each source is read once to list its pages, with
a hash of every page; then only pages with other bytes are read again and compared. So memory holds
two pages at a time, and a few hundred bytes for every page of the sources.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from quire.captures.places import find
from quire.captures.reading import read_one, read_path
from quire.digest import encode
from quire.errors import QuireError
from quire.progress import Progress, no_progress
from quire.sdiff import (
    ALL_FACETS,
    Annotation,
    Facet,
    Granularity,
    Rules,
    Summary,
    annotate,
    unseen_differences,
)
from quire.sources import MOST_BYTES, Capture, Trouble

if TYPE_CHECKING:
    from quire.sdiff.views.unseen import Unseen

PageStatus: TypeAlias = Literal["new", "gone", "changed", "same", "unreadable"]


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """A page of two sources, and what happened to it.

    Attributes:
        address: its address, or its path below the folder.
        status: ``new``, ``gone``, ``changed``, ``same`` (nothing changed that is compared, although
            the bytes may differ) or ``unreadable`` (it is in both, and could not be compared).
        old: the name of its capture in the old source; ``read_one`` reads it again.
        new: the name of its capture in the new source.
        summary: how much changed, if it changed.
        unseen: the invisible differences: ``white space``, ``comments`` and others.
        reason: why it could not be compared, in one line.
    """

    address: str
    status: PageStatus
    old: str | None = None
    new: str | None = None
    summary: Summary | None = None
    unseen: tuple[Unseen, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sources, compared page by page; true unless every page is the same.

    Attributes:
        pages: all pages of both sources, by address.
        troubles: what could not be read.
    """

    pages: tuple[ComparedPage, ...]
    troubles: tuple[Trouble, ...]

    def counts(self) -> dict[PageStatus, int]:
        """Count the pages of each status; those without any are left out."""
        return dict(Counter(page.status for page in self.pages))

    def __bool__(self) -> bool:
        return any(page.status != "same" for page in self.pages)


def compare(
    old: str,
    new: str,
    *,
    rules: Rules | None = None,
    facets: Iterable[Facet] | Facet = ALL_FACETS,
    most_bytes: int = MOST_BYTES,
    on_progress: Progress = no_progress,
) -> Comparison:
    """Compare two sources page by page.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {"old/a.html": "Cod 8", "old/b.html": "Hake", "new/a.html": "Cod 9"}.items():
    ...         Path(folder, name).parent.mkdir(exist_ok=True)
    ...         _ = Path(folder, name).write_text(f"<p>{text}")
    ...     found = compare(f"{folder}/old", f"{folder}/new")
    >>> [(page.address, page.status) for page in found.pages]
    [('a.html', 'changed'), ('b.html', 'gone')]
    >>> found.pages[0].summary.content, found.counts()
    (1, {'changed': 1, 'gone': 1})

    Args:
        old: the old source: a folder, a WARC, WACZ or Parquet file, or an archive.
        new: the new source, likewise.
        rules: which differences to ignore (default: none).
        facets: the facets to compare.
        most_bytes: a longer page is a ``Trouble``.
        on_progress: called after every pair of pages, with the step ``pages``.

    Raises:
        SourceNotFound: a source does not exist, or there is nothing to read in it.
        MissingExtra: a source needs a library that is not installed.
    """
    troubles: list[Trouble] = []
    pages = compare_each(
        old,
        new,
        rules=rules,
        facets=facets,
        most_bytes=most_bytes,
        on_trouble=troubles.append,
        on_progress=on_progress,
    )
    return Comparison(tuple(page for page, _ in pages), tuple(troubles))


def compare_each(
    old: str,
    new: str,
    *,
    rules: Rules | None = None,
    facets: Iterable[Facet] | Facet = ALL_FACETS,
    granularity: Granularity = "normal",
    most_bytes: int = MOST_BYTES,
    on_trouble: Callable[[Trouble], None] | None = None,
    on_progress: Progress = no_progress,
) -> Iterator[tuple[ComparedPage, Annotation | None]]:
    """Compare two sources like ``compare``, and give each page with its annotation if it changed.

    Only one annotation is in memory at a time, if you keep none.

    Args:
        old: as for ``compare``.
        new: as for ``compare``.
        rules: as for ``compare``.
        facets: as for ``compare``.
        granularity: as for ``quire.annotate``.
        most_bytes: as for ``compare``.
        on_trouble: called for everything that could not be read.
        on_progress: as for ``compare``.
    """
    wanted = tuple([facets] if isinstance(facets, str) else facets)
    how = _How(wanted, rules or Rules(), granularity, most_bytes)
    tell = on_trouble or (lambda _: None)
    before, after = (_listed(source, most_bytes, tell) for source in (old, new))
    addresses = sorted(before.keys() | after.keys())
    for done, address in enumerate(addresses, start=1):
        was, now = before.get(address), after.get(address)
        if was and now and not was.trouble and not now.trouble and was.hash != now.hash:
            yield _compared(address, was.name, now.name, how)
        else:
            yield _not_compared(address, was, now), None
        on_progress("pages", done, len(addresses))


@dataclass(frozen=True, slots=True)
class _How:
    facets: tuple[Facet, ...]
    rules: Rules
    granularity: Granularity
    most_bytes: int


@dataclass(frozen=True, slots=True)
class _Listed:
    name: str
    time: datetime | None
    hash: bytes
    trouble: str = ""


def _listed(
    source: str, most_bytes: int, on_trouble: Callable[[Trouble], None]
) -> dict[str, _Listed]:
    """List the pages of a source by address: the newest capture of each."""
    pages: dict[str, _Listed] = {}
    for path in find([source]):
        for found in read_path(path, newest=True, most_bytes=most_bytes):
            if not isinstance(found, Capture):
                on_trouble(found)
                if found.name == path:  # a page of its own: it is there, and cannot be read
                    pages[_below(path, source)] = _Listed(path, None, b"", found.reason)
                continue
            address = _address(found, source)
            known = pages.get(address)
            if known and known.time and (found.time is None or found.time < known.time):
                continue
            pages[address] = _Listed(found.name, found.time, _hash(found))
    return pages


def _address(capture: Capture, source: str) -> str:
    """Return the address of a page; of a file, its path below the source."""
    return _below(capture.name, source) if capture.url == capture.name else capture.url


def _below(path: str, source: str) -> str:
    inside = os.path.relpath(path, source)
    return os.path.basename(path) if inside == "." else inside  # noqa: PTH119 - as named


def _hash(capture: Capture) -> bytes:
    """Hash the bytes of a page, and its declared type, which says how they are read."""
    declared = (capture.content_type or "").encode("utf-8", "surrogateescape")
    return hashlib.blake2b(declared + b"\0" + capture.body, digest_size=16).digest()


def _not_compared(address: str, was: _Listed | None, now: _Listed | None) -> ComparedPage:
    """Say what happened to a page that is in one source only, has equal bytes or cannot be read."""
    old, new = was.name if was else None, now.name if now else None
    trouble = "; ".join(each.trouble for each in (was, now) if each and each.trouble)
    if trouble:
        return ComparedPage(address, "unreadable", old, new, reason=trouble)
    if was is None or now is None:
        return ComparedPage(address, "new" if was is None else "gone", old, new)
    return ComparedPage(address, "same", old, new)


def _compared(
    address: str, old_name: str, new_name: str, how: _How
) -> tuple[ComparedPage, Annotation | None]:
    names = old_name, new_name
    try:
        captures = [read_one(name, most_bytes=how.most_bytes) for name in names]
        old, new = (encode(each.body, content_type=each.content_type) for each in captures)
        annotation = annotate(old, new, how.rules, granularity=how.granularity)
    except (QuireError, OSError) as error:  # a page that is not well-formed, or gone meanwhile
        reason = " ".join(str(error).split())
        return ComparedPage(address, "unreadable", *names, reason=reason), None
    if not annotation.differs(how.facets):
        return ComparedPage(address, "same", *names), None
    unseen = unseen_differences(annotation) or ()
    page = ComparedPage(address, "changed", *names, summary=annotation.summary(), unseen=unseen)
    return page, annotation

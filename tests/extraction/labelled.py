"""Pages with labels: which regions, records and fields a reader would find on them.

``written()`` reads ``tests/pages/records``, ``corpus()`` the labels of the shared corpus
``records``. Each page belongs to one half: pages to fit on, and pages only to judge on.

A record is given as the set of its visible leaves (texts and images), so that it does not matter
whether an item or the wrapper inside it is taken for the record. A leaf inside two records of a
region (an answer inside a comment) belongs to the inner one.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quire.digest import Digest, encode
from quire.extraction.finding.runs import LEAST_RECORDS
from tests import corpus as shared

PAGES = Path(__file__).parents[1] / "pages" / "records"


class Half(Enum):
    """The use of a page: to fit, or only to judge."""

    FIT = "fit"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Region:
    """One list of a page, as a reader sees it."""

    at: int
    records: tuple[frozenset[int], ...]
    starts: tuple[int, ...]
    fields: dict[str, tuple[frozenset[int], ...]]

    @property
    def leaves(self) -> frozenset[int]:
        """The leaves of all records."""
        return frozenset().union(*self.records)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page and its labels; ``maybe`` are leaves that count neither as records nor as others."""

    name: str
    half: Half
    page: Digest
    regions: tuple[Region, ...]
    maybe: frozenset[int]


def leaves_of(page: Digest) -> NDArray[np.intp]:
    """The visible leaves of a page that show something: texts that are not blank, and images."""
    names = np.array([name in {"#text", "img"} for name in page.tag_names])
    found = np.flatnonzero(names[page.tag] & page.visible)
    text = page.tag_id("#text")
    body = page.select_one("body") or 0
    kept = [
        node
        for node in found
        if node >= body and (page.tag[node] != text or page.text(int(node)).strip())
    ]
    return np.array(kept, np.intp)


def written(half: Half | None = None) -> list[Labelled]:
    """The pages of the repository: even numbers to fit, odd numbers to judge."""
    found = []
    for case in sorted(path for path in PAGES.iterdir() if path.is_dir()):
        mine = Half.JUDGE if int(case.name[:2]) % 2 else Half.FIT
        if half in {None, mine}:
            labels = tomllib.loads((case / "expect.toml").read_text("utf-8"))
            found.append(_read(case.name, mine, (case / "page.html").read_bytes(), labels))
    return found


def corpus(half: Half | None = None) -> list[Labelled]:
    """The pages of the shared corpus ``records`` that have labels."""
    folder = shared.folder("records")
    labels = tomllib.loads((PAGES / "corpus.toml").read_text("utf-8"))
    inside = {str(path.relative_to(folder)): path for path in shared.files("records")}
    found = []
    for name, given in labels.items():
        path = next(path for known, path in inside.items() if known.endswith(name))
        if half in {None, Half(given["half"])}:
            found.append(_read(name, Half(given["half"]), path.read_bytes(), given))
    return found


def more(half: Half | None = None) -> list[Labelled]:
    """List pages of other corpora: news, documentation, events, questions."""
    labels = tomllib.loads((PAGES / "more.toml").read_text("utf-8"))
    found = []
    for name, given in labels.items():
        assert Half(given["half"]) is half_of(name), f"{name}: not the half of its name"
        if half in {None, Half(given["half"])}:
            path = shared.folder(name.partition("/")[0]) / name
            found.append(_read(name, Half(given["half"]), path.read_bytes(), given))
    return found


def half_of(name: str) -> Half:
    """The half of a page of ``more``, by its name."""
    first = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()[0]
    return Half.JUDGE if int(first, 16) % 2 else Half.FIT


def _read(name: str, half: Half, source: bytes, labels: dict[str, object]) -> Labelled:
    page = encode(source)
    leaves = leaves_of(page)
    given = labels.get("region", [])
    assert isinstance(given, list)
    regions = tuple(region for each in given for region in _regions(name, page, leaves, each))
    maybe: set[int] = set()
    for selector in labels.get("maybe", []):  # type: ignore[attr-defined]
        for node in page.select(selector):
            maybe.update(_within(page, leaves, int(node)))
    return Labelled(name, half, page, regions, frozenset(maybe))


def _within(page: Digest, leaves: NDArray[np.intp], node: int) -> list[int]:
    start, end = np.searchsorted(leaves, [node, node + int(page.size[node])])
    return [int(leaf) for leaf in leaves[start:end]]


def _regions(
    name: str, page: Digest, leaves: NDArray[np.intp], given: dict[str, object]
) -> Iterator[Region]:
    if "each" not in given:
        yield _region(name, page, leaves, given, 0)
        return
    for node in page.select(str(given["each"])).tolist():
        if len(page.select(str(given["records"]), within=node)) >= LEAST_RECORDS:
            yield _region(name, page, leaves, given, node)


def _region(
    name: str, page: Digest, leaves: NDArray[np.intp], given: dict[str, object], within: int
) -> Region:
    starts = page.select(str(given["records"]), within=within)
    assert len(starts), f"{name}: no node matches {given['records']}"
    members = page.select(str(given["members"]), within=within) if "members" in given else starts
    of: dict[int, set[int]] = {int(start): set() for start in starts}
    owner: dict[int, int] = {}
    for member in members:
        # A member that is not a start belongs to the start before it.
        start = int(starts[np.searchsorted(starts, member, side="right") - 1])
        for leaf in _within(page, leaves, int(member)):
            of[owner[leaf]].discard(leaf) if leaf in owner else None
            owner[leaf] = start
            of[start].add(leaf)
    fields: dict[str, tuple[frozenset[int], ...]] = {}
    asked = given.get("fields", {})
    assert isinstance(asked, dict)
    for field, selector in asked.items():
        found = {
            leaf for node in page.select(selector) for leaf in _within(page, leaves, int(node))
        }
        assert found, f"{name}: nothing in {field}"
        fields[field] = tuple(frozenset(found & kept) for kept in of.values() if kept)
    kept = tuple(frozenset(each) for each in of.values() if each)
    at = within or page.select(str(given["at"]))[0]
    return Region(int(at), kept, tuple(int(s) for s, each in of.items() if each), fields)

"""Detail pages of ten sites with the fields that a reader expects, kept as places and not as values.

``detail_sites.toml`` has the places; the values are read from the pages of the corpus.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import quire
from quire import Digest, Region
from quire.extraction.table.alignment import BETWEEN
from tests import corpus
from tests.extraction.labelled import Half

EXPECTED = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Site:
    """Pages of one template, and for each field its value on each page, if the page has it."""

    name: str
    half: Half
    pages: tuple[Digest, ...]
    fields: dict[str, tuple[str | None, ...]]


def sites(half: Half | None = None) -> list[Site]:
    """The sites, in the order of the file."""
    given = tomllib.loads(EXPECTED.read_text("utf-8"))
    root = corpus.folder("templates-swde-sites")
    found = []
    for name, fields in given.items():
        mine = Half(fields.pop("half"))
        if half not in {None, mine}:
            continue
        folder = next(path for path in root.rglob(name) if path.is_dir())
        pages = tuple(quire.encode(file.read_bytes()) for file in sorted(folder.glob("*.htm")))
        values = {
            field: tuple(_value(page, place) for page in pages) for field, place in fields.items()
        }
        found.append(Site(name, mine, pages, values))
    return found


def in_one_column(table: Region, wanted: Sequence[str | None]) -> int:
    """How many values of a field are in the cells of their pages, in the column with most."""
    counts = [
        sum(
            value is not None and value in {plain(part) for part in _parts(row[at])}
            for row, value in zip(table.rows, wanted, strict=True)
        )
        for at in range(len(table.columns))
    ]
    return max(counts, default=0)


def plain(text: str) -> str:
    """A text without white space, and without the punctuation around it."""
    return "".join(text.split()).strip(":|,;–-•·")


def _parts(cell: str | None) -> list[str]:
    return [] if cell is None else [cell, *cell.split(BETWEEN)]


def _value(page: Digest, place: str | dict[str, str]) -> str | None:
    at, cut = (place, "") if isinstance(place, str) else (place["at"], place["cut"])
    found = page.xpath(at)
    if isinstance(found, str | float | bool):
        raise TypeError(f"{at}: gives a value, not places")
    if not len(found):
        return None
    first = found[0]
    text = first if isinstance(first, str) else page.text(int(first))
    return plain(re.sub(f"^{re.escape(cut)}", "", text.strip())) or None

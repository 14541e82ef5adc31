"""The longest of the fragments that were written to files, for people to look at.

Files are read once, a row group at a time, so memory does not depend on the number of places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from quire.errors import MissingExtra
from quire.fragments.shared.large.crawl import WrittenFragments

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.tables import read_groups

_COLUMNS = ("fragment", "same", "page", "value_bytes", "byte_start")


@dataclass(frozen=True, slots=True)
class ListedFragment:
    """A fragment in one line.

    Attributes:
        number: its number; fragments with longer texts come first.
        same: how similar its places are, as in ``crawl_output.sameness``.
        text_bytes: length of its longest text.
        pages: number of pages that contain it.
        places: number of places where it occurs.
        name: name of the first page.
        byte_start: where it starts in the first page; None if unknown.
    """

    number: int
    same: str
    text_bytes: int
    pages: int
    places: int
    name: str
    byte_start: int | None


@dataclass(slots=True)
class _Seen:
    """The places of a fragment so far; they come in the order of pages."""

    one: ListedFragment
    first_page: int
    last_page: int


def list_longest(found: WrittenFragments, most: int) -> list[ListedFragment]:
    """Return the fragments with the longest texts, longest first.

    Args:
        found: the result of ``write_crawl_fragments``.
        most: number of fragments.
    """
    seen: dict[int, _Seen] = {}
    for file in found.places if most else ():
        for table in read_groups(file, _COLUMNS):
            chosen = table.filter(pc.less(table["fragment"], pa.scalar(most)))
            for number in np.unique(chosen["fragment"].to_numpy()).tolist():
                rows = chosen.filter(pc.equal(chosen["fragment"], pa.scalar(number)))
                _add(seen, number, rows)
    names = _names(found, {each.first_page for each in seen.values()})
    return [
        replace(seen[number].one, name=names[seen[number].first_page]) for number in sorted(seen)
    ]


def _add(seen: dict[int, _Seen], number: int, rows: pa.Table) -> None:
    pages = rows["page"].to_numpy()
    if number not in seen:
        start = rows["byte_start"][0].as_py()
        one = ListedFragment(number, rows["same"][0].as_py(), 0, 0, 0, "", start)
        seen[number] = _Seen(one, int(pages[0]), -1)
    known = seen[number]
    known.one = replace(
        known.one,
        text_bytes=max(known.one.text_bytes, int(rows["value_bytes"].to_numpy().max())),
        pages=known.one.pages + int(np.count_nonzero(np.diff(pages, prepend=known.last_page))),
        places=known.one.places + len(rows),
    )
    known.last_page = int(pages[-1])


def _names(found: WrittenFragments, wanted: set[int]) -> dict[int, str]:
    numbers = pa.array(sorted(wanted), pa.int64())
    names: dict[int, str] = {}
    for file in found.pages if wanted else ():
        for table in read_groups(file, ["page", "name"]):
            chosen = table.filter(pc.is_in(table["page"], numbers))
            names |= {int(row["page"]): str(row["name"]) for row in chosen.to_pylist()}
    return names

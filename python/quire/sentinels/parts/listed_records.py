"""Records of a list at a place of a page, each with what identifies it.

A record is known again by its link; without one, by its title. Its place in the list, its price and
its other fields do not identify it: they change while the record stays the same.

The link is that of the column whose links differ from record to record and have the longest texts:
the link of the title, not those of the author, the comments or the votes. Parameters that only say
where a reader comes from do not count, nor do parts of links that change at every fetch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urldefrag

import numpy as np

from quire.digest.page import Digest
from quire.extraction.region import Region
from quire.extraction.table.values import ValueType
from quire.sentinels.parts.location import Roots, inside
from quire.sentinels.parts.noisy import NoisyNodes

#: Records of one list that are read.
MOST_RECORDS = 20_000
#: Characters of what identifies a record, of one field in a notice, and of a whole line there.
MOST_KEY = 2_000
MOST_FIELD = 120
MOST_LINE = 500
#: Records whose links are measured to choose the column that identifies them.
_MEASURED = 200

# A column identifies records if so many have a value, and so many of the values are different.
_FILLED = 0.5
_DIFFERENT = 0.8
_TITLES = frozenset({"title", "name", "headline"})
#: Parameters of addresses that only say where a reader comes from.
TRACKING = frozenset(
    {"fbclid", "gclid", "utm_campaign", "utm_content", "utm_medium", "utm_source", "utm_term"}
)


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """One record of a list.

    Attributes:
        key: what identifies it.
        title: what people call it; may be empty.
        fields: its values with the names of their columns.
    """

    key: str
    title: str
    fields: tuple[tuple[str, str], ...]

    @property
    def line(self) -> str:
        """The record as people read it, with all its fields.

        >>> ListedRecord("/fish", "Fish", (("name", "Fish"), ("price", "9.50"))).line
        'Fish, price: 9.50'
        """
        title = self.title or self.key
        shown = [title[:MOST_FIELD]]
        shown += [f"{name}: {value[:MOST_FIELD]}" for name, value in self.fields if value != title]
        return ", ".join(shown)[:MOST_LINE]


@dataclass(frozen=True, slots=True)
class RecordList:
    """A list at a place of a page: where it is, and its records in their order."""

    region: Region
    records: tuple[ListedRecord, ...]


def record_list(
    page: Digest,
    region: Region,
    left_out: Roots,
    noise: NoisyNodes,
    *,
    address: Callable[[str], str] = str,
    text: Callable[[str], str] = str,
) -> RecordList:
    """Return a list of a page with what identifies its records.

    >>> import quire
    >>> items = "".join(f"<li><a href=/fish/{n}>Fish {n}</a> <i>{n}.50 €</i>" for n in range(4))
    >>> page = quire.encode(f"<ul>{items}</ul>".encode())
    >>> found = record_list(page, quire.records(page).best, page.select("nav"), NoisyNodes())
    >>> found.records[1].key, found.records[1].title
    ('/fish/1', 'Fish 1')

    Args:
        page: the page.
        region: the list.
        left_out: nodes that do not count.
        noise: parts of links and texts that do not count.
        address: returns an address as it is compared.
        text: returns a text as it is compared.
    """
    starts = np.array([record[0] for record in region.records], np.int64)
    kept = np.flatnonzero(~inside(page, starts, left_out)).tolist()[:MOST_RECORDS]
    reader = _Identities(page, region, noise, address, text)
    return RecordList(region, tuple(reader.records(kept)))


class _Identities:
    """Reads what identifies the records of one list."""

    def __init__(
        self,
        page: Digest,
        region: Region,
        noise: NoisyNodes,
        address: Callable[[str], str],
        text: Callable[[str], str],
    ) -> None:
        self.page = page
        self.region = region
        self.noise = noise
        self.address = address
        self.text = text
        self.link = self._link_column()
        self.titles = self._title_columns()
        # `Read more` is not a title.
        self.is_titled = _identify([self._link_text(row) for row in range(len(region.rows))])

    def records(self, rows: list[int]) -> Iterator[ListedRecord]:
        """Return some records."""
        copies: Counter[str] = Counter()
        for row in rows:
            found, is_linked = self._record(row)
            if not is_linked:
                # Two records with one title are two records, two with one link are one.
                copies[found.key] += 1
                if copies[found.key] > 1:
                    found = replace(found, key=f"{found.key} ({copies[found.key]})")
            yield found

    def _record(self, row: int) -> tuple[ListedRecord, bool]:
        """Return one record, and whether its link identifies it."""
        values = self.region.rows[row]
        named = zip(self.region.columns, values, strict=True)
        fields = tuple(
            (column.name, value)
            for column, value in named
            if value and column.type is not ValueType.IMAGE
        )
        title = self._title(row)
        link = "" if self.link is None else self._address(row, self.link)
        key = link or self.text(
            self._title(row, masked=True) or " ".join(value for _, value in fields)
        )
        return ListedRecord(key[:MOST_KEY], title[:MOST_KEY], fields), bool(link)

    def _link_column(self) -> int | None:
        """The column of links that identify records: different, and with the longest texts."""
        best: tuple[float, int] | None = None
        for at, column in enumerate(self.region.columns):
            if column.type is not ValueType.LINK:
                continue
            found = [self._address(row, at) for row in range(len(self.region.rows))]
            if not _identify(found):
                continue
            nodes = [row[at] for row in self.region.nodes[:_MEASURED]]
            texts = [len(self.page.text(node).strip()) for node in nodes if node is not None]
            length = sum(texts) / max(len(texts), 1)
            if best is None or length > best[0]:
                best = (length, at)
        return None if best is None else best[1]

    def _title_columns(self) -> list[int]:
        """The first column of texts that are different; all columns of texts if there is none."""
        texts = [
            at for at, column in enumerate(self.region.columns) if column.type is ValueType.TEXT
        ]
        different = [at for at in texts if _identify([row[at] for row in self.region.rows])]
        named = [at for at in different if self.region.columns[at].name.lower() in _TITLES]
        return (named or different)[:1] or texts

    def _title(self, row: int, *, masked: bool = False) -> str:
        if self.is_titled and not masked and (shown := self._link_text(row)):
            return shown
        read = self._masked if masked else self._value
        return " ".join(filter(None, (read(row, at) for at in self.titles)))

    def _link_text(self, row: int) -> str:
        node = None if self.link is None else self.region.nodes[row][self.link]
        return "" if node is None else " ".join(self.page.text(node).split())

    def _value(self, row: int, at: int) -> str:
        return self.region.rows[row][at] or ""

    def _masked(self, row: int, at: int) -> str:
        """Return a value without the texts in it that change at every fetch."""
        node = self.region.nodes[row][at]
        if node is None or not self.noise.texts:
            return self._value(row, at)
        end = node + int(self.page.size[node])
        noisy = [each for each in self.noise.texts if node <= each < end]
        if not noisy:
            return self._value(row, at)
        kept = self.page.text(node, without=noisy)
        return " ".join([*kept.split(), *(self.noise.texts[each] for each in noisy)])

    def _address(self, row: int, at: int) -> str:
        """Return a link as it is compared; empty if it leads nowhere."""
        value, node = self.region.rows[row][at], self.region.nodes[row][at]
        if value is None or node is None:
            return ""
        mask = self.noise.links.get(node)
        written = self.address(value if mask is None else mask(value))
        if written.lower().startswith(("javascript:", "mailto:", "tel:")):
            return ""
        try:
            return urldefrag(written).url or written.strip("#")
        except ValueError:  # such as an unclosed bracket in the host: compared as it is written
            return written


def _identify(values: list[str | None] | list[str]) -> bool:
    """Tell whether values tell records apart: most have one, and most are different."""
    filled = [value for value in values if value]
    return len(filled) >= _FILLED * len(values) and len(set(filled)) >= _DIFFERENT * len(filled) > 0

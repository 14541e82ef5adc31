"""The extractor: learned from one page, saved, applied to pages of the same template.

Applying never gives an empty or doubtful answer in silence. If the selectors still find records with
all expected columns, these are the answer. If not, the region is searched again among all lists of
the page, by the profiles of its columns; the answer then says what moved. If that is not clear
either, it raises ``TemplateDrift``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from quire.atomic import write_atomic
from quire.digest.page import Digest
from quire.errors import ExtractorError, RecordsNotFound, SelectorError, TemplateDrift
from quire.extraction.extractor.profiles import Profile, matched, profiles
from quire.extraction.extractor.selectors import RecordSelector, record_selector
from quire.extraction.find_records import records
from quire.extraction.finding.regions import find
from quire.extraction.outline import Outline, outline
from quire.extraction.region import Region, RegionSource
from quire.extraction.table.cells import Key, Source
from quire.extraction.table.table import Column, Table, read_table
from quire.extraction.table.values import ValueType

FORMAT = 1
# An expected column has values in at least this share of records, or it is missing.
_LEAST_FILLED = 0.5


@dataclass(frozen=True, slots=True)
class Applied:
    """The records that an extractor found on a page; ``moved`` lists all that changed its place."""

    region: Region
    moved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Extractor:
    """Selectors for records and profiles of their columns.

    >>> import quire
    >>> def shop(first):
    ...     items = (
    ...         f"<li class=item><b class=name>Fish {n}</b> <i class=price>{n}.50 €</i>"
    ...         for n in range(first, first + 5)
    ...     )
    ...     return quire.encode(f"<ul class=shop>{''.join(items)}</ul>".encode())
    >>> extractor = Extractor.learn(shop(1))
    >>> extractor.selector.starts
    'ul.shop > li.item'
    >>> extractor.apply(shop(7)).region.rows[0]
    ('Fish 7', '7.50 €')
    """

    selector: RecordSelector | None
    path: str
    columns: tuple[Profile, ...]
    records: int

    # ------------------------------------------------------------ learning

    @classmethod
    def learn(
        cls,
        page: Digest,
        *,
        region: int = 0,
        examples: Iterable[str] = (),
        siblings: Iterable[Digest] = (),
    ) -> Self:
        """Learn an extractor from one page.

        Args:
            page: a page with records.
            region: which region of ``quire.records(page)`` to learn.
            examples: values; if given, the first region that has all of them is learned.
            siblings: other pages of the template. Columns that some of them lack are not expected.

        Raises:
            RecordsNotFound: the page has no such region.
        """
        wanted = [" ".join(value.split()) for value in examples]
        visible = [one for one in records(page) if one.source is RegionSource.VISIBLE]
        if wanted:
            having = [one for one in visible if _has_all(one, wanted)]
            if not having:
                raise RecordsNotFound(f"no list of records has the values {', '.join(wanted)}")
            chosen = having[0]
        elif region < len(visible):
            chosen = visible[region]
        else:
            raise RecordsNotFound(f"the page has {len(visible)} lists of records, not {region + 1}")
        learned = cls.of_region(page, chosen)
        return learned.checked_on(siblings)

    @classmethod
    def of_region(cls, page: Digest, region: Region) -> Self:
        """Learn an extractor of one region of a page.

        Columns that cannot be told from each other on that page itself are not expected on others.
        """
        table = Table(region.columns, region.rows, region.nodes)
        learned = cls(
            record_selector(page, region), region.path, tuple(profiles(table)), len(region.rows)
        )
        return learned._expecting(outline(page), region.records, learned._filled())

    def checked_on(self, siblings: Iterable[Digest]) -> Self:
        """The same extractor, expecting only columns that the siblings have too."""
        found = self
        for page in siblings:
            records = self.selector.select(page) if self.selector is not None else ()
            if records:
                found = self._expecting(outline(page), records, found._filled())
        return found

    def _filled(self) -> list[float]:
        return [column.filled for column in self.columns]

    def _expecting(
        self, view: Outline, records: tuple[tuple[int, ...], ...], filled: list[float]
    ) -> Self:
        """The same extractor, expecting no more of each column than some records have."""
        table, _, _ = self._read(view, records, None)
        shares = [
            min(before, round(sum(row[at] is not None for row in table.rows) / len(table.rows), 3))
            for at, before in enumerate(filled)
        ]
        columns = tuple(
            replace(column, filled=share)
            for column, share in zip(self.columns, shares, strict=True)
        )
        return replace(self, columns=columns)

    def _known(self) -> dict[Key, list[tuple[str, ...]]]:
        """The patterns of the known columns, by key."""
        found: dict[Key, list[tuple[str, ...]]] = {}
        for column in self.columns:
            key = Key(column.path, column.source, column.column)
            found.setdefault(key, []).append(column.patterns)
        return found

    # ------------------------------------------------------------ applying

    def apply(self, page: Digest, *, base: str | None = None) -> Applied:
        """Read the records of a page of the same template.

        Raises:
            TemplateDrift: the page does not fit, and the records cannot be found again for certain.
        """
        view = outline(page)
        missing: tuple[str, ...] = ()
        if self.selector is not None:
            try:
                found = self.selector.select(page)
            except SelectorError as error:
                raise ExtractorError(f"the extractor has a wrong selector: {error}") from error
            if found:
                table, missing, moved = self._read(view, found, base)
                if not missing:
                    return Applied(self._region(view, found, table), moved)
        return self._search(view, base, missing)

    def missing(self, page: Digest, region: Region) -> tuple[str, ...]:
        """The expected columns that a region of a page does not have; none if it fits."""
        return self._read(outline(page), region.records, None)[1]

    def _search(self, view: Outline, base: str | None, missing: tuple[str, ...]) -> Applied:
        """Find the region again among all lists of a page."""
        fitting: list[tuple[tuple[tuple[int, ...], ...], Table, tuple[str, ...]]] = []
        nearest: tuple[int, tuple[str, ...]] | None = None
        for one in find(view):
            table, lost, moved = self._read(view, one.records, base)
            if not lost:
                fitting.append((one.records, table, moved))
            elif nearest is None or len(lost) < nearest[0]:
                nearest = (len(lost), lost)
        if self.selector is None and len(fitting) > 1:
            # Without a selector, the place is all that tells lists of the same columns apart.
            fitting = [
                each for each in fitting if view.page.path(_around(view, each[0])) == self.path
            ] or fitting
        if len(fitting) == 1:
            found, table, moved = fitting[0]
            region = self._region(view, found, table)
            return Applied(region, (*self._records_moved(view, region), *moved))
        lost = missing or (nearest[1] if nearest is not None else ())
        raise TemplateDrift(self._reason(len(fitting), lost, is_found=bool(missing)), missing=lost)

    def _reason(self, fitting: int, lost: tuple[str, ...], *, is_found: bool) -> str:
        where = self.selector.starts if self.selector is not None else self.path
        if fitting:
            return f"{where}: not found, and {fitting} lists of the page could be the records"
        if is_found:
            return f"{where}: found, but without {', '.join(lost)}; expected in every record"
        return f"{where}: not found, and no list of the page has the expected columns"

    def _read(
        self, view: Outline, found: tuple[tuple[int, ...], ...], base: str | None
    ) -> tuple[Table, tuple[str, ...], tuple[str, ...]]:
        """Read records with the known columns; also the missing ones, and what moved."""
        table = read_table(view, found, base, known=self._known())
        measured = profiles(table)
        places = matched(list(self.columns), measured)
        columns = tuple(
            Column(known.name, known.type, Key(known.path, known.source, known.column))
            for known in self.columns
        )
        rows = tuple(
            tuple(None if place is None else row[place] for place in places) for row in table.rows
        )
        nodes = tuple(
            tuple(None if place is None else row[place] for place in places) for row in table.nodes
        )
        missing = []
        for at, known in enumerate(self.columns):
            filled = sum(row[at] is not None for row in rows) / max(len(rows), 1)
            if known.is_expected and filled < _LEAST_FILLED:
                missing.append(known.name)
        if not any(known.is_expected for known in self.columns) and not any(
            place is not None for place in places
        ):
            missing = [known.name for known in self.columns]
        moved = []
        for known, place in zip(self.columns, places, strict=True):
            if place is not None and measured[place].path != known.path:
                old, new = " > ".join(known.path), " > ".join(measured[place].path)
                moved.append(f"column {known.name}: {old} -> {new}")
        return Table(columns, rows, nodes), tuple(missing), tuple(moved)

    def _region(self, view: Outline, found: tuple[tuple[int, ...], ...], table: Table) -> Region:
        node = _around(view, found)
        return Region(
            node=node,
            path=view.page.path(node),
            confidence=1.0,
            source=RegionSource.VISIBLE,
            records=found,
            columns=table.columns,
            rows=table.rows,
            nodes=table.nodes,
        )

    def _records_moved(self, view: Outline, region: Region) -> tuple[str, ...]:
        if self.selector is None and region.path == self.path:
            return ()  # no short selector was found when it was learned; the place is the same
        old = self.selector.starts if self.selector is not None else self.path
        now = record_selector(view.page, region)
        return (f"records: {old} -> {now.starts if now is not None else region.path}",)

    # ------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the extractor to a JSON file."""
        write_atomic(path, (self.to_json() + "\n").encode())

    def to_json(self) -> str:
        """The extractor as JSON; it has hashes of values, never values."""
        columns = []
        for column in self.columns:
            plain = asdict(column)
            plain |= {"type": column.type.value, "source": column.source.value}
            plain |= {"hashes": sorted(column.hashes)}
            columns.append(plain)
        selector = asdict(self.selector) if self.selector is not None else None
        value = {"quire_extractor": FORMAT, "selector": selector, "path": self.path}
        return json.dumps(
            value | {"records": self.records, "columns": columns}, ensure_ascii=False, indent=2
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an extractor from a JSON file.

        Raises:
            ExtractorError: the file is not an extractor of this version.
        """
        return cls.from_json(Path(path).read_text("utf-8"), name=os.fspath(path))

    @classmethod
    def from_json(cls, text: str, *, name: str = "extractor") -> Self:
        """Read an extractor from JSON.

        Raises:
            ExtractorError: the text is not an extractor of this version.
        """
        try:
            value = json.loads(text)
            _check_format(value["quire_extractor"], name)
            selector = value["selector"]
            return cls(
                RecordSelector(str(selector["starts"]), str(selector["members"]))
                if selector is not None
                else None,
                str(value["path"]),
                tuple(_profile(each) for each in value["columns"]),
                int(value["records"]),
            )
        except ExtractorError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ExtractorError(
                f"{name}: not an extractor: {type(error).__name__} {error}"
            ) from error


def _check_format(found: object, name: str) -> None:
    if found != FORMAT:
        raise ExtractorError(f"{name}: extractor format {found}, but this version reads {FORMAT}")


def _profile(plain: dict[str, object]) -> Profile:
    return Profile(
        name=str(plain["name"]),
        type=ValueType(plain["type"]),
        source=Source(plain["source"]),
        path=tuple(map(str, plain["path"])),  # type: ignore[call-overload] # checked by its caller
        column=int(plain["column"]),  # type: ignore[call-overload] # same
        filled=float(plain["filled"]),  # type: ignore[arg-type] # same
        characters=float(plain["characters"]),  # type: ignore[arg-type] # same
        digits=float(plain["digits"]),  # type: ignore[arg-type] # same
        patterns=tuple(map(str, plain["patterns"])),  # type: ignore[call-overload] # same
        hashes=frozenset(map(str, plain["hashes"])),  # type: ignore[call-overload] # same
    )


def _has_all(region: Region, wanted: list[str]) -> bool:
    shown = {" ".join(value.split()) for row in region.rows for value in row if value}
    return all(any(value == each or value in each for each in shown) for value in wanted)


def _around(view: Outline, found: tuple[tuple[int, ...], ...]) -> int:
    """The innermost node around all records."""
    first, last = found[0][0], found[-1][-1]
    node = int(view.parent[first])
    while node > 0 and view.end[node] <= last:
        node = int(view.parent[node])
    return max(node, 0)

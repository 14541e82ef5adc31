"""Regions of records, and what they can be written as: CSV, JSON, Parquet, data frames."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, overload

from quire.errors import MissingExtra, RecordsNotFound
from quire.extraction.table.table import Column


class RegionSource(Enum):
    """Where the records of a region were read."""

    VISIBLE = "visible"
    JSON_LD = "json-ld"


@dataclass(frozen=True, slots=True)
class Region:
    """One list of records of a page, as a table.

    Attributes:
        node: the element around the records, or the script of structured data.
        path: a CSS selector of that element.
        confidence: how sure it is that these are records, from 0 to 1.
        source: whether readers see the records or programs read them.
        records: the nodes of each record; several if a record is a run of siblings.
        columns: the fields, in the order in which records show them.
        rows: for each record a value for each column, None where it has none.
        nodes: the node of each value.
    """

    node: int
    path: str
    confidence: float
    source: RegionSource
    records: tuple[tuple[int, ...], ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]
    nodes: tuple[tuple[int | None, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> list[str | None]:
        """The values of a column.

        Raises:
            KeyError: no column has this name.
        """
        if name not in self.names:
            raise KeyError(f"no column {name!r}; the columns are {', '.join(self.names)}")
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def to_dicts(self) -> list[dict[str, str | None]]:
        """The records as dictionaries; blanks are None."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def to_json(self) -> str:
        """The records as a JSON array of objects."""
        return json.dumps(self.to_dicts(), ensure_ascii=False, indent=2)

    def to_csv(self, *, escape_formulas: bool = False) -> str:
        r"""The records as CSV with a header line; blanks are empty.

        >>> import quire
        >>> rows = "".join(f"<tr><td>Town {n}<td>{n}00" for n in range(1, 4))
        >>> page = quire.encode(f"<table><tr><th>Name<th>People{rows}</table>".encode())
        >>> print(quire.records(page)[0].to_csv())
        Name,People
        Town 1,100
        Town 2,200
        Town 3,300
        <BLANKLINE>

        Args:
            escape_formulas: put ``'`` in front of values that spreadsheets would calculate. The
                text of a page can be anyone's; use it if you open the file in a spreadsheet.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.names)
        for row in self.rows:
            values = ["" if value is None else value for value in row]
            writer.writerow([_escaped(value) for value in values] if escape_formulas else values)
        return out.getvalue()

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow is optional
        """The records as a ``pyarrow.Table`` of strings.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        pyarrow = _optional("pyarrow", "archive")
        text = pyarrow.string()
        fields = [
            pyarrow.field(column.name, text, metadata={"type": column.type.value})
            for column in self.columns
        ]
        arrays = [
            pyarrow.array([row[at] for row in self.rows], text) for at in range(len(self.columns))
        ]
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the records to a Parquet file.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        table = self.to_arrow()
        _optional("pyarrow.parquet", "archive").write_table(table, Path(path))

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is optional
        """The records as a ``pandas.DataFrame`` of the dtype ``string``; blanks are missing values.

        Raises:
            MissingExtra: pandas is not installed.
        """
        # The dtype is given: a column with nothing in it would be one of objects.
        return _optional("pandas", "pandas").DataFrame(self._by_column(), dtype="string")

    def to_polars(self) -> Any:  # noqa: ANN401 - polars is optional
        """The records as a ``polars.DataFrame`` of strings; blanks are null.

        Raises:
            MissingExtra: polars is not installed.
        """
        polars = _optional("polars", "polars")
        return polars.DataFrame(self._by_column(), schema=dict.fromkeys(self.names, polars.String))

    def _by_column(self) -> dict[str, list[str | None]]:
        return {name: [row[at] for row in self.rows] for at, name in enumerate(self.names)}

    def __repr__(self) -> str:
        return (
            f"<Region {self.path}, {len(self.rows)} records, {len(self.columns)} columns, "
            f"confidence {self.confidence:.2f}>"
        )


@dataclass(frozen=True, slots=True)
class Records(Sequence[Region]):
    """The regions of a page, the most important one first.

    The methods that write something write the first region.
    """

    regions: tuple[Region, ...]

    def __len__(self) -> int:
        return len(self.regions)

    @overload
    def __getitem__(self, index: int, /) -> Region: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[Region, ...]: ...
    def __getitem__(self, index: int | slice, /) -> Region | tuple[Region, ...]:
        return self.regions[index]

    def __iter__(self) -> Iterator[Region]:
        return iter(self.regions)

    @property
    def best(self) -> Region:
        """The first region.

        Raises:
            RecordsNotFound: the page has no region.
        """
        if not self.regions:
            raise RecordsNotFound("the page has no list of records")
        return self.regions[0]

    def to_dicts(self) -> list[dict[str, str | None]]:
        """The records of the first region as dictionaries."""
        return self.best.to_dicts()

    def to_csv(self, *, escape_formulas: bool = False) -> str:
        """The records of the first region as CSV."""
        return self.best.to_csv(escape_formulas=escape_formulas)

    def to_json(self) -> str:
        """The records of the first region as JSON."""
        return self.best.to_json()

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the records of the first region to a Parquet file."""
        self.best.to_parquet(path)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is optional
        """The records of the first region as a ``pandas.DataFrame``."""
        return self.best.to_pandas()

    def to_polars(self) -> Any:  # noqa: ANN401 - polars is optional
        """The records of the first region as a ``polars.DataFrame``."""
        return self.best.to_polars()


def _escaped(value: str) -> str:
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _optional(name: str, extra: str) -> Any:  # noqa: ANN401 - whatever the module has
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{name.partition('.')[0]} is not installed", extra=extra) from None

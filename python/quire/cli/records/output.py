"""The output of ``quire records``: tables for people, CSV, JSON and Parquet for programs."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from quire.cli.common import files, terminal
from quire.display import format_count

if TYPE_CHECKING:
    from quire.extraction import Region

_MOST_ROWS = 20
_MOST_COLUMNS = 8
_MOST_CHARACTERS = 40


class RecordFormat(StrEnum):
    """The output formats."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def write_region(
    region: Region, format_: RecordFormat, output: Path | None, *, force: bool, safe: bool
) -> None:
    """Write one table to a file or to standard output."""
    data = _bytes(region, format_, safe=safe)
    if output is not None:
        files.write_whole(output, data, force=force)
    elif format_ is RecordFormat.parquet:
        with terminal.binary_output() as out:
            out.write(data)
    else:
        terminal.write_text(data.decode())


def _bytes(region: Region, format_: RecordFormat, *, safe: bool) -> bytes:
    if format_ is RecordFormat.csv:
        return region.to_csv(escape_formulas=safe).encode()
    if format_ is RecordFormat.json:
        return (region.to_json() + "\n").encode()
    if format_ is RecordFormat.parquet:
        import pyarrow.parquet  # noqa: PLC0415 - heavy, and an extra

        table = region.to_arrow()  # says so if pyarrow is not installed
        out = io.BytesIO()
        pyarrow.parquet.write_table(table, out)
        return out.getvalue()
    return "".join(f"{line}\n" for line in _lines(region)).encode()


def write_regions(
    named: Sequence[tuple[str, Sequence[Region]]],
    format_: RecordFormat,
    output: Path | None,
    *,
    force: bool,
) -> None:
    """Write all regions of all pages: as JSON, or as tables that show the first rows."""
    if format_ is RecordFormat.json:
        value = [
            {"page": name, "regions": [_plain(region) for region in regions]}
            for name, regions in named
        ]
        if output is None:
            terminal.write_json(value)
            return
        text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    else:
        text = "".join(_shown(name if len(named) > 1 else None, found) for name, found in named)
    if output is None:
        terminal.write_text(text)
    else:
        files.write_whole(output, text.encode(), force=force)


def _plain(region: Region) -> dict[str, object]:
    return {
        "path": region.path,
        "confidence": region.confidence,
        "source": region.source.value,
        "columns": [{"name": column.name, "type": column.type.value} for column in region.columns],
        "records": region.to_dicts(),
    }


def _shown(name: str | None, regions: Sequence[Region]) -> str:
    """The regions of a page as tables."""
    lines = [] if name is None else [terminal.one_line(name, most=120)]
    for number, region in enumerate(regions, 1):
        lines += [
            (
                f"Region {number}: {format_count(len(region), 'record')}, confidence "
                f"{region.confidence:.2f}, {terminal.one_line(region.path, most=100)}"
            ),
            "",
            *_lines(region, most=_MOST_ROWS),
            "",
        ]
    return "".join(f"{line}\n" for line in lines)


def _lines(region: Region, most: int | None = None) -> list[str]:
    """The lines of a table, with aligned columns."""
    columns = range(min(len(region.columns), _MOST_COLUMNS))
    grid = [[_cell(region.columns[at].name) for at in columns]]
    grid += [[_cell(row[at]) for at in columns] for row in region.rows[:most]]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    grid.insert(1, ["-" * width for width in widths])
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in grid
    ]
    more = len(region.rows) - (most or len(region.rows))
    hidden = len(region.columns) - len(columns)
    if more > 0 or hidden > 0:
        lines.append(f"… {more:,} more records, {hidden} more columns; --format csv has all")
    return lines


def _cell(value: str | None) -> str:
    return terminal.one_line(value or "", most=_MOST_CHARACTERS)

"""Records found from the values of the first one: autoscraper beside the extractor of quire.

autoscraper needs example values, and gives values rather than records. So both get the texts of the
first labelled record of a region, and are judged by the texts of all its records. Texts that nearly
all records have ("Add to basket") say nothing and are left out.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from benchmarks.report import Table
from quire.errors import RecordsNotFound, TemplateDrift
from quire.extraction import Extractor
from quire.extraction.table.values import ValueType
from tests.extraction.labelled import Labelled, Region

#: Gives the texts found on a page, after it got the texts of one record; None if it fails.
ByExample: TypeAlias = Callable[[Labelled, Sequence[str]], list[str] | None]

# The extractor asks for one or two values; autoscraper gets all, as it finds only what it is given.
_EXAMPLES = 2
# A record is found if so many of its texts are.
_SHARE = 0.9
# Texts that so many records have are labels.
_LABEL = 0.9
# A shorter text has to be a value itself; a longer one can be part of one.
_LEAST_PART = 4


def autoscraper(page: Labelled, first: Sequence[str]) -> list[str] | None:
    """All values that autoscraper finds alike; None if it cannot read the page."""
    module = importlib.import_module("autoscraper")

    html = page.page.decode().decode("utf-8", "replace")
    try:
        found = module.AutoScraper().build(html=html, wanted_list=list(first))
    except (ValueError, TypeError, AttributeError):  # its parser fails on some attributes
        return None
    return [str(value) for value in found]


def extractor(page: Labelled, first: Sequence[str]) -> list[str]:
    """The texts of the region that has the first two texts, as an extractor reads it."""
    try:
        found = Extractor.learn(page.page, examples=first[:_EXAMPLES]).apply(page.page)
    except (RecordsNotFound, TemplateDrift):
        return []
    texts = [
        at
        for at, column in enumerate(found.region.columns)
        if column.type not in {ValueType.LINK, ValueType.IMAGE}
    ]
    return [value for row in found.region.rows for at in texts if (value := row[at])]


def finders() -> dict[str, ByExample]:
    """Everything that works from examples and is installed."""
    found: dict[str, ByExample] = {"quire.Extractor": extractor}
    if importlib.util.find_spec("autoscraper") is not None:
        found["autoscraper"] = autoscraper
    return found


def table(sets: dict[str, list[Labelled]]) -> Table:
    """For each finder and each set of pages: records found, and the share of values that are right."""
    rows = []
    for name, finder in finders().items():
        row = [name]
        for pages in sets.values():
            found = of = right = given = failed = 0
            for page in pages:
                for region in page.regions:
                    texts = _texts(page, region)
                    answer = finder(page, texts[0])
                    failed += answer is None
                    values = answer or []
                    found += sum(_has(values, record) for record in texts)
                    of += len(texts)
                    wanted = {
                        _plain(text) for record in _all_texts(page, region) for text in record
                    }
                    right += sum(_is_wanted(value, wanted) for value in values)
                    given += len(values)
            row.append(
                f"{found} of {of} ({found / of:.3f}), {right / max(given, 1):.3f}"
                + (f", {failed} regions failed" if failed else "")
            )
        rows.append(row)
    return Table(
        ["", *sets],
        rows,
        "From the values of the first record: records found, and the share of values that belong to records",
    )


def _all_texts(page: Labelled, region: Region) -> list[list[str]]:
    return [
        [text for leaf in sorted(record) if (text := " ".join(page.page.text(leaf).split()))]
        for record in region.records
    ]


def _texts(page: Labelled, region: Region) -> list[list[str]]:
    """The texts of each record that are not labels, each once."""
    found = [list(dict.fromkeys(record)) for record in _all_texts(page, region)]
    counts = Counter(text for record in found for text in record)
    most = _LABEL * len(found)
    kept = [[text for text in record if counts[text] < most] for record in found]
    return [record for record in kept if record]


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def _has(values: Sequence[str], record: Sequence[str]) -> bool:
    whole = {_plain(value) for value in values}
    joined = "\n".join(whole)
    found = sum(
        (plain := _plain(text)) in whole or (len(plain) >= _LEAST_PART and plain in joined)
        for text in record
    )
    return found >= _SHARE * len(record)


def _is_wanted(value: str, wanted: set[str]) -> bool:
    plain = _plain(value)
    return plain in wanted or any(len(text) >= _LEAST_PART and text in plain for text in wanted)

"""``quire similar DIR``: list the pages of a folder or crawl that are near-duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.crawls import find_sources, nothing_read, print_troubles
from quire.cli.common.open_page import EXPECTED
from quire.cli.common.options import Format
from quire.cli.common.terminal import printable
from quire.display import format_count, shorten

if TYPE_CHECKING:
    from quire.similar import BagMeasure
    from quire.similar.near_duplicates import Duplicates
    from quire.sources import Trouble

_MOST_GROUPS = 100
_MOST_PAGES = 20
_MOST_NAME = 100
_DECIMALS = 6


def list_near_duplicates(
    source: str,
    on: BagMeasure,
    threshold: float,
    format: Format,  # noqa: A002 - of the option
) -> None:
    """Print the groups of near-duplicates in a source.

    Raises:
        Refusal: no page could be read.
        SourceNotFound: the source does not exist, or there is nothing to read in it.
    """
    from quire.captures import read_newest  # noqa: PLC0415 - heavy
    from quire.digest import encode  # noqa: PLC0415 - heavy
    from quire.similar.near_duplicates import Collection  # noqa: PLC0415 - heavy
    from quire.sources import Capture, Trouble  # noqa: PLC0415 - heavy

    collection = Collection(on)
    names: list[str] = []
    troubles: list[Trouble] = []
    for path in find_sources([source]):
        for found in read_newest(path):
            if not isinstance(found, Capture):
                troubles.append(found)
                continue
            try:
                collection.add(encode(found.body, content_type=found.content_type))
            except EXPECTED as error:
                troubles.append(Trouble(found.name, str(error)))
                continue
            names.append(found.name)
    if not names:
        raise nothing_read(troubles, len(troubles))
    groups = collection.near_duplicates(threshold)
    if format is Format.json:
        terminal.write_json(
            {
                "on": on,
                "threshold": threshold,
                "pages": len(names),
                "groups": [_as_json(group, names) for group in groups],
                "troubles": [{"name": each.name, "reason": each.reason} for each in troubles],
            }
        )
        return
    for group in groups[:_MOST_GROUPS]:
        _print(group, names)
    more = len(groups) - _MOST_GROUPS
    if more > 0:
        terminal.write_text(f"… {more:,} more groups; --format json lists all\n")
    extra = sum(len(group.pages) - 1 for group in groups)
    terminal.write_text(
        f"{format_count(len(names), 'page')}, {format_count(len(groups), 'group')} of "
        f"near-duplicates: {extra:,} could go\n"
    )
    print_troubles(troubles, elsewhere="--format json lists all")


def _as_json(group: Duplicates, names: list[str]) -> dict[str, object]:
    return {
        "pages": [
            {"name": names[page], "similarity": round(similarity, _DECIMALS)}
            for page, similarity in zip(
                group.pages.tolist(), group.similarities.tolist(), strict=True
            )
        ]
    }


def _print(group: Duplicates, names: list[str]) -> None:
    first, *others = zip(group.pages.tolist(), group.similarities.tolist(), strict=True)
    terminal.write_text(f"{printable(shorten(names[first[0]], _MOST_NAME))}\n")
    for page, similarity in others[:_MOST_PAGES]:
        name = printable(shorten(names[page], _MOST_NAME))
        terminal.write_text(f"  {similarity:.4f}  {name}\n")
    more = len(others) - _MOST_PAGES
    if more > 0:
        terminal.write_text(f"  … {more:,} more\n")

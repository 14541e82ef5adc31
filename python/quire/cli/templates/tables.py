"""The table that ``quire templates`` prints: a row for each group, then totals and troubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.crawls import print_troubles
from quire.cli.common.terminal import printable
from quire.display import format_count, shorten

if TYPE_CHECKING:
    from quire.similar.crawl.templates import CrawlTemplates

_MOST_GROUPS = 100
_MOST_NAME = 70
_MOST_LOOSE = 5
# Width of the other columns; the name gets the rest of the line, and a minimum.
_OTHER_COLUMNS = 42
_LEAST_NAME = 30


def print_groups(crawl: CrawlTemplates) -> None:
    """Print the groups of a crawl, the share of pages they cover, and the troubles."""
    from rich.table import Table  # noqa: PLC0415 - heavy

    found = crawl.templates
    n = len(found.group_of)
    console = terminal.console()
    most_name = max(_LEAST_NAME, console.width - _OTHER_COLUMNS)
    if found.groups:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("no.", "pages", "share", "fit", "outliers"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("representative", overflow="fold")
        for group in found.groups[:_MOST_GROUPS]:
            table.add_row(
                str(group.number),
                f"{group.size:,}",
                f"{100 * group.size / n:.1f} %",
                f"{group.fit:.2f}",
                f"{len(group.outliers):,}",
                printable(shorten(crawl.name(group.representative), most_name)),
            )
        console.print(table)
    more = len(found.groups) - _MOST_GROUPS
    if more > 0:
        terminal.write_text(f"… {more:,} smaller ones; -o and --report list all\n")
    terminal.write_text(
        f"{format_count(len(found.groups), 'template')}, {format_count(n, 'page')}, {len(found.singles):,} like no other: "
        f"{100 * found.coverage:.1f} % have a template\n"
    )
    print_troubles(crawl.troubles)
    if found.loose:
        numbers = ", ".join(f"no. {group.number}" for group in found.loose[:_MOST_LOOSE])
        beyond = ", …" if len(found.loose) > _MOST_LOOSE else ""
        terminal.advise(
            f"{format_count(len(found.loose), 'template')} may be more than one ({numbers}{beyond}); "
            f"try --threshold {found.tighter_threshold:g}"
        )

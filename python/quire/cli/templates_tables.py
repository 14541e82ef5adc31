"""What ``quire templates`` prints for a person: a row for each group, then what is in none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.cli import terminal
from quire.cli.terminal import shown
from quire.writing import shortened

if TYPE_CHECKING:
    from quire.similarity.crawls import CrawlTemplates
    from quire.sources import Trouble

_MOST_GROUPS = 100
_MOST_TROUBLES = 20
_MOST_NAME = 70
# What the other columns take of a line; a name gets the rest, and some letters at least.
_OTHER_COLUMNS = 42
_LEAST_NAME = 30


def print_groups(crawl: CrawlTemplates) -> None:
    """Print the groups of a crawl, how much they cover, and what could not be read."""
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
                shown(shortened(crawl.name(group.representative), most_name)),
            )
        console.print(table)
    more = len(found.groups) - _MOST_GROUPS
    if more > 0:
        terminal.write_text(f"… {more:,} smaller ones; -o and --report have all\n")
    terminal.write_text(
        f"{counted(len(found.groups), 'template')}, {counted(n, 'page')}, {len(found.singles):,} like no other: "
        f"{100 * found.coverage:.1f} % have a template\n"
    )
    print_troubles(crawl.troubles)


def print_troubles(
    troubles: Sequence[Trouble], *, elsewhere: str = "-o and --format json have all"
) -> None:
    """Print what could not be read, the first of it one by one; say where the rest is."""
    if not troubles:
        return
    terminal.write_text(f"{len(troubles):,} could not be read:\n")
    for trouble in troubles[:_MOST_TROUBLES]:
        name = shown(shortened(trouble.name, _MOST_NAME))
        terminal.write_text(f"  {name}: {terminal.one_line(trouble.reason, most=160)}\n")
    more = len(troubles) - _MOST_TROUBLES
    if more > 0:
        terminal.write_text(f"  … {more:,} more; {elsewhere}\n")


def counted(n: int, word: str, several: str = "") -> str:
    """Give a number with its word; ``several`` is for words that do not end in s then.

    >>> counted(1, "page"), counted(1200, "page"), counted(2, "life", "lives")
    ('1 page', '1,200 pages', '2 lives')
    """
    return f"{n:,} {word if n == 1 else several or f'{word}s'}"

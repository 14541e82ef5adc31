"""The tour: encode every page of the site, look at one, compare it with a later version, store it.

Prints output for people who see quire for the first time. Needs no input.
"""

from __future__ import annotations

import gzip
import tempfile
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.table import Table

from quire.archive import Archive
from quire.demo import SITE
from quire.digest import Digest, encode
from quire.sdiff import annotate, edit_script, unified
from quire.similar import similarity

# As in figure 2 of the paper: a table of one row, small enough to print its columns.
TINY = b'<table border="0"><tr><td><img src="a.gif"><td>Open <b>now</b></table>'

# The market page a day later: two texts edited, one row added.
SATURDAY = (
    (b"Friday", b"Saturday"),
    (b"7.95", b"8.10"),
    (b"<tr><td>Lemon sole", b"<tr><td>Squid<td>Little Auk<td>9.80\n  <tr><td>Lemon sole"),
)
SIGNS = {"deleted": ("-", "red"), "inserted": ("+", "green")}

console: Console = Console(highlight=False, markup=False, emoji=False)


def heading(words: str) -> None:
    """Print the heading of a part of the tour."""
    console.print()
    console.print(words, style="bold")


def plain_table(*headings: str, left: int = 1) -> Table:
    """Make a table without lines; the first ``left`` columns hold words, the others numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for place, title in enumerate(headings):
        table.add_column(title, justify="left" if place < left else "right")
    return table


def show_site() -> None:
    """Print one line for each page of the site."""
    heading(f"A small newspaper, {SITE.name}/, page by page")
    table = plain_table("page", "kind", "bytes", "nodes", "digest", "compressed", "exact", left=2)
    for path in sorted(SITE.iterdir()):
        page = encode(path)
        table.add_row(
            path.name,
            page.kind,
            f"{page.source_bytes:,}",
            f"{page.n:,}",
            f"{page.nbytes:,}",
            f"{len(page.to_bytes(compress=True)):,}",
            "✓" if page.decode() == path.read_bytes() else "✗",
        )
    console.print(table)
    console.print(
        "These digests are larger than their pages because header, checksums and signatures take "
        "some 900 bytes; on real pages that hardly matters.",
        style="dim",
    )


def show_tree(page: Digest, root: int) -> None:
    """Print a subtree, one node per line: nodes are in document order, a subtree is a slice."""
    top = page.depth[root]
    for node in range(root, root + page.size[root]):
        words = " ".join(page.text(node).split()) if page.content[node] >= 0 else ""
        if page.content[node] >= 0 and not words:
            continue  # line breaks between tags
        indent = "   " * int(page.depth[node] - top)
        console.print(f"{indent}{page.tags[page.tag[node]]} {words}".rstrip())


def show_columns(page: Digest) -> None:
    """Print the columns with the names they have in the paper."""
    console.print(f"  {TINY.decode()}", style="dim")
    table = plain_table("column", "paper", "holds", left=3)
    table.add_row("n", "N", str(page.n))
    table.add_row("children", "ST", _row(page.children.tolist()))
    table.add_row("tag", "TM", _row(page.tag.tolist()))
    table.add_row("tags", "TL", " ".join(page.tags))
    table.add_row("attr", "AM", _row(page.attr.tolist()))
    table.add_row("attrs", "AL", " ".join(repr(run.decode()) for run in page.attrs))
    table.add_row("content", "CM", _row(page.content.tolist()))
    table.add_row("contents", "CL", " ".join(repr(raw.decode()) for raw in page.contents))
    console.print(table)


def show_changes(old: Digest, new: Digest) -> None:
    """Print the changed lines, then the edit script."""
    for hunk in unified(annotate(old, new), context=1):
        console.print(f"  {hunk.heading}", style="cyan")
        for line in hunk.lines:
            sign, style = SIGNS.get(line.kind, (" ", ""))
            console.print(f"  {sign} {line.text.expandtabs(12)}", style=style)
    console.print()
    script = edit_script(old, new)
    for action in script:
        console.print(f"  {action}")
    exact = script.apply(old) == new and script.invert().apply(new) == old
    console.print(f"  applied and undone, byte for byte {'✓' if exact else '✗'}")


def show_likeness(pages: dict[str, Digest], first: Digest) -> None:
    """Print how similar a page is to others, by several measures."""
    table = plain_table("", "structure", "content")
    for name, page in pages.items():
        alike = (similarity(first, page, "structure"), similarity(first, page, "content"))
        table.add_row(name, *(f"{value:.2f}" for value in alike))
    console.print(table)


def show_archive(days: int = 60) -> None:
    """Store a copy of every page each day for two months, and print how much space that takes."""
    start = datetime(2026, 5, 1, 6, tzinfo=UTC)
    bodies = {path.name: path.read_bytes() for path in sorted(SITE.iterdir())}
    captures = [
        (name, start + timedelta(days=day), body.replace(b"Friday", f"day {day}".encode()))
        for day in range(days)
        for name, body in bodies.items()
    ]
    table = plain_table("stored as", "bytes")
    table.add_row("pages", f"{sum(len(body) for _, _, body in captures):,}")
    table.add_row("each in gzip", f"{sum(len(gzip.compress(body)) for _, _, body in captures):,}")
    with tempfile.TemporaryDirectory() as folder, Archive.create(f"{folder}/site") as archive:
        for name, time, body in captures:
            archive.add(f"https://lantern.example/{name}", time, body)
        archive.compact()
        table.add_row("an archive", f"{archive.stats().stored_bytes:,}")
        exact = all(
            archive.get(f"https://lantern.example/{name}", time).body == body
            for name, time, body in captures
        )
    console.print(table)
    console.print(f"  {len(captures)} pages read back, byte for byte {'✓' if exact else '✗'}")


def _row(values: list[int]) -> str:
    return " ".join("-" if value < 0 else str(value) for value in values)


def main() -> None:
    """Take the tour."""
    show_site()

    market = encode(SITE / "market.html")
    heading('market.html: the first result of page.select("table.prices tbody tr")')
    rows = market.select("table.prices tbody tr")
    show_tree(market, int(rows[0]))
    console.print()
    prices = plain_table("catch", "a kilo")
    for row in rows:
        cells = [market.text(cell).strip() for cell in market.select("td", within=int(row))]
        prices.add_row(cells[0], cells[-1])
    console.print(prices)

    heading("OLDNEWS.HTM: the text of a page with upper-case, overlapping and unclosed tags")
    old = encode(SITE / "OLDNEWS.HTM")
    for line in old.text(0).splitlines():
        if line.strip():
            console.print("  " + " ".join(line.split()))

    heading("Columns of a tiny page")
    show_columns(encode(TINY))

    saturday = market.decode()
    for before, after in SATURDAY:
        saturday = saturday.replace(before, after)
    later = encode(saturday)
    heading("market.html on Saturday: what changed")
    show_changes(market, later)

    heading("Similarity of market.html to other pages, from 0 to 1")
    others = {"itself on Saturday": later, "tides.html": encode(SITE / "tides.html")}
    show_likeness(others, market)

    heading("Every page of two months, stored in an archive")
    show_archive()

    heading("Try next")
    for command in (
        "quire show page.html",
        "quire encode page.html && quire decode page.qd | cmp - page.html",
        'curl -s https://example.org | quire show - --select "a[href]"',
        "quire diff monday.html tuesday.html",
        "quire similar monday.html tuesday.html --explain",
        "quire archive build crawl.warc.gz -o site.quire",
        "quire fragments plan crawl.warc.gz",
    ):
        console.print(f"  {command}")


if __name__ == "__main__":
    main()

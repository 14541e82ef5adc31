"""``quire show``: print the content of a page or a digest.

Every view has one function that prints lines and one that returns plain values, so that
``--format json`` has the same information as the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.open_page import open_page, reader
from quire.cli.common.options import (
    EncodingOption,
    Format,
    FormatOption,
    KindOption,
    RecoverOption,
)
from quire.cli.common.terminal import Refusal, one_line, printable, reports_errors
from quire.cli.page.tree import draw

if TYPE_CHECKING:
    from quire.digest import Digest

SUMMARY_DEPTH = 4
SUMMARY_LINES = 24

FLAGS = {
    "scripting": "parsed like in a browser with scripts enabled: <noscript> holds text",
    "quirks": "no doctype, or an old one: browsers use quirks mode",
    "limited-quirks": "an old doctype: browsers use limited-quirks mode",
    "depth-capped": "nested deeper than browsers allow: deeper elements became siblings",
    "formatting-capped": "needs too many copies of <b>, <i> and similar: some were left out",
    "verbatim": "the bytes of the page are stored in addition to the columns",
    "recovered": "not well-formed; parsed in spite of errors",
    "fragment": "part of a page, parsed inside another element",
    "transcoded": "the columns come from a UTF-8 copy; the original bytes are stored too",
    "reordered": "nodes are in a different order than in the source, as in browsers",
}

REASONS = {
    "bom": "from a byte order mark",
    "transport": "from the Content-Type",
    "meta": "from a <meta>",
    "late-meta": "from a <meta> after the first kilobyte",
    "xml-declaration": "from the XML declaration",
    "utf8-valid": "because all bytes are valid UTF-8",
    "default": "by default",
    "given": "given by the user",
}


@reports_errors
def show(
    *,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Page, digest or web address; - for standard input."),
    ],
    tree: Annotated[bool, typer.Option("--tree", help="Show the nodes as a tree.")] = False,
    columns: Annotated[bool, typer.Option("--columns", help="Show all columns.")] = False,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Show how many bytes each part of the digest takes.")
    ] = False,
    flags: Annotated[
        bool, typer.Option("--flags", help="Show the flags and what they mean.")
    ] = False,
    text: Annotated[bool, typer.Option("--text", help="Show the text in reading order.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Show the content as Markdown.")
    ] = False,
    select: Annotated[
        str | None, typer.Option(metavar="CSS", help="Show only nodes that match this selector.")
    ] = None,
    xpath: Annotated[
        str | None, typer.Option(metavar="EXPR", help="Show only the result of this XPath.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Levels of the tree to show (default: all)."),
    ] = None,
    kind: KindOption = None,
    encoding: EncodingOption = None,
    recover: RecoverOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show the content of a page or a digest.

    Without options, print a summary. With options, print the views you ask for, one
    after the other; with a selector, only for the nodes that match.

    \b
    Examples:
      quire show page.html
      quire show https://example.org/ --text | wc -w
      quire show page.html --select main --markdown
      quire show page.qd --select "table.prices tr" --format json

    Exit codes: 0 on success, 2 on error.
    """
    if select is not None and xpath is not None:
        raise Refusal("--select and --xpath cannot be combined")
    if (select is not None or xpath is not None) and (columns or sizes or flags):
        raise Refusal(
            "--columns, --sizes and --flags cannot be combined with a selector",
            hint="use --tree, --text or --markdown",
        )
    page = open_page(file, reader(kind=kind, encoding=encoding, recover=recover))
    found: list[int] | None = None
    if select is not None:
        found = [int(node) for node in page.select(select)]
    elif xpath is not None:
        answer = page.xpath(xpath)
        if isinstance(answer, str | float | bool | list):
            _write_answer(answer, format)
            return
        found = [int(node) for node in answer]
    wanted = {"tree": tree, "columns": columns, "sizes": sizes, "flags": flags}
    wanted |= {"text": text, "markdown": markdown}
    views = [view for view, asked in wanted.items() if asked]
    if format is Format.json:
        terminal.write_json(_values(page, views, found, depth))
    elif found is not None:
        _print_found(page, found, views, depth)
    else:
        _print_page(page, file, views, depth)


def _write_answer(answer: float | bool | str | Sequence[str], format_: Format) -> None:
    """Print the result of an XPath that is not a node set: strings, a number or a boolean."""
    if format_ is Format.json:
        terminal.write_json({"found": answer})
        return
    lines = [answer] if isinstance(answer, str | float | bool) else answer
    for line in lines:
        _print_text(str(line))


# ------------------------------------------------------------------ for programs


def _values(
    page: Digest, views: Sequence[str], found: list[int] | None, depth: int | None
) -> dict[str, object]:
    if found is not None:
        is_asked = "markdown" in views
        return {
            "found": [
                _node(page, node, with_text=True)
                | ({"markdown": page.markdown(node)} if is_asked else {})
                for node in found
            ]
        }
    if not views:
        return {**_summary(page), "flags": _flags(page), "sizes": _sizes(page)}
    values: dict[str, object] = {}
    if "tree" in views:
        values["tree"] = [
            _node(page, node) | {"depth": int(page.depth[node])}
            for node in range(page.n)
            if depth is None or page.depth[node] <= depth
        ]
    if "columns" in views:
        values["columns"] = _columns(page)
    if "sizes" in views:
        values["sizes"] = _sizes(page)
    if "flags" in views:
        values["flags"] = {flag: FLAGS.get(flag, "") for flag in _flags(page)}
    if "text" in views:
        values["text"] = page.text(0)
    if "markdown" in views:
        values["markdown"] = page.markdown(0)
    return values


def _summary(page: Digest) -> dict[str, object]:
    return {
        "kind": page.kind,
        "nodes": page.n,
        "depth": int(page.depth.max()),
        "encoding": page.encoding,
        "encoding_reason": page.encoding_reason,
        "source_bytes": page.source_bytes,
        "digest_bytes": page.nbytes,
        "signatures": _signatures(page),
    }


def _flags(page: Digest) -> list[str]:
    """List the flags of a page, always in the same order."""
    known = list(FLAGS)
    return sorted(page.flags, key=lambda flag: known.index(flag) if flag in FLAGS else len(known))


def _signatures(page: Digest) -> dict[str, str]:
    return {facet: f"{value:032x}" for facet, value in asdict(page.signatures).items()}


def _node(page: Digest, node: int, *, with_text: bool = False) -> dict[str, object]:
    values: dict[str, object] = {
        "node": node,
        "parent": int(page.parent[node]),
        "name": page.tags[int(page.tag[node])],
        "attributes": dict(page.attributes(node)),
    }
    if with_text:
        values["path"] = page.path(node)
    if with_text or int(page.content[node]) >= 0:
        values["text"] = page.text(node)
    return values


def _columns(page: Digest) -> dict[str, object]:
    return {
        "n": page.n,
        "children": page.children.tolist(),
        "tag": page.tag.tolist(),
        "attr": page.attr.tolist(),
        "content": page.content.tolist(),
        "tags": list(page.tags),
        "attrs": [run.decode("utf-8", "backslashreplace") for run in page.attrs],
        "contents": [raw.decode("utf-8", "backslashreplace") for raw in page.contents],
    }


def _sizes(page: Digest) -> dict[str, int]:
    """Return how many bytes each part of a digest takes."""
    sizes = {
        "structure": page.children.nbytes,
        "tags of nodes": page.tag.nbytes,
        "attributes of nodes": page.attr.nbytes,
        "contents of nodes": page.content.nbytes,
        "tag names": sum(len(name.encode()) for name in page.tags),
        "attributes": sum(map(len, page.attrs)),
        "contents": sum(map(len, page.contents)),
    }
    # Header, lengths, bytes that the tree does not determine, and a page stored verbatim.
    sizes["the rest"] = page.nbytes - sum(sizes.values())
    return sizes


# ------------------------------------------------------------------ for people


def _print_page(page: Digest, name: str, views: Sequence[str], depth: int | None) -> None:
    if not views:
        _print_summary(page, name)
        _print_sizes(page)
        levels = SUMMARY_DEPTH if depth is None else depth
        lines = list(islice(draw(page, depth=levels), SUMMARY_LINES + 1))
        print_lines(["", *lines[:SUMMARY_LINES]])
        if len(lines) > SUMMARY_LINES:
            print_lines([f"… {page.n:,} nodes in total; --tree shows all"])
        return
    for place, view in enumerate(views):
        if place > 0:
            print_lines([""])
        if view == "tree":
            print_lines(draw(page, depth=depth))
        elif view == "columns":
            print_lines(
                f"{name:<9} {printable(', '.join(map(repr, value)) if isinstance(value, list) else str(value))}"
                for name, value in _columns(page).items()
            )
        elif view == "sizes":
            _print_sizes(page)
        elif view == "flags":
            print_lines(f"{flag}: {FLAGS.get(flag, '')}" for flag in _flags(page))
        else:
            if page.kind == "bytes":
                terminal.note(f"{page.source_bytes:,} bytes of a binary file, without text")
            _print_text(page.text(0) if view == "text" else page.markdown(0))


def _print_found(
    page: Digest, found: Sequence[int], views: Sequence[str], depth: int | None
) -> None:
    if not found:
        terminal.note("no node matches")
        return
    for place, node in enumerate(found):
        if "markdown" in views and place > 0:
            print_lines([""])  # blocks of Markdown are apart
        if "text" in views:
            _print_text(page.text(node))
        if "markdown" in views:
            _print_text(page.markdown(node))
        if "tree" in views:
            print_lines(draw(page, node, depth=depth))
    if views:
        return
    from rich.table import Table  # noqa: PLC0415 - heavy

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("node", justify="right")
    table.add_column("path")
    table.add_column("text")
    for node in found:
        table.add_row(str(node), printable(page.path(node)), one_line(page.text(node), most=60))
    terminal.console().print(table)


def _print_summary(page: Digest, name: str) -> None:
    from rich.panel import Panel  # noqa: PLC0415 - heavy
    from rich.table import Table  # noqa: PLC0415 - heavy

    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    reason = REASONS.get(page.encoding_reason, page.encoding_reason)
    ratio = terminal.ratio(page.nbytes, page.source_bytes)
    facts.add_row("kind", "bytes: a binary file" if page.kind == "bytes" else page.kind)
    facts.add_row("nodes", f"{page.n:,}, at most {int(page.depth.max())} deep")
    facts.add_row("encoding", f"{page.encoding}, {reason}")
    facts.add_row("bytes", f"{page.source_bytes:,} as page, {page.nbytes:,} as digest ({ratio})")
    for place, flag in enumerate(_flags(page)):
        facts.add_row("" if place else "flags", f"{flag}: {FLAGS.get(flag, '')}")
    for place, (facet, signature) in enumerate(_signatures(page).items()):
        facts.add_row("" if place else "signatures", f"{signature}  {facet}")
    title = "standard input" if name == "-" else printable(name)
    terminal.console().print(Panel(facts, title=title, title_align="left", expand=False))


def _print_sizes(page: Digest) -> None:
    from rich.table import Table  # noqa: PLC0415 - heavy

    sizes = _sizes(page)
    total = sum(sizes.values()) or 1
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("part")
    table.add_column("bytes", justify="right")
    table.add_column("share", justify="right")
    for part, size in sorted(sizes.items(), key=lambda item: -item[1]):
        table.add_row(part, f"{size:,}", f"{100 * size / total:.0f} %")
    terminal.console().print(table)


def _print_text(text: str) -> None:
    terminal.write_text(text if text.endswith("\n") else text + "\n")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines that are already safe for a terminal."""
    for line in lines:
        terminal.write_text(line + "\n")

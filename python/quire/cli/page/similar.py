"""``quire similar``: measure how similar two pages are, or find near-duplicates of a folder.

Prints only the number, so that a script can use it directly; ``--explain`` adds the parts that
differ.
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.open_page import open_page, reader
from quire.cli.common.options import EncodingOption, Format, FormatOption, KindOption, RecoverOption
from quire.cli.common.terminal import Refusal, reports_errors

if TYPE_CHECKING:
    from quire.digest import Digest
    from quire.similar import DifferingPart, KangLayer, Likeness


class On(StrEnum):
    """The measures."""

    structure = "structure"
    structure_class = "structure+class"
    content = "content"
    paths = "paths"
    paths_counts = "paths+counts"
    tokens = "tokens"
    kang = "kang"
    kang_normalised = "kang_normalised"


@reports_errors
def similar(
    *,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="Page, digest or web address; - for standard input. Alone: a folder or crawl.",
        ),
    ],
    b: Annotated[
        str | None, typer.Argument(metavar="[B]", help="Page or digest; - for standard input.")
    ] = None,
    on: Annotated[
        On | None,
        typer.Option(
            help="Measure to use; see above (default: structure for two pages, content for a folder)."
        ),
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="CSS", help="Compare only these elements.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="List the parts that differ.")] = False,
    most: Annotated[
        int, typer.Option(min=0, metavar="N", help="Maximum number of parts for --explain.")
    ] = 20,
    threshold: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="Minimum similarity of near-duplicates in a folder.",
        ),
    ] = 0.9,
    kind: KindOption = None,
    encoding: EncodingOption = None,
    recover: RecoverOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Measure how similar two pages are, from 0 to 1.

    A and B are pages or digests. Pages made from the same template are similar in
    structure, whatever their text; two reports of the same event are similar in
    content.

    With A alone, a folder, WARC, WACZ or Parquet file or an archive, list its
    near-duplicates: groups of pages that say almost the same, each page with its
    similarity to the first.

    \b
    Examples:
      quire similar monday.html tuesday.html
      quire similar crawl/ --threshold 0.8
      quire similar --on content --nodes p --explain a.html b.html
      quire similar --format json last.qd https://example.org/ | jq .value

    \b
    Measures:
      structure        four tags in a row, counted; distinguishes templates
      structure+class  elements with parent and grandparent, all with classes, counted
      content          five words in a row
      paths            paths of tags from the root; paths+counts counts them
      tokens           three tokens in a row; tags and whole texts are tokens
      kang             layers of the trees, position by position; the minimum is 0.4375
      kang_normalised  the same, scaled to 0 to 1

    Exit codes: 0 on success, 2 on error.
    """
    if b is None:
        _list_near_duplicates(a, on, threshold, format, only_for_two=bool(nodes) or explain)
        return
    on = on or On.structure
    if a == b == STANDARD_INPUT:
        raise Refusal(
            "A and B are both standard input", hint="save one of the pages to a file first"
        )
    if nodes is not None and on in {On.kang, On.kang_normalised}:
        raise Refusal(
            f"{on.value} only compares whole pages", hint="omit --nodes, or use --on structure"
        )
    read = reader(kind=kind, encoding=encoding, recover=recover)
    one, two = open_page(a, read), open_page(b, read)
    for name, page in ((a, one), (b, two)):
        if page.kind == "bytes":
            raise Refusal(
                f"{name}: binary, so it has neither tags nor text to compare",
                hint="`cmp` and `quire diff` compare bytes",
            )
    if nodes is not None:
        _check_nodes(nodes, (a, one), (b, two))
    from quire.similar import similarity  # noqa: PLC0415 - heavy

    if not explain:
        value = similarity(one, two, on.value, nodes=nodes)
        if format is Format.json:
            terminal.write_json({"on": on.value, "nodes": nodes, "value": value})
        else:
            terminal.write_text(f"{value:.4f}\n")
        return
    found = similarity(one, two, on.value, nodes=nodes, explain=True, most=most)
    if format is Format.json:
        terminal.write_json(_as_json(found, nodes))
    else:
        _print(found)


def _check_nodes(nodes: str, *pages: tuple[str, Digest]) -> None:
    """Check that a selector finds something to compare.

    Raises:
        Refusal: it matches nothing on either page.
    """
    without = [name for name, page in pages if not len(page.select(nodes))]
    if len(without) == len(pages):
        raise Refusal(
            f"--nodes {nodes}: no element of either page matches",
            hint=f"`quire show {pages[0][0]} --select '{nodes}'` shows what a selector matches",
        )
    for name in without:
        terminal.note(f"--nodes {nodes}: no element of {name} matches")


def _list_near_duplicates(
    source: str,
    on: On | None,
    threshold: float,
    format: Format,  # noqa: A002 - the name of the option
    *,
    only_for_two: bool,
) -> None:
    from quire.cli.page.near_duplicates import list_near_duplicates  # noqa: PLC0415 - heavy
    from quire.similar import BAG_MEASURES  # noqa: PLC0415 - heavy

    if only_for_two:
        raise Refusal("--nodes and --explain compare two pages", hint="name a second page")
    name = (on or On.content).value
    for measure in BAG_MEASURES:
        if measure == name:
            list_near_duplicates(source, measure, threshold, format)
            return
    raise Refusal(f"{name} only compares two pages", hint="use --on content or structure")


def _as_json(found: Likeness, nodes: str | None) -> dict[str, object]:
    fields = dataclasses.asdict(found)
    for layer, entry in zip(found.layers, fields["layers"], strict=True):
        entry["value"] = layer.value
    return {"on": fields.pop("on"), "nodes": nodes, **fields}


def _print(found: Likeness) -> None:
    terminal.write_text(f"{found.value:.4f}\n")
    if found.similar is not None:
        _print_layers(found.layers)
        verdict = "similar" if found.similar else "not similar"
        terminal.write_text(f"{verdict} by the threshold of the paper, 0.8\n")
    elif not found.parts:
        terminal.note("no part differs" if not found.differing else "parts differ; see --most")
    else:
        _print_parts(found.parts)
        more = found.differing - len(found.parts)
        beyond = f"; {more} more differ" if more else ""
        terminal.write_text(f"{found.shared} of {found.total} parts shared{beyond}\n")


def _print_parts(parts: tuple[DifferingPart, ...]) -> None:
    width = max(len(str(max(part.in_a, part.in_b))) for part in parts)
    width = max(width, 1)
    terminal.write_text(f"{'A':>{width}}  {'B':>{width}}  part\n")
    for part in parts:
        text = terminal.one_line(part.text, most=100)
        terminal.write_text(f"{part.in_a:>{width}}  {part.in_b:>{width}}  {text}\n")


def _print_layers(layers: tuple[KangLayer, ...]) -> None:
    if layers:
        terminal.write_text("layer  same  weight  elements of A  of B\n")
    for layer in layers:
        terminal.write_text(
            f"{layer.layer:>5}  {layer.value:.2f}  {layer.weight:>6.3f}  {layer.in_a:>13}  {layer.in_b:>4}\n"
        )

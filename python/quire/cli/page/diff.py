"""``quire diff``: show the changes between two versions of a page.

``quire.sdiff`` compares the pages and makes the views; this module reads the options and prints the
result. A terminal gets colours, a pipe the same lines without them.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.open_page import open_late, open_page, reader
from quire.cli.common.options import (
    EncodingOption,
    ForceOption,
    Format,
    FormatOption,
    KindOption,
    RecoverOption,
)
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.page.diff_options import (
    ContextOption,
    ExceptOption,
    ExitCodeOption,
    FacetName,
    FacetOption,
    OnlyOption,
    View,
    ViewOption,
)
from quire.cli.page.diff_sources import compare_sources, is_source

if TYPE_CHECKING:
    from quire.digest import Digest
    from quire.sdiff import Annotation, Facet, Rules

CHANGED = 1


class Grain(StrEnum):
    """How hard to try to match nodes."""

    brief = "brief"
    normal = "normal"
    fine = "fine"


@reports_errors
def diff(
    *,
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="Page, digest, web address, folder, crawl or archive; - for standard input.",
        ),
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="Its later version; - for standard input.")
    ],
    view: ViewOption = None,
    facet: FacetOption = None,
    only: OnlyOption = None,
    without: ExceptOption = None,
    ignore_space: Annotated[
        bool, typer.Option("--ignore-space", help="Ignore differences in white space.")
    ] = False,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", help="Ignore differences in upper and lower case.")
    ] = False,
    ignore_attribute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Ignore this attribute; data-* ignores all names with this prefix. "
            "Can be repeated.",
        ),
    ] = None,
    ignore_text: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Ignore text that matches. Can be repeated."),
    ] = None,
    ignore_order: Annotated[
        bool, typer.Option("--ignore-order", help="Ignore the order of siblings.")
    ] = False,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Treat numbers this close as equal: 0.5, or 2%."),
    ] = None,
    granularity: Annotated[
        Grain,
        typer.Option(
            help="brief reports heavily changed parts as replaced, fine tries to match every node."
        ),
    ] = Grain.normal,
    context: ContextOption = 3,
    exit_code: ExitCodeOption = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print nothing, and imply --exit-code.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Write the redline to this HTML file; of many pages, redlines and an index to "
            "this folder.",
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address of the page, to resolve links in the redline."),
    ] = None,
    images: Annotated[
        bool, typer.Option("--images", help="Let the redline load images from the web.")
    ] = False,
    force: ForceOption = False,
    kind: KindOption = None,
    encoding: EncodingOption = None,
    recover: RecoverOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show what changed between two versions of a page, or of many pages.

    OLD and NEW are pages or digests, in files or on the web. The output has the changed lines of text in
    reading order, then other changes: links, attributes, moved parts.

    OLD and NEW can also be folders, WARC, WACZ or Parquet files, or archives. Then the
    output lists the pages that are new, gone or changed; --view shows the changes of
    each, and -o DIR writes a redline of each and an index.

    \b
    Examples:
      quire diff monday.html tuesday.html
      quire diff --format json --facet content a.qd b.qd | jq .changes
      quire diff --exit-code last.qd https://example.org/
      quire diff a.html b.html -o redline.html
      quire diff site-may/ site-june/ -o changes/

    \b
    Views:
      unified  changed lines with unchanged lines around them, like diff -u
      words    changed texts, word by word
      side     old and new lines in two columns
      tree     changed nodes in the tree of the page
      script   the edit script that turns OLD into NEW
      summary  counts only
      redline  the page itself with the changes marked, as safe HTML

    Exit codes: 0 on success, 1 if anything changed (with --exit-code or --quiet),
    2 on error.
    """
    if old == new == STANDARD_INPUT:
        raise Refusal(
            "OLD and NEW are both standard input", hint="save one of the pages to a file first"
        )
    if output is not None and view not in {None, View.redline}:
        raise Refusal(f"-o writes a redline, not the view {view}", hint="redirect with > instead")
    rules = rules_of(
        only=only or (),
        without=without or (),
        ignore_space=ignore_space,
        ignore_case=ignore_case,
        ignore_attributes=ignore_attribute or (),
        ignore_text=ignore_text or (),
        ignore_order=ignore_order,
        tolerance=_tolerance(tolerance),
    )
    facets: tuple[Facet, ...] = tuple(each.value for each in facet or FacetName)
    if view is View.script and (facet or rules != rules_of()):
        raise Refusal(
            "an edit script covers the whole page, so it takes no facets and no rules",
            hint="use --view tree",
        )
    how = Presented(
        view=view,
        facets=facets,
        rules=rules,
        granularity=granularity,
        context=context,
        output=output,
        base=base,
        images=images,
        force=force,
        format=format,
    )
    if is_source(old) or is_source(new):
        is_changed = compare_sources(old, new, how, partial(_print_pair, how), quiet=quiet)
        raise typer.Exit(CHANGED if is_changed and (exit_code or quiet) else 0)
    read = reader(kind=kind, encoding=encoding, recover=recover)
    if quiet:
        is_changed = _is_changed(open_late(old, read), open_late(new, read), facets, rules)
        raise typer.Exit(CHANGED if is_changed else 0)
    before, after = open_page(old, read), open_page(new, read)
    if present(before, after, how) and exit_code:
        raise typer.Exit(CHANGED)


@dataclass(frozen=True, slots=True)
class Presented:
    """The options of the command that say how to show changes."""

    view: View | None
    facets: tuple[Facet, ...]
    rules: Rules
    granularity: Grain = Grain.normal
    context: int = 3
    output: str | None = None
    base: str | None = None
    images: bool = False
    force: bool = False
    format: Format = Format.text


def present(before: Digest, after: Digest, how: Presented) -> bool:
    """Print the changes between two pages, and tell whether there are any."""
    from quire.reports import redline  # noqa: PLC0415 - heavy
    from quire.sdiff import annotate  # noqa: PLC0415 - heavy

    annotation = annotate(before, after, how.rules, granularity=how.granularity.value)
    if how.output is not None or how.view is View.redline:
        drawn = redline(annotation, base=how.base, images=how.images)
        _write_redline(drawn, how.output, force=how.force)
    elif how.view is View.script:
        _print_script(before, after, how.granularity, how.format)
    elif how.format is Format.json:
        terminal.write_json(annotation.to_dict(how.facets))
    else:
        _print(annotation, how.facets, how.view or View.unified, how.context)
    return annotation.differs(how.facets)


def _print_pair(how: Presented, annotation: Annotation) -> None:
    """Print the changes of one page of many."""
    if how.view is View.script:
        _print_script(annotation.old, annotation.new, how.granularity, how.format)
    else:
        _print(annotation, how.facets, how.view or View.unified, how.context)


def rules_of(**fields: object) -> Rules:
    """Make the rules from the options."""
    from quire.sdiff import Rules  # noqa: PLC0415 - heavy

    return Rules(**fields)  # type: ignore[arg-type] # each option is checked by its type above


def _is_changed(
    old: Digest | Path, new: Digest | Path, facets: tuple[Facet, ...], rules: Rules
) -> bool:
    """Tell whether anything changed, from the headers alone if they are enough.

    Signatures compare some facets position by position, and a new element shifts all positions. So
    if the user asked for some facets only and their signatures differ, compare the pages as well.
    Equal signatures, or a difference when all facets count, are final.
    """
    from quire.digest import load  # noqa: PLC0415 - heavy
    from quire.sdiff import ALL_FACETS, annotate, changed  # noqa: PLC0415 - heavy

    if not changed(old, new, facets, rules=rules):
        return False
    if len(set(facets)) == len(ALL_FACETS):
        return True
    before, after = (load(page) if isinstance(page, Path) else page for page in (old, new))
    return annotate(before, after, rules).differs(facets)


def _tolerance(text: str | None) -> tuple[float, float] | None:
    """Read a tolerance: a number, or a share in percent.

    >>> _tolerance("0.5"), _tolerance("2%"), _tolerance(None)
    ((0.5, 0.0), (0.0, 0.02), None)

    Raises:
        Refusal: the text is neither.
    """
    if text is None:
        return None
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise Refusal(
            f"--tolerance {text}: not a number",
            hint="use a difference such as 0.5, or a share such as 2%",
        )
    return (0.0, number / 100) if text.endswith("%") else (number, 0.0)


def _write_redline(drawn: str, output: str | None, *, force: bool) -> None:
    data = drawn.encode("utf-8", "replace")
    if output is not None and output != STANDARD_INPUT:
        files.write_whole(Path(output), data, force=force)
        terminal.note(f"{output}: open it in a browser")
    elif sys.stdout.isatty():
        raise Refusal("a redline is HTML for a browser", hint="use -o redline.html")
    else:
        terminal.write_bytes(data)


def _print_script(old: Digest, new: Digest, granularity: Grain, format_: Format) -> None:
    from quire.sdiff import edit_script  # noqa: PLC0415 - heavy

    script = edit_script(old, new, granularity=granularity.value)
    if format_ is Format.json:
        terminal.write_json(json.loads(script.to_json()))
        return
    for action in script:
        terminal.write_text(terminal.printable(str(action)) + "\n")
    if not len(script):
        terminal.note(
            "no visible changes, only white space or spelling of the markup"
            if old != new
            else "nothing changed"
        )


def _print(annotation: Annotation, facets: tuple[Facet, ...], view: View, context: int) -> None:
    from quire.cli.page import draw_changes as changes  # noqa: PLC0415 - heavy

    if not annotation.differs(facets):
        is_default = annotation.rules == rules_of() and len(set(facets)) == len(FacetName)
        changes.say_nothing_changed(annotation, compares_all=is_default)
        return
    if view is View.unified:
        changes.print_unified(annotation, facets, context)
    elif view is View.words:
        changes.print_words(annotation)
    elif view is View.side:
        changes.print_side_by_side(annotation, context)
    elif view is View.tree:
        changes.print_tree(annotation, facets)
    kinds = {annotation.old.kind, annotation.new.kind}
    if "bytes" in kinds:
        changes.print_binary(annotation)
    if kinds != {"bytes"}:
        changes.print_summary(annotation)

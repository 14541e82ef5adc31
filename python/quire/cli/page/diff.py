"""``quire diff``: what changed between two versions of a page.

The comparing and the views are ``quire.sdiff``'s; here they are asked for and drawn. On
a terminal in colour; in a pipe the same lines without it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import StrEnum
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
    RedlineOption,
    View,
    ViewOption,
)

if TYPE_CHECKING:
    from quire.digest import Digest
    from quire.sdiff import Annotation, Facet, Rules

CHANGED = 1


class Grain(StrEnum):
    """How long nodes are followed."""

    brief = "brief"
    normal = "normal"
    fine = "fine"


@reports_errors
def diff(
    *,
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="A page or a digest; - is standard input.")
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="A later version of it; - is standard input.")
    ],
    view: ViewOption = None,
    facet: FacetOption = None,
    only: OnlyOption = None,
    without: ExceptOption = None,
    ignore_space: Annotated[
        bool, typer.Option("--ignore-space", help="White space is no difference.")
    ] = False,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", help="Capitals are no difference.")
    ] = False,
    ignore_attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Do not compare it; data-* is all that begin so."),
    ] = None,
    ignore_text: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Do not compare what it matches in texts."),
    ] = None,
    ignore_order: Annotated[
        bool, typer.Option("--ignore-order", help="Siblings in another order are no difference.")
    ] = False,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Numbers this close are equal: 0.5, or 2%."),
    ] = None,
    granularity: Annotated[
        Grain, typer.Option(help="brief replaces what changed a lot, fine follows every node.")
    ] = Grain.normal,
    context: ContextOption = 3,
    exit_code: ExitCodeOption = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print nothing; implies --exit-code.")
    ] = False,
    output: RedlineOption = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The page's address, for links in the redline."),
    ] = None,
    images: Annotated[
        bool, typer.Option("--images", help="Let the redline load images from their sites.")
    ] = False,
    force: ForceOption = False,
    kind: KindOption = None,
    encoding: EncodingOption = None,
    recover: RecoverOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show what changed between two versions of a page.

    OLD and NEW are pages or digests. Shown are the lines of text that changed, in
    reading order, and what else is different: links, attributes, parts that moved.

    \b
    Examples:
      quire diff monday.html tuesday.html
      quire diff --format json --facet content a.qd b.qd | jq .changes
      curl -s https://example.org | quire diff --exit-code last.qd -
      quire diff a.html b.html -o redline.html

    \b
    Views:
      unified  changed lines with those around them, as diff -u has them
      words    changed texts, word by word
      side     two columns
      tree     changed nodes in their places
      script   the actions that make the new page of the old one; with --format json for apply
      summary  numbers
      redline  the page itself with the changes marked, as safe HTML

    Exit code: 0 done, 1 changed (with --exit-code or --quiet), 2 error.
    """
    if old == new == STANDARD_INPUT:
        raise Refusal("standard input is one page, and a comparison takes two")
    if output is not None and view not in {None, View.redline}:
        raise Refusal(f"-o takes the redline, not the view {view}", hint="redirect with > instead")
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
        raise Refusal("a script is of whole pages: no facets, no rules", hint="use --view tree")
    read = reader(kind=kind, encoding=encoding, recover=recover)
    if quiet:
        is_changed = _is_changed(open_late(old, read), open_late(new, read), facets, rules)
        raise typer.Exit(CHANGED if is_changed else 0)
    before, after = open_page(old, read), open_page(new, read)
    is_changed = present(
        before,
        after,
        Presented(
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
        ),
    )
    if exit_code and is_changed:
        raise typer.Exit(CHANGED)


@dataclass(frozen=True, slots=True)
class Presented:
    """How changes are to be shown: the options of the command."""

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
    """Show what changed between two pages, and tell whether anything did."""
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


def rules_of(**fields: object) -> Rules:
    """Give the rules that options make."""
    from quire.sdiff import Rules  # noqa: PLC0415 - heavy

    return Rules(**fields)  # type: ignore[arg-type] # each option is checked by its type above


def _is_changed(
    old: Digest | Path, new: Digest | Path, facets: tuple[Facet, ...], rules: Rules
) -> bool:
    """Tell whether anything changed, from headers where they are enough.

    Signatures compare some facets place by place, and every place changes where an element is new.
    So a difference in some of them is looked at again; if none differs, or all are asked for, that is the answer.
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
        Refusal: it is neither.
    """
    if text is None:
        return None
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise Refusal(f"--tolerance {text}: not a number", hint="use 0.5, or 2% of the larger one")
    return (0.0, number / 100) if text.endswith("%") else (number, 0.0)


def _write_redline(drawn: str, output: str | None, *, force: bool) -> None:
    data = drawn.encode("utf-8", "replace")
    if output is not None and output != STANDARD_INPUT:
        files.write_whole(Path(output), data, force=force)
        terminal.note(f"{output}: open it in a browser")
    elif sys.stdout.isatty():
        raise Refusal("a redline is for a browser, not a terminal", hint="use -o redline.html")
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
            "nothing that a reader would see changed" if old != new else "nothing changed"
        )


def _print(annotation: Annotation, facets: tuple[Facet, ...], view: View, context: int) -> None:
    from quire.cli.page import draw_changes as changes  # noqa: PLC0415 - heavy

    if not annotation.differs(facets):
        terminal.note("nothing changed")
        return
    if view is View.unified:
        changes.print_unified(annotation, facets, context)
    elif view is View.words:
        changes.print_words(annotation)
    elif view is View.side:
        changes.print_side_by_side(annotation, context)
    elif view is View.tree:
        changes.print_tree(annotation, facets)
    changes.print_summary(annotation)

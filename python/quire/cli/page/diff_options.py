"""Options that ``quire diff`` and ``quire archive diff`` share, and their values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class View(StrEnum):
    """How to show changes."""

    summary = "summary"
    unified = "unified"
    words = "words"
    side = "side"
    tree = "tree"
    script = "script"
    redline = "redline"


class FacetName(StrEnum):
    """The facets to compare."""

    structure = "structure"
    tags = "tags"
    attributes = "attributes"
    content = "content"
    links = "links"
    images = "images"


ViewOption = Annotated[
    View | None, typer.Option(help="How to show the changes (default: unified).")
]
FacetOption = Annotated[
    list[FacetName] | None,
    typer.Option(
        metavar="FACET",
        help=(
            "Compare only this facet: structure, tags, attributes, content, links or images. "
            "Can be repeated (default: all)."
        ),
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(metavar="CSS", help="Compare only these elements. Can be repeated."),
]
ExceptOption = Annotated[
    list[str] | None,
    typer.Option("--except", metavar="CSS", help="Ignore these elements. Can be repeated."),
]
ContextOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="Unchanged lines to show around changes.")
]
ExitCodeOption = Annotated[
    bool, typer.Option("--exit-code", help="Exit with 1 if anything changed.")
]
RedlineOption = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="OUT", help="Write the redline to this HTML file."),
]

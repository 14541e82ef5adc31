"""Options of ``quire diff`` that ``quire archive diff`` has too, and their values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class View(StrEnum):
    """How changes are shown."""

    summary = "summary"
    unified = "unified"
    words = "words"
    side = "side"
    tree = "tree"
    script = "script"
    redline = "redline"


class FacetName(StrEnum):
    """What is looked at."""

    structure = "structure"
    tags = "tags"
    attributes = "attributes"
    content = "content"
    links = "links"
    images = "images"


ViewOption = Annotated[
    View | None, typer.Option(help="How changes are shown; unified when left out.")
]
FacetOption = Annotated[
    list[FacetName] | None,
    typer.Option(
        metavar="FACET",
        help="Only this: structure, tags, attributes, content, links, images; again for more.",
    ),
]
OnlyOption = Annotated[
    list[str] | None, typer.Option(metavar="CSS", help="Compare only inside these elements.")
]
ExceptOption = Annotated[
    list[str] | None, typer.Option("--except", metavar="CSS", help="Leave these elements out.")
]
ContextOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="Unchanged lines shown around changes.")
]
ExitCodeOption = Annotated[
    bool, typer.Option("--exit-code", help="Leave with 1 when anything changed.")
]
RedlineOption = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="OUT", help="Write the redline, an HTML file, here."),
]

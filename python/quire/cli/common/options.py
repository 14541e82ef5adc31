"""Options that several commands share, with their values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class KindChoice(StrEnum):
    """The parsers for pages."""

    html = "html"
    xml = "xml"
    json = "json"
    text = "text"
    bytes = "bytes"


class Format(StrEnum):
    """The output formats: text for people, JSON for programs."""

    text = "text"
    json = "json"


KindOption = Annotated[
    KindChoice | None, typer.Option(help="Parser for pages (default: detected).")
]
ContentTypeOption = Annotated[
    str | None,
    typer.Option(help="Content-Type header the page was served with.", metavar="HEADER"),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        help="Character set of the page, such as windows-1252 (default: detected).",
        metavar="LABEL",
    ),
]
NoScriptingOption = Annotated[
    bool,
    typer.Option("--no-scripting", help="Parse <noscript> like a browser with scripts disabled."),
]
FragmentOption = Annotated[
    str | None,
    typer.Option(help="Parse as part of a page, inside this element: body, tr.", metavar="TAG"),
]
RecoverOption = Annotated[
    bool, typer.Option("--recover", help="Continue past errors in XML and JSON.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
FormatOption = Annotated[Format, typer.Option(help="Output format.")]
MostBytesOption = Annotated[
    int, typer.Option("--most-bytes", min=1, metavar="N", help="Skip pages longer than this.")
]

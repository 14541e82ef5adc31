"""Options that several commands share, and their values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class KindChoice(StrEnum):
    """What a page is read as."""

    html = "html"
    xml = "xml"
    json = "json"
    text = "text"
    bytes = "bytes"


class Format(StrEnum):
    """Who reads the answer: a person or a program."""

    text = "text"
    json = "json"


KindOption = Annotated[
    KindChoice | None, typer.Option(help="What the page is; found out by itself when left out.")
]
ContentTypeOption = Annotated[
    str | None,
    typer.Option(help="The Content-Type it was served with.", metavar="HEADER"),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(help="Its encoding, when known for certain: windows-1252.", metavar="LABEL"),
]
NoScriptingOption = Annotated[
    bool, typer.Option("--no-scripting", help="Read <noscript> as a browser without scripts does.")
]
FragmentOption = Annotated[
    str | None,
    typer.Option(help="Read it as a part of a page, inside this element: body, tr.", metavar="TAG"),
]
RecoverOption = Annotated[
    bool, typer.Option("--recover", help="Read on past faults of XML and JSON.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
FormatOption = Annotated[Format, typer.Option(help="json is for programs.")]
MostBytesOption = Annotated[
    int, typer.Option("--most-bytes", min=1, metavar="N", help="A longer page is not read.")
]

"""``quire decode``: turn digests back into the exact bytes of their pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.files import DIGEST_SUFFIX, STANDARD_INPUT, Found
from quire.cli.common.open_page import open_digest
from quire.cli.common.options import ForceOption
from quire.cli.common.terminal import Refusal, reports_errors
from quire.errors import QuireError

# The extension of a page, if the name of its digest does not have one.
SUFFIXES = {"html": ".html", "xml": ".xml", "json": ".json", "text": ".txt", "bytes": ".bin"}


@reports_errors
def decode(
    *,
    digests: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES", help="Digests or folders of digests; - for standard input."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="OUT", help="Write the page here (default: standard output)."
        ),
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write pages to this folder; needed for several digests."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Decode digests to the exact bytes of their pages.

    The output equals the encoded page byte for byte. Only on a terminal, control
    characters are shown as escapes.

    \b
    Examples:
      quire decode page.qd -o page.html
      quire decode page.qd | diff - page.html
      quire decode digests/ --output-dir pages/

    Exit codes: 0 on success, 2 on error (including when any digest could not be read).
    """
    if output is not None and output_dir is not None:
        raise Refusal("-o and --output-dir cannot be combined", hint="-o is for one page")
    if output_dir is not None:
        _decode_all(digests, output_dir, force=force)
        return
    found = digests
    if digests != [STANDARD_INPUT]:
        found = [str(file.path) for file in _find(digests)]
    if len(found) > 1:
        raise Refusal(
            f"found {len(found)} digests, expected one", hint="use --output-dir for several"
        )
    data = open_digest(found[0]).decode()
    if output is not None and output != STANDARD_INPUT:
        files.write_whole(Path(output), data, force=force)
    elif sys.stdout.isatty():
        text = data.decode("utf-8", "replace")
        terminal.write_text(text if text.endswith("\n") else text + "\n")
    else:
        terminal.write_bytes(data)


def _find(names: list[str]) -> list[Found]:
    return files.find(names, [DIGEST_SUFFIX])


def _decode_all(names: list[str], folder: Path, *, force: bool) -> None:
    """Decode every digest into a folder; continue after failures.

    Raises:
        typer.Exit: with 2 if anything failed.
    """
    if STANDARD_INPUT in names:
        raise Refusal("standard input has no file name for --output-dir", hint="use -o")
    failed = False
    taken: dict[Path, Path] = {}
    for file in _find(names):
        try:
            page = open_digest(str(file.path))
            target = folder / file.below.with_suffix("")
            if not target.suffix:  # `a.html.qd` has one already
                target = target.with_suffix(SUFFIXES.get(page.kind, ""))
            if target in taken:
                raise Refusal(f"{file.path} and {taken[target]} would both become {target}")  # noqa: TRY301
            files.write_whole(target, page.decode(), force=force)
            taken[target] = file.path
        except (Refusal, QuireError, OSError) as error:
            failed = True
            message, hint = terminal.explain(error, str(file.path))
            terminal.complain(message, hint=hint)
    if failed:
        raise typer.Exit(terminal.ERROR)

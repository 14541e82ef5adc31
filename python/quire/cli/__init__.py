"""The command line: ``quire encode``, ``diff``, ``templates``, ``fragments``, ``archive`` and more.

There is one folder for each group of commands. Only ``common.terminal`` prints, and commands write
files through ``common.files``. Commands import heavy modules (tables, columns) when they run, so
that ``quire --help`` is fast.

Exit codes: 0 on success, 2 on error; 1 for "changed" or "does not fit", if the user asks for it.
"""

from __future__ import annotations

import signal
import sys
from typing import Annotated, cast

import typer

from quire.cli.archive.app import app as archive
from quire.cli.common import terminal
from quire.cli.common.help_group import HELP_OPTIONS, HelpGroup
from quire.cli.fragments.app import app as fragments
from quire.cli.page import decode, diff, encode, show, similar
from quire.cli.records.app import app as records
from quire.cli.templates import group as templates
from quire.cli.watch.app import app as watch
from quire.cli.watch.serve import serve, worker
from quire.version import version as installed_version

__all__ = ["app", "main"]

app: typer.Typer = typer.Typer(
    name="quire",
    help=(
        "Encode web pages as digests: flat columns that decode to the exact bytes.\n\n"
        "For help on a command: quire COMMAND --help"
    ),
    cls=HelpGroup,
    context_settings={"help_option_names": list(HELP_OPTIONS)},
    add_completion=False,
    rich_markup_mode=None,  # plain help keeps our line breaks, and is fast
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        terminal.write_text(f"quire {installed_version()}\n")
        raise typer.Exit


@app.callback()
def _quire(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


app.command("encode")(encode.encode)
app.command("decode")(decode.decode)
app.command("show")(show.show)
app.command("diff")(diff.diff)
app.command("similar")(similar.similar)
app.add_typer(templates.app, name="templates")
app.add_typer(records, name="records")
app.add_typer(fragments, name="fragments")
app.add_typer(archive, name="archive")
app.add_typer(watch, name="watch")
app.command("serve")(serve)
app.command("worker")(worker)

# The class that typer raises for a wrong option; its own name for it is not public.
_UsageError = cast("type[Exception]", typer.BadParameter.__bases__[0])


def _terminated(number: int, _frame: object) -> None:
    """End like after any other error, so that temporary files are removed."""
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line and exit with its exit code."""
    terminal.prepare()
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as error:
        told = error.format_message() if hasattr(error, "format_message") else str(error)
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "quire"
        hint = f"see `{command} --help`"
        if terminal.is_web_address(" ".join(sys.argv[1:2])):
            hint = f"name a command, as in: quire show {sys.argv[1]}"
        terminal.complain(told.rstrip("."), hint=hint)
        code = terminal.ERROR
    except BrokenPipeError:
        terminal.let_go_of_output()
        code = 0
    except OSError as error:  # short output is only written when it is flushed
        code = terminal.fail(error)
    sys.exit(code if isinstance(code, int) else 0)

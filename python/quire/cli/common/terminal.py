"""The way out to a person: standard output, standard error, and what may go there.

Pages are other people's words. Whatever of them is put on a screen goes through
``printable``, because a terminal obeys control sequences: it can be made to hide
text, to rename its window, on some machines to type. What goes into a pipe or a
file is left as it is.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

import typer

from quire.display import printable
from quire.errors import (
    ArchiveLocked,
    DamagedRecord,
    DigestFormatError,
    MalformedSource,
    ModelError,
    PageNotFound,
    PatternError,
    PlanError,
    ProxyError,
    QuireError,
    SelectorBudgetExceeded,
    SelectorError,
    SourceNotFound,
    SourceTooLarge,
    SourceUnreadable,
    StorageFailed,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["printable"]

P = ParamSpec("P")

ERROR = 2


class Refusal(Exception):
    """A command cannot do what it was asked; says why, and what would help."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.hint: str | None = hint
        super().__init__(message)


def one_line(text: str, *, most: int = 72) -> str:
    r"""Give a text as one line of at most ``most`` characters, safe for a terminal.

    >>> one_line("  Mind \n the gap", most=8)
    'Mind th…'
    """
    # Only the beginning can be seen, and a text can be a whole page.
    line = printable(" ".join(text[: 8 * most].split()))
    return line if len(line) <= most and len(text) <= 8 * most else line[: most - 1] + "…"


def ratio(part: int, whole: int) -> str:
    """Give a ratio in two decimals, or a dash where there is nothing to compare with.

    >>> ratio(1, 3), ratio(7, 0)
    ('0.33', '–')
    """
    return f"{part / whole:.2f}" if whole else "–"


def prepare() -> None:
    """Let standard streams take any text, whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def complain(message: str, *, hint: str | None = None) -> None:
    """Say on standard error what is wrong and what would help."""
    print(f"error: {printable(message)}", file=sys.stderr)  # noqa: T201 - the sink itself
    if hint is not None:
        advise(hint)


def advise(hint: str) -> None:
    """Say on standard error what would help."""
    print(f"hint: {printable(hint)}", file=sys.stderr)  # noqa: T201 - the sink itself


def note(message: str) -> None:
    """Say something on standard error that is no fault."""
    print(f"note: {printable(message)}", file=sys.stderr)  # noqa: T201 - the sink itself


def write_text(text: str) -> None:
    """Write text of a page to standard output; safe on a terminal, exact in a pipe."""
    sys.stdout.write(printable(text, keep="\n\t") if sys.stdout.isatty() else text)


def flush() -> None:
    """Let whoever waits for the output see it now."""
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Write a result for a program. On a terminal ASCII only, which holds no control."""
    text = json.dumps(value, ensure_ascii=sys.stdout.isatty(), indent=2)
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output, all of them."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def console(*, stderr: bool = False) -> Console:
    """Open a console for tables; it reads neither markup nor emoji out of pages."""
    from rich.console import Console  # noqa: PLC0415 - heavy

    stream = sys.stderr if stderr else sys.stdout
    # In a pipe there is no width to fit into, and a cut table is of no use.
    width = None if stream.isatty() else 200
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def let_go_of_output() -> None:
    """Give up what standard output did not take: no complaint when Python flushes at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # a standard output that is no file
        return


def explain(error: BaseException, name: str | None = None) -> tuple[str, str | None]:
    """Give the words for an error, and a hint where there is one.

    Args:
        error: what was raised.
        name: the file it is about, for errors that do not know.
    """
    message = str(error)
    if isinstance(error, Refusal):
        return message, error.hint
    if isinstance(error, OSError) and not isinstance(error, QuireError):
        file = "standard output" if _is_of_output(error) else name
        if error.filename is not None:
            file = os.fsdecode(error.filename)
        reason = error.strerror.lower() if error.strerror else message
        hint = _FILE_HINTS.get(type(error)) or _CODE_HINTS.get(error.errno or 0)
        return (f"{file}: {reason}" if file else reason), hint
    if name is not None and not message.startswith(name):
        message = f"{name}: {message}"
    return message, _hint(error)


def _is_of_output(error: OSError) -> bool:
    """Tell whether it was standard output that took no more: of files the name is known."""
    return error.filename is None and error.errno in {errno.ENOSPC, errno.EFBIG}


_FILE_HINTS: dict[type[OSError], str] = {
    FileNotFoundError: "look for a slip in the name; `-` is standard input",
    PermissionError: "ask for the right to it, or choose another place with -o",
    IsADirectoryError: "name a file in it",
}
#: Errors of files that have no class of their own.
_CODE_HINTS = {
    errno.EROFS: "choose another place: nothing can be written to this one",
}


_HINTS: tuple[tuple[type[QuireError], str], ...] = (
    (ArchiveLocked, "reading goes on meanwhile; a writer that has died holds nothing"),
    (DamagedRecord, "`quire archive verify` lists all damage; other pages can be read"),
    (PageNotFound, "`quire archive ls` lists addresses, `quire archive versions` times"),
    (DigestFormatError, "encode the page again with `quire encode`, or upgrade quire"),
    (MalformedSource, "--recover reads on past faults, --kind text takes it as plain text"),
    (ModelError, "`quire templates SOURCE --model FILE` writes one"),
    (PatternError, "quote a pattern for the shell; \\ takes the next character as it is"),
    (PlanError, "`quire fragments esi SOURCE -o DIR` writes a composition; --force replaces one"),
    (ProxyError, "--composer own needs no Varnish; Debian's package is varnish"),
    (SelectorBudgetExceeded, "ask for less: no `*`, one `:has()` fewer"),
    (SelectorError, "quote a selector for the shell"),
    (
        SourceNotFound,
        "look for a slip in the name; a folder needs pages, WARC or Parquet files in it",
    ),
    (SourceUnreadable, "fetch the page or the archive again"),
    (StorageFailed, "make room or look at the disk; what was safe before still is"),
    (SourceTooLarge, "split it before it is encoded"),
)


#: The disk is well, but this place of it is not ours.
_NO_PLACE = {errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS}


def _hint(error: BaseException) -> str | None:
    if isinstance(error, StorageFailed) and error.code in _NO_PLACE:
        return "choose a folder that you may write to"
    return next((hint for kind, hint in _HINTS if isinstance(error, kind)), None)


def fail(error: BaseException) -> int:
    """Say what went wrong and what would help, and give the exit code."""
    if isinstance(error, OSError) and _is_of_output(error):
        let_go_of_output()
    message, hint = explain(error)
    complain(message, hint=hint)
    return ERROR


def reports_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn what a command raises into `error:` and `hint:`, and an exit code."""

    @functools.wraps(command)
    def reporting(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            let_go_of_output()
        except (Refusal, QuireError, OSError) as error:
            raise typer.Exit(fail(error)) from None

    return reporting

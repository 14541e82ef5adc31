"""Printing: standard output, standard error, and the wording of errors and hints.

Pages come from strangers. All their text goes through ``printable`` before it reaches a screen, because
terminals obey control sequences: these can hide text, rename the window, on some machines even
type. Output to a pipe or a file is not changed.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, ParamSpec

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

_WEB = ("http://", "https://", "ftp://", "www.")


class Refusal(Exception):
    """A command cannot continue; has the reason and, if there is one, a hint."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.hint: str | None = hint
        super().__init__(message)


def is_web_address(name: str) -> bool:
    """Tell whether an argument that should be a file is a web address.

    >>> is_web_address("https://example.org/"), is_web_address("www.example.org")
    (True, True)
    >>> is_web_address("page.html"), is_web_address("s3://bucket/page.html")
    (False, False)
    """
    return name.lower().startswith(_WEB) and not os.path.lexists(name)


def one_line(text: str, *, most: int = 72) -> str:
    r"""Return a text as one line of at most ``most`` characters, safe for a terminal.

    >>> one_line("  Mind \n the gap", most=8)
    'Mind th…'
    """
    # Only the beginning is shown, and a text can be a whole page.
    line = printable(" ".join(text[: 8 * most].split()))
    return line if len(line) <= most and len(text) <= 8 * most else line[: most - 1] + "…"


def ratio(part: int, whole: int) -> str:
    """Format a ratio with two decimals, or as a dash if ``whole`` is 0.

    >>> ratio(1, 3), ratio(7, 0)
    ('0.33', '–')
    """
    return f"{part / whole:.2f}" if whole else "–"


def prepare() -> None:
    """Make the standard streams accept any text in every locale."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def complain(message: str, *, hint: str | None = None) -> None:
    """Print an error, and a hint if there is one, on standard error."""
    print(f"error: {printable(message)}", file=sys.stderr)  # noqa: T201 - the sink itself
    if hint is not None:
        advise(hint)


def advise(hint: str) -> None:
    """Print a hint on standard error."""
    print(f"hint: {printable(hint)}", file=sys.stderr)  # noqa: T201 - the sink itself


def note(message: str) -> None:
    """Print a note on standard error; notes are not errors."""
    print(f"note: {printable(message)}", file=sys.stderr)  # noqa: T201 - the sink itself


def write_text(text: str) -> None:
    """Print text of a page on standard output: escaped on a terminal, unchanged in a pipe."""
    sys.stdout.write(printable(text, keep="\n\t") if sys.stdout.isatty() else text)


def flush() -> None:
    """Flush standard output."""
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Print a value as JSON; on a terminal in ASCII, which escapes all control characters."""
    text = json.dumps(value, ensure_ascii=sys.stdout.isatty(), indent=2)
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output and flush it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@contextmanager
def binary_output() -> Iterator[BinaryIO]:
    """Yield standard output for many bytes, and flush it at the end.

    Raises:
        Refusal: it is a terminal.
    """
    if sys.stdout.isatty():
        raise Refusal(
            "standard output is a terminal, and this is not text",
            hint="redirect it to a file or a pipe",
        )
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def console(*, stderr: bool = False) -> Console:
    """Open a console for tables that does not interpret markup or emoji codes in pages."""
    from rich.console import Console  # noqa: PLC0415 - heavy

    stream = sys.stderr if stderr else sys.stdout
    # A pipe has no width, and a table that is cut off is useless. COLUMNS asks for one all the same.
    width = None if stream.isatty() or _columns() else 200
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def _columns() -> int:
    """Return the width that the user asks for by COLUMNS; 0 for none."""
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isascii() and asked.isdigit() else 0


def print_styled(line: str, style: str = "") -> None:
    """Print a line that is safe for a terminal, with a style if there is one."""
    from rich.text import Text  # noqa: PLC0415 - heavy

    console().print(Text(line, style), soft_wrap=True)


def let_go_of_output() -> None:
    """Discard pending output, so that Python does not report an error when it flushes at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # standard output is not a file
        return


def explain(error: BaseException, name: str | None = None) -> tuple[str, str | None]:
    """Return the message for an error, and a hint if there is one.

    Args:
        error: the error.
        name: the file with the problem, for errors that do not name it.
    """
    message = str(error)
    if isinstance(error, Refusal):
        return message, error.hint
    if isinstance(error, OSError) and not isinstance(error, QuireError):
        reason = error.strerror.lower() if error.strerror else message
        if _is_of_output(error):
            return f"standard output: {reason}", None
        file = os.fsdecode(error.filename) if error.filename is not None else name
        hint = _FILE_HINTS.get(type(error)) or _CODE_HINTS.get(error.errno or 0)
        return (f"{file}: {reason}" if file else reason), hint
    if isinstance(error, MemoryError) and not message:
        message = "not enough memory"
    if name is not None and not message.startswith(name):
        message = f"{name}: {message}"
    return message, _hint(error)


def _is_of_output(error: OSError) -> bool:
    """Tell whether standard output failed; errors about files have a file name."""
    return error.filename is None and error.errno in {errno.ENOSPC, errno.EFBIG}


_FILE_HINTS: dict[type[OSError], str] = {
    FileNotFoundError: "check the name; use `-` for standard input",
    PermissionError: "check the permissions, or choose another file",
    IsADirectoryError: "give a file in this folder",
}
_FULL = "free some space, or choose another folder; TMPDIR names the one for temporary files"
#: Hints for file errors without their own class.
_CODE_HINTS = {
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.ENOSPC: _FULL,
    errno.EROFS: "choose another place; this file system is read-only",
}


_HINTS: tuple[tuple[type[QuireError], str], ...] = (
    (ArchiveLocked, "wait for the other writer to finish; reading still works"),
    (DamagedRecord, "`quire archive verify` lists all damage; other pages can still be read"),
    (PageNotFound, "`quire archive ls` lists addresses, `quire archive versions` lists times"),
    (DigestFormatError, "encode the page again with `quire encode`, or upgrade quire"),
    (MalformedSource, "use --recover to ignore the errors, or --kind text for plain text"),
    (ModelError, "`quire templates SOURCE --model FILE` writes a model"),
    (PatternError, "quote the pattern for the shell; \\ escapes the next character"),
    (PlanError, "`quire fragments esi SOURCE -o DIR` writes a composition; --force replaces one"),
    (ProxyError, "install Varnish (package varnish in Debian), or use --composer own"),
    (SelectorBudgetExceeded, "use a simpler selector: avoid `*`, use fewer `:has()`"),
    (SelectorError, "quote the selector for the shell"),
    (
        SourceNotFound,
        "check the name; a folder must contain pages, WARC or Parquet files",
    ),
    (SourceUnreadable, "fetch the page or the archive again"),
    (StorageFailed, "free some space or check the disk; data stored before is still safe"),
    (SourceTooLarge, "split the source before encoding it"),
)


#: Error numbers that mean that the place is wrong, not that the disk failed.
_NO_PLACE = {errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS}


def _hint(error: BaseException) -> str | None:
    if isinstance(error, MemoryError):
        return "split the page, or use a machine with more memory"
    if isinstance(error, StorageFailed) and error.code in _NO_PLACE:
        return "choose a folder that you can write to"
    if isinstance(error, SourceNotFound) and is_web_address(error.name):
        return f"save it to a file first: curl -sO {error.name}"
    if isinstance(error, PageNotFound) and error.near:
        return "similar addresses: " + ", ".join(error.near)
    return next((hint for kind, hint in _HINTS if isinstance(error, kind)), None)


def fail(error: BaseException) -> int:
    """Print an error with its hint, and return the exit code."""
    if isinstance(error, OSError) and _is_of_output(error):
        let_go_of_output()
    message, hint = explain(error)
    complain(message, hint=hint)
    return ERROR


def reports_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn the exceptions of a command into `error:` and `hint:` lines and an exit code."""

    @functools.wraps(command)
    def reporting(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            let_go_of_output()
        except (Refusal, QuireError, OSError, MemoryError) as error:
            raise typer.Exit(fail(error)) from None

    return reporting

"""Open what an argument names: a digest is loaded, anything else is a page to encode."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quire.cli.common import files, terminal
from quire.cli.common.files import DIGEST_SUFFIX, STANDARD_INPUT
from quire.cli.common.options import KindChoice
from quire.cli.common.terminal import Refusal
from quire.errors import QuireError

if TYPE_CHECKING:
    from quire.digest import Digest

# The first bytes of every digest; docs/format.md.
MAGIC = b"\x89quire\r\n"

# What a file can be at fault for; anything else is a bug, and shows itself as one.
EXPECTED = (QuireError, OSError, ValueError)

# From a page, or the file of one, to its digest.
PageReader = Callable[["bytes | Path"], "Digest"]


def reader(
    *,
    kind: KindChoice | None = None,
    content_type: str | None = None,
    encoding: str | None = None,
    scripting: bool = True,
    fragment: str | None = None,
    recover: bool = False,
) -> PageReader:
    """Give the function that encodes a page the way the options say."""
    from quire.digest import encode  # noqa: PLC0415 - heavy

    return partial(
        encode,
        kind=None if kind is None else kind.value,
        content_type=content_type,
        encoding=encoding,
        scripting=scripting,
        fragment=fragment,
        recover=recover,
    )


def encode_page(name: str, read: PageReader) -> Digest:
    """Encode the page in a file; ``-`` is standard input.

    Raises:
        Refusal: it cannot be read; says why.
    """
    try:
        return read(files.read_standard_input() if name == STANDARD_INPUT else Path(name))
    except EXPECTED as error:
        raise _refusal(error, name) from error


def open_page(name: str, read: PageReader) -> Digest:
    """Give the digest of a page or a digest file; ``-`` is standard input.

    Args:
        name: the file.
        read: encodes a page, should it be one.

    Raises:
        Refusal: it cannot be read; says why.
    """
    source, is_digest = _source(name)
    # Only its name tells a damaged digest from a page: any bytes are a page.
    is_digest = is_digest or Path(name).suffix.lower() == DIGEST_SUFFIX
    try:
        return _load(source) if is_digest else read(source)
    except EXPECTED as error:
        raise _refusal(error, name) from error


def open_late(name: str, read: PageReader) -> Digest | Path:
    """Give the path of a digest file, for those who may need no more than its header; else the digest of a page.

    Args:
        name: the file; ``-`` is standard input.
        read: encodes a page, should it be one.

    Raises:
        Refusal: it cannot be read; says why.
    """
    if name != STANDARD_INPUT:
        source, is_digest = _source(name)
        if is_digest and isinstance(source, Path):
            return source
    return open_page(name, read)


def open_digest(name: str) -> Digest:
    """Give the digest in a file; ``-`` is standard input.

    Raises:
        Refusal: it is none, or damaged.
    """
    source, is_digest = _source(name)
    if not is_digest:
        raise Refusal(
            f"{_named(name)}: not a digest",
            hint="`quire encode` makes one; a page needs no decoding",
        )
    try:
        return _load(source)
    except EXPECTED as error:
        raise _refusal(error, name) from error


def _source(name: str) -> tuple[bytes | Path, bool]:
    """What to read, and whether it begins as a digest does."""
    if name == STANDARD_INPUT:
        data = files.read_standard_input()
        return data, data.startswith(MAGIC)
    path = Path(name)
    with path.open("rb") as file:
        if not path.is_file():  # a pipe, as in <(...): what was looked at would be gone
            data = file.read()
            return data, data.startswith(MAGIC)
        return path, file.read(len(MAGIC)) == MAGIC


def _load(source: bytes | Path) -> Digest:
    from quire.digest import from_bytes, load  # noqa: PLC0415 - heavy

    return from_bytes(source) if isinstance(source, bytes) else load(source)


def _named(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name


def _refusal(error: Exception, name: str) -> Refusal:
    message, hint = terminal.explain(error, _named(name))
    return Refusal(message, hint=hint)

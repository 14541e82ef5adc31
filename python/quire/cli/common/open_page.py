"""Open the file an argument names: load a digest, or encode a page."""

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
from quire.safe_read import open_source

if TYPE_CHECKING:
    from quire.digest import Digest

# The first bytes of every digest; docs/format.md.
MAGIC = b"\x89quire\r\n"

# The first bytes of compressed files.
_PACKED = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

# Errors that a bad file can cause. Anything else is a bug in quire and is not caught.
EXPECTED = (QuireError, OSError, ValueError, MemoryError)

# Encodes the bytes or the file of a page.
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
    """Return a function that encodes a page with these options."""
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
        Refusal: it cannot be read; has the reason.
    """
    try:
        source, _ = _source(name)
        source, _ = _unpacked(name, source, read)
        return read(source)
    except EXPECTED as error:
        raise _refusal(error, name) from error


def open_page(name: str, read: PageReader) -> Digest:
    """Load a digest file or encode a page; ``-`` is standard input.

    Args:
        name: the file.
        read: encodes the file if it is a page.

    Raises:
        Refusal: it cannot be read; has the reason.
    """
    source, is_digest = _source(name)
    # Any bytes can be a page, so only the file name shows that this is a damaged digest.
    is_digest = is_digest or Path(name).suffix.lower() == DIGEST_SUFFIX
    try:
        if is_digest:
            return _load(source)
        source, coding = _unpacked(name, source, read)
        if coding is not None:
            terminal.note(f"{_named(name)}: compressed ({coding}); this is the page in it")
        return read(source)
    except EXPECTED as error:
        raise _refusal(error, name) from error


def open_late(name: str, read: PageReader) -> Digest | Path:
    """Return the path of a digest file without loading it, or encode a page.

    For callers that may only need the header of a digest.

    Args:
        name: the file; ``-`` is standard input.
        read: encodes the file if it is a page.

    Raises:
        Refusal: it cannot be read; has the reason.
    """
    if name != STANDARD_INPUT:
        source, is_digest = _source(name)
        if is_digest and isinstance(source, Path):
            return source
    return open_page(name, read)


def open_digest(name: str) -> Digest:
    """Load the digest in a file; ``-`` is standard input.

    Raises:
        Refusal: it is not a digest, or is damaged.
    """
    source, is_digest = _source(name)
    if not is_digest:
        raise Refusal(
            f"{_named(name)}: not a digest",
            hint="`quire encode` makes digests; a page does not need decoding",
        )
    try:
        return _load(source)
    except EXPECTED as error:
        raise _refusal(error, name) from error


def _unpacked(name: str, source: bytes | Path, read: PageReader) -> tuple[bytes | Path, str | None]:
    """Decompress a source that is a compressed page; return how it was compressed, or None.

    With ``--kind bytes`` it stays as it is.

    Raises:
        Refusal: it is damaged, or too long.
    """
    if isinstance(source, Path):
        with source.open("rb") as file:
            start = file.read(max(map(len, _PACKED)))
    else:
        start = source
    coding = next((coding for mark, coding in _PACKED.items() if start.startswith(mark)), None)
    if coding is None and Path(name).suffix.lower() == ".br":  # brotli starts like anything
        coding = "br"
    if coding is None or getattr(read, "keywords", {}).get("kind") == KindChoice.bytes.value:
        return source, None
    from quire.sources.capture import MOST_BYTES  # noqa: PLC0415 - heavy
    from quire.sources.codings import CannotDecode, decompress  # noqa: PLC0415 - heavy

    data = source.read_bytes() if isinstance(source, Path) else source
    try:
        return decompress(coding, data, MOST_BYTES), coding
    except CannotDecode as error:
        raise Refusal(
            f"{_named(name)}: compressed, but {error}",
            hint="use --kind bytes to read it as it is",
        ) from None


def _source(name: str) -> tuple[bytes | Path, bool]:
    """Return the source to read, and whether it starts like a digest.

    Raises:
        Refusal: it is a web address.
    """
    files.check_not_web_address(name)
    if name == STANDARD_INPUT:
        data = files.read_standard_input()
        return data, data.startswith(MAGIC)
    path = Path(name)
    with open_source(path) as file:
        if not path.is_file():  # a pipe, as in <(...), can only be read once
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

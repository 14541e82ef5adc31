"""Open the page an argument names, in a file or on the web: load a digest, or encode a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from quire.cli.common import fetched, files, terminal
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


class PageReader(Protocol):
    """Encodes the bytes or the file of a page, with the type that it was served with, if any."""

    def __call__(self, source: bytes | Path, /, *, content_type: str | None = None) -> Digest:
        """Encode a page."""


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
    """Encode the page in a file or at a web address; ``-`` is standard input.

    Raises:
        Refusal: it cannot be read; has the reason.
    """
    try:
        opened = _source(name)
        read = opened.reader(read)
        source, _ = _unpacked(name, opened.source, read)
        return read(source)
    except EXPECTED as error:
        raise _refusal(error, name) from error


def open_page(name: str, read: PageReader) -> Digest:
    """Load a digest or encode a page, in a file or at a web address; ``-`` is standard input.

    Args:
        name: the file or web address.
        read: encodes the file if it is a page.

    Raises:
        Refusal: it cannot be read; has the reason.
    """
    opened = _source(name)
    # Any bytes can be a page, so only the file name shows that this is a damaged digest.
    is_digest = opened.is_digest or Path(name).suffix.lower() == DIGEST_SUFFIX
    try:
        if is_digest:
            return _load(opened.source)
        read = opened.reader(read)
        source, coding = _unpacked(name, opened.source, read)
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
        path = Path(name)
        if not fetched.is_web_page(name) and path.is_file():
            with open_source(path) as file:
                if file.read(len(MAGIC)) == MAGIC:
                    return path
    return open_page(name, read)


def open_digest(name: str) -> Digest:
    """Load the digest in a file; ``-`` is standard input.

    Raises:
        Refusal: it is not a digest, or is damaged.
    """
    opened = _source(name)
    if not opened.is_digest:
        raise Refusal(
            f"{_named(name)}: not a digest",
            hint="`quire encode` makes digests; a page does not need decoding",
        )
    try:
        return _load(opened.source)
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


@dataclass(frozen=True, slots=True)
class _Opened:
    """A source to read."""

    source: bytes | Path
    is_digest: bool
    content_type: str | None = None

    def reader(self, read: PageReader) -> PageReader:
        """Return a function that encodes the source with the type that it was served with."""
        keywords = getattr(read, "keywords", {})
        if self.content_type is None or keywords.get("content_type") is not None:
            return read
        return partial(read, content_type=self.content_type)


def _source(name: str) -> _Opened:
    """Return the source to read, and whether it starts like a digest.

    Raises:
        Refusal: it is a web address that cannot be fetched.
    """
    if fetched.is_web_page(name):
        response = fetched.fetch(name)
        body = response.body
        return _Opened(body, body.startswith(MAGIC), response.content_type)
    fetched.check_not_web_address(name)
    if name == STANDARD_INPUT:
        data = files.read_standard_input()
        return _Opened(data, data.startswith(MAGIC))
    path = Path(name)
    with open_source(path) as file:
        if not path.is_file():  # a pipe, as in <(...), can only be read once
            data = file.read()
            return _Opened(data, data.startswith(MAGIC))
        return _Opened(path, file.read(len(MAGIC)) == MAGIC)


def _load(source: bytes | Path) -> Digest:
    from quire.digest import from_bytes, load  # noqa: PLC0415 - heavy

    return from_bytes(source) if isinstance(source, bytes) else load(source)


def _named(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name


def _refusal(error: Exception, name: str) -> Refusal:
    message, hint = terminal.explain(error, _named(name))
    return Refusal(message, hint=hint)

"""Make digests from bytes, files and chunks, and open stored ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from quire import _core
from quire.digest.arguments import check_bytes, check_path, check_source
from quire.digest.page import Digest
from quire.digest.signatures import Signatures
from quire.errors import DigestFormatError, MalformedSource, QuireError, SourceTooLarge

PageKind: TypeAlias = Literal["html", "xml", "json", "text", "bytes"]
StrPath: TypeAlias = str | os.PathLike[str]
Bytes: TypeAlias = bytes | bytearray | memoryview

# The longest possible header has 832 bytes.
_HEAD_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a stored digest.

    Attributes:
        kind: the parser that read the page.
        n: number of nodes.
        flags: notable properties of the whole page; see ``Digest.flags``.
        source_bytes: length of the page in bytes.
        compressed: whether the file is compressed.
        signatures: a 128-bit signature of the source and one of each facet.
    """

    kind: str
    n: int
    flags: frozenset[str]
    source_bytes: int
    compressed: bool
    signatures: Signatures


def encode(
    source: Bytes | StrPath,
    *,
    kind: PageKind | None = None,
    content_type: str | None = None,
    encoding: str | None = None,
    scripting: bool = True,
    fragment: str | None = None,
    recover: bool = False,
) -> Digest:
    """Make the digest of a page.

    Any bytes can be encoded, and the digest decodes to exactly those bytes. The one exception: XML
    and JSON that are not well-formed are an error, unless you set ``recover``.

    >>> page = encode(b"<p>Fish<p>Chips")
    >>> page.kind, page.n, page.decode()
    ('html', 8, b'<p>Fish<p>Chips')
    >>> encode(b"<td>1<td>2", fragment="tr").tag_counts()
    {'#document': 1, 'td': 2, '#text': 2}

    Args:
        source: the bytes of the page, or the path of a file; a ``str`` is always a path.
        kind: the parser to use (default: decided from ``content_type`` and the content).
        content_type: the ``Content-Type`` header the page was served with.
        encoding: the character set, if you know it for certain.
        scripting: parse HTML like a browser with scripts enabled: ``noscript`` holds text.
        fragment: parse HTML as the inside of this element: ``"td"``, ``"svg path"``.
        recover: continue past errors in XML and JSON; the digest is flagged ``recovered``.

    Raises:
        MalformedSource: XML or JSON is not well-formed; the error has the position. If the page is
            flagged ``transcoded`` and has invalid bytes, offset and column refer to its UTF-8 copy.
        SourceTooLarge: the source has 2 GiB or more.
        TypeError: the source is neither bytes nor a path, or is a ``str`` with the page itself.
        OSError: the file cannot be read.
    """
    check_source(source)
    kind = _kind_with(fragment, kind)
    if isinstance(source, str | os.PathLike):
        path, data = source, Path(source).read_bytes()
    else:
        path, data = None, _frozen(source)
    try:
        return Digest(
            _core.encode(data, kind, content_type, encoding, scripting, fragment, recover)
        )
    except (MalformedSource, SourceTooLarge) as error:
        if path is not None:
            _name(error, path)
        raise


def load(path: StrPath, *, verify: Literal["all", "columns"] = "all") -> Digest:
    """Open a stored digest.

    The file is read, or mapped into memory if it is large. With ``verify="columns"``, texts stay in
    the file (compressed, if the file is) until they are first read. For this, the last few digests
    keep their files open and older ones keep a map. While a digest is in use, you may rename,
    delete or replace its file (as ``save`` does), but must not write to it or truncate it in place:
    if quire can detect that, it raises ``DigestFormatError``, but under a map the process dies.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(b"<p>Fish").save(f"{folder}/fish.qd")
    ...     load(f"{folder}/fish.qd").text()
    'Fish'

    Args:
        path: the file.
        verify: ``all`` checks every checksum now; ``columns`` checks those of the texts when they
            are first read, which may then raise ``DigestFormatError``.

    Raises:
        DigestFormatError: the file is not a digest, is damaged, or was written by a newer version.
    """
    check_path("path", path)
    try:
        return Digest(_core.from_file(path, verify))
    except DigestFormatError as error:
        _name(error, path)
        raise


def from_bytes(data: Bytes, *, verify: Literal["all", "columns"] = "all") -> Digest:
    """Open a digest from bytes, as returned by ``Digest.to_bytes``.

    ``bytes`` are used without copying; mutable buffers are copied.

    >>> from_bytes(encode(b"<p>Fish").to_bytes()).text()
    'Fish'

    Raises:
        DigestFormatError: the bytes are not a digest, or are damaged.
    """
    is_path = isinstance(data, str | os.PathLike)
    check_bytes("data", data, ": quire.load reads a digest from a file" if is_path else "")
    return Digest(_core.from_bytes(_frozen(data), verify))


def peek(path: StrPath) -> Header:
    """Read only the header of a stored digest: enough to tell whether a page changed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(b"<p>Fish").save(f"{folder}/fish.qd", compress=True)
    ...     header = peek(f"{folder}/fish.qd")
    >>> header.n, header.source_bytes, header.compressed
    (6, 7, True)

    Raises:
        DigestFormatError: the file is not a digest.
    """
    check_path("path", path)
    with Path(path).open("rb", buffering=0) as stream:
        head = stream.read(_HEAD_BYTES)
    try:
        kind, n, flags, source_bytes, compressed, signatures = _core.peek(head)
    except DigestFormatError as error:
        _name(error, path)
        raise
    return Header(kind, n, frozenset(flags), source_bytes, compressed, Signatures.of(signatures))


class Encoder:
    """Encode a page that arrives in chunks of any size.

    The chunks are kept until ``finish``: sniffing and character sets need the whole page. A page that
    grows too long (2 GiB) is refused at once, not when it ends.

    >>> encoder = Encoder(content_type="text/html; charset=utf-8")
    >>> encoder.feed(b"<p>Fi")
    >>> encoder.feed(b"sh")
    >>> encoder.finish() == encode(b"<p>Fish", content_type="text/html; charset=utf-8")
    True
    """

    def __init__(
        self,
        *,
        kind: PageKind | None = None,
        content_type: str | None = None,
        encoding: str | None = None,
        scripting: bool = True,
        fragment: str | None = None,
        recover: bool = False,
    ) -> None:
        kind = _kind_with(fragment, kind)
        self._native = _core.Encoder(kind, content_type, encoding, scripting, fragment, recover)

    def feed(self, chunk: Bytes) -> None:
        """Add the next bytes of the page.

        Raises:
            ValueError: the page is finished.
            SourceTooLarge: the page is too long with this chunk, which is not added.
        """
        check_bytes("chunk", chunk)
        self._native.feed(_frozen(chunk))

    def finish(self) -> Digest:
        """Return the digest; the encoder cannot be used again.

        Raises:
            ValueError: ``finish`` was already called.
            MalformedSource: XML or JSON is not well-formed.
        """
        return Digest(self._native.finish())


def _kind_with(fragment: str | None, kind: PageKind | None) -> PageKind | None:
    """Give the kind of a page that may be a fragment."""
    if fragment is None:
        return kind
    if kind not in {None, "html"}:
        raise ValueError(f"a fragment is always html, but kind is {kind!r}")
    return "html"


def _frozen(data: Bytes) -> bytes:
    """Return bytes that cannot change while a kernel reads them."""
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def _name(error: QuireError, path: StrPath) -> None:
    """Put the name of the file in front of the message."""
    error.args = (f"{os.fspath(path)}: {error}",)

"""Where digests come from: bytes, files, chunks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from quire import _core
from quire.digest.page import Digest
from quire.digest.signatures import Signatures
from quire.errors import DigestFormatError, MalformedSource, QuireError, SourceTooLarge

Kind: TypeAlias = Literal["html", "xml", "json", "text", "bytes"]
StrPath: TypeAlias = str | os.PathLike[str]
Bytes: TypeAlias = bytes | bytearray | memoryview

# The longest header there is has 832 bytes.
_HEAD_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Header:
    """What a stored digest says in its first bytes.

    Attributes:
        kind: which parser read the page.
        n: number of nodes.
        flags: what is to be known about the page as a whole.
        source_bytes: length of the page.
        compressed: whether the file is compressed.
        signatures: 128 bits for the source and for each facet.
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
    kind: Kind | None = None,
    content_type: str | None = None,
    encoding: str | None = None,
    scripting: bool = True,
    fragment: str | None = None,
    recover: bool = False,
) -> Digest:
    """Make the digest of a page.

    Any bytes at all have a digest, and it gives them back. The one exception: XML and JSON that are
    not well-formed are an error, unless ``recover`` is set.

    >>> page = encode(b"<p>Fish<p>Chips")
    >>> page.kind, page.n, page.decode()
    ('html', 8, b'<p>Fish<p>Chips')
    >>> encode(b"<td>1<td>2", fragment="tr").tag_counts()
    {'#document': 1, 'td': 2, '#text': 2}

    Args:
        source: the bytes of the page, or the path of a file; a ``str`` is always a path.
        kind: which parser reads it; decided by ``content_type`` and content when not given.
        content_type: the ``Content-Type`` the page came with.
        encoding: the character set, when it is known for certain.
        scripting: HTML as a browser with scripts reads it: ``noscript`` holds text.
        fragment: HTML: read as the inside of this element: ``"td"``, ``"svg path"``.
        recover: XML and JSON: read on past faults; the digest is flagged ``recovered``.

    Raises:
        MalformedSource: XML or JSON is not well-formed; says where. On a page that is flagged ``transcoded``
            and holds bytes that are no characters, offset and column are those of the copy in UTF-8.
        SourceTooLarge: the source has 2 GiB or more.
    """
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

    The file is read, or mapped into memory if it is large. If ``verify`` is ``columns``, texts stay
    in the file, or packed in a compressed one, until they are first read; the last few digests keep
    their files open for that, older ones a map. While a digest is
    in use its file may be renamed, deleted or replaced by another (as ``save`` does), but must not
    be written to or cut short in place: where that can be seen it is a ``DigestFormatError``, but
    under a map it ends the process.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(b"<p>Fish").save(f"{folder}/fish.qd")
    ...     load(f"{folder}/fish.qd").text()
    'Fish'

    Args:
        path: the file.
        verify: ``all`` checks every checksum now; ``columns`` leaves those of the texts until
            they are first read, which then may raise ``DigestFormatError``.

    Raises:
        DigestFormatError: the file is not a digest, or is damaged, or was written by a newer version.
    """
    try:
        return Digest(_core.from_file(path, verify))
    except DigestFormatError as error:
        _name(error, path)
        raise


def from_bytes(data: Bytes, *, verify: Literal["all", "columns"] = "all") -> Digest:
    """Open a digest that is in memory, as ``Digest.to_bytes`` gives it.

    ``bytes`` are used where they are; anything that could change is copied.

    >>> from_bytes(encode(b"<p>Fish").to_bytes()).text()
    'Fish'

    Raises:
        DigestFormatError: the bytes are not a digest, or are damaged.
    """
    return Digest(_core.from_bytes(_frozen(data), verify))


def peek(path: StrPath) -> Header:
    """Read the header of a stored digest and nothing else: enough to tell whether a page changed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(b"<p>Fish").save(f"{folder}/fish.qd", compress=True)
    ...     header = peek(f"{folder}/fish.qd")
    >>> header.n, header.source_bytes, header.compressed
    (6, 7, True)

    Raises:
        DigestFormatError: the file is not a digest.
    """
    with Path(path).open("rb", buffering=0) as stream:
        head = stream.read(_HEAD_BYTES)
    try:
        kind, n, flags, source_bytes, compressed, signatures = _core.peek(head)
    except DigestFormatError as error:
        _name(error, path)
        raise
    return Header(kind, n, frozenset(flags), source_bytes, compressed, Signatures.of(signatures))


class Encoder:
    """Encode a page that arrives in chunks; how it was cut makes no difference.

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
        kind: Kind | None = None,
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
        self._native.feed(_frozen(chunk))

    def finish(self) -> Digest:
        """Make the digest; the encoder is used up.

        Raises:
            ValueError: the page is finished already.
            MalformedSource: XML or JSON is not well-formed.
        """
        return Digest(self._native.finish())


def _kind_with(fragment: str | None, kind: Kind | None) -> Kind | None:
    """Give the kind of a page that may be a fragment."""
    if fragment is None:
        return kind
    if kind not in {None, "html"}:
        raise ValueError(f"a fragment is always html, but kind is {kind!r}")
    return "html"


def _frozen(data: Bytes) -> bytes:
    """Give bytes that nobody can change while a kernel reads them."""
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def _name(error: QuireError, path: StrPath) -> None:
    """Put the name of a file in front of what is said about it."""
    error.args = (f"{os.fspath(path)}: {error}",)

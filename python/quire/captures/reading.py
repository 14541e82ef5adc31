"""Reading: every page in any source, and one page again by its name.

The functions are those of ``quire.sources``, and they know archives too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire import sources as files
from quire.archive import is_archive
from quire.captures.places import find
from quire.captures.stored_pages import read_archive, read_stored, split_name
from quire.sources import MOST_BYTES, Capture, Trouble


def read(
    sources: str | Sequence[str], *, newest: bool = False, most_bytes: int = MOST_BYTES
) -> Iterator[Capture | Trouble]:
    """Read every page in some sources, one after the other.

    A page, record or file that cannot be read is a ``Trouble``, and reading goes on after it.

    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from quire.archive import Archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Archive.create(f"{folder}/site.quire") as archive:
    ...         archive.add("https://a.example/", datetime(2026, 5, 1, tzinfo=UTC), b"<p>Closed")
    ...         archive.add("https://a.example/", datetime(2026, 5, 2, tzinfo=UTC), b"<p>Open")
    ...     [page.body for page in read(f"{folder}/site.quire")]
    ...     [page.body for page in read(f"{folder}/site.quire", newest=True)]
    [b'<p>Closed', b'<p>Open']
    [b'<p>Open']

    Args:
        sources: one source or several; ``find`` says which there are.
        newest: read only the newest capture of each address of an archive. All captures in WARC and
            Parquet files are read in either case.
        most_bytes: a longer page is a ``Trouble``.

    Raises:
        SourceNotFound: a source does not exist, or there is nothing to read in it.
        MissingExtra: a source needs a library that is not installed.
    """
    for path in find([sources] if isinstance(sources, str) else sources):
        yield from read_path(path, newest=newest, most_bytes=most_bytes)


def read_path(
    path: str, /, *, newest: bool = False, most_bytes: int = MOST_BYTES
) -> Iterator[Capture | Trouble]:
    """Read every page in one path that ``find`` listed.

    Tasks of an engine read with it, since any machine that sees the path can call it.

    >>> list(read_path("gone.html"))
    [Trouble(name='gone.html', reason='no such file')]

    Args:
        path: a file or an archive.
        newest: as for ``read``.
        most_bytes: as for ``read``.

    Raises:
        MissingExtra: the path needs a library that is not installed.
    """
    if is_archive(path):
        yield from read_archive(path, newest=newest, most_bytes=most_bytes)
    else:
        yield from files.read(path, most_bytes=most_bytes)


def read_newest(path: str, /, *, most_bytes: int = MOST_BYTES) -> Iterator[Capture | Trouble]:
    """Read one path, and of an archive only the newest capture of each address.

    It is ``read_path`` with ``newest``, as a function that ``crawl_templates`` and
    ``crawl_fragments`` take for their ``reader``.

    >>> list(read_newest("gone.quire"))
    [Trouble(name='gone.quire', reason='no such file')]
    """
    return read_path(path, newest=True, most_bytes=most_bytes)


def read_one(name: str, *, most_bytes: int = MOST_BYTES) -> Capture:
    """Read one page by the name that its ``Capture`` has.

    For a page of an archive, the address alone is enough: ``site.quire#https://a.example/`` is its
    newest capture.

    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from quire.archive import Archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Archive.create(f"{folder}/site.quire") as archive:
    ...         archive.add("https://a.example/", datetime(2026, 5, 1, tzinfo=UTC), b"<p>Open")
    ...     read_one(f"{folder}/site.quire#https://a.example/ 2026-05-01T00:00:00Z").body
    b'<p>Open'

    Args:
        name: the name of a capture.
        most_bytes: a longer page cannot be read.

    Raises:
        SourceNotFound: no page has this name.
        SourceUnreadable: it is damaged, too long or not a page.
        MissingExtra: it needs a library that is not installed.
    """
    archive, _ = split_name(name)
    if archive:
        return read_stored(name, most_bytes=most_bytes)
    return files.read_one(name, most_bytes=most_bytes)

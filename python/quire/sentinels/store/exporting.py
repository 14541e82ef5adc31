"""Versions of a watch as an archive or a WARC file, with the exact bytes of every page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from sqlalchemy import Connection, select

from quire.archive import Archive, export
from quire.errors import NotStored, StoreError
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import version_reader
from quire.sentinels.store.tables import member, page, version

_UNSAFE = re.compile(r"[^\x20-\x7e\x80-\xff]+")


def export_versions(
    connection: Connection, watch_id: int, path: Path, url: str | None = None
) -> int:
    """Write the versions of the pages of a watch to a new archive or WARC file.

    Args:
        connection: in a transaction.
        watch_id: the watch.
        path: the file, if its name ends in ``.warc.gz``; otherwise the folder of an archive.
        url: only this page.

    Returns:
        The number of versions.

    Raises:
        StoreError: the path exists, or there are no versions.
    """
    if path.exists() or path.is_symlink():
        raise StoreError(f"{path} exists; choose another name")
    if not path.parent.is_dir():
        raise StoreError(f"{path.parent} is not a folder")
    if path.suffix == ".warc":
        raise StoreError(f"{path}: WARC files are written compressed; choose {path.name}.gz")
    pages = list(_pages(connection, watch_id, url))
    if not pages:
        raise NotStored("the watch has no stored versions" + (f" of {url}" if url else ""))
    if not path.name.endswith(".warc.gz"):
        return _fill(connection, pages, path)
    with tempfile.TemporaryDirectory(prefix="quire-export-") as folder:
        place = Path(folder) / "versions.quire"
        count = _fill(connection, pages, place)
        with Archive.open(place) as archive:
            export(archive, path)
    return count


def _pages(connection: Connection, watch_id: int, url: str | None) -> Iterator[tuple[int, str]]:
    query = (
        select(page.c.id, page.c.url)
        .join(member, member.c.page == page.c.id)
        .where(member.c.watch == watch_id, member.c.list_level.is_(None), page.c.latest >= 0)
        .order_by(page.c.url)
    )
    for row in connection.execute(query if url is None else query.where(page.c.url == url)):
        yield row.id, row.url


def _fill(connection: Connection, pages: list[tuple[int, str]], folder: Path) -> int:
    count = 0
    with Archive.create(folder) as archive:
        for page_id, url in pages:
            reader = version_reader(connection, page_id, url)
            rows = connection.execute(
                select(
                    version.c.number,
                    version.c.time,
                    version.c.status,
                    version.c.content_type,
                    version.c.headers,
                )
                .where(version.c.page == page_id)
                .order_by(version.c.number)
            ).all()
            for row in rows:
                head = _head(row.status, row.content_type, row.headers or {})
                archive.add(url, instant(row.time), reader.read(row.number), head)
                count += 1
        archive.commit()
    return count


def _head(status: int, content_type: str, headers: dict[str, str]) -> bytes:
    """Return the HTTP head of a version, as far as it is stored. The body is decoded."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    fields = {**headers, **({"content-type": content_type} if content_type else {})}
    lines = [f"HTTP/1.1 {status} {reason}".rstrip()]
    lines += [f"{_safe(name)}: {_safe(value)}" for name, value in fields.items()]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"


def _safe(text: str) -> str:
    return _UNSAFE.sub(" ", text)

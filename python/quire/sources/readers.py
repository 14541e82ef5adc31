r"""Readers: finds out which pages of a WARC file were requested with which cookies.

A crawler that is logged in writes a request record beside each response. The two are linked by
``WARC-Concurrent-To`` in one of them, or by the same address and time. Cookie values are often as
sensitive as passwords: they are used to distinguish captures and never shown.
"""

from __future__ import annotations

from collections.abc import Collection

from quire.sources.capture import MOST_BYTES, Trouble, header_values
from quire.sources.warc import PAGES, Record, read_records


def cookies_sent(
    path: str, names: Collection[str], *, most_bytes: int = MOST_BYTES
) -> dict[str, str]:
    r"""Return the cookies that were sent for each capture of a WARC file.

    >>> import tempfile
    >>> def record(kind, fields, block):
    ...     head = f"WARC/1.0\r\nWARC-Type: {kind}\r\n{fields}Content-Length: {len(block)}\r\n\r\n"
    ...     return head.encode() + block + b"\r\n\r\n"
    >>> asked = b"GET / HTTP/1.1\r\nCookie: id=7; x=1\r\n\r\n"
    >>> sent = record("request", "WARC-Concurrent-To: <a:1>\r\n", asked)
    >>> got = record("response", "WARC-Record-ID: <a:1>\r\n", b"HTTP/1.1 200 OK\r\n\r\n<p>")
    >>> with tempfile.NamedTemporaryFile(suffix=".warc") as file:
    ...     _ = file.write(sent + got), file.flush()
    ...     list(cookies_sent(file.name, ["id"]).values())
    ['id=7']

    Args:
        path: The WARC file.
        names: Names of the cookies that matter.
        most_bytes: Maximum block size in bytes; longer records are skipped.

    Returns:
        These cookies with their values, by the names of captures. Captures whose requests have none
        of them are left out.

    Raises:
        OSError: The file cannot be opened.
    """
    wanted = sorted(set(names))
    sent: dict[str, str] = {}
    pages: list[tuple[str, list[str]]] = []
    for record in read_records(path, kinds={*PAGES, "request"}, most_bytes=most_bytes):
        if isinstance(record, Trouble):
            continue  # reported when the pages are read
        if record.kind != "request":
            pages.append((record.name, _ties(record)))
            continue
        found = _cookies(record, wanted)
        *ties, place = _ties(record)
        sent |= dict.fromkeys(ties, found)
        # Two users at one address in the same second: only links between records tell them apart.
        sent[place] = found if sent.get(place, found) == found else ""
    pairs = ((name, next((sent[tie] for tie in ties if tie in sent), "")) for name, ties in pages)
    return {name: found for name, found in pairs if found}


def _ties(record: Record) -> list[str]:
    """Return what links a request and its response: record ids, and address with time."""
    ties = [record.fields.get(name, "") for name in ("warc-record-id", "warc-concurrent-to")]
    found = [tie for tie in ties if tie]
    return [*found, f"{record.fields.get('warc-date', '')} {record.url}"]


def _cookies(record: Record, wanted: list[str]) -> str:
    given: dict[str, str] = {}
    for header in header_values(record.head, b"cookie"):
        for pair in header.split(";"):
            name, _, value = pair.strip().partition("=")
            given.setdefault(name, value)
    return "; ".join(f"{name}={given[name]}" for name in wanted if name in given)

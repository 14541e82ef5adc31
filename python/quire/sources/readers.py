r"""Readers: which of the pages in a WARC file were asked for with which cookie.

A crawler that is logged in writes what it sent beside what it got: a request record, tied to its response by ``WARC-Concurrent-To`` in one of
the two, or by the same address at the same time. Values of cookies are passwords, as often as not: they tell captures apart, and are
shown to nobody.
"""

from __future__ import annotations

from collections.abc import Collection

from quire.sources.capture import MOST_BYTES, Trouble, header_values
from quire.sources.warc import PAGES, Record, read_records


def cookies_sent(
    path: str, names: Collection[str], *, most_bytes: int = MOST_BYTES
) -> dict[str, str]:
    r"""Tell the captures of a WARC file apart by cookies of their requests.

    >>> import tempfile
    >>> def record(kind, fields, block):
    ...     head = f"WARC/1.0\r\nWARC-Type: {kind}\r\n{fields}Content-Length: {len(block)}\r\n\r\n".encode()
    ...     return head + block + b"\r\n\r\n"
    >>> sent = record("request", "WARC-Concurrent-To: <a:1>\r\n", b"GET / HTTP/1.1\r\nCookie: id=7; x=1\r\n\r\n")
    >>> got = record("response", "WARC-Record-ID: <a:1>\r\n", b"HTTP/1.1 200 OK\r\n\r\n<p>")
    >>> with tempfile.NamedTemporaryFile(suffix=".warc") as file:
    ...     _ = file.write(sent + got), file.flush()
    ...     list(cookies_sent(file.name, ["id"]).values())
    ['id=7']

    Args:
        path: the file.
        names: the cookies that count.
        most_bytes: records with a longer block are passed over.

    Returns:
        By the names of captures, those cookies with their values; captures whose requests have none of them are left out.

    Raises:
        OSError: the file cannot be opened.
    """
    wanted = sorted(set(names))
    sent: dict[str, str] = {}
    pages: list[tuple[str, list[str]]] = []
    for record in read_records(path, kinds={*PAGES, "request"}, most_bytes=most_bytes):
        if isinstance(record, Trouble):
            continue  # whoever reads the pages names it
        if record.kind != "request":
            pages.append((record.name, _ties(record)))
            continue
        found = _cookies(record, wanted)
        *ties, place = _ties(record)
        sent |= dict.fromkeys(ties, found)
        # Two readers at one address in one second: only what the records say of each other tells them apart.
        sent[place] = found if sent.get(place, found) == found else ""
    told = ((name, next((sent[tie] for tie in ties if tie in sent), "")) for name, ties in pages)
    return {name: found for name, found in told if found}


def _ties(record: Record) -> list[str]:
    """What a request and its response have in common: the one's name that the other has, or address and time."""
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

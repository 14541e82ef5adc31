"""Heads: recognizes the start of WARC and ARC records and parses their heads.

WARC has a block of header lines; ARC has one line of five fields, or ten in its second version. ARC
fields are returned under WARC names, so that callers need not distinguish the formats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Real heads are under 4 KiB. But an archive stores addresses of up to 1 MiB, of which export makes
# three times as much if every byte has to be escaped.
MOST_HEAD_BYTES = 4 * 1024 * 1024
# Maximum length of an ARC line searched for after damage: no working address is longer.
MOST_LINE_BYTES = 4 * 1024

_WARC_START = re.compile(rb"WARC/\d{1,2}\.\d{1,3}[ \t]*\r?\n")
_WARC_END = re.compile(rb"\r?\n\r?\n")
# Counted from the end of an ARC line, because an address may (wrongly) contain spaces: address, IP,
# date, type, length; in the second version five more fields before the length.
_ARC_FIELDS = (10, 5)
_IP = re.compile(rb"\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f.:]{1,40}")
_DATE = re.compile(rb"\d{8,18}")
_SCHEME = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]{0,30}:")


class BadHead(Exception):
    """A head that lacks something every record needs."""


@dataclass(frozen=True, slots=True)
class Head:
    """The parsed head of a record.

    Attributes:
        kind: ``response``, ``resource``, ``request``, ``warcinfo``, …; empty for an ARC page.
        length: Length of the block in bytes.
        fields: Header fields by lower-case name; the first if a field is repeated.
    """

    kind: str
    length: int
    fields: dict[str, str]


class Warc:
    """The WARC format, any version."""

    #: What error messages call a record.
    name = "a WARC record"
    #: Separator between two records.
    between = b"\r\n\r\n"

    @staticmethod
    def is_start(data: bytes) -> bool:
        """Tell whether bytes begin like a record; five bytes are enough."""
        return data.startswith(b"WARC/")

    @staticmethod
    def search(window: bytes) -> int:
        """Find the start of a record in any bytes; -1 if there is none."""
        found = _WARC_START.search(window)
        return found.start() if found else -1

    @staticmethod
    def end(data: bytes | bytearray, start: int) -> int:
        """Return where the head ends, or 0, searching from ``start``."""
        found = _WARC_END.search(data, start)
        return found.end() if found else 0

    @staticmethod
    def parse(data: bytes) -> Head:
        """Parse a head.

        Raises:
            BadHead: The head has no version or no length.
        """
        if not _WARC_START.match(data):
            raise BadHead(f"begins with {data[:20]!r}; expected for example WARC/1.0")
        lines: dict[str, list[str]] = {}
        last = ""
        for line in data.decode("utf-8", "replace").split("\n")[1:]:
            if line[:1] in {" ", "\t"} and last:
                lines[last].append(line.strip())
                continue
            field, colon, value = line.partition(":")
            last = field.strip().lower() if colon and field.strip().lower() not in lines else ""
            if last:
                lines[last] = [value.strip()]
        fields = {name: " ".join(parts) for name, parts in lines.items()}
        return Head(fields.get("warc-type", "").lower() or "unknown", _length(fields), fields)


class Arc:
    """The ARC format, the predecessor of WARC."""

    name = "an ARC record"
    between = b"\n"

    @staticmethod
    def is_start(data: bytes) -> bool:
        """Tell whether bytes begin with the complete line of a record."""
        end = data.find(b"\n")
        return end > 0 and _arc_fields(data[:end]) is not None

    @staticmethod
    def search(window: bytes) -> int:
        """Find the start of a record in any bytes; -1 if there is none."""
        start = 0
        while (end := window.find(b"\n", start)) >= 0:
            if end - start <= MOST_LINE_BYTES and _arc_fields(window[start:end]) is not None:
                return start
            start = end + 1
        return -1

    @staticmethod
    def end(data: bytes | bytearray, start: int) -> int:
        """Return where the line ends, or 0, searching from ``start``."""
        return data.find(b"\n", start) + 1

    @staticmethod
    def parse(data: bytes) -> Head:
        """Parse the line of a record.

        Raises:
            BadHead: The fields are not those of a record, or the length is missing.
        """
        found = _arc_fields(data)
        if found is None:
            raise BadHead(f"begins with {data[:60]!r}; expected address, IP, date, type and length")
        names = (
            "warc-target-uri",
            "warc-ip-address",
            "warc-date",
            "content-type",
            "content-length",
        )
        fields = {
            name: value.decode("utf-8", "replace") for name, value in zip(names, found, strict=True)
        }
        kind = "warcinfo" if found[0].startswith(b"filedesc:") else ""
        return Head(kind, _length(fields), fields)


def _arc_fields(line: bytes) -> tuple[bytes, bytes, bytes, bytes, bytes] | None:
    for count in _ARC_FIELDS:
        fields = line.rstrip(b"\r\n").rsplit(b" ", count - 1)
        if (
            len(fields) == count
            and _DATE.fullmatch(fields[2])
            and _IP.fullmatch(fields[1])
            and _SCHEME.match(fields[0])
        ):
            return fields[0], fields[1], fields[2], fields[3], fields[-1]
    return None


def _length(fields: dict[str, str]) -> int:
    stated = fields.get("content-length", "")
    if not re.fullmatch(r"[0-9]{1,18}", stated):
        raise BadHead(
            f"has the length {stated[:20]!r}; expected a number" if stated else "has no length"
        )
    return int(stated)

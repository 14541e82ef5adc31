"""CDX queries: the question that Wayback clients ask an archive, and its answers.

Parameters and answers are those of the Wayback CDX server, with the additions of pywb (``sort``,
``closest``, ``~`` and ``=`` in filters). Fields come in the order of the Wayback Machine. Two fields
differ: ``digest`` is the start of the SHA-256 in base 32, since archives do not keep SHA-1, and
``length`` is the length of the body.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import islice
from urllib.parse import quote_plus, unquote_plus

from quire import _core
from quire.archive.addresses import key
from quire.archive.browsing.library import Capture, Library, parse_timestamp
from quire.errors import PatternError

#: Fields of a line, in their order.
FIELDS = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
#: Names that pywb and others use for the same fields.
_OTHER_NAMES = {"url": "original", "mime": "mimetype", "status": "statuscode"}
#: The most lines of one answer.
MOST_LINES = 100_000
_MOST_FILTERS = 20
_LONGEST_FILTER = 500


class Match(Enum):
    """Which addresses a query is about."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True)
class Query:
    """A question about captures.

    Attributes:
        url: the address; ``*`` at its end or ``*.`` at its beginning widens the match.
        match: which addresses are meant.
        since: the first time, in up to 14 digits.
        until: the last time, in up to 14 digits.
        limit: the most lines; a negative number counts from the end.
        fields: fields of a line, in their order.
        filters: ``field:pattern``, with ``!`` in front for the opposite; the pattern is a regular
            expression for the whole field. ``=field:text`` compares texts, ``~field:pattern`` finds
            the pattern anywhere.
        collapse: leave out lines whose field, or its first characters (``timestamp:8``), is that of
            the line before.
        closest: sort by the distance from this time.
        newest_first: sort from the newest to the oldest.
        resume_key: continue after this line of an earlier answer.
        shows_resume_key: end with the key for the next answer, if there is more.
        is_json: answer with an array of arrays.
    """

    url: str
    match: Match = Match.EXACT
    since: str = ""
    until: str = ""
    limit: int = MOST_LINES
    fields: tuple[str, ...] = FIELDS
    filters: tuple[str, ...] = ()
    collapse: str = ""
    closest: str = ""
    newest_first: bool = False
    resume_key: str = ""
    shows_resume_key: bool = False
    is_json: bool = False


def answer(library: Library, query: Query) -> str:
    """Answer a query as text, one capture on a line, or as JSON.

    Raises:
        ValueError: a parameter cannot be read; the message names it.
    """
    fields = [_OTHER_NAMES.get(name, name) for name in query.fields]
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise ValueError(f"fl: expected {', '.join(FIELDS)}, found {unknown[0]!r}")
    most = min(abs(query.limit) or MOST_LINES, MOST_LINES)
    found: Iterable[Capture] = _collapsed(_filtered(_between(library, query), query), query)
    rest: list[Capture] = []
    if query.closest:
        wanted = parse_timestamp(query.closest)
        if wanted is None:
            raise ValueError(f"closest: expected up to 14 digits, found {query.closest!r}")
        lines = sorted(found, key=lambda each: abs(each.time - wanted))[:most]
    elif query.newest_first:
        lines = sorted(found, key=lambda each: each.time, reverse=True)[:most]
    elif query.limit < 0:
        lines = list(found)[-most:]
    else:
        some = list(islice(found, most + 1))
        lines, rest = some[:most], some[most:]
    resume = _resume_key(lines[-1]) if rest and query.shows_resume_key else ""
    rows = [[_value(each, name) for name in fields] for each in lines]
    if query.is_json:
        return _as_json(fields, rows, resume)
    text = "".join(" ".join(row) + "\n" for row in rows)
    return text + (f"\n{resume}\n" if resume else "")


def _as_json(fields: list[str], rows: list[list[str]], resume: str) -> str:
    whole = [fields, *rows] if rows else []
    if resume:
        whole += [[], [resume]]
    return "[" + ",\n ".join(json.dumps(row) for row in whole) + "]\n"


def _between(library: Library, query: Query) -> Iterator[Capture]:
    """Yield the captures of the addresses and times of a query, sorted."""
    since = _time("from", query.since, is_end=False)
    until = _time("to", query.until, is_end=True)
    start, end = _range(query)
    after = _resume_after(query.resume_key) if query.resume_key else None
    for each in library.by_key(start, end):
        if since is not None and each.time < since:
            continue
        if until is not None and each.time.replace(microsecond=0) > until:
            continue
        if after is not None and (each.key, each.timestamp) <= after:
            continue
        yield each


def _range(query: Query) -> tuple[str, str]:
    """Return the normal forms between which the addresses of a query are."""
    url, match = query.url.strip(), query.match
    if url.startswith("*."):
        url, match = url[2:], Match.DOMAIN
    elif url.endswith("*"):
        url, match = url[:-1], Match.PREFIX
    if "://" not in url and not url.startswith("urn:"):
        url = f"http://{url}"
    whole = key(url)
    host = whole.partition(")")[0]
    if match is Match.EXACT:
        return whole, f"{whole}\0"
    if match is Match.HOST:
        return f"{host})", f"{host}*"  # the sign after `)`
    if match is Match.DOMAIN:
        # Hosts below continue with a comma, which sorts after `)`.
        return f"{host})", f"{host}-"
    if url.endswith("/") and not whole.endswith("/"):
        whole += "/"
    return whole, whole + "\U0010ffff"


def _filtered(captures: Iterable[Capture], query: Query) -> Iterator[Capture]:
    if len(query.filters) > _MOST_FILTERS:
        raise ValueError(f"filter: expected up to {_MOST_FILTERS} filters")
    tests = [_test(each) for each in query.filters]
    for each in captures:
        if all(test(each) for test in tests):
            yield each


def _test(text: str) -> Callable[[Capture], bool]:
    """Read a filter."""
    rest = text.removeprefix("!")
    is_opposite = rest != text
    kind = rest[:1] if rest[:1] in {"=", "~"} else ""
    name, colon, wanted = rest[len(kind) :].partition(":")
    name = _OTHER_NAMES.get(name, name)
    if not colon or name not in FIELDS or len(wanted) > _LONGEST_FILTER:
        raise ValueError(f"filter: expected field:pattern, such as statuscode:200, found {text!r}")
    if kind == "=":
        return lambda each: (_value(each, name) == wanted) != is_opposite
    try:
        pattern = _core.Pattern(f"(?s).*(?:{wanted}).*" if kind == "~" else f"^(?:{wanted})$")
    except PatternError as error:
        raise ValueError(f"filter: {error}") from None
    return lambda each: pattern.is_match(_value(each, name)) != is_opposite


def _collapsed(captures: Iterable[Capture], query: Query) -> Iterator[Capture]:
    name, _, count = query.collapse.partition(":")
    name = _OTHER_NAMES.get(name, name)
    if query.collapse and (name not in FIELDS or not (count or "1").isdecimal()):
        raise ValueError(f"collapse: expected a field, such as digest, found {query.collapse!r}")
    last: tuple[str, str] | None = None
    for each in captures:
        if query.collapse:
            value = _value(each, name)
            # Equal values of another address are not duplicates.
            here = each.key, value[: int(count[:9])] if count else value
            if here == last:
                continue
            last = here
        yield each


def _value(capture: Capture, name: str) -> str:
    return _VALUES[name](capture)


def _word(text: str) -> str:
    """Write a value without white space, which separates fields."""
    return "".join(f"%{ord(each):02X}" if each <= " " or each == "\x7f" else each for each in text)


_VALUES: dict[str, Callable[[Capture], str]] = {
    "urlkey": lambda each: _word(each.key),
    "timestamp": lambda each: each.timestamp,
    "original": lambda each: _word(each.url),
    "mimetype": lambda each: _word(each.type) or "-",
    "statuscode": lambda each: "-" if each.status is None else str(each.status),
    "digest": lambda each: base64.b32encode(each.hash).decode().rstrip("="),
    "length": lambda each: str(each.length),
}


def _resume_key(capture: Capture) -> str:
    """Return a key that is one word, and no part of a line: clients cut it out of the answer."""
    return quote_plus(f"{capture.key} {capture.timestamp}")


def _resume_after(text: str) -> tuple[str, str]:
    """Read a resume key, as it was written or as an address decodes it."""
    key, _, stamp = (text if " " in text else unquote_plus(text)).rpartition(" ")
    return key, stamp


def _time(name: str, text: str, *, is_end: bool) -> datetime | None:
    if not text:
        return None
    found = parse_timestamp(text, is_end=is_end)
    if found is None:
        raise ValueError(f"{name}: expected up to 14 digits, found {text!r}")
    return found

"""Structured data: lists of things that a page describes for machines, as JSON-LD.

A page with at least three things of one type becomes a region with one row for each, besides what
readers see. Objects inside a thing become columns with a dot: ``offers.price``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from quire.digest.page import Digest
from quire.extraction.table.values import ValueType, column_type

#: Fewer things are not a list.
LEAST_THINGS = 3
# A page may be hostile: scripts longer than this are not read, and deeper values are left out.
_MOST_BYTES = 2_000_000
_MOST_DEPTH = 4
_MOST_COLUMNS = 60
_MOST_THINGS = 20_000
_LINKS = ("url", "@id", "sameas", "item")
_IMAGES = ("image", "thumbnailurl", "logo", "photo")


@dataclass(frozen=True, slots=True)
class Things:
    """Things of one type: where they are, their columns and their rows."""

    node: int
    type: str
    names: tuple[str, ...]
    types: tuple[ValueType, ...]
    rows: tuple[tuple[str | None, ...], ...]


def json_ld(page: Digest) -> list[Things]:
    """Find the lists of things that a page describes as JSON-LD; invalid scripts are skipped."""
    found: list[Things] = []
    for node in page.select('script[type="application/ld+json" i]').tolist():
        source = page.text(node + 1) if page.children[node] else ""
        if not source.strip() or len(source) > _MOST_BYTES:
            continue
        try:
            value = json.loads(source)
        except (ValueError, RecursionError):
            continue
        by_type: dict[str, list[dict[str, object]]] = defaultdict(list)
        for thing in _things(value):
            by_type[_type(thing)].append(thing)
        for kind, things in by_type.items():
            if len(things) >= LEAST_THINGS:
                found.append(_table(node, kind, things))
    return found


def _things(value: object) -> Iterator[dict[str, object]]:
    """The things of a script: items of lists and graphs, at any depth, without recursion."""
    waiting: list[object] = [value]
    seen = 0
    while waiting and seen < _MOST_THINGS:
        seen += 1
        at = waiting.pop()
        if isinstance(at, list):
            waiting += reversed(at)
        elif isinstance(at, dict):
            if _type(at) == "ListItem" and isinstance(at.get("item"), dict):
                waiting.append(at["item"])
                continue
            inside = [at[name] for name in ("@graph", "itemListElement") if name in at]
            waiting += reversed(inside)
            if not inside and _type(at):
                yield at


def _type(thing: dict[str, object]) -> str:
    kind = thing.get("@type", "")
    if isinstance(kind, list):
        kind = kind[0] if kind else ""
    return kind if isinstance(kind, str) else ""


def _table(node: int, kind: str, things: list[dict[str, object]]) -> Things:
    flat = [dict(_flat(thing)) for thing in things]
    names = list(dict.fromkeys(name for row in flat for name in row))[:_MOST_COLUMNS]
    rows = tuple(tuple(row.get(name) for name in names) for row in flat)
    types = tuple(_column_type(name, [row.get(name) for row in flat]) for name in names)
    return Things(node, kind, tuple(names), types, rows)


def _flat(thing: dict[str, object]) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[str, object, int]] = [("", thing, 0)]
    while waiting:
        name, value, depth = waiting.pop()
        if isinstance(value, dict) and depth < _MOST_DEPTH:
            inner = [
                (f"{name}.{each}" if name else str(each), below, depth + 1)
                for each, below in value.items()
                if each not in {"@type", "@context"}
            ]
            waiting += reversed(inner)
        elif isinstance(value, list) and value:
            if all(isinstance(each, str | int | float) for each in value):
                yield name, "; ".join(map(str, value))
            else:
                waiting.append(
                    (name, value[0], depth + 1) if depth < _MOST_DEPTH else (name, "", depth)
                )
        elif isinstance(value, str | int | float) and str(value).strip():
            yield name, " ".join(str(value).split())


def _column_type(name: str, values: list[str | None]) -> ValueType:
    last = name.lower().rpartition(".")[2]
    shown = [value for value in values if value]
    if shown and all(value.startswith(("http://", "https://", "/")) for value in shown):
        return ValueType.IMAGE if any(part in name.lower() for part in _IMAGES) else ValueType.LINK
    if last in _LINKS and last != "item":
        return ValueType.LINK
    return column_type(values)

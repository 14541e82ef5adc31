"""Write the generated list pages: a style in, ``page.html`` and ``expect.toml`` out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.extraction.list_pages.frames import Frame, framed, pagination
from tests.extraction.list_pages.words import values

# `[[0.7: <b>{price}</b>]]` is there in 7 of 10 records.
_OPTIONAL = re.compile(r"\[\[([\d.]+):(.*?)\]\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Listing:
    """One list of a page: how a record is written, and where a reader would find it."""

    item: str
    wrap: str
    at: str
    records: str
    fields: dict[str, str]
    count: int = 12
    per_row: int = 0
    row: str = "{items}"
    between: str = ""
    advert: str = ""
    every: int = 5
    head: str = ""
    members: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """One page: its lists, its frame, and anything else between them."""

    name: str
    says: str
    listings: tuple[Listing, ...]
    frame: Frame = Frame.SEMANTIC
    pages: int = 0
    title: str = "Latest entries"
    intro: str = ""
    after: str = ""
    maybe: tuple[str, ...] = field(default=())
    body: Callable[[Random], str] | None = None


def page(style: Style, number: int) -> str:
    """The HTML of a page."""
    random = Random(number)
    parts = [style.intro]
    if style.body is not None:
        parts.append(style.body(random))
    else:
        parts += [_listing(listing, random) for listing in style.listings]
    parts += [pagination(style.pages), style.after]
    return framed(style.frame, style.title, "\n".join(part for part in parts if part))


def labels(style: Style) -> str:
    """The labels of a page, as TOML."""
    lines = [f"# {style.says}"]
    if style.maybe:
        lines.append(f"maybe = {json.dumps(list(style.maybe))}")
    for listing in style.listings:
        lines += ["", "[[region]]", f"at = {json.dumps(listing.at)}"]
        lines.append(f"records = {json.dumps(listing.records)}")
        if listing.members:
            lines.append(f"members = {json.dumps(listing.members)}")
        lines += ["", "[region.fields]"]
        lines += [f"{name} = {json.dumps(at)}" for name, at in listing.fields.items()]
    return "\n".join(lines) + "\n"


def write(styles: list[Style], folder: Path) -> None:
    """Write all pages and their labels."""
    for number, style in enumerate(styles):
        case = folder / f"{number:02}-{style.name}"
        case.mkdir(parents=True, exist_ok=True)
        (case / "page.html").write_text(page(style, number), "utf-8")
        (case / "expect.toml").write_text(labels(style), "utf-8")


def filled(template: str, random: Random, number: int) -> str:
    """One record: optional parts are kept or left out, then every value is put in."""
    kept = _OPTIONAL.sub(lambda hit: hit[2] if random.random() < float(hit[1]) else "", template)
    found = values(random, number)
    return re.sub(r"\{(\w+)\}", lambda hit: found[hit[1]], kept)


def _listing(listing: Listing, random: Random) -> str:
    items = []
    for number in range(1, listing.count + 1):
        items.append(filled(listing.item, random, number))
        if listing.advert and number % listing.every == 0:
            items.append(filled(listing.advert, random, number))
    if listing.per_row:
        rows = [items[at : at + listing.per_row] for at in range(0, len(items), listing.per_row)]
        items = [listing.row.replace("{items}", "".join(row)) for row in rows]
    joined = (listing.between + "\n").join(items)
    return listing.wrap.replace("{items}", listing.head + joined)

"""Exemplars: the representatives of the largest groups, read again.

A crawl keeps sketches and bags, no pages. The report draws a page for each group, so that one is read once more; the page
itself is let go at once, and what stays is its drawing, its title and its bag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.captures import read_one
from quire.digest import encode
from quire.digest.page import Digest
from quire.engines import Listener, Progress
from quire.errors import QuireError
from quire.reports.templates.drawings import thumbnail
from quire.similar.crawl.templates import CrawlTemplates
from quire.similar.groups import Group
from quire.similar.measures import Bag, BagMeasure

# Of a title, what is kept; it can be a whole page.
_MOST_TITLE = 500
#: Groups that are said to be near, and how alike their representatives are at least.
MOST_NEAR = 3
LEAST_NEAR = 0.1


@dataclass(frozen=True, slots=True)
class Exemplar:
    """What the report has of a representative.

    Attributes:
        drawing: its tree, as SVG.
        title: its title, as text.
        nodes: how many it has.
        bag: its parts; None where it could not be read.
        trouble: why it could not.
    """

    drawing: str = ""
    title: str = ""
    nodes: int = 0
    bag: Bag | None = None
    trouble: str = ""


def exemplars(
    crawl: CrawlTemplates,
    groups: Sequence[Group],
    *,
    most_bytes: int,
    listener: Listener | None = None,
) -> list[Exemplar]:
    """Read the representatives of some groups."""
    found: list[Exemplar] = []
    for group in groups:
        name = crawl.name(group.representative)
        found.append(_read(name, crawl.templates.on, most_bytes))
        if listener is not None:
            listener(Progress("report", len(found), len(groups)))
    return found


def _read(name: str, on: BagMeasure, most_bytes: int) -> Exemplar:
    try:
        capture = read_one(name, most_bytes=most_bytes)
        page = encode(capture.body, content_type=capture.content_type)
        return Exemplar(thumbnail(page), _title(page), page.n, Bag.of(page, on))
    except (QuireError, OSError, ValueError) as error:  # gone since, or another page now
        return Exemplar(trouble=str(error).removeprefix(f"{name}: "))


def _title(page: Digest) -> str:
    found = page.select("title").tolist() if page.kind == "html" else []
    return page.text(found[0])[:_MOST_TITLE] if found else ""


def nearest(found: Sequence[Exemplar]) -> list[list[tuple[int, float]]]:
    """List for each exemplar the others that are most like it, by their places, with how alike they are."""
    near: list[list[tuple[int, float]]] = [[] for _ in found]
    for at, one in enumerate(found):
        for other_at in range(at + 1, len(found)):
            other = found[other_at]
            if one.bag is None or other.bag is None:
                continue
            value = one.bag.similarity(other.bag)
            if value >= LEAST_NEAR:
                near[at].append((other_at, value))
                near[other_at].append((at, value))
    return [sorted(others, key=lambda each: (-each[1], each[0]))[:MOST_NEAR] for others in near]

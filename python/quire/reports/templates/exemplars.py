"""Read the representatives of the largest templates again, for the report.

A crawl keeps sketches and bags, but no pages. The report draws one page per template, so that page
is read once more. Only its drawing, its title and its bag stay in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.captures import read_one
from quire.digest import encode
from quire.digest.page import Digest
from quire.errors import QuireError
from quire.progress import Progress, no_progress
from quire.reports.templates.drawings import thumbnail
from quire.similar.crawl.templates import CrawlTemplates
from quire.similar.groups import Group
from quire.similar.measures import Bag, BagMeasure

# Maximum number of characters of a title; a title can be as long as a page.
_MOST_TITLE = 500
#: Maximum number of similar templates to list, and the minimum similarity of representatives.
MOST_NEAR = 3
LEAST_NEAR = 0.1


@dataclass(frozen=True, slots=True)
class Exemplar:
    """The data of a representative that the report needs.

    Attributes:
        drawing: its tree, as SVG.
        title: its title, as text.
        nodes: number of its nodes.
        bag: its parts; None if it could not be read.
        trouble: why it could not be read.
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
    progress: Progress = no_progress,
) -> list[Exemplar]:
    """Read the representatives of these groups."""
    found: list[Exemplar] = []
    for group in groups:
        name = crawl.name(group.representative)
        found.append(_read(name, crawl.templates.on, most_bytes))
        progress("report", len(found), len(groups))
    return found


def _read(name: str, on: BagMeasure, most_bytes: int) -> Exemplar:
    try:
        capture = read_one(name, most_bytes=most_bytes)
        page = encode(capture.body, content_type=capture.content_type)
        return Exemplar(thumbnail(page), _title(page), page.n, Bag.of(page, on))
    except (QuireError, OSError, ValueError) as error:  # deleted or replaced since the crawl
        return Exemplar(trouble=str(error).removeprefix(f"{name}: "))


def _title(page: Digest) -> str:
    found = page.select("title").tolist() if page.kind == "html" else []
    return page.text(found[0])[:_MOST_TITLE] if found else ""


def nearest(found: Sequence[Exemplar]) -> list[list[tuple[int, float]]]:
    """List for each exemplar the most similar others: their indexes and similarities."""
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

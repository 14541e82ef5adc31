"""What figures 4 and 5 and table 1 of paper 003 share: the pages, their clusters, and runs that are checked.

The paper's pages (auto.sina.com.cn, and 19 million of Web InfoMall) are gone; template corpora stand in, each alone and all together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import quire
from benchmarks.context import Context
from benchmarks.corpora import html_pages
from quire.archive import TbcArchive, TbcTimes
from quire.similar import token_sketches

CORPORA = ("templates-swde-sites", "templates-docs", "templates-swde", "templates-helsingborg")
#: Of each at most so many pages, evenly spaced: Helsingborg alone has 275 MB, and Myers without a filter is slow.
MOST_PAGES = 1350
MOST_OF = {"templates-helsingborg": 600}
QUICK_PAGES = 60
TOGETHER = "all together"
#: Parts of a delta, in order.
PARTS = ("cut", "filter", "myers", "merge")


@dataclass(frozen=True, slots=True)
class Collection:
    """Pages and their sketches, with the paper's m = 100 and w = 3."""

    name: str
    pages: list[bytes]
    matrix: NDArray[np.uint32]

    @property
    def megabytes(self) -> float:
        """The pages as they came."""
        return sum(map(len, self.pages)) / 1e6

    def words(self) -> str:
        """``name (n pages, m MB)``."""
        return f"{self.name} ({len(self.pages):,} pages, {self.megabytes:.1f} MB)"


def collections(context: Context) -> list[Collection]:
    """Every corpus, then all of them together."""
    found = list(_each(context))
    if len(found) > 1:
        pages = [page for one in found for page in one.pages]
        found.append(Collection(TOGETHER, pages, np.concatenate([one.matrix for one in found])))
    return found


def _each(context: Context) -> Iterator[Collection]:
    for name in context.corpora or CORPORA:
        # Evenly spaced, a short run would have one page of each of forty sites: none has a template.
        chosen = context.pick(
            html_pages((name,), MOST_OF.get(name, MOST_PAGES)), html_pages((name,))[:QUICK_PAGES]
        )
        pages = [page.read() for page in chosen]
        yield Collection(name, pages, token_sketches(quire.encode(page) for page in pages))


def right(stored: TbcArchive, collection: Collection) -> int:
    """How many pages come back byte for byte."""
    return sum(stored.decode(i) == page for i, page in enumerate(collection.pages))


def parts(times: TbcTimes) -> list[float]:
    """CPU seconds of the parts of a delta: its CPU time, divided as the clock on the wall says."""
    wall = [getattr(times, part) for part in PARTS]
    total = sum(wall) or 1.0
    return [times.delta * part / total for part in wall]

"""Real pairs of versions: neighbours in a history of a page, and the two crawls of one site.

Versions of a page are the files of one folder, named by the time they were fetched; a file and the
one after it are a pair. Pages of the two crawls are a pair when they have the same path.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

import quire
from benchmarks import corpora
from benchmarks.corpora import Page

SITE = "dunkerskulturhus.se"
CRAWLS = ("2025-10-10", "2025-11-07")
#: Where real pairs come from, by the name used in tables.
COLLECTIONS = (*corpora.VERSIONS, SITE)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of one page."""

    collection: str
    old: Page
    new: Page

    @property
    def name(self) -> str:
        """The page, and which of its versions."""
        if self.collection == SITE:
            return _path_in_crawl(self.old)
        versions = [PurePosixPath(page.name) for page in (self.old, self.new)]
        return f"{versions[0].parent}: {versions[0].stem} to {versions[1].stem}"


def pairs_of(collection: str) -> list[Pair]:
    """All pairs of one of ``COLLECTIONS``."""
    if collection == SITE:
        return _crawled()
    versions: dict[str, list[Page]] = {}
    for page in corpora.html_pages((collection,)):
        versions.setdefault(str(PurePosixPath(page.name).parent), []).append(page)
    return [
        Pair(collection, old, new)
        for history in versions.values()
        for old, new in pairwise(history)
    ]


def chosen_collections(asked: Sequence[str]) -> list[str]:
    """The collections to look at: all, or those of the corpora asked for on the command line."""
    if not asked:
        return list(COLLECTIONS)
    return [
        name
        for name in COLLECTIONS
        if name in asked or (name == SITE and "templates-helsingborg" in asked)
    ]


def sample(pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """Draw this many pairs, in their order."""
    if count >= len(pairs):
        return list(pairs)
    places = random.Random(seed).sample(range(len(pairs)), count)
    return [pairs[place] for place in sorted(places)]


def encoded(body: bytes) -> quire.Digest:
    """Encode as its kind is sniffed; what is not well-formed, as far as it can be read."""
    try:
        return quire.encode(body)
    except quire.QuireError:
        return quire.encode(body, recover=True)


def _path_in_crawl(page: Page) -> str:
    return str(PurePosixPath(page.name.split("/", 2)[2]).parent)


def _crawled() -> list[Pair]:
    found: dict[str, dict[str, Page]] = {crawl: {} for crawl in CRAWLS}
    for page in corpora.html_pages(("templates-helsingborg",)):
        site, crawl, path = page.name.split("/", 2)
        if site == SITE and crawl in found:
            found[crawl][path] = page
    first, second = (found[crawl] for crawl in CRAWLS)
    return [Pair(SITE, first[path], second[path]) for path in sorted(first.keys() & second.keys())]

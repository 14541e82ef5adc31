"""A web of any number of pages, without a network: real pages, each with a number of its own.

Page n is one of a hundred real pages with a paragraph in front that says which page it is. A page that
changed has another paragraph there. Bodies are made when they are fetched, so that the web needs no
memory.
"""

import random
from collections.abc import Sequence
from itertools import accumulate

from benchmarks.corpora import html_pages

#: Sizes of the real pages: small enough for many, and not trivial.
SMALLEST, LARGEST = 10_000, 60_000
SELECTORS = ("", "h1", "h2", "p", "main", "nav", "table", "li", "a", "title")


class SyntheticWeb:
    """Pages by number.

    Attributes:
        changed: the share of the pages that changed in this round.
        round: which round this is.
    """

    def __init__(self, real: int = 100) -> None:
        self.changed = 0.0
        self.round = 0
        self._pages: list[tuple[bytes, bytes]] = []
        for page in html_pages(("pages-trafilatura",)):
            body = page.read()
            start = body.find(b">", body.find(b"<body")) + 1
            if SMALLEST <= len(body) <= LARGEST and b"<body" in body and start:
                self._pages.append((body[:start], body[start:]))
            if len(self._pages) == real:
                break

    def body(self, number: int) -> bytes:
        """Fetch a page."""
        before, after = self._pages[number % len(self._pages)]
        added = b"<p>Page %d</p>" % number
        if self.is_changed(number):
            added += b"<p>Round %d</p>" % self.round
        return b"".join((before, added, after))

    def is_changed(self, number: int) -> bool:
        """Whether a page changed in this round."""
        return (number * 2_654_435_761) % 10_000 < self.changed * 10_000

    def describe(self) -> str:
        """Say which pages these are."""
        mean = sum(len(one) + len(two) for one, two in self._pages) / len(self._pages)
        return f"{len(self._pages)} real pages of pages-trafilatura, {mean / 1e3:.0f} kB on average, each with a number"


def sentinels_of_pages(pages: int, sentinels: int, seed: int) -> Sequence[int]:
    """How many sentinels each page has: by Zipf's law, and one at least."""
    chance = random.Random(seed)
    weights = list(accumulate(1 / (rank + 1) for rank in range(pages)))
    counts = [1] * pages
    for page in chance.choices(range(pages), cum_weights=weights, k=sentinels - pages):
        counts[page] += 1
    return counts


def form(page: int, number: int) -> dict[str, object]:
    """The form of a watch on a page."""
    found: dict[str, object] = {
        "url": f"https://pages.example/{page}",
        "name": f"watch {number}",
        "every": "1 h",
    }
    where = SELECTORS[number % len(SELECTORS)]
    return {**found, "where": where} if where else found

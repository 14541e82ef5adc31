"""What every benchmark is told: how much to do, on which pages, and where to say how far it is."""

import sys
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.corpora import PAGES, Page, html_pages

Choice = TypeVar("Choice")


@dataclass(frozen=True, slots=True)
class Context:
    """The settings of one run."""

    quick: bool = False
    corpora: tuple[str, ...] = ()
    seed: int = 2003

    def pick(self, full: Choice, quick: Choice) -> Choice:
        """The full or the quick size of something."""
        return quick if self.quick else full

    def pages(self, full: int | None, quick: int) -> list[Page]:
        """Real pages: of the corpora asked for, else of those that mean "real pages"."""
        return html_pages(self.corpora or PAGES, self.pick(full, quick))

    def say(self, words: str) -> None:
        """Tell on standard error how far the run is."""
        print(f"  {words}", file=sys.stderr, flush=True)

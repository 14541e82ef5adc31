"""A site as a cache sees it: fragments with sizes and lives, and the pages that are made of them.

Above: ``simulator``, ``cli``. Below: ``lp_results``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.fragments.lp_results import Lifetimes


@dataclass(frozen=True, slots=True)
class CachedFragment:
    """A fragment as a cache sees it.

    Attributes:
        bytes: its size, without the fragments in it.
        rate: invalidations in a second.
        lifetimes_s: lifetimes to draw from, in place of the rate, where there are any.
    """

    bytes: float
    rate: float = 0.0
    lifetimes_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (self.bytes >= 0 and self.rate >= 0):
            raise ValueError(
                f"a fragment of {self.bytes} bytes, invalidated {self.rate} times a second: both are 0 or more"
            )
        if self.lifetimes_s and not (min(self.lifetimes_s) >= 0 and sum(self.lifetimes_s) > 0):
            raise ValueError("lifetimes are 0 seconds or more, and not all 0")

    @property
    def mean_rate(self) -> float:
        """Invalidations in a second, in the long run."""
        if not self.lifetimes_s:
            return self.rate
        return len(self.lifetimes_s) / sum(self.lifetimes_s)


@dataclass(frozen=True, slots=True)
class CachedSite:
    """Pages and the fragments they are made of.

    Attributes:
        fragments: all fragments.
        pages: the fragments of each page, by their places.
    """

    fragments: tuple[CachedFragment, ...]
    pages: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.pages:
            raise ValueError("no pages: a site has one at least")
        for number, page in enumerate(self.pages):
            if not page or not all(0 <= one < len(self.fragments) for one in page):
                raise ValueError(
                    f"page {number}: has fragments {list(page)}, but the site has 0 to {len(self.fragments) - 1}"
                )

    def page_bytes(self, page: int) -> float:
        """The size of a page."""
        return sum(self.fragments[one].bytes for one in self.pages[page])

    @property
    def page_storage(self) -> float:
        """Bytes of all pages, each whole."""
        return sum(self.page_bytes(page) for page in range(len(self.pages)))

    @property
    def fragment_storage(self) -> float:
        """Bytes of all fragments that pages have, each once."""
        return sum(
            self.fragments[one].bytes for one in {one for page in self.pages for one in page}
        )


def site_of(pages: Sequence[Lifetimes], *, measured: bool = True) -> CachedSite:
    """Make a site of the fragments that were found on pages: those of the last version of each.

    A fragment has its own bytes, without those of the fragments in it, and is invalidated as it was seen to change.

    Args:
        pages: what the versions of each tell.
        measured: draw lifetimes from those that were seen to begin and end; else use the rate of changes.
    """
    fragments: list[CachedFragment] = []
    made = []
    for lives in pages:
        shown = set(lives.latest_fragment[lives.latest_fragment >= 0].tolist())
        chosen = [one for one in lives.fragments if one.number in shown]
        inside = dict.fromkeys(shown, 0)
        for one in chosen:
            if one.parent in inside:
                inside[one.parent] += max(one.source_bytes, one.value_bytes)
        mine = []
        for one in chosen:
            own = max(max(one.source_bytes, one.value_bytes) - inside[one.number], 0)
            known = one.lives.seconds[one.lives.begun & one.lives.ended]
            # Captures cannot tell how long a life shorter than their distance was, so none has no length.
            lengths = tuple(known[known > 0].tolist()) if measured else ()
            mine.append(len(fragments))
            fragments.append(CachedFragment(own, one.change_rate, lengths))
        made.append(tuple(mine))
    return CachedSite(tuple(fragments), tuple(made))

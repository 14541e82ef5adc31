"""Facts: what is known of one fragment, and of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from quire.fragments.caching.change_rate import Pace
from quire.fragments.cuts.hazards import HazardKind
from quire.fragments.policy import Policy, Sharing
from quire.fragments.study.differences import Difference

Tier: TypeAlias = Literal["exact", "approximate", "own pace"]
#: What to do about a fragment.
Action = Literal["cut", "leave", "isolate", "unify"]


@dataclass(frozen=True, slots=True)
class PartHazard:
    """What keeps a cache from composing a part.

    Attributes:
        kind: what it is.
        pages: on how many of its pages.
    """

    kind: HazardKind
    pages: int


@dataclass(frozen=True, slots=True)
class FragmentFacts:
    """What is known of one fragment.

    Attributes:
        tier: ``exact`` may be composed, ``approximate`` is advice, ``own pace`` is a part of one page.
        rank: its place in its tier, from 1.
        number: its number among shared fragments, or in the lifetimes of its page.
        page: the first page that has it, by its place in the collection.
        part: the node of the AF tree there.
        version: the version of that page: -1 is the last.
        source_bytes: bytes in the source, of the longest member; 0 or less where they are not known.
        text_bytes: bytes of text.
        page_share: for ``own pace``, its share of the bytes of its page, where it was last.
        pages: how many pages have it.
        uses: in how many places.
        pace: how often it changes.
        requests: how often its pages were asked for; None without a log.
        requests_per_day: the same in a day; None where the log spans no time.
        stored_saved: bytes that are stored less when it alone is cut out.
        moved_saved: bytes that are moved less then. For ``own pace``, over the time of its versions.
        stored_beyond: the same, beyond all that rank before it; 0 where it is not worth it.
        moved_beyond: the same for bytes moved.
        same_text: whether all members of an approximate one have the same text.
        path: a CSS selector for it on its page.
        sample: the beginning of its text.
        differs: what keeps an approximate one from being exact.
        policy: how long a cache may keep it, and for whom; None where there is one capture of its pages.
        hazards: what keeps caches from composing it, the most frequent first.
        action: what to do: cut it out, leave it, deliver it by itself, or make it the same on all pages.
        advice: the same in a sentence.
    """

    tier: Tier
    rank: int
    number: int
    page: int
    part: int
    source_bytes: int
    text_bytes: int
    pages: int
    uses: int
    pace: Pace
    requests: int | None
    requests_per_day: float | None
    stored_saved: int
    moved_saved: int
    stored_beyond: int = 0
    moved_beyond: int = 0
    version: int = -1
    page_share: float = 0.0
    same_text: bool = True
    path: str = ""
    sample: str = ""
    differs: tuple[Difference, ...] = field(default=())
    action: Action = "leave"
    advice: str = ""
    policy: Policy | None = None
    hazards: tuple[PartHazard, ...] = field(default=())

    @property
    def is_left(self) -> bool:
        """Whether the advice is to do nothing."""
        return self.action == "leave"

    @property
    def sharing(self) -> Sharing:
        """Whether all readers get the same, by its text and by its bytes."""
        kinds = {self.pace.sharing, self.policy.sharing if self.policy else "unknown"}
        return "private" if "private" in kinds else "shared" if "shared" in kinds else "unknown"


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures over all pages and fragments, listed or not.

    Attributes:
        pages: how many.
        page_bytes: how long all are.
        watched_pages: how many have versions.
        versions: how many captures there are, without those for other readers.
        other_readers: how many there are for other readers.
        unreadable: captures that are no pages, and were read as empty ones.
        exact: fragments with the same bytes everywhere.
        approximate: those that are alike.
        own_pace: parts that change when the rest of their page does not.
        worth_it: exact ones that are worth cutting out.
        stored_saved: bytes that are stored less with all of those.
        moved_saved: bytes that are moved less.
        moved_bytes: what is moved when pages are asked for as the log says, or once each.
    """

    pages: int
    page_bytes: int
    watched_pages: int
    versions: int
    other_readers: int
    unreadable: int
    exact: int
    approximate: int
    own_pace: int
    worth_it: int
    stored_saved: int
    moved_saved: int
    moved_bytes: int


#: Those of no page.
NO_TOTALS = Totals(*(0,) * len(Totals.__slots__))

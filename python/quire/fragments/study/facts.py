"""Facts: the figures of one fragment, and of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.fragments.caching.change_rate import Pace
from quire.fragments.cuts.candidates import CutKind
from quire.fragments.cuts.hazards import HazardKind
from quire.fragments.policy import Policy, Sharing
from quire.fragments.study.differences import Difference

Tier: TypeAlias = Literal["exact", "approximate", "own pace"]
#: What to do about a fragment.
Action = Literal["cut", "leave", "isolate", "unify"]
#: What the plan does: it cuts the part or a shared fragment around it out, isolates it, cuts it out
#: for its pace, or leaves it.
Planned = Literal["cut", "isolated", "paced", "left"]
#: What the plan does with each kind of cut.
PLANNED: Mapping[CutKind, Planned] = {
    CutKind.SHARED: "cut",
    CutKind.ISOLATED: "isolated",
    CutKind.PACED: "paced",
}


@dataclass(frozen=True, slots=True)
class PartHazard:
    """A reason why caches would not compose a part.

    Attributes:
        kind: the hazard.
        pages: number of pages that keep the part because of it.
    """

    kind: HazardKind
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentFacts:
    """The figures of one fragment, and what to do about it.

    Attributes:
        tier: ``exact`` is a fragment of the plan, ``approximate`` is advice, ``own pace`` is a part
            of one page that changes when the rest does not.
        rank: its place in its tier, from 1.
        number: its number in the manifest, among shared fragments, or in the lifetimes of its page.
        name: for ``exact``, the name of its file in the plan.
        page: the first page that has it, by its place in the collection.
        part: the node of the AF tree there; -1 for ``exact``.
        offset: its first byte there; -1 if it is not known.
        version: the version of that page: -1 is the newest.
        source_bytes: bytes in the source, of the longest member; 0 or less if not known.
        text_bytes: bytes of text.
        page_share: for ``own pace``, its share of the bytes of its page, where it was last seen.
        pages: number of different pages that have it.
        uses: number of places; for ``exact``, of includes.
        pace: how often it changes.
        requests: how often its pages were requested; None without a log.
        requests_per_day: the same per day; None if the log covers no time.
        stored_saved: bytes that are stored less because of it. Those of ``exact`` add up.
        moved_saved: bytes that the origin does not send because of it, if every page is fetched once
            at the pace of the captures, or as in the log. Those of ``exact`` add up. For ``own
            pace``, the rest of the page, as often as a fetch finds the part changed.
        same_text: whether all members of an approximate one have the same text.
        label: what people call it: its element with its id, role or class, and its heading.
        path: a CSS selector for it on its page.
        sample: the beginning of its text; of its source if it has no text.
        differs: differences that keep an approximate one from being exact.
        planned: what the plan does with it.
        policy: how long a cache may keep the file it is in, and for whom; None for ``approximate``.
        hazards: reasons why pages keep it, the most frequent first.
        action: what to do: cut it out, leave it, isolate it, or make it the same on all pages.
        advice: the same in a sentence.
    """

    tier: Tier
    rank: int
    number: int
    page: int
    source_bytes: int
    pace: Pace
    requests: int | None
    moved_saved: int
    stored_saved: int = 0
    pages: int = 1
    uses: int = 1
    part: int = -1
    text_bytes: int = 0
    planned: Planned = "left"
    requests_per_day: float | None = None
    name: str = ""
    offset: int = -1
    version: int = -1
    page_share: float = 0.0
    same_text: bool = True
    label: str = ""
    path: str = ""
    sample: str = ""
    differs: tuple[Difference, ...] = ()
    policy: Policy | None = None
    hazards: tuple[PartHazard, ...] = ()
    action: Action = "leave"
    advice: str = ""

    @property
    def sharing(self) -> Sharing:
        """Whether all users get the same, by its text and by its bytes."""
        kinds = {self.pace.sharing, self.policy.sharing if self.policy else "unknown"}
        return "private" if "private" in kinds else "shared" if "shared" in kinds else "unknown"


def figure(facts: FragmentFacts, key: str) -> str:
    """Write a figure of a fragment in full, as all tables do; ``key`` is that of a column."""
    value = getattr(facts, key)
    return f"{max(value, 0) if key == 'source_bytes' else value:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Figures over all pages and fragments, listed or not.

    Attributes:
        pages: number of pages.
        page_bytes: length of all.
        watched_pages: pages with versions.
        versions: captures, without those for other users.
        other_readers: captures for other users.
        unreadable: captures that are not pages, and were read as empty ones.
        refused: pages that the plan leaves whole, because caches would not compose them correctly.
        worth_it: fragments of the plan.
        isolated: those of them that are cut out so that the rest of a page can be cached.
        paced: those of them that are cut out because they change at another pace than the rest.
        approximate: parts that are alike on several pages, but not equal.
        own_pace: parts that change when the rest of their page does not.
        stored_saved: bytes that are stored less with the plan, equal pages included.
        moved_saved: bytes that are moved less.
        moved_bytes: bytes moved if pages are requested as in the log, or once each.
    """

    pages: int
    page_bytes: int
    watched_pages: int
    versions: int
    other_readers: int
    unreadable: int
    refused: int
    worth_it: int
    isolated: int
    paced: int
    approximate: int
    own_pace: int
    stored_saved: int
    moved_saved: int
    moved_bytes: int

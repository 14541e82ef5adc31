"""What the versions of a page tell about its parts: fragments with their lives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.fragments.lifetime.survival import Curve, Lives
from quire.fragments.lifetime.volatile import RestlessNode, Verdict
from quire.fragments.policy import Sharing


@dataclass(frozen=True, slots=True, eq=False)
class LpFragment:
    """A part of a page with a life of its own.

    Attributes:
        number: pages first, then as they appeared.
        parent: the fragment that it is in; None for a page.
        depth: 1 for a page, one more for what is in it, and so on.
        tag: the element.
        path: a CSS selector for it, in the last version that has it; empty after the first thousand of a page.
        first: the first version that has it.
        last: the last one.
        node: the node of the AF tree of that one.
        value_bytes: bytes of text, there.
        source_bytes: bytes in the source, there; -1 where they are not known.
        gone: whether a later version of the page is without it.
        changes: how often it changed itself: what changes in a fragment within it does not count.
        moves: how often its place among its siblings changed.
        lives: how long it stayed as it was.
        sharing: whether all readers get the same.
    """

    number: int
    parent: int | None
    depth: int
    tag: str
    path: str
    first: int
    last: int
    node: int
    value_bytes: int
    source_bytes: int
    gone: bool
    changes: int
    moves: int
    lives: Lives
    sharing: Sharing

    @property
    def watched_s(self) -> float:
        """How long it was followed, seconds."""
        return float(self.lives.seconds.sum())

    @property
    def change_rate(self) -> float:
        """Changes in a second, while it was followed; the reader's best guess when lives are exponential."""
        return self.changes / self.watched_s if self.watched_s else 0.0

    def ttl_s(self, share: float = 0.1) -> float:
        """For how long it may be cached so that this share of lives is shorter, at most; infinity when none ended.

        Counts lives by the least they can have lasted. So what changed at every capture gives 0: nobody knows how
        long it lives.
        """
        known = self.lives.at_least_s[self.lives.ended]
        return float(np.quantile(known, share, method="lower")) if len(known) else math.inf

    def __repr__(self) -> str:
        life = f"{self.changes} changes" if self.changes != 1 else "1 change"
        return f"<LpFragment {self.number}: {self.tag}, {self.value_bytes:,} bytes of text, {life}>"


@dataclass(frozen=True, slots=True, eq=False)
class Lifetimes:
    """What versions of a page tell about its parts.

    Attributes:
        times: when each version was captured, seconds since 1970.
        kinds: what kind of page each is: 0, and others for error pages, other designs and the like.
        bases: which versions were installed as a base.
        fragments: pages (one for each kind) and L-P fragments.
        restless: nodes that changed at every capture.
        verdicts: for every version but the first, what it is beside the one before: with restless nodes left out.
        plain_verdicts: the same, with nothing left out.
        quiet: for every version but the first, whether restless nodes are all that changed, seen or not.
        latest_fragment: for every node of the AF tree of the last version, its fragment, or -1.
        latest_parent: for every node there, its parent.
        latest_span: for every node there, its first byte in the source and after its last, or -1.
        latest_first: for every node there, the first version that has it.
        retellings: node there and version in which its own text changed, or what it holds; what was in it and is gone counts for
            it. Rows by node, then version.
        rewritings: node there and version in which its own source changed, whether anybody sees it or not; the same otherwise.
    """

    times: NDArray[np.float64]
    kinds: tuple[int, ...]
    bases: tuple[bool, ...]
    fragments: tuple[LpFragment, ...]
    restless: tuple[RestlessNode, ...]
    verdicts: tuple[Verdict, ...]
    plain_verdicts: tuple[Verdict, ...]
    quiet: tuple[bool, ...]
    latest_fragment: NDArray[np.int64]
    latest_parent: NDArray[np.int64]
    latest_span: NDArray[np.int64]
    latest_first: NDArray[np.int64]
    retellings: NDArray[np.int64]
    rewritings: NDArray[np.int64]

    @property
    def pages(self) -> tuple[LpFragment, ...]:
        """The fragments that are pages: one for each kind."""
        return tuple(one for one in self.fragments if one.parent is None)

    @property
    def parts(self) -> tuple[LpFragment, ...]:
        """The fragments within them."""
        return tuple(one for one in self.fragments if one.parent is not None)

    @property
    def depth(self) -> int:
        """Depth of fragmentation: that of the deepest fragment."""
        return max(one.depth for one in self.fragments)

    def lives(self) -> Lives:
        """The lives of all fragments within pages."""
        return Lives.joined([one.lives for one in self.parts])

    def curve(self) -> Curve:
        """How these are distributed, by Kaplan and Meier."""
        return self.lives().curve()

    def __repr__(self) -> str:
        return f"<Lifetimes of {len(self.times):,} versions: {len(self.parts):,} fragments, {len(self.restless):,} restless nodes>"

"""The result of ``lifetimes``: the fragments of a page, and how long each stayed the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quire._moved import Renamed
from quire.fragments.lifetime.capture_spans import CaptureSpan, capture_spans
from quire.fragments.lifetime.survival import Curve, Lives
from quire.fragments.policy import Sharing
from quire.sdiff.volatile import VersionVerdict, VolatileNode


@dataclass(frozen=True, slots=True, eq=False)
class LpFragment:
    """A part of a page that changes independently of the rest, or that differs between users.

    L-P stands for *lifetime-personalization*, as in the paper. Size and position are those in the
    last version that contains the fragment.

    Attributes:
        number: its number: pages first, then in order of appearance.
        parent: the fragment that contains it; None for a page.
        depth: 1 for a page, 2 for a fragment directly inside it, and so on.
        tag: name of the element.
        path: CSS selector for it; empty after the first thousand of a page.
        first: the first version that contains it.
        last: the last version that contains it.
        node: its node in the AF tree of the last version.
        value_bytes: bytes of text.
        source_bytes: bytes in the source; -1 if unknown.
        gone: whether a later version of the page no longer contains it.
        changes: how often it changed, not counting changes inside nested fragments.
        moves: how often its position among its siblings changed.
        lives: the times during which it did not change.
        sharing: whether all users get the same content.
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
        """How long it was observed, in seconds."""
        return float(self.lives.seconds.sum())

    @property
    def change_rate(self) -> float:
        """Changes per second while it was observed, in spans of dense captures.

        The maximum likelihood estimate if lifetimes are exponential and captures dense
        (``is_rate_known``); too low if they are not.
        """
        changes = int(self.lives.ended[:-1].sum())
        return changes / self.watched_s if self.watched_s else 0.0

    @property
    def is_rate_known(self) -> bool:
        """Whether captures are dense enough to tell the rate."""
        return self.lives.is_rate_known

    def ttl_s(self, share: float = 0.1) -> float:
        """Return how long to cache it so that at most this share of its lives is shorter.

        Returns infinity if it was never seen to change. Each life counts with its lower bound, so a
        fragment that changed in every capture gives 0: its lifetime is unknown.
        """
        known = self.lives.at_least_s[self.lives.ended]
        return float(np.quantile(known, share, method="lower")) if len(known) else math.inf

    def __repr__(self) -> str:
        life = f"{self.changes} changes" if self.changes != 1 else "1 change"
        return f"<LpFragment {self.number}: {self.tag}, {self.value_bytes:,} bytes of text, {life}>"


@dataclass(frozen=True, slots=True, eq=False)
class Lifetimes:
    """The fragments of a page and their lifetimes, found from its versions.

    The attributes ``latest_...`` have one row for each node of the AF tree of the last version.

    Attributes:
        times: capture time of each version, in seconds since 1970.
        kinds: kind of page of each version: 0, and other numbers for error pages, redesigns and so
            on.
        bases: whether each version became a base for comparison.
        fragments: pages (one for each kind) and L-P fragments.
        volatile: the nodes that changed in every capture.
        verdicts: for each version except the first, how it differs from the one before, ignoring
            volatile nodes.
        plain_verdicts: the same, ignoring nothing.
        quiet: for each version except the first, whether only volatile nodes changed, visible or
            not.
        latest_fragment: the fragment of each node, or -1.
        latest_parent: the parent of each node.
        latest_span: offsets of the first byte of each node in the source and after its last byte,
            or -1.
        latest_first: the first version that contains each node.
        text_changes: pairs of a node of the last version and a version in which its own text or its
            list of children changed. Changes of a child that no longer exists count for its parent.
            Rows are sorted by node, then version.
        source_changes: the same for changes of its own source, visible or not.
    """

    times: NDArray[np.float64]
    kinds: tuple[int, ...]
    bases: tuple[bool, ...]
    fragments: tuple[LpFragment, ...]
    volatile: tuple[VolatileNode, ...]
    verdicts: tuple[VersionVerdict, ...]
    plain_verdicts: tuple[VersionVerdict, ...]
    quiet: tuple[bool, ...]
    latest_fragment: NDArray[np.int64]
    latest_parent: NDArray[np.int64]
    latest_span: NDArray[np.int64]
    latest_first: NDArray[np.int64]
    text_changes: NDArray[np.int64]
    source_changes: NDArray[np.int64]

    @property
    def pages(self) -> tuple[LpFragment, ...]:
        """The fragments that are whole pages: one for each kind."""
        return tuple(one for one in self.fragments if one.parent is None)

    @property
    def parts(self) -> tuple[LpFragment, ...]:
        """The fragments inside pages."""
        return tuple(one for one in self.fragments if one.parent is not None)

    @property
    def spans(self) -> tuple[CaptureSpan, ...]:
        """The times in which captures are dense enough to tell lifetimes."""
        return capture_spans(self.times)

    @property
    def depth(self) -> int:
        """Depth of fragmentation: the depth of the deepest fragment."""
        return max(one.depth for one in self.fragments)

    def lives(self) -> Lives:
        """Return the lives of all fragments inside pages."""
        return Lives.joined([one.lives for one in self.parts])

    def curve(self) -> Curve:
        """Return the Kaplan-Meier curve of the lives of all fragments inside pages."""
        return self.lives().curve()

    def __repr__(self) -> str:
        found = f"{len(self.parts):,} fragments, {len(self.volatile):,} volatile nodes"
        return f"<Lifetimes of {len(self.times):,} versions: {found}>"

    # ------------------------------------------------------------ old names, for one release

    restless: ClassVar[Renamed[tuple[VolatileNode, ...]]] = Renamed(
        "Lifetimes.restless", "Lifetimes.volatile"
    )
    retellings: ClassVar[Renamed[NDArray[np.int64]]] = Renamed(
        "Lifetimes.retellings", "Lifetimes.text_changes"
    )
    rewritings: ClassVar[Renamed[NDArray[np.int64]]] = Renamed(
        "Lifetimes.rewritings", "Lifetimes.source_changes"
    )

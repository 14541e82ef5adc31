"""The nodes of two versions in which only noise differs, for drawings of their changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quire.digest.page import Digest
from quire.sentinels.pages.noise import PageNoise
from quire.sentinels.parts.location import Roots


@dataclass(frozen=True, slots=True)
class QuietNodes:
    """Nodes whose changes are noise.

    Attributes:
        old: nodes of the old version.
        new: nodes of the new version.
        old_moved: nodes of the old version whose place in the order is noise.
        new_moved: nodes of the new version whose place in the order is noise.
    """

    old: frozenset[int] = frozenset()
    new: frozenset[int] = frozenset()
    old_moved: frozenset[int] = frozenset()
    new_moved: frozenset[int] = frozenset()


def quiet_nodes(noise: PageNoise, old: Digest, new: Digest) -> QuietNodes:
    """Find the nodes of two versions in which only noise differs.

    A text with noise in it is quiet if the rest of it is on both versions. So a price beside a
    counter of visitors is not, if the price changed.

    Args:
        noise: the noise of the page.
        old: the old version.
        new: the new version.
    """
    if not noise.entries:
        return QuietNodes()
    before, after = noise(old), noise(new)
    same = set(before.texts.values()) & set(after.texts.values())
    return QuietNodes(
        old=_texts(before.texts.items(), same) | _below(old, before.regions),
        new=_texts(after.texts.items(), same) | _below(new, after.regions),
        old_moved=_below(old, before.shuffled),
        new_moved=_below(new, after.shuffled),
    )


def _texts(texts: Iterable[tuple[int, str]], same: set[str]) -> frozenset[int]:
    return frozenset(node for node, text in texts if text in same)


def _below(page: Digest, roots: Roots) -> frozenset[int]:
    """Return nodes with all nodes below them. Roots are never inside each other."""
    return frozenset(
        node for root in roots.tolist() for node in range(root, root + int(page.size[root]))
    )

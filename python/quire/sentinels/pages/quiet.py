"""The nodes of two versions in which only noise differs, for drawings of their changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from quire.digest.page import Digest
from quire.sentinels.pages.noise import PageNoise
from quire.sentinels.parts.location import Roots
from quire.sentinels.parts.noisy import Mask, NoisyNodes

_Tag: TypeAlias = tuple[tuple[str, str], ...]

# Attributes with addresses of links, and of images.
_LINKS = ("href", "action", "formaction", "cite")
_IMAGES = ("src", "srcset", "poster", "data-src", "data-srcset")


@dataclass(frozen=True, slots=True)
class QuietNodes:
    """Nodes whose changes are noise.

    Attributes:
        old: nodes of the old version.
        new: nodes of the new version.
        old_moved: nodes of the old version whose place in the order is noise.
        new_moved: nodes of the new version whose place in the order is noise.
        old_tags: elements of the old version whose attributes differ only in noise.
        new_tags: elements of the new version whose attributes differ only in noise.
    """

    old: frozenset[int] = frozenset()
    new: frozenset[int] = frozenset()
    old_moved: frozenset[int] = frozenset()
    new_moved: frozenset[int] = frozenset()
    old_tags: frozenset[int] = frozenset()
    new_tags: frozenset[int] = frozenset()


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
    tags = _tags(before, old), _tags(after, new)
    same_tags = set(tags[0].values()) & set(tags[1].values())
    return QuietNodes(
        old=_texts(before.texts.items(), same) | _below(old, before.regions),
        new=_texts(after.texts.items(), same) | _below(new, after.regions),
        old_moved=_below(old, before.shuffled),
        new_moved=_below(new, after.shuffled),
        old_tags=frozenset(node for node, tag in tags[0].items() if tag in same_tags),
        new_tags=frozenset(node for node, tag in tags[1].items() if tag in same_tags),
    )


def _tags(noisy: NoisyNodes, page: Digest) -> dict[int, _Tag]:
    """Return the elements with noise in their attributes, with the attributes as they are compared."""
    masks: dict[int, dict[str, Mask]] = {}
    for (node, name), mask in noisy.attributes.items():
        masks.setdefault(node, {})[name] = mask
    for named, nodes in ((_LINKS, noisy.links), (_IMAGES, noisy.images)):
        for node, mask in nodes.items():
            masks.setdefault(node, {}).update(dict.fromkeys(named, mask))
    return {
        node: tuple(
            (name, named[name](value) if name in named else value)
            for name, value in page.attributes(node).items()
        )
        for node, named in masks.items()
    }


def _texts(texts: Iterable[tuple[int, str]], same: set[str]) -> frozenset[int]:
    return frozenset(node for node, text in texts if text in same)


def _below(page: Digest, roots: Roots) -> frozenset[int]:
    """Return nodes with all nodes below them. Roots are never inside each other."""
    return frozenset(
        node for root in roots.tolist() for node in range(root, root + int(page.size[root]))
    )

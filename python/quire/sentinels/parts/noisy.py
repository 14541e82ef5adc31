"""Noisy nodes: what of one version does not count, because it changes at every fetch.

The rules for finding them are in ``quire.sentinels.pages``; this module has only the part that readings need.

A location that a user chose is not noise. Something is left out of a location only if its element
is below one of the elements that the location finds; the whole page contains everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from quire.digest.page import Digest
from quire.sentinels.parts.location import NONE, Roots, outermost

#: Returns a value as it is compared; empty if nothing of it counts.
Mask: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class NoisyNodes:
    """What of one version does not count.

    A mask returns a value as it is compared: the parts of it that change at every fetch are
    replaced. A value of which nothing is left does not count at all.

    Attributes:
        regions: elements that do not count, with everything below them.
        shuffled: elements in which the order of the children does not count.
        texts: text nodes, with their text as it is compared.
        links: masks of elements with a link.
        images: masks of elements with an image.
        attributes: masks of attributes, by element and name.
    """

    regions: Roots = field(default_factory=lambda: NONE)
    shuffled: Roots = field(default_factory=lambda: NONE)
    texts: Mapping[int, str] = field(default_factory=dict)
    links: Mapping[int, Mask] = field(default_factory=dict)
    images: Mapping[int, Mask] = field(default_factory=dict)
    attributes: Mapping[tuple[int, str], Mask] = field(default_factory=dict)

    @property
    def has_masks(self) -> bool:
        """Whether something is read differently, besides regions that are left out."""
        return bool(
            len(self.shuffled) or self.texts or self.links or self.images or self.attributes
        )

    def below(self, page: Digest, roots: Roots) -> NoisyNodes:
        """Return the noise of a location with these roots.

        >>> import quire
        >>> page = quire.encode(b"<p>now <b>12:01</b>")
        >>> noisy = NoisyNodes(texts={7: ""})
        >>> noisy.below(page, np.array([4])).texts, noisy.below(page, np.array([6])).texts
        ({7: ''}, {})
        """
        ends = roots + page.size[roots]

        def is_below(element: int) -> bool:
            at = int(np.searchsorted(roots, element)) - 1
            return at >= 0 and element < int(ends[at])

        def kept(nodes: Roots) -> Roots:
            return np.array([node for node in nodes.tolist() if is_below(node)], np.int64)

        return NoisyNodes(
            kept(self.regions),
            outermost(page, kept(self.shuffled)),
            {node: each for node, each in self.texts.items() if is_below(int(page.parent[node]))},
            {node: each for node, each in self.links.items() if is_below(node)},
            {node: each for node, each in self.images.items() if is_below(node)},
            {key: each for key, each in self.attributes.items() if is_below(key[0])},
        )


NOTHING_NOISY = NoisyNodes()

#: Finds the noisy nodes of a version.
NoiseFinder: TypeAlias = Callable[[Digest], NoisyNodes]

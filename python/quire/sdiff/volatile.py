"""Volatile nodes: parts of a page that change in every capture, detected automatically.

Examples are tokens, links that are encoded anew each time, and request counters. ``annotate``
tracks the nodes of the page from version to version; this module counts their changes. (It uses the
nodes of the page, not of its AF tree, because most of these changes are in attributes.) A node is
volatile in one aspect if that aspect changed in a share of ``EVERY`` of the captures that contain
the node, and at least ``LEAST`` times.

Two versions are compared by their visible text, links and images. The text is always compared as a
whole, so a change of the text is never hidden. Links and images of volatile nodes are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from quire._moved import Renamed
from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, annotate
from quire.sdiff.facets import Status

#: The aspects of a node that can change: its text, the target of a link, the address of an image,
#: other attributes, and which children it has.
ChangedAspect: TypeAlias = Literal["content", "links", "images", "attributes", "children"]
ASPECTS: tuple[ChangedAspect, ...] = get_args(ChangedAspect)
#: How a version differs from the one before: ``same`` bytes; ``unchanged``: different bytes, but
#: nothing visible changed; ``changed``: different text, links or images.
VersionVerdict: TypeAlias = Literal["same", "unchanged", "changed"]

#: Share of captures from which a change counts as "in every capture". One in ten may have been made
#: before the next token was issued.
EVERY = 0.9
#: Minimum number of changes: two may be chance.
LEAST = 3
#: Nodes of a version that get a path: finding one takes time proportional to its siblings.
MOST_NAMED = 1000


@dataclass(frozen=True, slots=True)
class VolatileNode:
    """A node that changed in every capture.

    Attributes:
        node: the node in the last version that contains it.
        version: that version.
        path: CSS selector for it in that version; for a text, for the element around it. Empty
            after the first thousand of a page.
        aspect: the aspect that changed.
        seen: whether it is visible, so not in a script, a style, the head and so on.
        changes: how often it changed.
        captures: how often it could have changed: the captures that contain it, except the first.
    """

    node: int
    version: int
    path: str
    aspect: ChangedAspect
    seen: bool
    changes: int
    captures: int

    place: ClassVar[Renamed[ChangedAspect]] = Renamed("VolatileNode.place", "VolatileNode.aspect")


@dataclass(slots=True)
class _State:
    """The last version of one kind of page."""

    version: int
    page: Digest
    number: NDArray[np.int64]  # identifies each node across all versions
    born: NDArray[np.int64]  # number of captures of this kind before each node appeared
    captures: int


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """The changes between two versions of one kind. A key combines a node number and an aspect."""

    before: int
    text: bool
    keys: NDArray[np.int64]
    visible: NDArray[np.int64]  # the keys of visible links and images


class NodeChanges:
    """Counts how often each node changed, version by version."""

    def __init__(self) -> None:
        self._states: dict[int, _State] = {}
        self._steps: dict[int, _Step] = {}
        self._counts: Counter[int] = Counter()
        # Nodes that no longer exist, and those together with the ones that do: a node that is
        # volatile now may not be so after more versions.
        self._settled: dict[int, VolatileNode] = {}
        self._found: dict[int, VolatileNode] = {}
        self._numbers = 0

    def step(self, kind: int, version: int, page: Digest) -> None:
        """Take the next version of a kind of page."""
        state = self._states.get(kind)
        if state is None:
            number = np.arange(self._numbers, self._numbers + page.n)
            self._numbers += page.n
            self._states[kind] = _State(version, page, number, np.zeros(page.n, np.int64), 0)
            return
        found = annotate(state.page, page)
        known = np.flatnonzero(found.to_old >= 0)
        number = np.arange(self._numbers, self._numbers + page.n)
        self._numbers += page.n
        number[known] = state.number[found.to_old[known]]
        captures = state.captures + 1
        born = np.full(page.n, captures, np.int64)
        born[known] = state.born[found.to_old[known]]
        self._steps[version] = step = _compared(state, found, number)
        self._counts.update(step.keys.tolist())
        state.captures = captures
        self._note(state, self._settled, np.flatnonzero(found.to_new < 0))
        self._states[kind] = _State(version, page, number, born, captures)

    def keep(self, kinds: Iterable[int]) -> None:
        """Forget all kinds of page except these."""
        for kind in set(self._states).difference(kinds):
            self._note(self._states.pop(kind), self._settled)

    def volatile(self) -> tuple[VolatileNode, ...]:
        """Return the nodes that changed in every capture; those that no longer exist come first.

        Verdicts are about these nodes. More versions may follow.
        """
        self._found = dict(self._settled)
        for state in self._states.values():
            self._note(state, self._found)
        return tuple(self._found.values())

    def verdict(self, version: int, *, leave_out: bool = True) -> VersionVerdict:
        """Compare a version with the one before it, whose bytes differ."""
        step = self._steps.get(version)
        if step is None or step.before != version - 1 or step.text:
            return "changed"
        visible = set(step.visible.tolist())
        return "changed" if visible.difference(self._found if leave_out else ()) else "unchanged"

    def changed_otherwise(self, version: int) -> bool:
        """Return whether anything besides volatile nodes changed, visible or not."""
        step = self._steps.get(version)
        return (
            step is None
            or step.before != version - 1
            or not self._found.keys() >= set(step.keys.tolist())
        )

    def _note(
        self,
        state: _State,
        found: dict[int, VolatileNode],
        nodes: NDArray[np.int64] | None = None,
    ) -> None:
        """Record which of some nodes are volatile, or which of all."""
        chosen = np.arange(state.page.n) if nodes is None else nodes
        numbers = state.number[chosen].tolist()
        there = (state.captures - state.born[chosen]).tolist()
        unseen = None
        named = 0
        for node, number, captures in zip(chosen.tolist(), numbers, there, strict=True):
            if captures < LEAST:
                continue
            for code, aspect in enumerate(ASPECTS):
                key = number * len(ASPECTS) + code
                count = self._counts.get(key, 0)
                if count >= LEAST and count >= EVERY * captures:
                    unseen = unseen_nodes(state.page) if unseen is None else unseen
                    named += 1
                    found[key] = VolatileNode(
                        node=node,
                        version=state.version,
                        path=selector_of(state.page, node) if named <= MOST_NAMED else "",
                        aspect=aspect,
                        seen=not unseen[node],
                        changes=count,
                        captures=captures,
                    )


def nearest_element(page: Digest, node: int) -> int:
    """Return a node if it is an element, or else the element around it; 0 if there is none."""
    while node > 0 and str(page.tags[page.tag[node]]).startswith("#"):
        node = int(page.parent[node])
    return node


def selector_of(page: Digest, node: int) -> str:
    """Return a CSS selector for a node, or for the element around a text."""
    element = nearest_element(page, node)
    return page.path(element) if element else ":root"


def _compared(state: _State, found: Annotation, number: NDArray[np.int64]) -> _Step:
    gone = np.where(found.to_new < 0, found.old_status, 0)
    keys, visible = zip(
        _keys(found.new, found.new_status, number),
        _keys(found.old, gone, state.number),
        strict=True,
    )
    return _Step(
        state.version,
        found.old.text() != found.new.text(),
        np.unique(np.concatenate(keys)),
        np.unique(np.concatenate(visible)),
    )


def _keys(
    page: Digest, status: NDArray[np.uint16], number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys of all changes on a page, and those of visible links and images."""
    alone = (status & Status.ALONE) > 0
    seen = ~unseen_nodes(page)

    def at(which: NDArray[np.bool_], aspect: ChangedAspect) -> NDArray[np.int64]:
        nodes = np.flatnonzero(which)
        if aspect == "children":
            # An added or removed node is a change of the nearest ancestor that is in both versions.
            nodes = np.where(nodes > 0, page.parent[nodes], 0)
            while alone[nodes].any():
                nodes = np.where(alone[nodes], page.parent[nodes], nodes)
        return number[nodes] * len(ASPECTS) + ASPECTS.index(aspect)

    links, images = (status & Status.LINKS) > 0, (status & Status.IMAGES) > 0
    attributes = ((status & Status.ATTRIBUTES) > 0) & ~links & ~images
    moved = (status & (Status.MOVED | Status.ALONE)) > 0
    visible = [
        at(links & seen & ~alone, "links"),
        at(images & seen & ~alone, "images"),
        at((links | images) & seen & alone, "children"),
    ]
    return np.concatenate(
        [
            at(((status & Status.CONTENT) > 0) & ~alone, "content"),
            at(links & ~alone, "links"),
            at(images & ~alone, "images"),
            at(attributes & ~alone, "attributes"),
            at(moved, "children"),
        ]
    ), np.concatenate(visible)


def unseen_nodes(page: Digest) -> NDArray[np.bool_]:
    """Find the nodes of a page that a reader does not see: hidden ones, and the whole head."""
    unseen = ~page.visible
    for head in np.flatnonzero(page.tag == page.tags.index("head")) if "head" in page.tags else ():
        unseen[head : head + page.size[head]] = True
    return unseen

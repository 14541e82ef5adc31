"""Restless nodes: what of a page is another at every capture, found without being told.

Tokens, addresses that are coded anew each time, numbers of requests: nodes of the page (not of its AF tree, for most of this is in
attributes) are followed from version to version by ``annotate``, and their changes counted. A node is restless in a facet when it
changed at ``EVERY`` of the captures it was there for, and ``LEAST`` times.

Two versions are judged by what a reader sees and follows: text, links, images. The text is always compared whole, so that a change of it is
never hidden. Links and images of restless nodes are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, annotate
from quire.sdiff.facets import Status

#: Of what a node can change: its text; what it links to; what it shows; other attributes; which children it has.
Place: TypeAlias = Literal["content", "links", "images", "attributes", "children"]
PLACES: tuple[Place, ...] = get_args(Place)
#: What two versions are judged to be: the same bytes; others, that no reader sees; other text, links or images.
Verdict: TypeAlias = Literal["same", "unchanged", "changed"]

#: Share of captures at which a node changed, from which it did "at every one"; one in ten may have been made before the next token was.
EVERY = 0.9
#: Changes before anything is said: two may be chance.
LEAST = 3
#: Nodes of a version that get a path: to find one takes as long as there are siblings.
MOST_NAMED = 1000
#: Elements whose content nobody sees; their like are left out of ``Digest.text`` too.
UNSEEN = frozenset(
    "datalist head iframe noembed noframes noscript script style template".split()  # noqa: SIM905 - read at a glance
)
_LEAVES_UNSEEN = frozenset(("#comment", "#doctype", "#instruction", "#cdata"))


@dataclass(frozen=True, slots=True)
class RestlessNode:
    """A node that changed at every capture.

    Attributes:
        node: the node, of the last version that has it.
        version: that version.
        path: a CSS selector for it on that version; for a text, for the element that holds it. Empty after the first
            thousand of a page.
        place: of what it changed.
        seen: whether a reader sees it: not in scripts, styles, the head and the like.
        changes: how often.
        captures: how often it could have: captures that have it, but for the first.
    """

    node: int
    version: int
    path: str
    place: Place
    seen: bool
    changes: int
    captures: int


@dataclass(slots=True)
class _State:
    """The last version of a kind of page."""

    version: int
    page: Digest
    number: NDArray[np.int64]  # of each node, through all versions
    born: NDArray[np.int64]  # captures of the kind before each node was there
    captures: int


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """What changed between two versions of one kind: keys, which are the number of a node and a place in one."""

    before: int
    text: bool
    keys: NDArray[np.int64]
    telling: NDArray[np.int64]  # those of links and images that a reader sees


class Changes:
    """Counts the changes of nodes, version by version."""

    def __init__(self) -> None:
        self._states: dict[int, _State] = {}
        self._steps: dict[int, _Step] = {}
        self._counts: Counter[int] = Counter()
        self._found: dict[int, RestlessNode] = {}
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
        self._note(state, np.flatnonzero(found.to_new < 0))
        self._states[kind] = _State(version, page, number, born, captures)

    def keep(self, kinds: Iterable[int]) -> None:
        """Let go of all other kinds of page."""
        for kind in set(self._states).difference(kinds):
            self._note(self._states.pop(kind))

    def restless(self) -> tuple[RestlessNode, ...]:
        """Nodes that changed at every capture: those of the last versions, and before them those that are gone."""
        for state in self._states.values():
            self._note(state)
        return tuple(self._found.values())

    def verdict(self, version: int, *, leave_out: bool = True) -> Verdict:
        """Judge a version beside the one before it, of which it has not the bytes."""
        step = self._steps.get(version)
        if step is None or step.before != version - 1 or step.text:
            return "changed"
        telling = set(step.telling.tolist())
        return "changed" if telling.difference(self._found if leave_out else ()) else "unchanged"

    def changed_otherwise(self, version: int) -> bool:
        """Tell whether anything at all but restless nodes changed, seen or not."""
        step = self._steps.get(version)
        return (
            step is None
            or step.before != version - 1
            or not self._found.keys() >= set(step.keys.tolist())
        )

    def _note(self, state: _State, nodes: NDArray[np.int64] | None = None) -> None:
        """Keep the restless ones of some nodes, or of all."""
        chosen = np.arange(state.page.n) if nodes is None else nodes
        numbers = state.number[chosen].tolist()
        there = (state.captures - state.born[chosen]).tolist()
        unseen = None
        named = 0
        for node, number, captures in zip(chosen.tolist(), numbers, there, strict=True):
            if captures < LEAST:
                continue
            for code, place in enumerate(PLACES):
                key = number * len(PLACES) + code
                count = self._counts.get(key, 0)
                if count >= LEAST and count >= EVERY * captures:
                    unseen = unseen_nodes(state.page) if unseen is None else unseen
                    named += 1
                    self._found[key] = RestlessNode(
                        node=node,
                        version=state.version,
                        path=selector_of(state.page, node) if named <= MOST_NAMED else "",
                        place=place,
                        seen=not unseen[node],
                        changes=count,
                        captures=captures,
                    )


def selector_of(page: Digest, node: int) -> str:
    """A selector for a node, or for the element around it."""
    while node > 0 and str(page.tags[page.tag[node]]).startswith("#"):
        node = int(page.parent[node])
    return page.path(node) if node else ":root"


def _compared(state: _State, found: Annotation, number: NDArray[np.int64]) -> _Step:
    gone = np.where(found.to_new < 0, found.old_status, 0)
    keys, telling = zip(
        _keys(found.new, found.new_status, number),
        _keys(found.old, gone, state.number),
        strict=True,
    )
    return _Step(
        state.version,
        found.old.text() != found.new.text(),
        np.unique(np.concatenate(keys)),
        np.unique(np.concatenate(telling)),
    )


def _keys(
    page: Digest, status: NDArray[np.uint16], number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What changed on a page, and what of it tells."""
    alone = (status & Status.ALONE) > 0
    seen = ~unseen_nodes(page)

    def at(which: NDArray[np.bool_], place: Place) -> NDArray[np.int64]:
        nodes = np.flatnonzero(which)
        if place == "children":
            # What came or went is a change of the nearest node that was there before and after.
            nodes = np.where(nodes > 0, page.parent[nodes], 0)
            while alone[nodes].any():
                nodes = np.where(alone[nodes], page.parent[nodes], nodes)
        return number[nodes] * len(PLACES) + PLACES.index(place)

    links, images = (status & Status.LINKS) > 0, (status & Status.IMAGES) > 0
    attributes = ((status & Status.ATTRIBUTES) > 0) & ~links & ~images
    moved = (status & (Status.MOVED | Status.ALONE)) > 0
    told = [
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
    ), np.concatenate(told)


def unseen_nodes(page: Digest) -> NDArray[np.bool_]:
    """Which nodes of a page nobody sees."""
    names = [str(name) for name in page.tags]
    tag, size = page.tag, page.size
    found = np.isin(tag, [code for code, name in enumerate(names) if name in _LEAVES_UNSEEN])
    roots = np.isin(tag, [code for code, name in enumerate(names) if name in UNSEEN])
    # Beginnings and ends of what is unseen, added up.
    depth = np.zeros(page.n + 1, np.int64)
    starts = np.flatnonzero(roots)
    np.add.at(depth, starts, 1)
    np.add.at(depth, starts + size[starts], -1)
    return found | (np.cumsum(depth[:-1]) > 0)

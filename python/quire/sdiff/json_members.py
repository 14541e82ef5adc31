"""Members of JSON objects: their order has no meaning, and their partners are found by their keys.

The kernel knows ordered trees and pairs equal subtrees first. So it says that a member moved when
its neighbours changed places, and of members with equal values it may pair the one with the other
and call that a new key. Here members of one object with the same key and equal values become
partners, and moves within an object are taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quire.sdiff.facets import Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from quire.digest import Digest


@dataclass(frozen=True, slots=True)
class Found:
    """What the kernel found: the partners and the statuses of the nodes of both pages."""

    to_new: NDArray[np.int32]
    to_old: NDArray[np.int32]
    old_status: NDArray[np.uint16]
    new_status: NDArray[np.uint16]


def without_order_of_members(old: Digest, new: Digest, found: Found) -> Found:
    """Return the changes between two pages of JSON, ignoring the order of members."""
    apart = Status.TAG | Status.MOVED | Status.ALONE
    if not (found.old_status & apart).any() or not (found.new_status & apart).any():
        return found  # nothing to pair in another way
    found = Found(
        found.to_new.copy(),
        found.to_old.copy(),
        found.old_status.copy(),
        found.new_status.copy(),
    )
    if not ((found.old_status & Status.OUTSIDE).any() or (found.new_status & Status.OUTSIDE).any()):
        _pair_by_key(_Tree(old), _Tree(new), found)
    _take_back_moves(old, new, found)
    return found


class _Tree:
    """A page of JSON as plain lists, with a hash of every subtree that ignores order of members."""

    def __init__(self, page: Digest) -> None:
        tags, contents, parents = page.tag.tolist(), page.content.tolist(), page.parent.tolist()
        objects = page.tag_id("#object")
        self.tag: list[str] = [page.tags[tag] for tag in tags]
        self.is_object: list[bool] = [tag == objects for tag in tags]
        self.children: list[list[int]] = [[] for _ in tags]
        for node in range(1, page.n):
            self.children[parents[node]].append(node)
        self.hash: list[int] = [0] * page.n
        for node in range(page.n - 1, -1, -1):  # children come after their parents
            below = [self.hash[child] for child in self.children[node]]
            if self.is_object[node]:
                below.sort()
            own = page.contents[contents[node]] if contents[node] >= 0 else None
            self.hash[node] = hash((self.tag[node], own, *below))

    def by_hash(self, node: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for child in self.children[node]:
            found.setdefault(self.hash[child], []).append(child)
        return found


def _pair_by_key(old: _Tree, new: _Tree, found: Found) -> None:
    """Make members of one object with the same key and equal values partners."""
    partners: dict[int, int] = {}  # of nodes of the new page, where they are not the kernel's
    taken: tuple[set[int], set[int]] = set(), set()
    todo = [(0, 0, False)]
    while todo:
        x, y, is_equal = todo.pop()
        if not is_equal and (x in taken[0] or y in taken[1]):
            continue  # another object has it
        taken[0].add(x)
        taken[1].add(y)
        if is_equal or old.hash[x] == new.hash[y]:
            partners[y] = x
            pairs = zip(_in_order(old, x), _in_order(new, y), strict=True)
            todo += [(left, right, True) for left, right in pairs]
            continue
        fresh = new.by_hash(y) if new.is_object[y] and old.is_object[x] else {}
        for child in old.children[x] if fresh else ():
            if fresh.get(old.hash[child]):
                same = fresh[old.hash[child]].pop()
                todo.append((child, same, True))
                taken[0].add(child)
                taken[1].add(same)
        for child in new.children[y]:
            before = int(found.to_old[child])
            if before >= 0 and before not in taken[0] and child not in taken[1]:
                todo.append((before, child, False))
    _set_partners(partners, found)


def _in_order(tree: _Tree, node: int) -> list[int]:
    """List the children of a node; members by their hashes, which are equal for equal members."""
    below = tree.children[node]
    return sorted(below, key=tree.hash.__getitem__) if tree.is_object[node] else below


def _set_partners(partners: dict[int, int], found: Found) -> None:
    """Give nodes other partners; the ones they had before are left alone."""
    taken = set(partners.values())
    for y, x in partners.items():
        if int(found.to_old[y]) == x:
            continue
        lost, left = int(found.to_old[y]), int(found.to_new[x])
        if lost >= 0 and lost not in taken:
            found.to_new[lost], found.old_status[lost] = -1, Status.ALONE
        if left >= 0 and left not in partners:
            found.to_old[left], found.new_status[left] = -1, Status.ALONE
    for y, x in partners.items():
        keeps_move = Status.MOVED if int(found.to_old[y]) == x else 0
        found.to_new[x], found.to_old[y] = y, x
        found.old_status[x] &= keeps_move
        found.new_status[y] &= keeps_move


def _take_back_moves(old: Digest, new: Digest, found: Found) -> None:
    """Take back moves of members within their object.

    Items of an array, and members that are now in another object, did move.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    moved = np.flatnonzero(found.new_status & Status.MOVED)
    is_member = np.array([space == "json" for space in new.tag_namespaces], np.bool_)
    moved = moved[is_member[new.tag[moved]]]
    stayed = moved[old.parent[found.to_old[moved]] == found.to_old[new.parent[moved]]]
    others = found.new_status.dtype.type(0xFFFF ^ int(Status.MOVED))
    found.new_status[stayed] &= others
    found.old_status[found.to_old[stayed]] &= others

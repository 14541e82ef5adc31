"""Object dependency graph: which fragments contain which, over all pages of a site.

Pages contain L-P fragments and shared fragments, and these contain others in turn (paper 004,
section 5). A shared fragment is a single object, however many pages contain it, so the graph is not
a tree.

The depth of a page is 1. The depth of any other object is one more than that of the deepest object
that contains it. The depth of the graph is the paper's depth of fragmentation.

Cost: linear in the nodes of the last versions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.shared.find import SharedFragments

ObjectKind: TypeAlias = Literal["page", "lp", "shared"]
_Key: TypeAlias = tuple[ObjectKind, int, int]  # kind, page, fragment


@dataclass(frozen=True, slots=True)
class GraphObject:
    """A page or a fragment.

    Attributes:
        kind: ``page``, ``lp`` for an L-P fragment of one page, or ``shared`` for a shared fragment.
        page: index of the page; -1 for shared fragments.
        fragment: number of the fragment in the lifetimes of its page, or among shared fragments.
        depth: 1 for pages.
    """

    kind: ObjectKind
    page: int
    fragment: int
    depth: int

    @property
    def name(self) -> str:
        """A name that is unique in the graph."""
        if self.kind == "shared":
            return f"shared {self.fragment}"
        return f"{self.kind} {self.page}.{self.fragment}"


@dataclass(frozen=True, slots=True)
class ObjectGraph:
    """Objects, and which contain which.

    Attributes:
        objects: pages, L-P fragments and shared fragments.
        holds: pairs of a container and its content, as indexes into ``objects``; sorted.
    """

    objects: tuple[GraphObject, ...]
    holds: tuple[tuple[int, int], ...]

    @property
    def depth(self) -> int:
        """Depth of fragmentation."""
        return max((one.depth for one in self.objects), default=0)

    def count_by_depth(self) -> dict[int, int]:
        """Return the number of objects at each depth."""
        return dict(sorted(Counter(one.depth for one in self.objects).items()))

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz.

        Pages are boxes, shared fragments are rounded boxes, L-P fragments are ellipses.
        """
        shapes = {"page": "shape=box", "lp": "shape=ellipse", "shared": "shape=box, style=rounded"}
        lines = ["digraph fragments {", "  rankdir=LR;"]
        lines += [f'  "{one.name}" [{shapes[one.kind]}];' for one in self.objects]
        lines += [
            f'  "{self.objects[holder].name}" -> "{self.objects[held].name}";'
            for holder, held in self.holds
        ]
        return "\n".join([*lines, "}"]) + "\n"


def dependency_graph(
    pages: Sequence[Lifetimes], shared: SharedFragments | None = None
) -> ObjectGraph:
    """Combine the fragments of several pages into one graph.

    >>> import quire
    >>> menu = "<nav><a href=/>Start</a> <a href=/fish>Fish</a> <a href=/chips>Chips</a></nav>"
    >>> def page(text):
    ...     return quire.encode(f"{menu}<h1>Fish</h1><p>{text}, as long as there is any".encode())
    >>> cod, hake = (
    ...     [page(f"{day} kilogrammes of {fish}") for day in range(3)] for fish in ("cod", "hake")
    ... )
    >>> lives = [quire.lifetimes(list(enumerate(versions))) for versions in (cod, hake)]
    >>> shared = quire.shared_fragments([cod[-1], hake[-1]], min_bytes=16)
    >>> graph = dependency_graph(lives, shared)
    >>> for holder, held in graph.holds:
    ...     print(graph.objects[holder].name, "->", graph.objects[held].name)
    page 0.0 -> lp 0.1
    page 0.0 -> shared 0
    page 1.0 -> shared 0
    page 1.0 -> lp 1.1

    Args:
        pages: the lifetimes of each page.
        shared: the shared fragments of the last versions of the same pages, in the same order.

    Raises:
        ValueError: the number of pages differs between the two.
    """
    if shared is not None and shared.pages != len(pages):
        raise ValueError(
            f"{len(pages)} pages with lifetimes, but shared fragments of {shared.pages}: "
            "expected the same pages"
        )
    keys: dict[_Key, None] = {}
    edges: set[tuple[_Key, _Key]] = set()
    members: list[dict[int, int]] = [{} for _ in pages]  # nodes of AF trees that are shared
    if shared is not None:
        columns = (shared.members.page, shared.members.part, shared.fragment)
        for page, part, fragment in zip(*(column.tolist() for column in columns), strict=True):
            members[page][part] = fragment
    for number, lives in enumerate(pages):
        _add_page(number, lives, members[number], keys, edges)
    places = {key: place for place, key in enumerate(keys)}
    holds = sorted((places[holder], places[held]) for holder, held in edges if holder != held)
    depth, kept = _depths(len(places), holds)
    objects = tuple(
        GraphObject(kind, page, fragment, depth[place])
        for (kind, page, fragment), place in places.items()
    )
    return ObjectGraph(objects, tuple(kept))


def _add_page(
    number: int,
    lives: Lifetimes,
    members: dict[int, int],
    keys: dict[_Key, None],
    edges: set[tuple[_Key, _Key]],
) -> None:
    """Add the objects of a page, and which contain which."""
    objects: dict[int, _Key] = {  # of fragments of the page, by number
        one.number: ("page" if one.parent is None else "lp", number, one.number)
        for one in lives.fragments
    }
    latest = enumerate(lives.latest_fragment.tolist())
    shown = {node: objects[fragment] for node, fragment in latest if fragment >= 0}
    if 0 in members:
        edges.add((shown[0], ("shared", -1, members[0])))
    for node, fragment in members.items():
        if node > 0 and node in shown:
            # A node that is both an L-P fragment and a shared one is a single object.
            objects[int(lives.latest_fragment[node])] = ("shared", -1, fragment)
        shown[node] = ("shared", -1, fragment)
    keys.update(dict.fromkeys([*objects.values(), *shown.values()]))
    edges.update(_nearest(lives, shown))
    # Fragments that no longer exist stay in the fragment that contained them last.
    gone = set(objects.values()).difference(shown.values())
    for one in lives.fragments:
        if one.parent is not None and objects[one.number] in gone:
            edges.add((objects[one.parent], objects[one.number]))


def _nearest(lives: Lifetimes, shown: dict[int, _Key]) -> Iterator[tuple[_Key, _Key]]:
    """Yield each object of the last version with the nearest object around it."""
    parent = lives.latest_parent.tolist()
    around: list[int] = []  # the nearest node of an object at or above each node
    for node, above in enumerate(parent):
        near = around[above] if above >= 0 else -1
        if node in shown and near >= 0:
            yield shown[near], shown[node]
        around.append(node if node in shown else near)


def _depths(count: int, holds: list[tuple[int, int]]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the depth of every object, and the edges without cycles.

    Members of a shared fragment may differ, so one fragment may contain another on one page and be
    contained by it on the next. The edge that would close such a cycle is left out.
    """
    held_by: defaultdict[int, list[int]] = defaultdict(list)
    below: defaultdict[int, list[int]] = defaultdict(list)
    for holder, held in holds:
        below[holder].append(held)
        held_by[held].append(holder)
    waiting = [len(held_by[place]) for place in range(count)]
    depth, done = [1] * count, [False] * count
    ready = [place for place in range(count) if not waiting[place]]
    left = 0
    while True:
        while ready:
            place = ready.pop()
            done[place] = True
            for held in below[place]:
                if not done[held]:
                    depth[held] = max(depth[held], depth[place] + 1)
                    waiting[held] -= 1
                    if not waiting[held]:
                        ready.append(held)
        while left < count and done[left]:
            left += 1
        if left == count:
            break
        ready.append(left)
    kept = [(holder, held) for holder, held in holds if depth[holder] < depth[held]]
    return depth, kept

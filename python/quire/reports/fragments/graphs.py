"""The graph of the report: the object dependency graph of some pages of a site, with the size of each object.

Shared parts are those of the exact tier: what a cache would hold.

Of a large site the pages that were watched come first, then those with the most shared parts, up to ``MOST_PAGES``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quire.fragments.lifetime.lifetimes import lifetimes
from quire.fragments.shared.find import Members, SharedFragments
from quire.fragments.simulation.dependency_graph import GraphObject, ObjectGraph, dependency_graph
from quire.fragments.study.study import FragmentStudy
from quire.progress import Progress, no_progress

#: Pages that the graph is of.
MOST_PAGES = 100


@dataclass(frozen=True, slots=True)
class ReportGraph:
    """A graph, with what is drawn of it.

    Attributes:
        graph: objects and what they hold; their pages are places in ``places``.
        places: for each page of the graph, its place in the collection.
        sizes: bytes in the source of each object; 0 where they are not known.
        left_out: pages that are not in it.
    """

    graph: ObjectGraph
    places: tuple[int, ...]
    sizes: tuple[int, ...]
    left_out: int

    @property
    def pages(self) -> int:
        """How many pages it is of."""
        return len(self.places)


def graph_of(study: FragmentStudy, *, tell: Progress = no_progress) -> ReportGraph:
    """Make the graph of a study.

    Args:
        study: what ``study_fragments`` found; pages without versions are read again.
        tell: is told of progress, in the step ``graph``.
    """
    count = len(study.site.pages)
    members = np.bincount(study.exact.members.page, minlength=count).tolist()
    order = sorted(
        range(count), key=lambda page: (page not in study.lives, -int(members[page]), page)
    )
    places = tuple(sorted(order[:MOST_PAGES]))
    lives = []
    for done, page in enumerate(places, start=1):
        last = study.site.pages[page].versions[-1]
        known = study.lives.get(page)
        lives.append(lifetimes([(0.0, study.site.digest(last))]) if known is None else known)
        tell("graph", done, len(places))
    graph = dependency_graph(lives, _among(study.exact, places))
    numbered = [{one.number: one for one in found.fragments} for found in lives]

    def size(one: GraphObject) -> int:
        if one.kind == "shared":
            found = study.exact[one.fragment].members
            return max(0, int((found.byte_end - found.byte_start).max()))
        if one.kind == "page":
            return study.site.pages[places[one.page]].source_bytes
        return max(0, numbered[one.page][one.fragment].source_bytes)

    sizes = tuple(size(one) for one in graph.objects)
    return ReportGraph(graph, places, sizes, count - len(places))


def _among(shared: SharedFragments, places: tuple[int, ...]) -> SharedFragments:
    """The same fragments by the same numbers, with only the members on some pages."""
    kept = np.isin(shared.members.page, np.asarray(places, np.int64))
    columns = [getattr(shared.members, name)[kept] for name in Members.__slots__]
    members = Members(*columns)
    members = Members(np.searchsorted(places, members.page).astype(np.int64), *columns[1:])
    starts = np.concatenate([[0], np.cumsum(kept)])[shared.starts].astype(np.int64)
    return SharedFragments(shared.rules, len(places), starts, members)

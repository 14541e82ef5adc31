"""The graph of the report: the object dependency graph of some pages, with the size of each object.

Shared objects are the fragments of the plan: those that a cache would hold. Of a large site, pages
with versions come first, then those with the most parts cut out, up to ``MOST_PAGES``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quire.fragments.lifetime.lifetimes import lifetimes
from quire.fragments.lifetime.results import Lifetimes
from quire.fragments.shared.find import Members, SharedFragments
from quire.fragments.simulation.dependency_graph import GraphObject, ObjectGraph, dependency_graph
from quire.fragments.study.study import FragmentStudy, parts_in
from quire.progress import Progress, no_progress

#: Number of pages in the graph.
MOST_PAGES = 100


@dataclass(frozen=True, slots=True)
class ReportGraph:
    """A graph, with the sizes of its objects.

    Attributes:
        graph: objects and which hold which; their pages are places in ``places``.
        places: for each page of the graph, its place in the collection.
        sizes: bytes in the source of each object; 0 if not known.
        left_out: number of pages that are not in it.
    """

    graph: ObjectGraph
    places: tuple[int, ...]
    sizes: tuple[int, ...]
    left_out: int


def graph_of(study: FragmentStudy, *, progress: Progress = no_progress) -> ReportGraph:
    """Make the graph of a study.

    Args:
        study: from ``study_fragments``; pages without versions are read again.
        progress: called for the step ``graph``.
    """
    pages, cuts = study.site.pages, study.plan.cuts.pages
    order = sorted(
        range(len(pages)),
        key=lambda page: (page not in study.lives, -len(cuts[pages[page].body].parts), page),
    )
    places = tuple(sorted(order[:MOST_PAGES]))
    lives = []
    for done, page in enumerate(places, start=1):
        known = study.lives.get(page)
        lives.append(known or lifetimes([(0.0, study.site.digest(pages[page].versions[-1]))]))
        progress("graph", done, len(places))
    graph = dependency_graph(lives, _shared(study, places, lives))
    numbered = [{one.number: one for one in found.fragments} for found in lives]

    def size(one: GraphObject) -> int:
        if one.kind == "shared":
            return study.composition.manifest.fragments[one.fragment].length
        if one.kind == "page":
            return pages[places[one.page]].source_bytes
        return max(0, numbered[one.page][one.fragment].source_bytes)

    sizes = tuple(size(one) for one in graph.objects)
    return ReportGraph(graph, places, sizes, len(pages) - len(places))


def _shared(
    study: FragmentStudy, places: Sequence[int], lives: Sequence[Lifetimes]
) -> SharedFragments:
    """The fragments of the plan, numbered as in the manifest, with their places on some pages."""
    fragments = study.composition.manifest.fragments
    number = {one.file: place for place, one in enumerate(fragments)}
    rows = sorted(
        (number[part.name], page, node)
        for page, place in enumerate(places)
        for part, start, end in study.parts_on(place)
        for node in parts_in(lives[page].latest_span, lives[page].latest_parent, start, end)
    )
    fragment, page, node = np.array(rows, np.int64).reshape(-1, 3).T
    unknown = np.full(len(rows), -1, np.int64)
    hashes = np.zeros(len(rows), np.uint64)
    members = Members(
        page, node, unknown, unknown, unknown, hashes, unknown, unknown, hashes
    )  # the graph needs pages and parts only
    starts = np.searchsorted(fragment, np.arange(len(fragments) + 1))
    return SharedFragments(study.alike.rules, len(places), starts, members)

"""The object dependency graph as SVG: objects in columns by depth, lines from holder to held.

The largest ``MOST_OF_A_KIND`` pages, parts with their own pace and shared parts are drawn. Shapes
distinguish them: a page is a box, a part with its own pace an ellipse, a shared part a box with
round corners.
"""

from __future__ import annotations

from collections import defaultdict

from quire.display import format_bytes
from quire.reports.fragments.graphs import ReportGraph
from quire.reports.fragments.words import PageNames

MOST_OF_A_KIND = 15
_MOST_COLUMNS = 8
_COLUMN, _ROW, _BOX_WIDTH, _BOX_HEIGHT = 310, 34, 240, 24
_LETTERS = 22


def graph_drawing(graph: ReportGraph, names: PageNames) -> str:
    """Draw the largest objects of a graph."""
    objects = graph.graph.objects
    chosen = _largest(graph)
    if len(chosen) < 2:  # noqa: PLR2004 - one object depends on nothing
        return ""
    places = _placed(graph, chosen)
    edges = "".join(
        f'<path class="edge" d="{_edge(places[holder], places[held])}"/>'
        for holder, held in graph.graph.holds
        if holder in places and held in places
    )
    drawn = "".join(_object(graph, place, at, names) for place, at in places.items())
    width = max(x for x, _ in places.values()) + _BOX_WIDTH + 20
    height = max(y for _, y in places.values()) + _BOX_HEIGHT + 20
    left = len(objects) - len(places)
    notes = [
        f"{len(objects):,} objects of {len(graph.places):,} pages, {graph.graph.depth} deep.",
        f"{left:,} smaller objects are not drawn." if left else "",
        f"{graph.left_out:,} pages are not in it." if graph.left_out else "",
    ]
    return (
        '<section id="graph"><h2>Which part holds which</h2>'
        '<p class="legend"><span>box: a page</span><span>ellipse: a part that changes at its own pace'
        "</span><span>round corners: a part that the plan cuts out</span></p>"
        f'<div class="wide"><svg class="chart" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Object dependency graph">{edges}{drawn}</svg></div>'
        f'<p class="dim">{" ".join(note for note in notes if note)}</p></section>\n'
    )


def _largest(graph: ReportGraph) -> list[int]:
    objects, chosen = graph.graph.objects, []
    by_size = sorted(range(len(objects)), key=lambda place: (-graph.sizes[place], place))
    for kind in ("page", "lp", "shared"):
        chosen += [place for place in by_size if objects[place].kind == kind][:MOST_OF_A_KIND]
    return chosen


def _placed(graph: ReportGraph, chosen: list[int]) -> dict[int, tuple[int, int]]:
    """Left and top of each object: columns by depth, without empty ones."""
    objects = graph.graph.objects
    depths = sorted({objects[place].depth for place in chosen})
    column = {depth: min(number, _MOST_COLUMNS - 1) for number, depth in enumerate(depths)}
    rows: defaultdict[int, int] = defaultdict(int)
    found = {}
    for place in chosen:
        at = column[objects[place].depth]
        found[place] = (10 + at * _COLUMN, 10 + rows[at] * _ROW)
        rows[at] += 1
    return found


def _edge(holder: tuple[int, int], held: tuple[int, int]) -> str:
    start, top = holder[0] + _BOX_WIDTH, holder[1] + _BOX_HEIGHT // 2
    end, low = held[0], held[1] + _BOX_HEIGHT // 2
    middle = (start + end) // 2
    return f"M{start} {top}C{middle} {top} {middle} {low} {end} {low}"


def _object(graph: ReportGraph, place: int, at: tuple[int, int], names: PageNames) -> str:
    one, (x, y) = graph.graph.objects[place], at
    size = format_bytes(graph.sizes[place])
    if one.kind == "shared":
        label = f"shared {one.fragment}"
    elif one.kind == "page":
        label = names.label(graph.places[one.page], _LETTERS)
    else:
        label = f"part {one.fragment} of {names.label(graph.places[one.page], _LETTERS // 2)}"
    if one.kind == "lp":
        shape = (
            f'<ellipse class="object lp" cx="{x + _BOX_WIDTH // 2}" cy="{y + _BOX_HEIGHT // 2}" '
            f'rx="{_BOX_WIDTH // 2}" ry="{_BOX_HEIGHT // 2}"/>'
        )
    else:
        rounded = ' rx="11"' if one.kind == "shared" else ""
        shape = (
            f'<rect class="object {one.kind}" x="{x}" y="{y}" width="{_BOX_WIDTH}" '
            f'height="{_BOX_HEIGHT}"{rounded}/>'
        )
    return (
        f'{shape}<text x="{x + 14}" y="{y + 16}">{label} <tspan class="quiet">{size}</tspan></text>'
    )

"""The numbers of the report as JSON.

Made from the same study as the HTML, with texts in full; the list of fragments is the same.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from quire.display import printable
from quire.fragments.lifetime.survival import Curve, Lives
from quire.fragments.study.columns import COLUMNS
from quire.fragments.study.facts import FragmentFacts
from quire.fragments.study.study import FragmentStudy
from quire.reports.fragments.graphs import ReportGraph
from quire.reports.fragments.painting import painted_page

#: Pages that have a curve of their own, beside that of all.
MOST_CURVES = 5
# Steps of a curve; a curve with more is thinned.
_MOST_POINTS = 400


class PageCurve(NamedTuple):
    """How long the parts of a page stay unchanged; ``page`` is None for all pages together."""

    page: int | None
    curve: Curve


def page_curves(study: FragmentStudy) -> list[PageCurve]:
    """The curve of all pages, and those of the pages with the most lives that ended."""
    if not study.lives:
        return []
    every = Lives.joined([lives.lives() for lives in study.lives.values()]).curve()
    single = [PageCurve(page, lives.curve()) for page, lives in study.lives.items()]
    single.sort(key=lambda one: (-one.curve.ended, one.page))
    chosen = [one for one in single[:MOST_CURVES] if one.curve.ended]
    return [PageCurve(None, every), *(chosen if len(single) > 1 else [])]


def as_json(study: FragmentStudy, graph: ReportGraph) -> dict[str, object]:
    """Return all numbers of the report.

    Args:
        study: from ``study_fragments``.
        graph: from ``graph_of``.
    """
    log, pages = study.log, study.site.pages
    logged = None if log is None else dataclasses.asdict(log)
    if logged is not None:
        del logged["requests"]  # they are with the pages
    painted = painted_page(study)
    volumes = study.composition.manifest.volumes
    return {
        "totals": dataclasses.asdict(study.totals),
        "volumes": {**dataclasses.asdict(volumes), "stored": volumes.stored},
        "log": logged,
        "pages": [
            {
                "name": printable(page.name),
                "url": printable(page.url),
                "bytes": page.source_bytes,
                "versions": len(page.versions),
                "requests": asked if log is not None else None,
            }
            for page, asked in zip(pages, study.asked.pages, strict=True)
        ],
        "columns": {one.key: one.meaning for one in COLUMNS},
        "advised": [f"{one.tier} {one.rank}" for one in study.advised],
        "fragments": [_fragment(one, study) for one in study.facts],
        "curves": [_curve(one, study) for one in page_curves(study)],
        "graph": {
            "pages": len(graph.places),
            "objects": len(graph.graph.objects),
            "holds": len(graph.graph.holds),
            "depth": graph.graph.depth,
            "by_depth": {str(d): n for d, n in graph.graph.count_by_depth().items()},
        },
        "painted": None if painted is None else printable(pages[painted].name),
    }


def _fragment(one: FragmentFacts, study: FragmentStudy) -> dict[str, object]:
    names = study.site.pages
    found = dataclasses.asdict(one) | {"page": printable(names[one.page].name)}
    found["source_bytes"] = max(one.source_bytes, 0)
    for name in ("label", "path", "sample"):
        found[name] = printable(getattr(one, name))
    found["pace"]["changes_per_day"] = one.pace.changes_per_day
    found["sharing"] = one.sharing
    found["differs"] = [
        {
            "page": printable(names[each.page].name),
            "first": [printable(text) for text in each.first],
            "other": [printable(text) for text in each.other],
            "is_source": each.is_source,
        }
        for each in one.differs
    ]
    return found


def _curve(one: PageCurve, study: FragmentStudy) -> dict[str, object]:
    step = max(1, -(-len(one.curve.seconds) // _MOST_POINTS))
    return {
        "page": None if one.page is None else printable(study.site.pages[one.page].name),
        "lives": one.curve.lives,
        "ended": one.curve.ended,
        "seconds": one.curve.seconds[::step].tolist(),
        "cumulative": one.curve.cumulative[::step].tolist(),
    }

"""Tables of the report: a row for each fragment that is listed, by tier.

Numbers are written in full, as in the JSON.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.display import escape
from quire.fragments.study.columns import COLUMNS
from quire.fragments.study.differences import Difference
from quire.fragments.study.facts import FragmentFacts, Tier, figure
from quire.fragments.study.study import FragmentStudy
from quire.reports.fragments.words import PageNames, maybe_number, maybe_seconds
from quire.reports.names import words

_SAMPLE = 90
_PATH = 120
_PACE_HEADS = (
    "changes, all pages",
    "changes per day and page",
    "unchanged for: 10 %",
    "median",
    "90 %",
)


_TIERS: tuple[tuple[Tier, str], ...] = (
    ("exact", "Exact: the plan cuts these out"),
    ("approximate", "Approximate: advice"),
    ("own pace", "Parts that change at their own pace"),
)

_LEAST = "With ≥ and ≤: captures are too far apart to count all changes."


def tier_tables(study: FragmentStudy, names: PageNames) -> str:
    """Write a table of each tier that has fragments."""
    return "".join(_table(study, names, *tier) for tier in _TIERS)


def _table(study: FragmentStudy, names: PageNames, tier: Tier, title: str) -> str:
    rows = [one for one in study.facts if one.tier == tier]
    if not rows:
        return ""
    totals = study.totals
    all_of = {
        "exact": totals.worth_it,
        "approximate": totals.approximate,
        "own pace": totals.own_pace,
    }[tier]
    paced = bool(study.lives)
    logged = study.log is not None
    heads = ["no.", "what, and what to do", *(one.heading for one in COLUMNS)]
    heads += [*_PACE_HEADS] if paced else []
    compared = any(page.others for page in study.site.pages)
    heads += ["users"] if compared else []
    heads += ["requests", "per day"] if logged else []
    meanings = {one.heading: one.meaning for one in COLUMNS} | {_PACE_HEADS[1]: _LEAST}
    head = "".join(
        f'<th scope="col" title="{escape(meanings.get(name, ""))}">{escape(name)}</th>'
        for name in heads
    )
    labels = heads[2:]
    body = "".join(
        _row(one, names, labels, paced=paced, compared=compared, logged=logged) for one in rows
    )
    more = all_of - len(rows)
    beyond = f'<p class="dim">and {more:,} more that save less</p>' if more > 0 else ""
    return (
        f'<section id="{tier.replace(" ", "-")}"><h2>{escape(title)} <small>{all_of:,}</small></h2>'
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(title)}"><table class="ranked"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{beyond}</section>\n"
    )


def _row(
    one: FragmentFacts,
    names: PageNames,
    labels: Sequence[str],
    *,
    paced: bool,
    compared: bool,
    logged: bool,
) -> str:
    cells = [figure(one, column.key) for column in COLUMNS]
    if paced:
        pace = one.pace
        daily = maybe_number(pace.changes_per_day)
        is_least = pace.changes > 0 and not pace.is_rate_known and pace.changes_per_day is not None
        cells += [f"{pace.changes:,}", f"≥ {daily}" if is_least else daily]
        lives = (pace.life_p10_s, pace.life_p50_s, pace.life_p90_s)
        most = "≤ " if is_least else ""
        cells += [f"{most}{maybe_seconds(s)}" if s is not None else "–" for s in lives]
    if compared:
        cells.append(one.sharing)
    if logged:
        cells += [maybe_number(one.requests), maybe_number(one.requests_per_day)]
    numbers = "".join(
        f'<td class="number" data-label="{escape(label)}">{escape(cell)}</td>'
        for label, cell in zip(labels, cells, strict=True)
    )
    leave = ' class="leave"' if one.action == "leave" else ""
    return (
        f'<tr id="{one.tier.replace(" ", "-")}-{one.rank}"{leave}><td class="number">{one.rank:,}</td>'
        f'<td class="what"><b>{words(one.label, _SAMPLE)}</b> {escape(one.advice)}'
        f'<span class="sample">“{words(one.sample, _SAMPLE)}”</span>'
        f'<span class="dim">{names.page(one.page)} <code>{words(one.path, _PATH)}</code></span>'
        f"{_differences(one.differs, names)}</td>{numbers}</tr>"
    )


def _differences(found: Sequence[Difference], names: PageNames) -> str:
    if not found:
        return ""
    items = "".join(
        f"<li>{names.page(one.page, 40)}: {_side('del', 'here', one.other)} "
        f"{_side('ins', 'on the first', one.first)}</li>"
        for one in found
    )
    what = "in the source" if found[0].is_source else "in the text"
    return (
        f'<details><summary>Differences {what}</summary><ul class="differs">{items}</ul></details>'
    )


def _side(tag: str, said: str, samples: Sequence[str]) -> str:
    if not samples:
        return f"{said} nothing more"
    return f"{said} " + ", ".join(f"<{tag}>{words(sample, _SAMPLE)}</{tag}>" for sample in samples)

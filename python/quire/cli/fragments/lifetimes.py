"""``quire fragments lifetimes``: how long each part of a page stays the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import printable, reports_errors
from quire.cli.fragments.captures import (
    VariantCookieOption,
    VariantOption,
    VariantQueryOption,
    Variants,
)
from quire.cli.fragments.histories import (
    ChildChangeOption,
    HistoryArgument,
    MinBytesOption,
    UrlOption,
    histories,
)
from quire.display import format_count, format_duration

if TYPE_CHECKING:
    from quire.fragments import Lifetimes, LpFragment

#: Quantiles of lifetimes in the JSON output.
_QUANTILES = (0.1, 0.5, 0.9)
#: Maximum number of table rows for one page.
_MOST_ROWS = 20


@reports_errors
def lifetimes(
    *,
    sources: HistoryArgument,
    url: UrlOption = None,
    child_change: ChildChangeOption = 0.7,
    min_text_bytes: MinBytesOption = 30,
    variant: VariantOption = None,
    variant_query: VariantQueryOption = None,
    variant_cookie: VariantCookieOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Measure how long each part of a page stays the same, from several captures of it.

    A lifetime runs from the first capture of some content to the first capture without it.
    Content that is already in the first capture, or still in the last one, lives longer
    than that. Give captures for other users to find out which parts are private.

    \b
    Examples:
      quire fragments lifetimes captures/
      quire fragments lifetimes anonymous/ --variant mary/
      quire fragments lifetimes site.quire --url https://example.org/ --child-change 0.5
      quire fragments lifetimes captures/ --format json | jq '.pages[].restless'

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    pages: list[dict[str, Any]] = []
    texts: list[str] = []
    with progress_bars() as progress:
        found = histories(
            sources,
            progress,
            url=url,
            child_change=child_change,
            min_bytes=min_text_bytes,
            variants=Variants.told(variant, variant_query, variant_cookie),
        )
        for name, lives in found:
            if format is Format.json:
                pages.append({"page": name, **as_json(lives)})
            else:
                texts.append(_text(name, lives))
    # Progress bars use the same terminal, so print the results after they are gone.
    if format is Format.json:
        terminal.write_json({"pages": pages})
    for text in texts:
        terminal.write_text(text)


def as_json(found: Lifetimes) -> dict[str, Any]:
    """Return the lifetimes of a page as JSON values; infinity becomes null."""
    curve = found.curve()
    return {
        "versions": len(found.times),
        "seconds": float(found.times[-1] - found.times[0]),
        "kinds": len(set(found.kinds)),
        "bases": sum(found.bases),
        "depth": found.depth,
        "verdicts": {name: found.verdicts.count(name) for name in ("same", "unchanged", "changed")},
        "lives": {
            "begun": curve.lives,
            "ended": curve.ended,
            "quantiles_s": {str(share): _finite(curve.quantile(share)) for share in _QUANTILES},
        },
        "fragments": [_fragment(one) for one in found.fragments],
        "restless": [
            {
                "path": one.path,
                "place": one.aspect,
                "seen": one.seen,
                "changes": one.changes,
                "captures": one.captures,
            }
            for one in found.volatile
        ],
    }


def _fragment(one: LpFragment) -> dict[str, Any]:
    return {
        "number": one.number,
        "parent": one.parent,
        "depth": one.depth,
        "path": one.path,
        "first": one.first,
        "last": one.last,
        "gone": one.gone,
        "value_bytes": one.value_bytes,
        "source_bytes": one.source_bytes if one.source_bytes >= 0 else None,
        "changes": one.changes,
        "moves": one.moves,
        "change_rate": one.change_rate,
        "is_rate_known": one.is_rate_known,
        "ttl_s": _finite(one.ttl_s()),
        "sharing": one.sharing,
        "lives_s": one.lives.seconds.tolist(),
        "ended": one.lives.ended.tolist(),
    }


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


def _told(seconds: float) -> str:
    return format_duration(seconds) if math.isfinite(seconds) else "-"


def _text(name: str, found: Lifetimes) -> str:
    lines: list[str] = []
    write = lines.append
    seconds = float(found.times[-1] - found.times[0])
    watched = f" in {format_duration(seconds)}" if seconds else ""
    write(f"{printable(name)}: {format_count(len(found.times), 'version')}{watched}\n")
    parts = sorted(found.parts, key=lambda one: (-one.change_rate, one.number))
    compared = any(one.sharing != "unknown" for one in found.fragments)
    if parts:
        sharing = f"  {'sharing':>7}" if compared else ""
        write(f"  {'changes':>7}  {'lifetime':>8}  {'ttl':>8}  {'bytes':>8}{sharing}  part\n")
    for one in parts[:_MOST_ROWS]:
        lifetime = _told(1 / one.change_rate if one.change_rate else math.inf)
        size = one.source_bytes if one.source_bytes >= 0 else one.value_bytes
        sharing = f"  {one.sharing:>7}" if compared else ""
        path = terminal.one_line(one.path, most=90)
        ttl = _told(one.ttl_s())
        write(f"  {one.changes:>7,}  {lifetime:>8}  {ttl:>8}  {size:>8,}{sharing}  {path}\n")
    if len(parts) > _MOST_ROWS:
        write(f"  and {len(parts) - _MOST_ROWS:,} more\n")
    curve = found.curve()
    lives = "no change observed"
    if curve.lives:
        half = curve.quantile(0.5)
        median = f", median {format_duration(half)}" if math.isfinite(half) else ""
        lives = f"{curve.ended:,} of {format_count(curve.lives, 'observed lifetime')} ended{median}"
    write(f"  {format_count(len(parts), 'fragment')}, depth {found.depth}; {lives}\n")
    write(f"  {_volatile_summary(found)}\n")
    return "".join(lines)


def _volatile_summary(found: Lifetimes) -> str:
    """Describe the volatile nodes, and how many captures are unchanged without them."""
    if not found.verdicts:
        return "only one version: nothing to compare it with"
    other = len(found.verdicts) - found.verdicts.count("same")
    if not other:
        return "all captures have the same bytes"
    unchanged = found.verdicts.count("unchanged")
    few = len(found.volatile) <= 1
    nodes = format_count(len(found.volatile), "node") if found.volatile else "no node"
    ignoring = f"ignoring {'it' if few else 'them'}, " if found.volatile else ""
    return (
        f"{nodes} change{'s' if few else ''} in every capture; {ignoring}"
        f"{unchanged:,} of {format_count(other, 'capture')} with different bytes "
        f"look{'s' if unchanged == 1 else ''} unchanged"
    )

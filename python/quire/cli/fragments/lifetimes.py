"""``quire fragments lifetimes``: which parts of a page live at their own pace, and for how long."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.step_progress import telling
from quire.cli.common.terminal import reports_errors, shown
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
from quire.display import counted, told_seconds

if TYPE_CHECKING:
    from quire.fragments import Lifetimes, LpFragment

#: Shares of lives that are told, and how many rows a person wants to see.
_QUANTILES = (0.1, 0.5, 0.9)
_MOST_ROWS = 20


@reports_errors
def lifetimes(
    *,
    sources: HistoryArgument,
    url: UrlOption = None,
    child_change: ChildChangeOption = 0.7,
    min_bytes: MinBytesOption = 30,
    variant: VariantOption = None,
    variant_query: VariantQueryOption = None,
    variant_cookie: VariantCookieOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Find the parts of pages that live at their own pace, from versions of the pages.

    A part lived from the capture that showed it first to the one that showed another. What
    was there from the first capture on, or still is, lived longer than that. What other
    readers got tells which parts are private.

    \b
    Examples:
      quire fragments lifetimes captures/
      quire fragments lifetimes nobody/ --variant mary/
      quire fragments lifetimes site.quire --url https://example.org/ --child-change 0.5
      quire fragments lifetimes captures/ --format json | jq '.pages[].restless'

    Exit code: 0 done, 2 error.
    """
    pages: list[dict[str, Any]] = []
    texts: list[str] = []
    with telling() as tell:
        found = histories(
            sources,
            tell,
            url=url,
            child_change=child_change,
            min_bytes=min_bytes,
            variants=Variants.told(variant, variant_query, variant_cookie),
        )
        for name, lives in found:
            if format is Format.json:
                pages.append({"page": name, **as_json(lives)})
            else:
                texts.append(_text(name, lives))
    # Bars and words share a terminal: what was found is written when the bars are gone.
    if format is Format.json:
        terminal.write_json({"pages": pages})
    for text in texts:
        terminal.write_text(text)


def as_json(found: Lifetimes) -> dict[str, Any]:
    """Give what was found for a program; infinity is null."""
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
        "ttl_s": _finite(one.ttl_s()),
        "sharing": one.sharing,
        "lives_s": one.lives.seconds.tolist(),
        "ended": one.lives.ended.tolist(),
    }


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


def _told(seconds: float) -> str:
    return told_seconds(seconds) if math.isfinite(seconds) else "-"


def _text(name: str, found: Lifetimes) -> str:
    lines: list[str] = []
    write = lines.append
    seconds = float(found.times[-1] - found.times[0])
    watched = f" in {told_seconds(seconds)}" if seconds else ""
    write(f"{shown(name)}: {counted(len(found.times), 'version')}{watched}\n")
    parts = sorted(found.parts, key=lambda one: (-one.change_rate, one.number))
    compared = any(one.sharing != "unknown" for one in found.fragments)
    if parts:
        whose = f"  {'readers':>7}" if compared else ""
        write(f"  {'changes':>7}  {'lives':>8}  {'ttl':>8}  {'bytes':>8}{whose}  part\n")
    for one in parts[:_MOST_ROWS]:
        every = _told(1 / one.change_rate if one.change_rate else math.inf)
        size = one.source_bytes if one.source_bytes >= 0 else one.value_bytes
        whose = f"  {one.sharing:>7}" if compared else ""
        where = terminal.one_line(one.path, most=90)
        write(
            f"  {one.changes:>7,}  {every:>8}  {_told(one.ttl_s()):>8}  {size:>8,}{whose}  {where}\n"
        )
    if len(parts) > _MOST_ROWS:
        write(f"  and {len(parts) - _MOST_ROWS:,} more\n")
    curve = found.curve()
    lives = "no life was seen to begin"
    if curve.lives:
        half = curve.quantile(0.5)
        within = f", half of all within {told_seconds(half)}" if math.isfinite(half) else ""
        lives = f"of {counted(curve.lives, 'life', 'lives')} {curve.ended:,} ended{within}"
    write(f"  {counted(len(parts), 'fragment')}, depth {found.depth}; {lives}\n")
    write(f"  {_told_noise(found)}\n")
    return "".join(lines)


def _told_noise(found: Lifetimes) -> str:
    """Say what is another at every capture, or that nothing is."""
    if not found.verdicts:
        return "one version alone: nothing to compare it with"
    other = len(found.verdicts) - found.verdicts.count("same")
    if not other:
        return "all captures have the same bytes"
    unchanged = found.verdicts.count("unchanged")
    nodes = counted(len(found.volatile), "node") if found.volatile else "no node"
    without = "without such, " if found.volatile else ""
    return (
        f"{nodes} changed at every capture; {without}"
        f"{unchanged:,} of {counted(other, 'capture')} with other bytes {'is' if unchanged == 1 else 'are'} unchanged"
    )

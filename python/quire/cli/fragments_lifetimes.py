"""``quire fragments lifetimes``: which parts of a page live at their own pace, and for how long."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from quire.cli import terminal
from quire.cli.fragments_histories import (
    ChildChangeOption,
    HistoryArgument,
    MinBytesOption,
    UrlOption,
    histories,
    lives_of,
)
from quire.cli.options import Format, FormatOption
from quire.cli.templates_tables import counted
from quire.cli.terminal import reports_errors, shown

if TYPE_CHECKING:
    from quire.fragments import Lifetimes, LpFragment

#: Shares of lives that are told, and how many rows a person wants to see.
_QUANTILES = (0.1, 0.5, 0.9)
_MOST_ROWS = 20
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@reports_errors
def lifetimes(
    *,
    sources: HistoryArgument,
    url: UrlOption = None,
    child_change: ChildChangeOption = 0.7,
    min_bytes: MinBytesOption = 30,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Find the parts of pages that live at their own pace, from versions of the pages.

    A part lived from the capture that showed it first to the one that showed another. What
    was there from the first capture on, or still is, lived longer than that.

    \b
    Examples:
      quire fragments lifetimes captures/
      quire fragments lifetimes site.quire --url https://example.org/ --child-change 0.5
      quire fragments lifetimes captures/ --format json | jq '.pages[].restless'

    Exit code: 0 done, 2 error.
    """
    told = []
    for name, captures in histories(sources, url):
        found = lives_of(captures, child_change=child_change, min_bytes=min_bytes)
        if format is Format.json:
            told.append({"page": name, **as_json(found)})
        else:
            _print(name, found)
    if format is Format.json:
        terminal.write_json({"pages": told})


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
                "place": one.place,
                "seen": one.seen,
                "changes": one.changes,
                "captures": one.captures,
            }
            for one in found.restless
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


def told_seconds(seconds: float) -> str:
    """Give a length of time for a person.

    >>> told_seconds(5400), told_seconds(59), told_seconds(math.inf)
    ('1.5 h', '59 s', '-')
    """
    if not math.isfinite(seconds):
        return "-"
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} s"


def _print(name: str, found: Lifetimes) -> None:
    write = terminal.write_text
    watched = told_seconds(float(found.times[-1] - found.times[0]))
    write(f"{shown(name)}: {counted(len(found.times), 'version')} in {watched}\n")
    parts = sorted(found.parts, key=lambda one: (-one.change_rate, one.number))
    if parts:
        write(f"  {'changes':>7}  {'lives':>8}  {'ttl':>8}  {'bytes':>8}  part\n")
    for one in parts[:_MOST_ROWS]:
        every = told_seconds(1 / one.change_rate if one.change_rate else math.inf)
        size = one.source_bytes if one.source_bytes >= 0 else one.value_bytes
        private = " (private)" if one.sharing == "private" else ""
        where = terminal.one_line(one.path, most=90)
        write(
            f"  {one.changes:>7,}  {every:>8}  {told_seconds(one.ttl_s()):>8}  {size:>8,}  {where}{private}\n"
        )
    if len(parts) > _MOST_ROWS:
        write(f"  and {len(parts) - _MOST_ROWS:,} more\n")
    curve = found.curve()
    lives = "no life was seen to begin"
    if curve.lives:
        half = told_seconds(curve.quantile(0.5))
        lives = f"of {counted(curve.lives, 'life', 'lives')} {curve.ended:,} ended, half of all within {half}"
    write(f"  {counted(len(parts), 'fragment')}, depth {found.depth}; {lives}\n")
    write(f"  {_told_noise(found)}\n")


def _told_noise(found: Lifetimes) -> str:
    """Say what is another at every capture, or that nothing is."""
    if not found.verdicts:
        return "one version alone: nothing to compare it with"
    other = len(found.verdicts) - found.verdicts.count("same")
    if not other:
        return "all captures have the same bytes"
    unchanged = found.verdicts.count("unchanged")
    nodes = counted(len(found.restless), "node") if found.restless else "no node"
    without = "without such, " if found.restless else ""
    return (
        f"{nodes} changed at every capture; {without}"
        f"{unchanged:,} of {counted(other, 'capture')} with other bytes {'is' if unchanged == 1 else 'are'} unchanged"
    )

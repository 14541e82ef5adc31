"""Curves of lifetimes: the share of parts that have changed, by time, as SVG.

The axis of time is logarithmic, as lifetimes go from minutes to years. Each curve has its own line
style.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from quire.fragments.lifetime.survival import Curve
from quire.reports.fragments.numbers import PageCurve
from quire.reports.fragments.words import PageNames, maybe_seconds

_WIDTH, _HEIGHT = 760, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 16, 14, 34
_MOST_POINTS = 300
# Marks on the axis of time.
_MARKS = (
    (1, "1 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"), (21_600, "6 h"), (86_400, "1 d"),
    (604_800, "1 w"), (2_592_000, "30 d"), (31_536_000, "1 y"), (315_360_000, "10 y"),
)  # fmt: skip


def curves_drawing(curves: Sequence[PageCurve], names: PageNames) -> str:
    """Draw curves, with a table below."""
    shown = [one for one in curves if one.curve.ended]
    if not shown:
        return ""
    longest = max(float(one.curve.seconds[-1]) for one in shown)
    shortest = min(max(1.0, float(one.curve.seconds[0])) for one in shown)
    scale = _Scale(shortest / 1.3, max(longest, shortest * 2) * 1.3)
    lines = "".join(
        f'<path class="curve line{place}" d="{_steps(one.curve, scale)}"/>'
        for place, one in enumerate(shown)
    )
    rows = "".join(_row(place, one, names) for place, one in enumerate(shown))
    heads = ("", "page", "lives", "ended", "10 % within", "median", "90 % within")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        '<section id="lifetimes"><h2>Lifetimes</h2>'
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="Share of lives that are over, by their length">{_axes(scale)}{lines}</svg>'
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        '<p class="dim">Lifetimes of parts that were seen to begin. A dash: too few were seen to end.'
        "</p></section>\n"
    )


class _Scale:
    """Where seconds and shares are on the drawing."""

    def __init__(self, first: float, last: float) -> None:
        self.first, self.last = first, last

    def x(self, seconds: float) -> float:
        span = math.log(self.last / self.first)
        at = math.log(min(max(seconds, self.first), self.last) / self.first) / span
        return _LEFT + at * (_WIDTH - _LEFT - _RIGHT)

    def y(self, share: float) -> float:
        return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)


def _axes(scale: _Scale) -> str:
    drawn = []
    for percent in (0, 50, 100):
        y = scale.y(percent / 100)
        drawn.append(
            f'<path class="axis" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
            f'<text class="quiet" x="4" y="{y + 4:.1f}">{percent} %</text>'
        )
    for seconds, words in _MARKS:
        if scale.first <= seconds <= scale.last:
            x = scale.x(seconds)
            drawn.append(
                f'<path class="axis" d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}"/>'
                f'<text class="quiet" x="{x - 8:.1f}" y="{_HEIGHT - 12}">{words}</text>'
            )
    return "".join(drawn)


def _steps(curve: Curve, scale: _Scale) -> str:
    every = max(1, -(-len(curve.seconds) // _MOST_POINTS))
    points = list(zip(curve.seconds.tolist(), curve.cumulative.tolist(), strict=True))
    kept = points[::every]
    kept += points[-1:] if kept[-1] != points[-1] else []
    path = [f"M{_LEFT} {scale.y(0):.1f}"]
    path += [f"H{scale.x(seconds):.1f}V{scale.y(share):.1f}" for seconds, share in kept]
    return "".join([*path, f"H{_WIDTH - _RIGHT}"])


def _row(place: int, one: PageCurve, names: PageNames) -> str:
    curve = one.curve
    name = "all pages" if one.page is None else names.page(one.page)
    lives = [curve.quantile(share) for share in (0.1, 0.5, 0.9)]
    cells = [f"{curve.lives:,}", f"{curve.ended:,}"]
    cells += [maybe_seconds(life if math.isfinite(life) else None) for life in lives]
    numbers = "".join(f'<td class="number">{cell}</td>' for cell in cells)
    line = (
        '<svg class="sample-line" viewBox="0 0 40 10" preserveAspectRatio="none">'
        f'<path class="curve line{place}" d="M0 5H40"/></svg>'
    )
    return f"<tr><td>{line}</td><td>{name}</td>{numbers}</tr>"

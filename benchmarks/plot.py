"""Charts as small SVG files that can be read in a review: lines and points, linear or log axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 220, 44, 52
#: Distinguishable without colour vision; dashes tell more series apart than there are colours.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#444444")
DASHES = ("", "6 3", "2 3")


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one line, in the order of x."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]


@dataclass(frozen=True, slots=True)
class Axis:
    """A labelled axis over the values it must show."""

    label: str
    low: float
    high: float
    log: bool

    def place(self, value: float) -> float:
        """Where a value lies between the ends of the axis, 0 to 1."""
        if self.log:
            return (math.log10(value) - math.log10(self.low)) / (
                math.log10(self.high) - math.log10(self.low)
            )
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Powers of ten, or five to ten round steps."""
        if self.log:
            first, last = (
                math.ceil(math.log10(self.low) - 1e-9),
                math.floor(math.log10(self.high) + 1e-9),
            )
            return [10.0**power for power in range(first, last + 1)]
        step = 10 ** math.floor(math.log10((self.high - self.low) / 4))
        for factor in (1, 2, 5, 10):
            if (self.high - self.low) / (step * factor) <= 8:
                step *= factor
                break
        count = math.floor((self.high - self.low) / step + 1e-9)
        return [self.low + step * index for index in range(count + 1)]


def axis(label: str, values: Sequence[float], *, log: bool) -> Axis:
    """An axis that shows all values: whole powers of ten, or from zero on."""
    if log:
        positive = [value for value in values if value > 0]
        low = 10.0 ** math.floor(math.log10(min(positive)))
        high = 10.0 ** math.ceil(math.log10(max(positive)))
        return Axis(label, low, high if high > low else low * 10, log=True)
    return Axis(label, min(0.0, *values), max(values) * 1.05 or 1.0, log=False)


def line_chart(
    title: str,
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> str:
    """Draw lines with a mark at each point and a legend; values of zero are left out of log axes."""
    horizontal = axis(x_label, [x for line in series for x in line.xs], log=log_x)
    vertical = axis(y_label, [y for line in series for y in line.ys], log=log_y)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="14" font-weight="bold">{escape(title)}</text>',
        *_grid(horizontal, vertical),
    ]
    for index, line in enumerate(series):
        out += _line(line, index, horizontal, vertical)
    return "\n".join([*out, "</svg>"]) + "\n"


def _x(scale: Axis, value: float) -> float:
    return LEFT + scale.place(value) * (WIDTH - LEFT - RIGHT)


def _y(scale: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - scale.place(value) * (HEIGHT - TOP - BOTTOM)


def _grid(horizontal: Axis, vertical: Axis) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = []
    for tick in horizontal.ticks():
        x = _x(horizontal, tick)
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in vertical.ticks():
        y = _y(vertical, tick)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="black"/>')
    middle = (LEFT + right) / 2
    out.append(
        f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(horizontal.label)}</text>'
    )
    centre = (TOP + bottom) / 2
    out.append(
        f'<text x="16" y="{centre}" text-anchor="middle" transform="rotate(-90 16 {centre})">{escape(vertical.label)}</text>'
    )
    return out


def _line(line: Series, index: int, horizontal: Axis, vertical: Axis) -> list[str]:
    colour = COLOURS[index % len(COLOURS)]
    dash = DASHES[index // len(COLOURS) % len(DASHES)]
    points = [
        (_x(horizontal, x), _y(vertical, y))
        for x, y in zip(line.xs, line.ys, strict=True)
        if (x > 0 or not horizontal.log) and (y > 0 or not vertical.log)
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    out = [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    ]
    out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    y = TOP + 8 + 18 * index
    x = WIDTH - RIGHT + 14
    out.append(
        f'<line x1="{x}" y1="{y}" x2="{x + 20}" y2="{y}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    )
    out.append(f'<text x="{x + 26}" y="{y + 4}">{escape(line.name)}</text>')
    return out

"""Bars in groups, as small SVG files beside the lines of ``plot``."""

from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.plot import BOTTOM, COLOURS, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, axis

#: About as wide as a letter is.
LETTER = 6.5
#: Values from which digits behind the point tell nothing.
TELLS_ALL = 100


def bar_chart(
    title: str,
    groups: Sequence[str],
    series: dict[str, Sequence[float]],
    x_label: str,
    y_label: str,
    *,
    log_y: bool = False,
    ranges: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> str:
    """Draw a bar of every series in every group, with its value above it where that fits.

    Zero has no bar on a log axis. ``ranges`` are drawn as thin lines over the bars, from the lowest
    to the highest value.
    """
    shown = [value for values in series.values() for value in values]
    shown += [end for both in (ranges or {}).values() for pair in both for end in pair]
    vertical = axis(y_label, shown, log=log_y)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for tick in vertical.ticks():
        y = _height(vertical, tick)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    wide = (right - LEFT) / len(groups)
    # A fifth of every group is air, so that groups are told apart.
    bar = 0.8 * wide / len(series)
    for place, (name, values) in enumerate(series.items()):
        colour = COLOURS[place % len(COLOURS)]
        for group, value in enumerate(values):
            x = LEFT + wide * (group + 0.1) + bar * place
            y = _height(vertical, value) if value > 0 or not log_y else bottom
            out.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar * 0.94:.1f}" height="{bottom - y:.1f}" fill="{colour}"/>'
            )
            if ranges is not None:
                low, high = (_height(vertical, end) for end in ranges[name][group])
                out.append(_whisker(x + bar * 0.47, low, high, bar * 0.15))
                y = min(y, high)
            told = f"{value:,.0f}" if value >= TELLS_ALL else f"{value:.3g}"
            if len(told) * LETTER * 0.8 <= bar:
                out.append(
                    f'<text x="{x + bar / 2:.1f}" y="{y - 3:.1f}" text-anchor="middle" font-size="9">{told}</text>'
                )
        y = TOP + 8 + 18 * place
        x = right + 14
        out.append(f'<rect x="{x}" y="{y - 6}" width="20" height="12" fill="{colour}"/>')
        out.append(f'<text x="{x + 26}" y="{y + 4}">{escape(name)}</text>')
    # Names that are wider than their groups stand on two lines by turns.
    lines = 2 if max(map(len, groups)) * LETTER > wide else 1
    for group, name in enumerate(groups):
        middle = LEFT + wide * (group + 0.5)
        y = bottom + 14 + 12 * (group % lines)
        out.append(f'<text x="{middle:.1f}" y="{y}" text-anchor="middle">{escape(name)}</text>')
    middle, centre = (LEFT + right) / 2, (TOP + bottom) / 2
    out += [
        f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="black"/>',
        f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text x="16" y="{centre}" text-anchor="middle" transform="rotate(-90 16 {centre})">{escape(y_label)}</text>',
        "</svg>",
    ]
    return "\n".join(out) + "\n"


def _whisker(x: float, low: float, high: float, half: float) -> str:
    """A line from low to high with a short line at each end."""
    ends = "".join(f"M{x - half:.1f} {y:.1f}h{2 * half:.1f}" for y in (low, high))
    return f'<path d="M{x:.1f} {low:.1f}V{high:.1f}{ends}" fill="none" stroke="black"/>'


def _height(vertical: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - vertical.place(value) * (HEIGHT - TOP - BOTTOM)

"""Pictures as inline SVG: lines over time, bars, curves. Colours come from the page's style sheet, by class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 10, 24
# Classes of colours that the style sheet has.
COLOURS = 6

Format = Callable[[float], str]


@dataclass(frozen=True)
class Line:
    """One line of a picture, with a point for each x."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Axis:
    """From values to places; `ticks` are (value, text)."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """Where on the axis, from 0 to 1; what is beyond an end is put there."""
        low, high, value = (self._scale(each) for each in (self.low, self.high, value))
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def _scale(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.log else value


def linear_axis(highest: float, text: Format, *, most_ticks: int = 5) -> Axis:
    """From 0 to a round number that is not below `highest`."""
    step = _round_up(highest / most_ticks) if highest > 0 else 1.0
    count = max(math.ceil(highest / step - 1e-9), 1)
    ticks = [(step * number, text(step * number)) for number in range(count + 1)]
    return Axis(0, step * count, ticks)


def log_axis(lowest: float, highest: float, text: Format) -> Axis:
    """From a power of ten, or a half or a fifth of one, to another."""
    low, high = max(lowest, 1e-9), max(highest, lowest * 1.01, 1e-9)
    steps = [factor * 10.0**power for power in range(-9, 13) for factor in (1, 2, 5)]
    start = max((step for step in steps if step <= low), default=steps[0])
    end = min((step for step in steps if step >= high and step > start), default=steps[-1])
    inside = [step for step in steps if start <= step <= end]
    powers = [step for step in inside if math.log10(step) == round(math.log10(step))]
    shown = inside if len(inside) <= 7 else powers
    return Axis(start, end, [(step, text(step)) for step in shown], log=True)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= value * (1 - 1e-9))


def line_chart(label: str, xs: Sequence[float], lines: Sequence[Line], x_axis: Axis, y_axis: Axis, text: Format) -> str:
    """Lines over common x values; pointing at a place tells its values."""
    parts = [_axes(x_axis, y_axis)]
    for number, line in enumerate(lines):
        places = [(_x(x_axis, x), _y(y_axis, value)) for x, value in zip(xs, line.values, strict=True)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        colour = f"c{number % COLOURS}"
        if len(lines) == 1 and places:
            first, last, base = places[0][0], places[-1][0], HEIGHT - BOTTOM
            parts.append(f'<path class="area {colour}" d="M{first:.1f} {base}L{path}L{last:.1f} {base}Z"/>')
        parts.append(f'<path class="line {colour}" d="M{path}"/>')
        if len(places) == 1:
            parts.append(f'<circle class="dot {colour}" cx="{places[0][0]:.1f}" cy="{places[0][1]:.1f}" r="3"/>')
    parts += _pointers(xs, lines, x_axis, text)
    return _svg(label, parts)


def bar_chart(label: str, bars: Sequence[tuple[float, float, float]], x_axis: Axis, y_axis: Axis, text: Format) -> str:
    """Bars as (start, end, height)."""
    parts = [_axes(x_axis, y_axis)]
    for start, end, height in bars:
        left, right, top = _x(x_axis, start), _x(x_axis, end), _y(y_axis, height)
        title = f"{text(start)} to {text(end)}: {height:,.0f}"
        parts.append(
            f'<rect class="bar c0" x="{left:.1f}" y="{top:.1f}" width="{max(right - left - 0.5, 0.5):.1f}" '
            f'height="{HEIGHT - BOTTOM - top:.1f}"><title>{escape(title)}</title></rect>'
        )
    return _svg(label, parts)


def _pointers(xs: Sequence[float], lines: Sequence[Line], x_axis: Axis, text: Format) -> list[str]:
    """A column of its own for each x that shows the values there when the pointer rests on it."""
    places = [_x(x_axis, x) for x in xs]
    edges = [LEFT, *((a + b) / 2 for a, b in pairwise(places)), WIDTH - RIGHT]
    columns = []
    for number, x in enumerate(xs):
        values = ", ".join(f"{line.name} {text(line.values[number])}" for line in lines)
        when = next((shown for value, shown in x_axis.ticks if value == x), f"{x:.4g}")
        columns.append(
            f'<rect class="pointer" x="{edges[number]:.1f}" y="{TOP}" '
            f'width="{max(edges[number + 1] - edges[number], 0.5):.1f}" height="{HEIGHT - TOP - BOTTOM}">'
            f"<title>{escape(f'{when}: {values}')}</title></rect>"
        )
    return columns


def _axes(x_axis: Axis, y_axis: Axis) -> str:
    base = HEIGHT - BOTTOM
    parts = []
    for value, shown in y_axis.ticks:
        y = _y(y_axis, value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(shown)}</text>')
    for number, (value, shown) in enumerate(x_axis.ticks):
        x = _x(x_axis, value)
        last = number == len(x_axis.ticks) - 1
        # The last text ends where the picture does.
        at, anchor = (WIDTH - 2, "end") if last and x > WIDTH - RIGHT - 12 else (x, "middle")
        parts.append(f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{base}" y2="{base + 4}"/>')
        parts.append(f'<text x="{at:.1f}" y="{base + 18}" text-anchor="{anchor}">{escape(shown)}</text>')
    parts.append(f'<line class="tick" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}"/>')
    return "".join(parts)


def _x(axis: Axis, value: float) -> float:
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def _y(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)


def _svg(label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">' + "".join(parts) + "</svg>"
    )

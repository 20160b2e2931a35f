"""Pictures of a sweep: throughput and latency over the swept value, with their spread, as PNG, SVG or HTML."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from sysbench_py.experiments.curve import Curve, CurvePoint, Spread, best, knee, table
from sysbench_py.experiments.sweep import TEST_AXIS
from sysbench_py.experiments.values import number
from sysbench_py.stats.result import Setup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told apart by people who see few colours too (M. Okabe and K. Ito), and by their markers.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = "osD^vP"
STYLES = ("-", "--", ":", "-.")
GREY = "#595959"
# A scale is logarithmic if the largest value is so many times the smallest.
WIDE = 8
# From there on a logarithmic scale names powers of ten only.
MANY_DECADES = 1000
# With more values than that, only some are written at the axis.
MOST_TICKS = 16

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em; }}
body {{ background: #fff; color: #111; }}
svg {{ width: 100%; height: auto; }}
pre {{ overflow-x: auto; }}
</style></head><body>
{svg}
<pre>{table}</pre>
</body></html>
"""


def draw(curve: Curve, setup: Setup, form: str) -> bytes:
    """The file of a picture in a format: png, svg or html. `setup` is that of one of the runs."""
    figure = _figure(curve, setup)
    if form != "html":
        return _saved(figure, form)
    svg = _saved(figure, "svg").decode()
    return PAGE.format(title=escape(_title(curve)), svg=svg[svg.index("<svg") :], table=escape(table(curve))).encode()


def _saved(figure: Figure, form: str) -> bytes:
    file = io.BytesIO()
    # The same results give the same picture, byte for byte.
    with matplotlib.rc_context({"svg.hashsalt": "sysbench"}):
        figure.savefig(file, format=form, dpi=150, metadata={"Date": None} if form == "svg" else {})
    return file.getvalue()


def _title(curve: Curve) -> str:
    names = [axis.name for axis in curve.plan.axes]
    tests = next((axis.values for axis in curve.plan.axes if axis.name == TEST_AXIS), (curve.plan.test,))
    return f"{' and '.join(tests)} over {' and '.join(name for name in names if name != TEST_AXIS)}"


def _subtitle(curve: Curve, setup: Setup) -> str:
    servers = [f"{each.driver} {each.server_version}" for each in setup.databases]
    runs = max(len(point.totals) for point in curve.points)
    seconds = curve.points[0].totals[0].interval_s
    machine = setup.machine
    length = f"{runs} run{'s' if runs > 1 else ''} of {seconds:.0f} s a point"
    return "; ".join([*servers, f"{machine.cpus} CPUs, {machine.cpu}", length])


def _figure(curve: Curve, setup: Setup) -> Figure:
    figure = Figure(figsize=(9, 8), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    figure.suptitle(_title(curve), fontsize=14, fontweight="bold")
    upper.set_title(_subtitle(curve, setup), fontsize=9, color=GREY)
    places = _places(curve)
    series = curve.series()
    for index, (name, points) in enumerate(series.items()):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        xs = [places[curve.x(point)] for point in points]
        _line(upper, xs, [point.throughput for point in points], name, colour, marker, "-")
        for x, point in zip(xs, points, strict=True):
            single = [total.events_per_s for total in point.totals]
            upper.plot([x] * len(single), single, linestyle="", marker="_", color=colour, alpha=0.7)
        _mark(upper, points, xs, colour)
        _latencies(lower, curve, points, xs, name if len(series) > 1 else "", index)
    upper.set_ylabel(curve.unit)
    # Room for the words at the highest point.
    upper.set_ylim(0, 1.1 * max(point.throughput.high for point in curve.points) or 1)
    upper.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    if len(series) > 1:
        upper.legend(frameon=False)
    lower.set_ylabel("latency, ms")
    lower.legend(frameon=False, ncols=2, fontsize=9)
    lower.set_xlabel(curve.plan.axes[curve.x_axis].name)
    _scale_x(lower, places)
    _scale_latency(lower, curve)
    for axes in (upper, lower):
        axes.grid(True, color="#e5e5e5")
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _places(curve: Curve) -> dict[str, float]:
    """Where the values are on the x axis; words stand side by side."""
    values = curve.plan.axes[curve.x_axis].values
    numbers = [number(value) for value in values]
    if any(each is None for each in numbers):
        return {value: float(place) for place, value in enumerate(values)}
    return {value: each for value, each in zip(values, numbers, strict=True) if each is not None}


def _line(
    axes: Axes, xs: Sequence[float], spreads: Sequence[Spread], name: str, colour: str, marker: str, style: str
) -> None:
    """A line with a band from the lowest to the highest of single runs."""
    axes.plot(xs, [each.value for each in spreads], style, marker=marker, color=colour, label=name, markersize=5)
    low, high = [each.low for each in spreads], [each.high for each in spreads]
    axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)


def _latencies(
    axes: Axes, curve: Curve, points: Sequence[CurvePoint], xs: Sequence[float], name: str, index: int
) -> None:
    """A line a percentile; of several series, only the first percentile of each."""
    shown = curve.percentiles[:1] if name else curve.percentiles
    for order, each in enumerate(shown):
        number_ = index + order
        label = f"{name}, p{each}" if name else f"p{each}"
        spreads = [point.percentile_ms(each.percent) for point in points]
        colour, marker = COLOURS[number_ % len(COLOURS)], MARKERS[number_ % len(MARKERS)]
        _line(axes, xs, spreads, label, colour, marker, "-")
    if not name or not shown:
        averages = [point.average_ms for point in points]
        axes.plot(xs, averages, "--", marker=".", color=GREY, label=f"{name} average".lstrip())


def _mark(axes: Axes, points: Sequence[CurvePoint], xs: Sequence[float], colour: str) -> None:
    """Name the best point and the knee."""
    top, bend = best(points), knee(points)
    for point, x in zip(points, xs, strict=True):
        names = [name for name, each in (("best", top), ("knee", bend)) if each is point]
        # The knee at the end of a curve is none.
        if names == ["knee"] and x == max(xs):
            continue
        if names:
            axes.annotate(
                ", ".join(names),
                (x, point.throughput.high),
                textcoords="offset points",
                xytext=(0, 7),
                ha="center",
                fontsize=9,
                color=colour,
            )


def _scale_x(axes: Axes, places: Mapping[str, float]) -> None:
    positions = sorted(places.values())
    if positions[0] > 0 and positions[-1] / positions[0] >= WIDE and len(positions) > 2:
        axes.set_xscale("log", base=2)
    names = {place: value for value, place in places.items()}
    step = -(-len(positions) // MOST_TICKS)
    shown = positions[::step]
    axes.set_xticks(shown, [names[place] for place in shown])
    axes.xaxis.set_minor_locator(NullLocator())


def _scale_latency(axes: Axes, curve: Curve) -> None:
    values = [point.percentile_ms(each.percent).value for point in curve.points for each in curve.percentiles]
    values += [point.average_ms for point in curve.points]
    if min(values, default=0) > 0 and max(values) / min(values) >= WIDE:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) / min(values) < MANY_DECADES else (1,)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))

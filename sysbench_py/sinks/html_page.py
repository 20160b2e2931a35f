"""A result as one HTML page that needs nothing else: figures, pictures, tables, the set-up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from sysbench_py.sinks.charts import COLOURS, Axis, Line, bar_chart, line_chart, linear_axis, log_axis
from sysbench_py.sinks.grids import LEFT, Grid, errors_grid, open_loop_grids, statements_grid
from sysbench_py.sinks.text_client import limit_message
from sysbench_py.stats.cumulate import thinned
from sysbench_py.stats.model import NS_PER_MS, IntervalStats, LatencyHistogram, TotalStats
from sysbench_py.stats.result import RunResult, option_text

MOST_POINTS = 240
BARS = 60
ENDINGS = {0: "completed", 1: "failed", 2: "cut off at its time limit"} | dict.fromkeys((129, 130, 143), "interrupted")


@dataclass(frozen=True)
class Figure:
    """One number of a table, with the name by which others find it."""

    name: str
    label: str
    text: str


@dataclass(frozen=True)
class Table:
    """Figures that belong together."""

    title: str
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Picture:
    """A picture; `legend` are the names of its lines, if there are several."""

    title: str
    svg: Markup
    legend: Sequence[str] = ()


def render(result: RunResult) -> str:
    """The text of the page."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"ms": _ms, "typed": option_text}
    page = environment.get_template("page.html.j2")
    return page.render(
        result=result,
        limit=limit_message(result.client) if result.client else "",
        setup=result.setup,
        total=result.total,
        ending=ENDINGS.get(result.exit_status, "failed"),
        headline=_headline(result.total),
        tables=[_throughput_table(result.total), _latency_table(result.total), _threads_table(result.total)],
        grids=_grids(result.total),
        left=LEFT,
        pictures=_pictures(result),
        colours=COLOURS,
    )


def _headline(total: TotalStats) -> list[Figure]:
    latency = total.latency
    shown = [Figure("rate", "transactions/s" if total.sql else "events/s", f"{total.events_per_s:,.2f}")]
    if total.sql:
        shown.append(Figure("queries", "queries/s", f"{total.queries_per_s:,.2f}"))
    shown.append(Figure("average", "average, ms", _ms(latency.avg_ns)))
    shown += [Figure(f"p{each}", f"{each}th percentile, ms", _ms(each.latency_ns)) for each in latency.percentiles[-2:]]
    shown.append(Figure("maximum", "maximum, ms", _ms(latency.max_ns)))
    return shown


# The tables have what the text report has, under the names of the JSON result.


def _throughput_table(total: TotalStats) -> Table:
    counters = total.counters
    figures = [
        Figure("time_total_s", "total time, s", f"{total.time_total_s:.4f}"),
        Figure("events", "events", str(counters.events)),
        Figure("events_per_s", "events/s", f"{total.events_per_s:.2f}"),
    ]
    if total.open_loop:
        rate = total.open_loop.total
        figures += [
            Figure("rate_asked_per_s", "events/s asked for", f"{rate.rate_asked_per_s:.2f}"),
            Figure("backlog", "events waiting at the end", str(rate.backlog)),
            Figure("backlog_max", "events waiting at most", str(rate.backlog_max)),
            Figure("events_dropped", "events dropped", str(rate.events_dropped)),
        ]
    if total.sql:
        figures += [
            Figure("reads", "read statements", str(counters.reads)),
            Figure("writes", "write statements", str(counters.writes)),
            Figure("other", "other statements", str(counters.other)),
            Figure("queries", "all statements", str(counters.queries)),
            Figure("queries_per_s", "statements/s", f"{total.queries_per_s:.2f}"),
        ]
    figures += [
        Figure("errors", "ignored errors", str(counters.errors)),
        Figure("reconnects", "reconnects", str(counters.reconnects)),
    ]
    return Table("Throughput", figures)


def _latency_table(total: TotalStats) -> Table:
    latency = total.latency
    figures = [
        Figure("latency_min", "minimum", _ms(latency.min_ns)),
        Figure("latency_avg", "average", _ms(latency.avg_ns)),
        *(Figure(f"latency_p{each}", f"{each}th percentile", _ms(each.latency_ns)) for each in latency.percentiles),
        Figure("latency_max", "maximum", _ms(latency.max_ns)),
        Figure("latency_sum", "sum", _ms(latency.sum_ns)),
    ]
    return Table("Latency, ms", figures)


def _threads_table(total: TotalStats) -> Table:
    fairness = total.fairness
    figures = [
        Figure("events_avg", "events, average", f"{fairness.events_avg:.4f}"),
        Figure("events_stddev", "events, deviation", f"{fairness.events_stddev:.2f}"),
        Figure("execution_time_avg_s", "execution time, average, s", f"{fairness.execution_time_avg_s:.4f}"),
        Figure("execution_time_stddev_s", "execution time, deviation, s", f"{fairness.execution_time_stddev_s:.2f}"),
    ]
    return Table("Threads", figures)


def _grids(total: TotalStats) -> list[Grid]:
    """What is there of rate, statements and errors."""
    grids = open_loop_grids(total.open_loop) if total.open_loop else []
    if total.statements:
        grids.append(statements_grid(total.statements))
    if total.errors:
        grids.append(errors_grid(total.errors))
    return grids


def _ms(latency_ns: int) -> str:
    return f"{latency_ns / NS_PER_MS:.2f}"


def _ms_short(value_ms: float) -> str:
    return f"{value_ms:,.0f}" if value_ms >= 100 else f"{value_ms:.3g}"


def _count(value: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            return f"{value / (limit if unit != 'k' else 1e3):.4g}{unit}"
    return f"{value:.4g}"


def _pictures(result: RunResult) -> list[Picture]:
    intervals = thinned(result.intervals, MOST_POINTS)
    # The first interval is drawn from its start, the others from the one before.
    times_s = [intervals[0].time_total_s - intervals[0].interval_s, *(each.time_total_s for each in intervals)]
    intervals = [intervals[0], *intervals]
    end_s = times_s[-1] or 1.0
    # The end of the run is that of the picture.
    ticks = linear_axis(end_s, lambda value: f"{value:g} s").ticks
    x_axis = Axis(0, end_s, [tick for tick in ticks if tick[0] <= end_s])
    pictures = [
        _throughput(result.total, intervals, times_s, x_axis),
        _latency_over_time(intervals, times_s, x_axis),
    ]
    histogram = result.total.latency.histogram
    if histogram.count:
        pictures += [_histogram(histogram), _percentiles(histogram)]
    return pictures


def _throughput(total: TotalStats, intervals: Sequence[IntervalStats], xs: Sequence[float], x_axis: Axis) -> Picture:
    name = "transactions/s" if total.sql else "events/s"
    values = [each.events_per_s for each in intervals]
    y_axis = linear_axis(max(values, default=0), _count)
    title = f"Throughput, {name}"
    return Picture(title, Markup(line_chart(title, xs, [Line(name, values)], x_axis, y_axis, _count)))


def _latency_over_time(intervals: Sequence[IntervalStats], xs: Sequence[float], x_axis: Axis) -> Picture:
    lines = [Line("average", [each.latency.avg_ns / NS_PER_MS for each in intervals])]
    for number, percentile in enumerate(intervals[0].latency.percentiles):
        values = [each.latency.percentiles[number].latency_ns / NS_PER_MS for each in intervals]
        lines.append(Line(f"{percentile}%", values))
    lines.append(Line("maximum", [each.latency.max_ns / NS_PER_MS for each in intervals]))
    positive = [value for line in lines for value in line.values if value > 0]
    y_axis = log_axis(min(positive, default=0.1), max(positive, default=1), _ms_short)
    title = "Latency over time, ms"
    svg = line_chart(title, xs, lines, x_axis, y_axis, _ms_short)
    return Picture(title, Markup(svg), [line.name for line in lines])


def _histogram(histogram: LatencyHistogram) -> Picture:
    """Equally wide bars on a logarithmic scale."""
    buckets = [(max(latency_ns, 1) / NS_PER_MS, count) for latency_ns, count in histogram.buckets_ns()]
    x_axis = log_axis(buckets[0][0], histogram.max_ns / NS_PER_MS, _ms_short)
    counts = [0] * BARS
    for latency_ms, count in buckets:
        counts[min(int(x_axis.share(latency_ms) * BARS), BARS - 1)] += count
    ratio = math.log10(x_axis.high / x_axis.low) / BARS
    edges = [x_axis.low * 10 ** (ratio * number) for number in range(BARS + 1)]
    bars = [(edges[number], edges[number + 1], float(count)) for number, count in enumerate(counts) if count]
    title = "Events by latency, ms"
    y_axis = linear_axis(max(counts), _count)
    return Picture(title, Markup(bar_chart(title, bars, x_axis, y_axis, _ms_short)))


def _percentiles(histogram: LatencyHistogram) -> Picture:
    """Latency by percentile; the scale gives every further nine as much room as the one before."""
    nines = max(math.ceil(math.log10(histogram.count)), 1)
    xs = [nines * number / 100 for number in range(101)]
    percents = [100 * (1 - 10**-x) for x in xs]
    values = [histogram.percentile_ns(percent) / NS_PER_MS for percent in percents]
    ticks = [(float(number), _nines(number)) for number in range(0, nines + 1, 1 if nines < 6 else 2)]
    y_axis = log_axis(max(min(values), 1e-6), max(values), _ms_short)
    title = "Latency by percentile, ms"
    line = Line("at most", values)
    return Picture(title, Markup(line_chart(title, xs, [line], Axis(0, nines, ticks), y_axis, _ms_short)))


def _nines(number: int) -> str:
    return f"{100 - 10 ** (2 - number):.{max(number - 2, 0)}f}%"

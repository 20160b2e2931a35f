"""What a sweep has shown: a row a point, the best one, the knee; as a table for people and as CSV."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sysbench_py.experiments.layout import aligned, shown
from sysbench_py.experiments.sweep import Runs, SweepPlan, Values
from sysbench_py.experiments.values import number
from sysbench_py.stats.model import NS_PER_MS, LatencyHistogram, Percentile, TotalStats

# The fewest points of a curve that can have a knee.
FEWEST_POINTS = 3


@dataclass(frozen=True)
class Spread:
    """A measurement of several runs together, and the lowest and highest of single ones."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CurvePoint:
    """All runs at the same values."""

    values: Values
    totals: tuple[TotalStats, ...]

    @cached_property
    def histogram(self) -> LatencyHistogram:
        """The latencies of all runs."""
        return LatencyHistogram.merged(total.latency.histogram for total in self.totals)

    @cached_property
    def time_s(self) -> float:
        """How long all runs took together."""
        return sum(total.interval_s for total in self.totals)

    @cached_property
    def throughput(self) -> Spread:
        """Events a second."""
        single = [total.events_per_s for total in self.totals]
        return Spread(self._per_second(sum(total.counters.events for total in self.totals)), min(single), max(single))

    @property
    def deviation(self) -> float:
        """The standard deviation of the throughput from run to run; 0 for a single one."""
        single = [total.events_per_s for total in self.totals]
        return statistics.stdev(single) if len(single) > 1 else 0.0

    @property
    def queries_per_s(self) -> float:
        """Statements a second."""
        return self._per_second(sum(total.counters.queries for total in self.totals))

    @property
    def errors_per_s(self) -> float:
        """Ignored errors a second."""
        return self._per_second(sum(total.counters.errors for total in self.totals))

    @property
    def average_ms(self) -> float:
        """The mean latency."""
        events = sum(total.counters.events for total in self.totals)
        return sum(total.latency.sum_ns for total in self.totals) / events / NS_PER_MS if events else 0.0

    def percentile_ms(self, percent: float) -> Spread:
        """A percentile of all latencies, and of those of single runs."""
        single = [total.latency.histogram.percentile_ns(percent) / NS_PER_MS for total in self.totals]
        return Spread(self.histogram.percentile_ns(percent) / NS_PER_MS, min(single), max(single))

    def _per_second(self, count: int) -> float:
        return count / self.time_s if self.time_s > 0 else 0.0


@dataclass(frozen=True)
class Curve:
    """The points of a sweep as far as it has come. `percentiles` are those that its runs report."""

    plan: SweepPlan
    points: tuple[CurvePoint, ...]

    @classmethod
    def of(cls, plan: SweepPlan, runs: Runs) -> Curve:
        """In the order of the plan."""
        done = [values for values in plan.points() if values in runs]
        return cls(plan, tuple(CurvePoint(each, tuple(run.total for run in runs[each])) for each in done))

    @property
    def percentiles(self) -> tuple[Percentile, ...]:
        """As the first run has them."""
        return self.points[0].totals[0].latency.percentiles if self.points else ()

    @property
    def unit(self) -> str:
        """What the throughput is counted in."""
        return "transactions/s" if any(total.sql for point in self.points for total in point.totals) else "events/s"

    @cached_property
    def x_axis(self) -> int:
        """The number of the axis that a picture is drawn over: the first one of numbers, else the first."""
        for index, axis in enumerate(self.plan.axes):
            if all(number(value) is not None for value in axis.values):
                return index
        return 0

    def series(self) -> dict[str, list[CurvePoint]]:
        """The points over the x axis, for each value of the other one, by `name=value`; one without a name alone."""
        found: dict[str, list[CurvePoint]] = {}
        for point in self.points:
            rest = [f"{axis.name}={value}" for axis, value in zip(self.plan.axes, point.values, strict=True)]
            del rest[self.x_axis]
            found.setdefault(", ".join(rest), []).append(point)
        return found

    def x(self, point: CurvePoint) -> str:
        """The value of a point on the x axis."""
        return point.values[self.x_axis]


def best(points: Sequence[CurvePoint]) -> CurvePoint:
    """The one with the highest throughput."""
    return max(points, key=lambda point: point.throughput.value)


def knee(points: Sequence[CurvePoint]) -> CurvePoint | None:
    """Where throughput relative to mean latency is highest; None if there are too few points.

    Up to there more load brings more throughput than it costs latency, and beyond it the other way round
    (L. Kleinrock, Power and deterministic rules of thumb, ICC 1979).
    """
    usable = [point for point in points if point.average_ms > 0]
    if len(usable) < FEWEST_POINTS:
        return None
    return max(usable, key=lambda point: point.throughput.value / point.average_ms)


def table(curve: Curve) -> str:
    """For people: a line a point, then the best point and the knee of each series."""
    sql = curve.unit != "events/s"
    head = [axis.name for axis in curve.plan.axes]
    head += ["runs", curve.unit, "lowest", "highest", *(["queries/s"] if sql else []), "avg, ms"]
    head += [f"p{each}, ms" for each in curve.percentiles]
    head += ["errors/s"]
    rows = [head]
    for point in curve.points:
        rate = point.throughput
        row = [*point.values, str(len(point.totals)), *map(shown, (rate.value, rate.low, rate.high))]
        row += [shown(point.queries_per_s)] if sql else []
        row += [shown(point.average_ms)]
        row += [shown(point.percentile_ms(each.percent).value) for each in curve.percentiles]
        rows.append([*row, shown(point.errors_per_s)])
    return "\n".join([aligned(rows, left=0), "", *findings(curve)])


def findings(curve: Curve) -> list[str]:
    """The best point and the knee of each series, in words."""
    lines = []
    name = curve.plan.axes[curve.x_axis].name
    numeric = all(number(value) is not None for value in curve.plan.axes[curve.x_axis].values)
    for title, points in curve.series().items():
        top = best(points)
        bend = knee(points) if numeric else None
        prefix = f"{title}: " if title else ""
        also = " (and the knee)" if bend is top else ""
        lines.append(f"{prefix}best: {name}={curve.x(top)} with {top.throughput.value:,.2f} {curve.unit}{also}")
        if bend is None or bend is top:
            continue
        share = bend.throughput.value / top.throughput.value
        lines.append(
            f"{prefix}knee: {name}={curve.x(bend)} with {share:.0%} of that, "
            f"{shown(bend.average_ms)} ms on average instead of {shown(top.average_ms)} ms"
        )
    return lines


def points_csv(curve: Curve) -> str:
    """A row a point."""
    head = [axis.name for axis in curve.plan.axes]
    head += ["runs", "events_per_s", "events_per_s_min", "events_per_s_max", "events_per_s_stddev", "queries_per_s"]
    head += ["errors_per_s", "latency_avg_ms"]
    head += [f"latency_p{each}_ms{end}" for each in curve.percentiles for end in ("", "_min", "_max")]
    rows: list[list[object]] = []
    for point in curve.points:
        rate = point.throughput
        numbers = [rate.value, rate.low, rate.high, point.deviation, point.queries_per_s, point.errors_per_s]
        numbers.append(point.average_ms)
        for each in curve.percentiles:
            spread = point.percentile_ms(each.percent)
            numbers += [spread.value, spread.low, spread.high]
        rows.append([*point.values, len(point.totals), *(f"{each:.6f}" for each in numbers)])
    return _csv(head, rows)


def runs_csv(plan: SweepPlan, runs: Runs) -> str:
    """A row a run, point by point, each by the time of its start."""
    curve = Curve.of(plan, runs)
    head = [axis.name for axis in plan.axes]
    head += ["started_at", "time_s", "events", "events_per_s", "queries", "errors", "reconnects", "latency_avg_ms"]
    head += [*(f"latency_p{each}_ms" for each in curve.percentiles), "latency_max_ms"]
    rows: list[list[object]] = []
    for point in curve.points:
        for run in sorted(runs[point.values], key=lambda run: run.setup.started_at):
            total, counters, latency = run.total, run.total.counters, run.total.latency
            times_ns = [latency.avg_ns, *(each.latency_ns for each in latency.percentiles), latency.max_ns]
            row: list[object] = [*point.values, run.setup.started_at, f"{total.interval_s:.6f}", counters.events]
            row += [f"{total.events_per_s:.6f}", counters.queries, counters.errors, counters.reconnects]
            rows.append([*row, *(f"{each / NS_PER_MS:.6f}" for each in times_ns)])
    return _csv(head, rows)


def _csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()

"""The result model: frozen types that every sink formats and none changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

LOWEST_LATENCY_NS = 1
HIGHEST_LATENCY_NS = 2**47 - 1
SIGNIFICANT_DIGITS = 3


class LatencyHistogram:
    """Latencies in ns, in an HDR histogram with the layout of the core's own.

    `hdr` is the `HdrHistogram` object, for encoding and merging.
    """

    __slots__ = ("hdr", "max_ns")

    def __init__(self, buckets_ns: Iterable[tuple[int, int]], max_ns: int) -> None:
        """Record `(latency_ns, count)` pairs; `max_ns` is the exact largest latency.

        Raises ValueError for a latency that the histogram cannot hold.
        """
        self.hdr = HdrHistogram(LOWEST_LATENCY_NS, HIGHEST_LATENCY_NS, SIGNIFICANT_DIGITS)
        self.max_ns = max_ns
        for latency_ns, count in buckets_ns:
            if not self.hdr.record_value(latency_ns, count):
                raise ValueError(f"latency of {latency_ns} ns is outside 0..{HIGHEST_LATENCY_NS}")

    @property
    def count(self) -> int:
        """Number of recorded latencies."""
        return int(self.hdr.get_total_count())

    def percentile_ns(self, percentile: float) -> int:
        """Latency of rank floor(count * percentile / 100 + 0.5), at least rank 1; 0 if there is none.

        It is the upper end of its HDR bucket, so at most 0.1 % too high, and never above `max_ns`.
        """
        if not self.count:
            return 0
        return min(int(self.hdr.get_value_at_percentile(percentile)), self.max_ns)

    def buckets_ns(self) -> list[tuple[int, int]]:
        """Non-empty buckets as `(lowest latency_ns, count)`, ascending."""
        return [
            (self.hdr.get_value_from_index(index), count)
            for index, count in enumerate(self.hdr.counts)
            if count
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Counters:
    """What the workers did in a period."""

    events: int
    reads: int
    writes: int
    other: int
    errors: int
    reconnects: int
    bytes_read: int
    bytes_written: int

    @property
    def queries(self) -> int:
        """Statements that were executed without an error."""
        return self.reads + self.writes + self.other


@dataclass(frozen=True, kw_only=True, slots=True)
class PeriodStats:
    """What all reports have in common.

    `time_total_s` counts from the start of the run, `interval_s` is the length of the period that
    everything else covers. `percentile` is the one that was asked for; with 0, which turns
    percentiles off, and without events `latency_percentile_ns` is 0. `sql` says whether the SQL
    layout applies: a script has initialised a driver.
    """

    time_total_s: float
    interval_s: float
    threads_running: int
    counters: Counters
    percentile: int
    latency_percentile_ns: int
    histogram: LatencyHistogram = field(compare=False)
    sql: bool

    def per_second(self, count: float) -> float:
        """`count` as a rate over the period; 0 for a period without length."""
        return count / self.interval_s if self.interval_s > 0 else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class IntervalStats(PeriodStats):
    """An intermediate report. `queue_length` and `concurrency` are 0 outside rate mode."""

    rate_mode: bool
    queue_length: int
    concurrency: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerStats:
    """The timer of one worker. Minimum and maximum are 0 without events."""

    events: int
    latency_min_ns: int
    latency_max_ns: int
    latency_sum_ns: int

    @property
    def latency_avg_ns(self) -> int:
        """Mean latency, rounded down; 0 without events."""
        return self.latency_sum_ns // self.events if self.events else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Fairness:
    """How evenly the work was spread: means and population standard deviations over the workers.

    The execution time of a worker is the sum of its latencies.
    """

    events_avg: float
    events_stddev: float
    execution_time_avg_s: float
    execution_time_stddev_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationStats:
    """One kind of operation inside of events, such as the fsync of a file. Latencies are 0 without any."""

    name: str
    count: int
    latency_min_ns: int
    latency_avg_ns: int
    latency_max_ns: int
    latency_sum_ns: int
    latency_percentile_ns: int
    histogram: LatencyHistogram = field(compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class TotalStats(PeriodStats):
    """A cumulative report: the final one or that of a checkpoint.

    Minimum, mean and maximum latency are 0 without events. Few tests tell `operations` apart.
    """

    latency_min_ns: int
    latency_avg_ns: int
    latency_max_ns: int
    latency_sum_ns: int
    fairness: Fairness
    workers: tuple[WorkerStats, ...]
    operations: tuple[OperationStats, ...] = ()

"""The result model: frozen types that every sink formats and none changes."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

LOWEST_LATENCY_NS = 1
HIGHEST_LATENCY_NS = 2**47 - 1
SIGNIFICANT_DIGITS = 3


class LatencyHistogram:
    """Latencies in ns, in HDR buckets with the layout of the core's own.

    `count` is their number, `max_ns` the exact largest one. With 3 significant digits buckets are 0.1 % wide, with
    2 they are 0.8 % wide. Histograms that hold the same are equal.
    """

    __slots__ = ("_bits", "_buckets", "_counts", "count", "max_ns", "significant_digits")

    def __init__(
        self, buckets_ns: Iterable[tuple[int, int]], max_ns: int, significant_digits: int = SIGNIFICANT_DIGITS
    ) -> None:
        """Record `(latency_ns, count)` pairs; `max_ns` is the exact largest latency.

        Raises ValueError for a latency that the histogram cannot hold.
        """
        self.max_ns = max_ns
        self.significant_digits = significant_digits
        # How many leading bits of a latency a bucket keeps: enough for 2 * 10^digits values.
        self._bits = int(2 * 10**significant_digits - 1).bit_length()
        counts: Counter[int] = Counter()
        for latency_ns, count in buckets_ns:
            if not 0 <= latency_ns <= HIGHEST_LATENCY_NS:
                raise ValueError(f"latency of {latency_ns} ns is outside 0..{HIGHEST_LATENCY_NS}")
            counts[self._bucket(latency_ns)] += count
        self._fill(counts)

    def _fill(self, counts: Mapping[int, int]) -> None:
        # Two bytes and eight for a bucket in use: a long run keeps a histogram an interval.
        self._buckets = array("H", sorted(counts))
        self._counts = array("Q", [counts[bucket] for bucket in self._buckets])
        self.count = sum(self._counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LatencyHistogram):
            return NotImplemented
        return (self._buckets, self._counts, self.max_ns, self.significant_digits) == (
            other._buckets,
            other._counts,
            other.max_ns,
            other.significant_digits,
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def merged(cls, histograms: Iterable[LatencyHistogram]) -> LatencyHistogram:
        """What one histogram of all their latencies would hold."""
        parts = list(histograms)
        return cls(
            (pair for part in parts for pair in part.buckets_ns()),
            max((part.max_ns for part in parts), default=0),
            min((part.significant_digits for part in parts), default=SIGNIFICANT_DIGITS),
        )

    def percentile_ns(self, percent: float) -> int:
        """Latency of rank floor(count * percent / 100 + 0.5), at least rank 1; 0 if there is none.

        It is the upper end of its HDR bucket, so at most a bucket's width too high, and never above `max_ns`.
        """
        if not self.count:
            return 0
        rank = max(int(self.count * percent / 100 + 0.5), 1)
        bucket = self._buckets[bisect_left(list(accumulate(self._counts)), rank)]
        return min(self._lowest_ns(bucket + 1) - 1, self.max_ns)

    def buckets_ns(self) -> list[tuple[int, int]]:
        """Non-empty buckets as `(lowest latency_ns, count)`, ascending."""
        return [(self._lowest_ns(bucket), count) for bucket, count in zip(self._buckets, self._counts, strict=True)]

    def encoded(self) -> str:
        """Base64 of HdrHistogram's V2 compressed encoding."""
        # Only results that are saved need it.
        from hdrh.histogram import HdrHistogram

        hdr = HdrHistogram(LOWEST_LATENCY_NS, HIGHEST_LATENCY_NS, self.significant_digits)
        # One by one, record_value would take too long for the hundreds of intervals of a run.
        for bucket, count in zip(self._buckets, self._counts, strict=True):
            hdr.counts[bucket] = count
        if self.count:
            hdr.set_internal_tacking_values(self._buckets[0], self._buckets[-1], self.count)
        return str(hdr.encode().decode("ascii"))

    @classmethod
    def decoded(cls, text: str, max_ns: int) -> LatencyHistogram:
        """The histogram that `encoded` made a text of; `max_ns` is not in that. Raises ValueError."""
        from hdrh.histogram import HdrHistogram

        try:
            hdr = HdrHistogram.decode(text)
        except Exception as error:
            # zlib, struct, base64 and hdrh itself have an exception each for a text that is none.
            raise ValueError(f"not an encoded histogram: {error}") from None
        result = cls((), max_ns, hdr.significant_figures)
        lowest, highest = result._bucket(hdr.get_min_value()), result._bucket(hdr.get_max_value())
        counts = enumerate(hdr.counts[lowest : highest + 1], lowest)
        result._fill({bucket: count for bucket, count in counts if count})
        return result

    def _bucket(self, latency_ns: int) -> int:
        shift = max(latency_ns.bit_length() - self._bits, 0)
        return (shift << (self._bits - 1)) + (latency_ns >> shift)

    def _lowest_ns(self, bucket: int) -> int:
        half = 1 << (self._bits - 1)
        shift = max(bucket // half - 1, 0)
        return (bucket - shift * half) << shift


@dataclass(frozen=True, kw_only=True, slots=True)
class Percentile:
    """So many percent of the latencies are at most `latency_ns`. As a text, it is the percentage."""

    percent: float
    latency_ns: int

    def __str__(self) -> str:
        return f"{self.percent:.10f}".rstrip("0").rstrip(".")


# What the usual intermediate report shows if percentiles are turned off.
NO_PERCENTILE = Percentile(percent=0, latency_ns=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """The latencies of events or of operations, 0 without any.

    `percentiles` are those that were asked for, in that order, and empty if they are turned off. Of the whole
    run so far, minimum and maximum are exact; of a part of it, they are those of HDR buckets, which are 0.1 % wide.
    """

    min_ns: int
    avg_ns: int
    max_ns: int
    sum_ns: int
    percentiles: tuple[Percentile, ...]
    histogram: LatencyHistogram


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
    everything else covers. `sql` says whether the SQL layout applies: a script has initialised a driver.
    `own_lines` are the test's own part of the text report: in an interval they stand for the usual line, in a
    total before the general statistics.
    """

    time_total_s: float
    interval_s: float
    threads_running: int
    counters: Counters
    latency: Latency
    sql: bool
    own_lines: tuple[str, ...] = ()

    @property
    def events_per_s(self) -> float:
        """Events a second, or transactions a second, over the period."""
        return self.per_second(self.counters.events)

    @property
    def queries_per_s(self) -> float:
        """Statements a second over the period."""
        return self.per_second(self.counters.queries)

    @property
    def errors_per_s(self) -> float:
        """Ignored errors a second over the period."""
        return self.per_second(self.counters.errors)

    def per_second(self, count: float) -> float:
        """`count` as a rate over the period; 0 for a period without length."""
        return count / self.interval_s if self.interval_s > 0 else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class IntervalStats(PeriodStats):
    """An intermediate report. `queue_length` and `concurrency` are 0 outside rate mode.

    A `partial` one is what was left when the run ended, of whatever length: counts add, its rates say little.
    """

    rate_mode: bool
    queue_length: int
    concurrency: int
    partial: bool = False


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
    """One kind of operation inside of events, such as the fsync of a file."""

    name: str
    count: int
    latency: Latency


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementStats:
    """One SQL statement, of all workers. `kind` is prepared, literal (a query; its literals are `?` in `text`),
    bulk (`text` is the head of multi-row inserts) or other (all that came after the first 1,000 of a worker).

    `rows` have been returned or changed. Failed calls are counted in `calls` and in `errors`; the latencies, from
    sending to the last row received, are those of the others, in buckets that are 0.8 % wide.
    """

    kind: str
    text: str
    calls: int
    calls_per_s: float
    errors: int
    rows: int
    latency: Latency


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorStats:
    """SQL errors of one code. `number` is 0 and `sqlstate` empty where a server gives none; `message` is a sample.

    Each of `count` errors is one of these: `restarted` (the event began again), `reconnected` (so did the
    connection, and the event), `fatal` (it ended the run, unless the script caught it), `ignored` (nothing of it:
    the script went on).
    """

    number: int
    sqlstate: str
    message: str
    count: int
    ignored: int
    restarted: int
    reconnected: int
    fatal: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RateStats:
    """A period of rate mode. Times count from the start of the run.

    Events are due at their intended start; `latency` runs from then, `service_time` from the actual start. An event
    is done, in work, waiting (`backlog` at the end of the period, `backlog_max` at most) or dropped because the
    queue was full. `rate_asked_per_s` is the mean over the period.
    """

    start_s: float
    length_s: float
    rate_asked_per_s: float
    rate_reached_per_s: float
    events: int
    backlog: int
    backlog_max: int
    events_dropped: int
    latency: Latency
    service_time: Latency


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenLoop:
    """Rate mode: `arrival` is poisson or uniform, `steps` are empty if the rate does not change."""

    arrival: str
    total: RateStats
    steps: tuple[RateStats, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TotalStats(PeriodStats):
    """A cumulative report: the final one or that of a checkpoint. Few tests tell `operations` apart.

    `statements` are there if they were asked for, those that took longest first; `errors` the most frequent first.
    `own_lines_0_4` are `own_lines` in the layout of sysbench 0.4.
    """

    fairness: Fairness
    workers: tuple[WorkerStats, ...]
    operations: tuple[OperationStats, ...] = ()
    statements: tuple[StatementStats, ...] = ()
    errors: tuple[ErrorStats, ...] = ()
    open_loop: OpenLoop | None = None
    own_lines_0_4: tuple[str, ...] = ()

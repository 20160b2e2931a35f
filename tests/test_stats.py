"""The result model: percentiles, and the way from core snapshots to reports."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from sysbench_py.stats.collect import interval_stats, total_stats
from sysbench_py.stats.log_histogram import bucket_index, bucket_value_ms, log_histogram
from sysbench_py.stats.model import LatencyHistogram, WorkerStats
from sysbench_py.stats.sql import StatementCounts

START_NS = 5_000_000_000
MS = 1_000_000


def bucket_of(latency_ns: int) -> int:
    """The lowest latency of the HDR bucket: the 11 leading bits are kept."""
    shift = max(latency_ns.bit_length() - 11, 0)
    return latency_ns >> shift << shift


@dataclass
class FakeSnapshot:
    """What the core hands over, made from the latencies of each worker."""

    time_ns: int
    latencies_ns: tuple[tuple[int, ...], ...]
    counters: tuple[int, ...]
    operations: Mapping[str, FakeSnapshot] = field(default_factory=dict)
    counted: bool = True
    service: FakeSnapshot | None = None
    statements: Mapping[tuple[str, str], StatementCounts] = field(default_factory=dict)
    errors: Mapping[tuple[int, str], tuple[int, int, int, int, str]] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        return len(self.latencies_ns)

    @property
    def worker_events(self) -> tuple[int, ...]:
        return tuple(len(latencies) * self.counted for latencies in self.latencies_ns)

    @property
    def worker_latency_sum_ns(self) -> tuple[int, ...]:
        return tuple(sum(latencies) for latencies in self.latencies_ns)

    @property
    def worker_latency_min_ns(self) -> tuple[int, ...]:
        return tuple(min(latencies, default=0) for latencies in self.latencies_ns)

    @property
    def worker_latency_max_ns(self) -> tuple[int, ...]:
        return tuple(max(latencies, default=0) for latencies in self.latencies_ns)

    def buckets(self) -> list[tuple[int, int]]:
        counts = Counter(bucket_of(latency) for latencies in self.latencies_ns for latency in latencies)
        return sorted(counts.items())

    def minus(self, earlier: FakeSnapshot, /) -> FakeSnapshot:
        return FakeSnapshot(
            self.time_ns,
            tuple(
                now[len(then) :] for now, then in zip(self.latencies_ns, earlier.latencies_ns, strict=True)
            ),
            tuple(now - then for now, then in zip(self.counters, earlier.counters, strict=True)),
            {name: now.minus(earlier.operations[name]) for name, now in self.operations.items()},
        )


CHECKPOINT = FakeSnapshot(
    START_NS + 2_000 * MS,
    ((1 * MS, 3 * MS), (10 * MS,), ()),
    (6, 30, 12, 3, 1, 0, 1_000, 500),
)
FINAL = FakeSnapshot(
    START_NS + 6_000 * MS,
    ((1 * MS, 3 * MS, 2 * MS, 8 * MS, 5 * MS), (10 * MS, 4 * MS), ()),
    (14, 70, 28, 7, 5, 2, 3_000, 1_700),
)


def by_rank(latencies_ns: list[int], percentile: int) -> int:
    rank = max((len(latencies_ns) * percentile + 50) // 100, 1)
    return sorted(latencies_ns)[rank - 1]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 99, 100, 1_000])
@pytest.mark.parametrize("percentile", [1, 5, 50, 75, 95, 99, 100])
def test_percentile_is_the_latency_at_its_rank(count: int, percentile: int) -> None:
    rng = random.Random(count * 1_000 + percentile)
    latencies = [max(int(rng.lognormvariate(13, 3)), 1) for _ in range(count)]
    snapshot = FakeSnapshot(START_NS, (tuple(latencies),), (0,) * 8)
    histogram = LatencyHistogram(snapshot.buckets(), max(latencies))
    exact = by_rank(latencies, percentile)
    assert exact <= histogram.percentile_ns(percentile) <= exact * 1.001
    assert histogram.percentile_ns(percentile) <= max(latencies)
    assert histogram.count == count


def test_percentile_rank_rounds_half_up_and_is_at_least_one() -> None:
    histogram = LatencyHistogram([(10, 1), (20, 1), (30, 1), (40, 1)], 40)
    ranks = {1: 10, 12: 10, 37: 10, 38: 20, 62: 20, 63: 30, 87: 30, 88: 40, 100: 40}
    assert {percentile: histogram.percentile_ns(percentile) for percentile in ranks} == ranks
    assert LatencyHistogram([(10, 1), (20, 1)], 20).percentile_ns(25) == 10
    assert LatencyHistogram([(10, 1), (20, 1)], 20).percentile_ns(75) == 20


def test_percentile_of_one_latency_is_that_latency() -> None:
    latency = 123_456_789
    histogram = LatencyHistogram([(bucket_of(latency), 1)], latency)
    assert {histogram.percentile_ns(percentile) for percentile in (1, 50, 99, 100)} == {latency}


def test_percentile_without_events_is_zero() -> None:
    histogram = LatencyHistogram([], 0)
    assert (histogram.count, histogram.percentile_ns(95), histogram.buckets_ns()) == (0, 0, [])


def test_histogram_keeps_buckets_up_to_the_highest_latency() -> None:
    buckets = [(0, 2), (1, 1), (2_047, 4), (2_048, 1), (2_050, 3), (bucket_of(2**47 - 1), 5)]
    assert LatencyHistogram(buckets, 2**47 - 1).buckets_ns() == buckets


@pytest.mark.parametrize("latency_ns", [-1, 2**48])
def test_histogram_refuses_what_it_cannot_hold(latency_ns: int) -> None:
    with pytest.raises(ValueError, match=f"latency of {latency_ns} ns is outside"):
        LatencyHistogram([(latency_ns, 1)], latency_ns)


def test_first_interval_counts_everything_since_the_start() -> None:
    stats = interval_stats(CHECKPOINT, None, start_ns=START_NS, threads_running=3, percentiles=(95,), sql=True)
    assert (stats.time_total_s, stats.interval_s, stats.threads_running) == (2.0, 2.0, 3)
    counters = stats.counters
    assert (counters.reads, counters.writes, counters.other, counters.queries) == (30, 12, 6, 48)
    assert (counters.events, counters.errors, counters.reconnects) == (3, 1, 0)
    assert (counters.bytes_read, counters.bytes_written) == (1_000, 500)
    assert stats.per_second(counters.queries) == 24.0
    assert stats.latency.percentiles[0].latency_ns == 10 * MS
    assert (stats.rate_mode, stats.queue_length, stats.concurrency) == (False, 0, 0)


def test_later_interval_counts_only_itself() -> None:
    stats = interval_stats(
        FINAL,
        CHECKPOINT,
        start_ns=START_NS,
        threads_running=1,
        percentiles=(50,),
        sql=False,
        rate_mode=True,
        queue_length=17,
        concurrency=2,
    )
    assert (stats.time_total_s, stats.interval_s) == (6.0, 4.0)
    counters = stats.counters
    assert (counters.reads, counters.writes, counters.other) == (40, 16, 8)
    assert (counters.events, counters.errors, counters.reconnects) == (4, 4, 2)
    assert (counters.bytes_read, counters.bytes_written) == (2_000, 1_200)
    assert stats.per_second(counters.events) == 1.0
    assert stats.latency.histogram.count == 4
    assert 4 * MS <= stats.latency.percentiles[0].latency_ns <= 4 * MS * 1.001
    assert (stats.sql, stats.rate_mode, stats.queue_length, stats.concurrency) == (False, True, 17, 2)


def test_total_of_the_whole_run() -> None:
    stats = total_stats(FINAL, None, start_ns=START_NS, threads_running=0, percentiles=(100,), sql=True)
    assert (stats.time_total_s, stats.interval_s) == (6.0, 6.0)
    assert stats.counters.events == 7
    assert (stats.latency.min_ns, stats.latency.max_ns, stats.latency.sum_ns) == (1 * MS, 10 * MS, 33 * MS)
    assert stats.latency.avg_ns == 33 * MS // 7
    assert stats.latency.percentiles[0].latency_ns == 10 * MS
    assert stats.workers == (
        WorkerStats(events=5, latency_min_ns=1 * MS, latency_max_ns=8 * MS, latency_sum_ns=19 * MS),
        WorkerStats(events=2, latency_min_ns=4 * MS, latency_max_ns=10 * MS, latency_sum_ns=14 * MS),
        WorkerStats(events=0, latency_min_ns=0, latency_max_ns=0, latency_sum_ns=0),
    )
    assert [worker.latency_avg_ns for worker in stats.workers] == [19 * MS // 5, 7 * MS, 0]
    fairness = stats.fairness
    assert fairness.events_avg == pytest.approx(7 / 3)
    assert fairness.events_stddev == pytest.approx(math.sqrt(38 / 9))
    assert fairness.execution_time_avg_s == pytest.approx(0.011)
    assert fairness.execution_time_stddev_s == pytest.approx(math.sqrt(194 / 3) / 1_000)


def test_total_after_a_checkpoint_keeps_the_clock_of_the_run() -> None:
    stats = total_stats(FINAL, CHECKPOINT, start_ns=START_NS, threads_running=0, percentiles=(95,), sql=False)
    assert (stats.time_total_s, stats.interval_s) == (6.0, 4.0)
    assert stats.counters.events == 4
    assert (stats.latency.min_ns, stats.latency.max_ns, stats.latency.sum_ns) == (2 * MS, 8 * MS, 19 * MS)
    assert stats.fairness.events_avg == pytest.approx(4 / 3)


def test_operations_are_told_apart_for_the_period() -> None:
    earlier = FakeSnapshot(0, ((1 * MS,), (5 * MS,)), (0,) * 8)
    later = FakeSnapshot(0, ((1 * MS, 2 * MS), (5 * MS, 9 * MS)), (0,) * 8)
    none = FakeSnapshot(0, ((), ()), (0,) * 8)
    checkpoint = replace(CHECKPOINT, operations={"read": earlier, "fsync": none})
    final = replace(FINAL, operations={"read": later, "fsync": none})
    whole = total_stats(final, None, start_ns=START_NS, threads_running=0, percentiles=(100,), sql=False)
    assert [(operation.name, operation.count) for operation in whole.operations] == [("read", 4), ("fsync", 0)]
    read, fsync = whole.operations
    assert (read.latency.min_ns, read.latency.max_ns, read.latency.sum_ns) == (1 * MS, 9 * MS, 17 * MS)
    assert (read.latency.avg_ns, read.latency.percentiles[0].latency_ns) == (17 * MS // 4, 9 * MS)
    assert fsync.latency.min_ns == fsync.latency.avg_ns == fsync.latency.max_ns == fsync.latency.sum_ns == 0
    (read, _) = total_stats(
        final, checkpoint, start_ns=START_NS, threads_running=0, percentiles=(), sql=False
    ).operations
    assert (read.count, read.latency.min_ns, read.latency.max_ns) == (2, 2 * MS, 9 * MS)
    assert read.latency.percentiles == ()


def test_a_latency_whose_event_is_not_counted_yet_has_its_place() -> None:
    """What is left of a run may be an event that was counted in one interval, and its latency in the next."""
    torn = FakeSnapshot(START_NS + 1_000 * MS, ((4 * MS,), ()), (0,) * 8, counted=False)
    stats = interval_stats(torn, None, start_ns=START_NS, threads_running=2, percentiles=(50,), sql=False)
    latency, lowest_ns = stats.latency, bucket_of(4 * MS)
    assert (latency.min_ns, latency.avg_ns, latency.max_ns, latency.sum_ns) == (lowest_ns, 4 * MS, lowest_ns, 4 * MS)
    assert (latency.histogram.count, latency.percentiles[0].latency_ns) == (1, lowest_ns)
    assert stats.counters.events == 0


def test_percentile_zero_turns_percentiles_off() -> None:
    total = total_stats(FINAL, None, start_ns=START_NS, threads_running=0, percentiles=(), sql=False)
    interval = interval_stats(FINAL, None, start_ns=START_NS, threads_running=3, percentiles=(), sql=False)
    assert (total.latency.percentiles, interval.latency.percentiles) == ((), ())
    assert total.latency.histogram.count == 7


def test_a_run_without_events_or_length_is_all_zeros() -> None:
    idle = FakeSnapshot(START_NS, ((), ()), (0,) * 8)
    stats = total_stats(idle, None, start_ns=START_NS, threads_running=0, percentiles=(95,), sql=True)
    assert stats.per_second(stats.counters.events) == 0.0
    assert stats.latency.min_ns == stats.latency.avg_ns == stats.latency.max_ns == stats.latency.sum_ns == 0
    assert stats.latency.percentiles[0].latency_ns == 0
    assert stats.fairness.events_stddev == stats.fairness.execution_time_stddev_s == 0.0


def test_results_are_frozen() -> None:
    stats = total_stats(FINAL, None, start_ns=START_NS, threads_running=0, percentiles=(95,), sql=True)
    with pytest.raises(FrozenInstanceError):
        stats.sql = False  # type: ignore[misc]


def test_log_buckets_cover_the_scale() -> None:
    assert [bucket_index(value) for value in (0.0, 0.0005, 0.001)] == [0, 0, 0]
    assert [bucket_index(value) for value in (100_000.0, 1e9)] == [1_023, 1_023]
    assert bucket_value_ms(0) == pytest.approx(0.001)
    assert bucket_value_ms(1_023) == pytest.approx(100_000)
    assert [bucket_index(bucket_value_ms(index)) for index in range(1_024)] == list(range(1_024))
    # 1 ms is 3/8 of the eight decades from 0.001 ms to 100 s, and 1023 * 3 / 8 = 383.625.
    assert bucket_index(1.0) == 384
    assert bucket_value_ms(384) == pytest.approx(10 ** (8 * 384 / 1_023 - 3))


def test_log_histogram_adds_up_the_counts_of_a_bucket() -> None:
    rows = log_histogram([(0, 1), (900, 2), (1_000_000, 3), (1_001_000, 4), (2**47 - 1, 5)])
    assert [count for _, count in rows] == [3, 7, 5]
    assert [value for value, _ in rows] == pytest.approx([0.001, bucket_value_ms(384), 100_000])

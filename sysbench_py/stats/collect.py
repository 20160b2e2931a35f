"""From the core's cumulative counts to the result model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from sysbench_py.stats.model import (
    NS_PER_S,
    Counters,
    Fairness,
    IntervalStats,
    Latency,
    OpenLoop,
    OperationStats,
    TotalStats,
    WorkerStats,
)
from sysbench_py.stats.sql import StatementCounts, error_stats, statement_stats
from sysbench_py.stats.summary import latency

SnapshotT = TypeVar("SnapshotT", bound="CoreSnapshot")


class CoreSnapshot(Protocol):
    """All counts of the core since the start of its statistics, as read at `time_ns`.

    `time_ns` is CLOCK_MONOTONIC. `counters` are summed over the workers, in the order of the core's
    counter numbers: other, reads, writes, events, errors, reconnects, bytes read, bytes written.
    The `worker_` tuples have one item a worker; minimum and maximum are 0 without events.
    `operations` are such counts by name, for the operations inside of events that the test tells apart; `service`
    those of the service times in rate mode. `statements` are by (kind, text), `errors` (count, fatal, restarted,
    reconnected, message) by (number, SQLSTATE).
    """

    @property
    def time_ns(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def counters(self) -> tuple[int, ...]: ...
    @property
    def worker_events(self) -> tuple[int, ...]: ...
    @property
    def worker_latency_sum_ns(self) -> tuple[int, ...]: ...
    @property
    def worker_latency_min_ns(self) -> tuple[int, ...]: ...
    @property
    def worker_latency_max_ns(self) -> tuple[int, ...]: ...
    @property
    def operations(self: SnapshotT) -> Mapping[str, SnapshotT]: ...
    @property
    def service(self: SnapshotT) -> SnapshotT | None: ...
    @property
    def statements(self) -> Mapping[tuple[str, str], StatementCounts]: ...
    @property
    def errors(self) -> Mapping[tuple[int, str], tuple[int, int, int, int, str]]: ...

    def buckets(self) -> list[tuple[int, int]]:
        """Non-empty HDR buckets of all workers, `(lowest latency_ns, count)`, ascending."""
        ...

    def minus(self: SnapshotT, earlier: SnapshotT, /) -> SnapshotT:
        """What happened since `earlier`."""
        ...


def interval_stats(
    now: SnapshotT,
    previous: SnapshotT | None,
    *,
    start_ns: int,
    threads_running: int,
    percentiles: Sequence[float],
    sql: bool,
    rate_mode: bool = False,
    queue_length: int = 0,
    concurrency: int = 0,
    partial: bool = False,
) -> IntervalStats:
    """The intermediate report of the time from `previous` to `now`.

    Without a `previous` it covers everything counted so far, statements of `thread_init` included,
    and its clock starts at `start_ns`, the CLOCK_MONOTONIC time at which the run started.
    """
    period = now if previous is None else now.minus(previous)
    return IntervalStats(
        time_total_s=(now.time_ns - start_ns) / NS_PER_S,
        interval_s=_interval_s(now, previous, start_ns),
        threads_running=threads_running,
        counters=_counters(period),
        latency=latency_of(period, percentiles),
        sql=sql,
        rate_mode=rate_mode,
        queue_length=queue_length,
        concurrency=concurrency,
        partial=partial,
    )


def total_stats(
    now: SnapshotT,
    checkpoint: SnapshotT | None,
    *,
    start_ns: int,
    threads_running: int,
    percentiles: Sequence[float],
    sql: bool,
    unfinished_ns: Mapping[int, int] | None = None,
    open_loop: OpenLoop | None = None,
) -> TotalStats:
    """The cumulative report of the time from the last `checkpoint` to `now`.

    Without a `checkpoint` it covers everything counted so far, as `interval_stats` does. `unfinished_ns` are
    the events that were cut off, with the time they had taken, by thread id: the statistics of each worker
    and the fairness count them, the totals do not.
    """
    period = now if checkpoint is None else now.minus(checkpoint)
    interval_s = _interval_s(now, checkpoint, start_ns)
    workers = _workers(period)
    at_end = tuple(
        _with_event(worker, unfinished_ns[thread_id]) if unfinished_ns and thread_id in unfinished_ns else worker
        for thread_id, worker in enumerate(workers)
    )
    return TotalStats(
        time_total_s=(now.time_ns - start_ns) / NS_PER_S,
        interval_s=interval_s,
        threads_running=threads_running,
        counters=_counters(period),
        latency=latency_of(period, percentiles),
        sql=sql,
        fairness=_fairness(at_end),
        workers=at_end,
        operations=tuple(_operation(name, counts, percentiles) for name, counts in period.operations.items()),
        statements=statement_stats(period.statements, interval_s),
        errors=error_stats(period.errors),
        open_loop=open_loop,
    )


def _operation(name: str, period: CoreSnapshot, percentiles: Sequence[float]) -> OperationStats:
    return OperationStats(name=name, count=sum(period.worker_events), latency=latency_of(period, percentiles))


def latency_of(period: CoreSnapshot, percentiles: Sequence[float]) -> Latency:
    """Latencies of all workers' events."""
    busy = [worker for worker in _workers(period) if worker.events]
    buckets_ns = period.buckets()
    # A worker may be seen after it has recorded a latency and before it has counted the event.
    lowest_ns, highest_ns = (buckets_ns[0][0], buckets_ns[-1][0]) if buckets_ns else (0, 0)
    return latency(
        buckets_ns,
        min_ns=min((worker.latency_min_ns for worker in busy), default=lowest_ns),
        max_ns=max((worker.latency_max_ns for worker in busy), default=highest_ns),
        sum_ns=sum(period.worker_latency_sum_ns),
        percentiles=percentiles,
    )


def _interval_s(now: CoreSnapshot, earlier: CoreSnapshot | None, start_ns: int) -> float:
    # A run ends with its last event, and reports go on while workers clear up.
    return max(now.time_ns - (start_ns if earlier is None else earlier.time_ns), 0) / NS_PER_S


def _counters(period: CoreSnapshot) -> Counters:
    other, reads, writes, events, errors, reconnects, bytes_read, bytes_written = period.counters
    return Counters(
        events=events,
        reads=reads,
        writes=writes,
        other=other,
        errors=errors,
        reconnects=reconnects,
        bytes_read=bytes_read,
        bytes_written=bytes_written,
    )


def _workers(period: CoreSnapshot) -> tuple[WorkerStats, ...]:
    columns = zip(
        period.worker_events,
        period.worker_latency_min_ns,
        period.worker_latency_max_ns,
        period.worker_latency_sum_ns,
        strict=True,
    )
    return tuple(
        WorkerStats(events=events, latency_min_ns=min_ns, latency_max_ns=max_ns, latency_sum_ns=sum_ns)
        for events, min_ns, max_ns, sum_ns in columns
    )


def _with_event(worker: WorkerStats, latency_ns: int) -> WorkerStats:
    """The worker with one event more."""
    return WorkerStats(
        events=worker.events + 1,
        latency_min_ns=min(worker.latency_min_ns, latency_ns) if worker.events else latency_ns,
        latency_max_ns=max(worker.latency_max_ns, latency_ns),
        latency_sum_ns=worker.latency_sum_ns + latency_ns,
    )


def _fairness(workers: Sequence[WorkerStats]) -> Fairness:
    events_avg, events_stddev = _mean_and_stddev([worker.events for worker in workers])
    time_avg_s, time_stddev_s = _mean_and_stddev([worker.latency_sum_ns / NS_PER_S for worker in workers])
    return Fairness(
        events_avg=events_avg,
        events_stddev=events_stddev,
        execution_time_avg_s=time_avg_s,
        execution_time_stddev_s=time_stddev_s,
    )


def _mean_and_stddev(values: Sequence[float]) -> tuple[float, float]:
    """Mean and population standard deviation."""
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))

"""Results of runs that were never run."""

from __future__ import annotations

from dataclasses import replace

from sysbench_py.stats.model import (
    NS_PER_MS,
    Counters,
    Fairness,
    IntervalStats,
    Latency,
    LatencyHistogram,
    Percentile,
    TotalStats,
)
from sysbench_py.stats.result import Machine, RunResult, Setup

SETUP = Setup(
    command_line=("sysbench", "t", "run"),
    test="t",
    options={"threads": 1},
    threads=1,
    percentiles=(95.0,),
    warmup_s=0,
    report_interval_s=0,
    started_at="2026-01-01T00:00:00.000+00:00",
    engine="engine 1",
    luajit="LuaJIT",
    python="3",
    databases=(),
    machine=Machine(host="h", kernel="k", cpu="c", cpus=1, memory_bytes=1),
)


def total(rate: float, average_ms: float) -> TotalStats:
    """A run of 10 s with so many events a second, all of the same latency."""
    events, latency_ns = round(rate * 10), round(average_ms * NS_PER_MS)
    latency = Latency(
        min_ns=latency_ns,
        avg_ns=latency_ns,
        max_ns=latency_ns,
        sum_ns=latency_ns * events,
        percentiles=(Percentile(percent=95, latency_ns=latency_ns),),
        histogram=LatencyHistogram([(latency_ns, events)], latency_ns),
    )
    counters = Counters(
        events=events, reads=0, writes=0, other=0, errors=0, reconnects=0, bytes_read=0, bytes_written=0
    )
    fairness = Fairness(events_avg=0, events_stddev=0, execution_time_avg_s=0, execution_time_stddev_s=0)
    return TotalStats(
        time_total_s=10,
        interval_s=10,
        threads_running=1,
        counters=counters,
        latency=latency,
        sql=False,
        fairness=fairness,
        workers=(),
    )


def result(rates: list[float], latencies_ms: list[float]) -> RunResult:
    """A run of intervals of 10 s with such throughput and latency each."""
    parts = [total(rate, latency_ms) for rate, latency_ms in zip(rates, latencies_ms, strict=True)]
    events = sum(part.counters.events for part in parts)
    histogram = LatencyHistogram.merged(part.latency.histogram for part in parts)
    whole = total(sum(rates) / len(rates), 1)
    return RunResult(
        setup=SETUP,
        exit_status=0,
        intervals=tuple(_interval(part) for part in parts),
        checkpoints=(),
        total=replace(
            whole,
            interval_s=10.0 * len(parts),
            counters=replace(whole.counters, events=events),
            latency=replace(whole.latency, histogram=histogram),
        ),
    )


def _interval(part: TotalStats) -> IntervalStats:
    return IntervalStats(
        time_total_s=part.time_total_s,
        interval_s=part.interval_s,
        threads_running=part.threads_running,
        counters=part.counters,
        latency=part.latency,
        sql=part.sql,
        rate_mode=False,
        queue_length=0,
        concurrency=0,
    )

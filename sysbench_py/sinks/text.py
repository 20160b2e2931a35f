"""The text reports of sysbench 1.0.20, character by character.

Every function returns messages, to be logged one after the other; a message may have several lines.
The empty line at both ends of a cumulative report is a message of its own, because the log shows
consecutive equal messages once.
"""

from __future__ import annotations

import math

from sysbench_py.stats.log_histogram import log_histogram
from sysbench_py.stats.model import (
    NO_PERCENTILE,
    NS_PER_MS,
    NS_PER_S,
    Fairness,
    IntervalStats,
    LatencyHistogram,
    TotalStats,
    WorkerStats,
)

CHECKPOINT_HEADING = "Checkpoint report:"
HISTOGRAM_STARS = 40
FAILED = "The run has failed: the figures above are of what was done before."


def intermediate_messages(stats: IntervalStats) -> list[str]:
    """An intermediate report, one line and in rate mode a second one; the log puts the time before them."""
    if stats.own_lines:
        return list(stats.own_lines)
    latency = " ".join(
        f"lat (ms,{percentile}%): {percentile.latency_ns / NS_PER_MS:4.2f}"
        for percentile in stats.latency.percentiles or (NO_PERCENTILE,)
    )
    per_second, counters = stats.per_second, stats.counters
    if stats.sql:
        message = (
            f"thds: {stats.threads_running} tps: {per_second(counters.events):4.2f} "
            f"qps: {per_second(counters.queries):4.2f} "
            f"(r/w/o: {per_second(counters.reads):4.2f}/{per_second(counters.writes):4.2f}"
            f"/{per_second(counters.other):4.2f}) {latency} "
            f"err/s: {per_second(counters.errors):4.2f} reconn/s: {per_second(counters.reconnects):4.2f}"
        )
    else:
        message = f"thds: {stats.threads_running} eps: {per_second(counters.events):4.2f} {latency}"
    if not stats.rate_mode:
        return [message]
    comma = "," if stats.sql else ""
    return [message, f"queue length: {stats.queue_length}{comma} concurrency: {stats.concurrency}"]


def cumulative_messages(stats: TotalStats) -> list[str]:
    """The final report or that of a checkpoint."""
    sql_block = _sql_messages(stats) if stats.sql else []
    return [*sql_block, *stats.own_lines, *_general_messages(stats)]


def histogram_messages(histogram: LatencyHistogram) -> list[str]:
    """The latency histogram, shown before the cumulative report. Its rows are one message."""
    rows = log_histogram(histogram.buckets_ns())
    messages = ["Latency histogram (values are in milliseconds)"]
    if rows:
        highest = max(count for _, count in rows)
        table = ["       value  ------------- distribution ------------- count"]
        for value_ms, count in rows:
            stars = "*" * math.floor(count * HISTOGRAM_STARS / highest + 0.5)
            table.append(f"{value_ms:12.3f} |{stars:<{HISTOGRAM_STARS}} {count}")
        messages.append("\n".join(table))
    return [*messages, " "]


def debug_messages(stats: TotalStats) -> list[str]:
    """Statistics of each worker, for the DEBUG level; an empty NOTICE follows them."""
    messages = ["Verbose per-thread statistics:\n"]
    for thread_id, worker in enumerate(stats.workers):
        messages += _worker_messages(thread_id, worker)
    return messages


def _sql_messages(stats: TotalStats) -> list[str]:
    counters = stats.counters
    return [
        "SQL statistics:",
        "    queries performed:",
        f"        read:                            {counters.reads}",
        f"        write:                           {counters.writes}",
        f"        other:                           {counters.other}",
        f"        total:                           {counters.queries}",
        f"    transactions:                        {rated(stats, counters.events)}",
        f"    queries:                             {rated(stats, counters.queries)}",
        f"    ignored errors:                      {rated(stats, counters.errors)}",
        f"    reconnects:                          {rated(stats, counters.reconnects)}",
    ]


def _general_messages(stats: TotalStats) -> list[str]:
    def row(label: str, latency_ns: int) -> str:
        return f"         {label}: {latency_ns / NS_PER_MS:39.2f}"

    percentiles = [
        f"{f'{percentile}':>11}th percentile: {percentile.latency_ns / NS_PER_MS:27.2f}"
        for percentile in stats.latency.percentiles
    ]
    latency = stats.latency
    return [
        "",
        "General statistics:",
        f"    total time:                          {stats.time_total_s:.4f}s",
        f"    total number of events:              {stats.counters.events}",
        "",
        "Latency (ms):",
        row("min", latency.min_ns),
        row("avg", latency.avg_ns),
        row("max", latency.max_ns),
        *(percentiles or ["         percentile stats:               disabled"]),
        row("sum", latency.sum_ns),
        "",
        *fairness_messages(stats.fairness),
    ]


def rated(stats: TotalStats, count: int) -> str:
    """A count and how often that is a second."""
    return f"{count:<6d} ({stats.per_second(count):.2f} per sec.)"


def fairness_messages(fairness: Fairness) -> list[str]:
    """The last block of a report."""
    return [
        "Threads fairness:",
        f"    events (avg/stddev):           {fairness.events_avg:.4f}/{fairness.events_stddev:3.2f}",
        "    execution time (avg/stddev):   "
        f"{fairness.execution_time_avg_s:.4f}/{fairness.execution_time_stddev_s:3.2f}",
        "",
    ]


def _worker_messages(thread_id: int, worker: WorkerStats) -> list[str]:
    return [
        f"    thread #{thread_id:3d}: min: {worker.latency_min_ns / NS_PER_S:.4f}s  "
        f"avg: {worker.latency_avg_ns / NS_PER_S:.4f}s  max: {worker.latency_max_ns / NS_PER_S:.4f}s  "
        f"events: {worker.events}",
        f"                 total time taken by event execution: {worker.latency_sum_ns / NS_PER_S:.4f}s",
    ]

"""The text reports of sysbench 1.0.20, character by character.

Every function returns messages, to be logged one after the other; a message may have several lines.
The empty line at both ends of a cumulative report is a message of its own, because the log shows
consecutive equal messages once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sysbench_py.sinks.text_detail import detail_messages
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

if TYPE_CHECKING:
    from sysbench_py.stats.result import RunResult, Setup

CHECKPOINT_HEADING = "Checkpoint report:"
HISTOGRAM_STARS = 40


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


def result_text(result: RunResult) -> str:
    """A saved result as its run has printed it, behind lines that say which run that was."""
    setup = result.setup
    printed = result.intervals if setup.report_interval_s else ()
    timed: list[IntervalStats | TotalStats] = [*printed, *result.checkpoints]
    log = _Log()
    for stats in sorted(timed, key=lambda stats: stats.time_total_s):
        time_s = stats.time_total_s
        if isinstance(stats, TotalStats):
            log.add_timed(time_s, CHECKPOINT_HEADING)
            log.add(cumulative_messages(stats) + _detail_messages(stats, setup))
        elif not stats.partial:
            for message in intermediate_messages(stats):
                log.add_timed(time_s, message)
    if setup.options.get("histogram"):
        log.add(histogram_messages(result.total.latency.histogram))
    log.add(cumulative_messages(result.total) + _detail_messages(result.total, setup))
    head = f"{setup.engine} (using bundled {setup.luajit})\n\n{' '.join(setup.command_line)}\n{setup.started_at}\n\n"
    return head + "".join(f"{line}\n" for line in log.lines)


def _detail_messages(stats: TotalStats, setup: Setup) -> list[str]:
    return detail_messages(
        stats,
        statements=bool(setup.options.get("statements")),
        errors=bool(setup.options.get("errors")),
        open_loop=bool(setup.options.get("rate_detail")),
    )


class _Log:
    """Lines as the core's log prints them: of consecutive equal messages the first, then how many followed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._last: str | None = None
        self._repeats = 0

    def add(self, messages: list[str]) -> None:
        for message in messages:
            if message == self._last:
                self._repeats += 1
                continue
            if self._repeats:
                self.lines.append(f"(last message repeated {self._repeats} times)")
            self._last, self._repeats = message, 0
            self.lines.append(message)

    def add_timed(self, time_s: float, message: str) -> None:
        self.lines.append(f"[ {time_s:.0f}s ] {message}")


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

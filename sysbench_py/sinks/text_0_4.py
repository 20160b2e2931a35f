"""The text reports of sysbench 0.4.12, for scripts that read them. They are made of messages as those of `text` are.

What later branches of 0.4 print apart is left as 0.4.12 has it: `Test execution summary:` and
`per-request statistics:` for their `General statistics:` and `response time:`.
"""

from __future__ import annotations

from sysbench_py.sinks.text import fairness_messages, rated
from sysbench_py.stats.model import NO_PERCENTILE, NS_PER_MS, NS_PER_S, Counters, IntervalStats, TotalStats


def intermediate_messages(stats: IntervalStats) -> list[str]:
    """An intermediate report, the time included."""
    per_second, counters = stats.per_second, stats.counters
    latency = " ".join(
        f"{percentile.latency_ns / NS_PER_MS:4.2f}ms ({percentile}%)"
        for percentile in stats.latency.percentiles or (NO_PERCENTILE,)
    )
    return [
        f"[{stats.time_total_s:4.0f}s] threads: {stats.threads_running}, tps: {per_second(counters.events):4.2f}, "
        f"reads/s: {per_second(counters.reads):4.2f}, writes/s: {per_second(counters.writes):4.2f} "
        f"response time: {latency}"
    ]


def cumulative_messages(stats: TotalStats) -> list[str]:
    """The final report or that of a checkpoint."""
    sql_block = _sql_messages(stats) if stats.sql else []
    return [*sql_block, *stats.own_lines_0_4, *_general_messages(stats)]


def _other(counters: Counters) -> int:
    """Statements that neither read nor write; a connection made again was counted as one."""
    return counters.other + counters.reconnects


def _sql_messages(stats: TotalStats) -> list[str]:
    counters = stats.counters
    other = _other(counters)
    return [
        "OLTP test statistics:",
        "    queries performed:",
        f"        read:                            {counters.reads}",
        f"        write:                           {counters.writes}",
        f"        other:                           {other}",
        f"        total:                           {counters.reads + counters.writes + other}",
        f"    transactions:                        {rated(stats, counters.events)}",
        # An ignored error starts the transaction again; with the default list these are deadlocks and their like.
        f"    deadlocks:                           {rated(stats, counters.errors)}",
        f"    read/write requests:                 {rated(stats, counters.reads + counters.writes)}",
        f"    other operations:                    {rated(stats, other)}",
    ]


def _general_messages(stats: TotalStats) -> list[str]:
    def row(label: str, latency_ns: int) -> str:
        return f"         {label}:                            {latency_ns / NS_PER_MS:10.2f}ms"

    percentiles = [
        f"         approx. {f'{percentile}':>3} percentile:         {percentile.latency_ns / NS_PER_MS:10.2f}ms"
        for percentile in stats.latency.percentiles
    ]
    latency = stats.latency
    return [
        "",
        "Test execution summary:",
        f"    total time:                          {stats.time_total_s:.4f}s",
        f"    total number of events:              {stats.counters.events}",
        f"    total time taken by event execution: {latency.sum_ns / NS_PER_S:.4f}",
        "    per-request statistics:",
        row("min", latency.min_ns),
        row("avg", latency.avg_ns),
        row("max", latency.max_ns),
        *percentiles,
        "",
        *fairness_messages(stats.fairness),
    ]

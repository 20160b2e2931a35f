"""Latencies of the intervals as an HdrHistogram interval log, version 1.2 of the format.

Times are seconds since the start of the run, latencies nanoseconds; the column of maxima is in milliseconds, as
it is in the logs of HdrHistogram's own writers.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sysbench_py.stats.model import NS_PER_MS, IntervalStats
from sysbench_py.stats.result import Setup


def head(setup: Setup) -> str:
    """Comments and the names of the columns."""
    start = datetime.fromisoformat(setup.started_at) + timedelta(seconds=setup.warmup_s)
    return (
        f"#[sysbench {setup.test}, latencies in nanoseconds]\n"
        "#[Histogram log format version 1.2]\n"
        f"#[StartTime: {start.timestamp():.3f} (seconds since epoch), {start:%a %b %d %H:%M:%S UTC %Y}]\n"
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
    )


def row(_setup: Setup, stats: IntervalStats) -> str:
    """The line of an interval."""
    start_s = max(stats.time_total_s - stats.interval_s, 0)
    histogram = stats.latency.histogram
    return f"{start_s:.3f},{stats.interval_s:.3f},{histogram.max_ns / NS_PER_MS:.3f},{histogram.encoded()}\n"

"""From counts of the core to what is told of latencies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sysbench_py.stats.model import SIGNIFICANT_DIGITS, Latency, LatencyHistogram, Percentile

# Of what is told beside the usual report.
DETAIL_PERCENTILES = (50.0, 95.0, 99.0)


def latency(
    buckets_ns: Iterable[tuple[int, int]],
    *,
    min_ns: int,
    max_ns: int,
    sum_ns: int,
    percentiles: Sequence[float],
    significant_digits: int = SIGNIFICANT_DIGITS,
) -> Latency:
    """Of `(lowest latency_ns, count)` pairs; the digits are those of their buckets."""
    histogram = LatencyHistogram(buckets_ns, max_ns, significant_digits)
    return Latency(
        min_ns=min_ns,
        avg_ns=sum_ns // histogram.count if histogram.count else 0,
        max_ns=max_ns,
        sum_ns=sum_ns,
        percentiles=tuple(
            Percentile(percent=percent, latency_ns=histogram.percentile_ns(percent)) for percent in percentiles
        ),
        histogram=histogram,
    )

"""Intervals put together: the counts so far, and fewer, longer intervals for a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from sysbench_py.stats.model import Counters, IntervalStats, Latency, LatencyHistogram, Percentile


def joined(intervals: Sequence[IntervalStats]) -> IntervalStats:
    """One interval instead of several that follow each other; counts add, percentiles are those of all latencies.

    What else is told of an interval is that of the last one. Raises IndexError without any.
    """
    last = intervals[-1]
    if len(intervals) == 1:
        return last
    return replace(
        last,
        interval_s=sum(each.interval_s for each in intervals),
        counters=counters_sum([each.counters for each in intervals]),
        latency=latencies_merged([each.latency for each in intervals]),
        own_lines=(),
    )


def thinned(intervals: Sequence[IntervalStats], most: int) -> list[IntervalStats]:
    """At most so many intervals, about equally long. Partial ones are left out if there are others."""
    whole = [each for each in intervals if not each.partial] or list(intervals)
    size = -(-len(whole) // most)
    return [joined(whole[start : start + size]) for start in range(0, len(whole), size)] if whole else []


def counters_sum(counters: Sequence[Counters]) -> Counters:
    """All counts together."""
    return Counters(**{field.name: sum(getattr(each, field.name) for each in counters) for field in fields(Counters)})


def latencies_merged(parts: Sequence[Latency]) -> Latency:
    """What one of all their latencies would be. Raises IndexError without any."""
    busy = [part for part in parts if part.histogram.count]
    histogram = LatencyHistogram.merged(part.histogram for part in busy)
    sum_ns = sum(part.sum_ns for part in busy)
    return Latency(
        min_ns=min((part.min_ns for part in busy), default=0),
        avg_ns=sum_ns // histogram.count if histogram.count else 0,
        max_ns=histogram.max_ns,
        sum_ns=sum_ns,
        percentiles=tuple(
            Percentile(percent=each.percent, latency_ns=histogram.percentile_ns(each.percent))
            for each in parts[-1].percentiles
        ),
        histogram=histogram,
    )

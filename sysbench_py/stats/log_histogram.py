"""The histogram that `--histogram` prints: 1024 logarithmic buckets from 0.001 ms to 100 s.

Buckets, their values and their rounding are those of sysbench 1.0, so that printed histograms of
both can be laid side by side. Percentiles do not come from here: see `LatencyHistogram`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from sysbench_py.stats.model import NS_PER_MS

BUCKETS = 1024
MIN_MS = 0.001
MAX_MS = 100_000.0

_LOG_MIN = math.log(MIN_MS)
_LOG_STEP = (math.log(MAX_MS) - _LOG_MIN) / (BUCKETS - 1)


def bucket_index(latency_ms: float) -> int:
    """The bucket whose value is nearest on the logarithmic scale; latencies off the scale go to its ends."""
    if latency_ms <= MIN_MS:
        return 0
    return min(math.floor((math.log(latency_ms) - _LOG_MIN) / _LOG_STEP + 0.5), BUCKETS - 1)


def bucket_value_ms(index: int) -> float:
    """The latency that stands for a bucket."""
    return math.exp(index * _LOG_STEP + _LOG_MIN)


def log_histogram(buckets_ns: Iterable[tuple[int, int]]) -> list[tuple[float, int]]:
    """Regroup `(latency_ns, count)` pairs into non-empty buckets `(value_ms, count)`, ascending."""
    counts: Counter[int] = Counter()
    for latency_ns, count in buckets_ns:
        counts[bucket_index(latency_ns / NS_PER_MS)] += count
    return [(bucket_value_ms(index), counts[index]) for index in sorted(counts)]

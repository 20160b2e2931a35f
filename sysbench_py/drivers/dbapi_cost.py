"""What a query costs this client: measured, not known."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

ROUNDS = 5
QUERIES_PER_ROUND = 10


def cost_per_query_us(query: Callable[[], object]) -> float:
    """CPU time of this thread for one query in microseconds, the median of some rounds. Waiting costs nothing."""
    query()
    return statistics.median(_round_us(query) for _ in range(ROUNDS))


def _round_us(query: Callable[[], object]) -> float:
    before_ns = time.thread_time_ns()
    for _ in range(QUERIES_PER_ROUND):
        query()
    return (time.thread_time_ns() - before_ns) / QUERIES_PER_ROUND / 1000

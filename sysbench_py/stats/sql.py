"""From the core's counts of SQL statements and errors to the result model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sysbench_py.stats.model import ErrorStats, StatementStats
from sysbench_py.stats.summary import DETAIL_PERCENTILES, latency

STATEMENT_DIGITS = 2


class StatementCounts(Protocol):
    """What a statement did in all workers. Minimum and maximum are 0 without a call that succeeded."""

    @property
    def calls(self) -> int: ...
    @property
    def errors(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def latency_sum_ns(self) -> int: ...
    @property
    def latency_min_ns(self) -> int: ...
    @property
    def latency_max_ns(self) -> int: ...

    def buckets(self) -> list[tuple[int, int]]:
        """Non-empty HDR buckets of 2 significant digits, `(lowest latency_ns, count)`, ascending."""
        ...


def statement_stats(
    statements: Mapping[tuple[str, str], StatementCounts], interval_s: float
) -> tuple[StatementStats, ...]:
    """The statements that were called, those that took longest together first."""
    found = [
        StatementStats(
            kind=kind,
            text=text,
            calls=counts.calls,
            calls_per_s=counts.calls / interval_s if interval_s > 0 else 0.0,
            errors=counts.errors,
            rows=counts.rows,
            latency=latency(
                counts.buckets(),
                min_ns=counts.latency_min_ns,
                max_ns=counts.latency_max_ns,
                sum_ns=counts.latency_sum_ns,
                percentiles=DETAIL_PERCENTILES,
                significant_digits=STATEMENT_DIGITS,
            ),
        )
        for (kind, text), counts in statements.items()
        if counts.calls
    ]
    return tuple(sorted(found, key=lambda statement: (-statement.latency.sum_ns, statement.text)))


def error_stats(errors: Mapping[tuple[int, str], tuple[int, int, int, int, str]]) -> tuple[ErrorStats, ...]:
    """The errors that came, the most frequent first."""
    found = [
        ErrorStats(
            number=number,
            sqlstate=sqlstate,
            message=message,
            count=count,
            ignored=count - fatal - restarted - reconnected,
            restarted=restarted,
            reconnected=reconnected,
            fatal=fatal,
        )
        for (number, sqlstate), (count, fatal, restarted, reconnected, message) in errors.items()
        if count
    ]
    return tuple(sorted(found, key=lambda error: (-error.count, error.number, error.sqlstate)))

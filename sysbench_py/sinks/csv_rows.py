"""Intervals as rows of CSV: all their numbers, with a line of names before them.

Columns are named as in the JSON result, without the names of what they stand in; a percentile is
`latency_p99.9_ns`. What is a list or a text there is no column.
"""

from __future__ import annotations

from collections.abc import Iterator

from sysbench_py.stats.model import Counters, IntervalStats, Latency, Percentile
from sysbench_py.stats.result import Setup
from sysbench_py.stats.serialise import members


def head(setup: Setup) -> str:
    """The line of names."""
    return ",".join(_names(setup)) + "\n"


def row(_setup: Setup, stats: IntervalStats) -> str:
    """The line of an interval."""
    return ",".join(map(_text, _values(stats))) + "\n"


def _names(setup: Setup) -> Iterator[str]:
    for name, kind in members(IntervalStats).items():
        if kind is Counters:
            yield from members(Counters)
        elif kind is Latency:
            yield from (f"{name}_{each}" for each, kind in members(Latency).items() if kind is int)
            for percent in setup.percentiles:
                yield f"{name}_p{Percentile(percent=percent, latency_ns=0)}_ns"
        elif kind in (bool, int, float):
            yield name


def _values(stats: IntervalStats) -> Iterator[bool | int | float]:
    for name, kind in members(IntervalStats).items():
        value = getattr(stats, name)
        if kind is Counters:
            yield from (getattr(value, each) for each in members(Counters))
        elif kind is Latency:
            yield from (getattr(value, each) for each, kind in members(Latency).items() if kind is int)
            yield from (percentile.latency_ns for percentile in value.percentiles)
        elif kind in (bool, int, float):
            yield value


def _text(value: bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)

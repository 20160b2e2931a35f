"""Tables of what is told beside the usual report, for text and for HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sysbench_py.stats.model import NS_PER_MS, ErrorStats, Latency, OpenLoop, RateStats, StatementStats

LATENCY_COLUMNS = ("avg", "p50", "p95", "p99", "max")
# Columns of text; the others are numbers.
LEFT = frozenset({"", "kind", "statement", "SQLSTATE", "message of the first"})


class Grid(NamedTuple):
    """A table of texts."""

    title: str
    heading: Sequence[str]
    rows: Sequence[Sequence[str]]


def statements_grid(statements: Sequence[StatementStats]) -> Grid:
    """A row a statement."""
    rows = [
        [
            statement.kind,
            str(statement.calls),
            f"{statement.calls_per_s:.2f}",
            str(statement.errors),
            str(statement.rows),
            *_latencies(statement.latency),
            statement.text if statement.kind != "other" else "(what came after the first 1,000 of a thread)",
        ]
        for statement in statements
    ]
    heading = ["kind", "calls", "per sec.", "errors", "rows", *LATENCY_COLUMNS, "statement"]
    return Grid("SQL statements (latency in ms)", heading, rows)


def errors_grid(errors: Sequence[ErrorStats]) -> Grid:
    """A row a code."""
    rows = [
        [
            error.sqlstate or "-",
            str(error.number),
            str(error.count),
            str(error.ignored),
            str(error.restarted),
            str(error.reconnected),
            str(error.fatal),
            " ".join(error.message.split()),
        ]
        for error in errors
    ]
    heading = ["SQLSTATE", "number", "count", "ignored", "restarted", "reconnected", "fatal", "message of the first"]
    return Grid("SQL errors", heading, rows)


def open_loop_grids(open_loop: OpenLoop) -> list[Grid]:
    """Latency beside service time; then a row a step, if the rate has steps."""
    total = open_loop.total
    times = [
        ["latency from intended start", *_latencies(total.latency)],
        ["service time", *_latencies(total.service_time)],
    ]
    grids = [Grid("Times of events (ms)", ["", *LATENCY_COLUMNS], times)]
    if open_loop.steps:
        heading = ["from s", "seconds", "asked/s", "reached/s", "waiting", "at most", "dropped"]
        heading += [*LATENCY_COLUMNS, "service p99"]
        grids.append(Grid("Steps of the rate (latency in ms)", heading, [_step(step) for step in open_loop.steps]))
    return grids


def _step(step: RateStats) -> list[str]:
    return [
        f"{step.start_s:.1f}",
        f"{step.length_s:.1f}",
        f"{step.rate_asked_per_s:.2f}",
        f"{step.rate_reached_per_s:.2f}",
        str(step.backlog),
        str(step.backlog_max),
        str(step.events_dropped),
        *_latencies(step.latency),
        _ms(step.service_time.percentiles[-1].latency_ns),
    ]


def _latencies(latency: Latency) -> list[str]:
    """In the order of LATENCY_COLUMNS."""
    percentiles_ns = (percentile.latency_ns for percentile in latency.percentiles)
    return [_ms(value_ns) for value_ns in (latency.avg_ns, *percentiles_ns, latency.max_ns)]


def _ms(latency_ns: int) -> str:
    return f"{latency_ns / NS_PER_MS:.3f}"

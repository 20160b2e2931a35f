"""Metrics for Prometheus: served while the run lasts, or as a file in its text format.

Names and units follow Prometheus' conventions: seconds, `_total` for what only grows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

from sysbench_py.stats.cumulate import joined
from sysbench_py.stats.model import NS_PER_S, IntervalStats, Latency, LatencyHistogram
from sysbench_py.stats.result import RunResult, Setup

# 1 us to 100 s.
BOUNDS_NS = (*(step * 10**power for power in range(3, 11) for step in (1, 2, 5)), 10**11)
_ADDRESS = re.compile(r"(?:(.+):)?([+-]?[0-9]+)")


def render(result: RunResult) -> str:
    """The metrics at the end of a run."""
    registry = CollectorRegistry()
    whole = [each for each in result.intervals if not each.partial] or result.intervals
    registry.register(_Run(result.setup, joined(result.intervals), whole[-1]))
    return generate_latest(registry).decode()


class Exporter:
    """Answers scrapes at an address, with the counts up to the last interval."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._registry = CollectorRegistry()
        self._so_far: IntervalStats | None = None
        self._last: IntervalStats | None = None
        self._run: _Run | None = None

    def collect(self) -> Iterator[Metric]:
        """What a scrape gets: nothing before the first interval."""
        if self._run is not None:
            yield from self._run.collect()

    def open(self) -> None:
        self._server, self._thread = start_http_server(self._port, self._host, self._registry)
        self._registry.register(self)

    def begin(self, setup: Setup) -> None:
        self._setup = setup

    def interval(self, stats: IntervalStats) -> None:
        self._so_far = joined([self._so_far, stats] if self._so_far else [stats])
        if self._last is None or not stats.partial:
            self._last = stats
        self._run = _Run(self._setup, self._so_far, self._last)

    def end(self, result: RunResult) -> None:
        pass

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def listener(place: str) -> Exporter | None:
    """The exporter for `PORT` or `HOST:PORT`; None for the name of a file. Raises ValueError for no port."""
    match = _ADDRESS.fullmatch(place)
    if match is None:
        return None
    # No longer number is turned into one: Python refuses those of thousands of digits.
    port = int(match[2][:7])
    if not 0 < port < 65536:
        raise ValueError(f"{match[2]} is no port (use 1 to 65535)")
    return Exporter((match[1] or "0.0.0.0").strip("[]"), port)


class _Run:
    """The metrics of a run: `so_far` are all intervals joined, `last` is the last whole one."""

    def __init__(self, setup: Setup, so_far: IntervalStats, last: IntervalStats) -> None:
        self._setup = setup
        self._so_far = so_far
        self._last = last

    def collect(self) -> Iterator[Metric]:
        setup, so_far, last = self._setup, self._so_far, self._last
        counters, latency = so_far.counters, so_far.latency
        databases = [(each.driver, each.server_version) for each in setup.databases] or [("", "")]
        info = InfoMetricFamily("sysbench_run", "What is run.", labels=("test", "driver", "server_version"))
        for driver, version in databases:
            info.add_metric((setup.test, driver, version), {"engine": setup.engine, "started_at": setup.started_at})
        yield info
        yield _gauge("time_seconds", "Time since the start of the run.", so_far.time_total_s)
        yield _gauge("threads", "Threads that run.", last.threads_running)
        yield _counter("events", "Finished events.", counters.events)
        queries = CounterMetricFamily("sysbench_queries", "Statements without an error.", labels=("kind",))
        for kind in ("reads", "writes", "other"):
            queries.add_metric((kind,), getattr(counters, kind))
        yield queries
        yield _counter("errors", "Ignored errors.", counters.errors)
        yield _counter("reconnects", "Connections that were made again.", counters.reconnects)
        yield _counter("read_bytes", "Bytes that the test has read.", counters.bytes_read)
        yield _counter("written_bytes", "Bytes that the test has written.", counters.bytes_written)
        yield HistogramMetricFamily(
            "sysbench_latency_seconds",
            "Latency of events.",
            buckets=_buckets(latency.histogram),
            sum_value=latency.sum_ns / NS_PER_S,
        )
        yield _gauge("interval_events_per_second", "Events a second in the last interval.", last.events_per_s)
        yield _percentiles("latency_percentile_seconds", "Percentiles of the run so far.", latency)
        yield _percentiles("interval_latency_seconds", "Percentiles of the last interval.", last.latency)
        if last.rate_mode:
            yield _gauge("queue_length", "Events that wait to be started, with --rate.", last.queue_length)
            yield _gauge("concurrency", "Events that are being run, with --rate.", last.concurrency)


def _gauge(name: str, what: str, value: float) -> Metric:
    return GaugeMetricFamily(f"sysbench_{name}", what, value=value)


def _counter(name: str, what: str, value: float) -> Metric:
    return CounterMetricFamily(f"sysbench_{name}", what, value=value)


def _percentiles(name: str, what: str, latency: Latency) -> Metric:
    family = GaugeMetricFamily(f"sysbench_{name}", what, labels=("quantile",))
    for percentile in latency.percentiles:
        family.add_metric((f"{percentile.percent / 100:.10g}",), percentile.latency_ns / NS_PER_S)
    return family


def _buckets(histogram: LatencyHistogram) -> list[tuple[str, float]]:
    """Cumulative counts by upper bound, as exact as the histogram's own buckets are."""
    buckets_ns = histogram.buckets_ns()
    counts = [(bound, sum(n for latency_ns, n in buckets_ns if latency_ns <= bound)) for bound in BOUNDS_NS]
    return [*((repr(bound / NS_PER_S), float(n)) for bound, n in counts), ("+Inf", float(histogram.count))]

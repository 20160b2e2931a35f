"""What the slap test reports of a step: mysqlslap's lines, and what those lack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sysbench_py.stats.cumulate import counters_sum, latencies_merged
from sysbench_py.stats.model import NS_PER_MS, Counters, Latency, TotalStats


@dataclass(frozen=True)
class Step:
    """All iterations with one engine and one number of clients. `load` is the load type, or `query`."""

    engine: str
    load: str
    clients: int
    queries_per_client: int
    runs: Sequence[TotalStats]

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Average, least and most of the iterations."""
        each = [run.time_total_s for run in self.runs]
        return sum(each) / len(each), min(each), max(each)

    @property
    def counters(self) -> Counters:
        return counters_sum([run.counters for run in self.runs])

    @property
    def latency(self) -> Latency:
        return latencies_merged([run.latency for run in self.runs])

    @property
    def queries_per_s(self) -> float:
        """Queries of all clients a second, over all iterations."""
        time_s = sum(run.time_total_s for run in self.runs)
        return self.counters.events / time_s if time_s > 0 else 0.0


def block(step: Step, *, details: bool) -> str:
    """The lines of mysqlslap, with `details` those that it does not have, and an empty line."""
    average_s, least_s, most_s = step.seconds
    lines = ["Benchmark"]
    if step.engine:
        lines.append(f"\tRunning for engine {step.engine}")
    lines += [
        f"\tAverage number of seconds to run all queries: {average_s:.3f} seconds",
        f"\tMinimum number of seconds to run all queries: {least_s:.3f} seconds",
        f"\tMaximum number of seconds to run all queries: {most_s:.3f} seconds",
        f"\tNumber of clients running queries: {step.clients}",
        f"\tAverage number of queries per client: {step.queries_per_client}",
    ]
    if details:
        lines += _details(step)
    return "".join(f"{line}\n" for line in [*lines, ""])


def _details(step: Step) -> list[str]:
    latency, counters = step.latency, step.counters
    values = [("min", latency.min_ns), ("avg", latency.avg_ns)]
    values += [(f"{each}%", each.latency_ns) for each in latency.percentiles]
    values.append(("max", latency.max_ns))
    shown = ", ".join(f"{name} {value_ns / NS_PER_MS:.2f}" for name, value_ns in values)
    lines = [f"\tQueries per second: {step.queries_per_s:.2f}", f"\tLatency of a query (ms): {shown}"]
    if counters.errors or counters.reconnects:
        lines.append(f"\tIgnored errors: {counters.errors}, reconnects: {counters.reconnects}")
    return lines


def csv_row(step: Step) -> str:
    """The columns of mysqlslap's --csv: engine, load type, seconds (average, least, most), clients, queries of each."""
    seconds = ",".join(f"{value_s:.3f}" for value_s in step.seconds)
    return f"{step.engine},{step.load},{seconds},{step.clients},{step.queries_per_client}\n"

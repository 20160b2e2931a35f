"""The line that says that the load machine was the limit."""

from __future__ import annotations

from sysbench_py.stats.client import Client

# Fewer threads have little to gain from --multiplex.
MULTIPLEX_FROM = 9


def limit_message(client: Client) -> str:
    """One line with the name of the limit and its figures; empty if the load machine was none."""
    if not client.limits:
        return ""
    name, *more = client.limits
    also = f" (and {', '.join(more)})" if more else ""
    return f"WARNING: the load machine, not the server, limits this result: {name}{also}. {_because(client, name)}"


def _because(client: Client, name: str) -> str:
    used = f"this process took {client.cpus_used:.2f} of {_cpus(client.cpus)}, {_per_event(client)} an event"
    if name == "cpu-quota":
        return f"The container's CPU quota was used up in {client.throttled_share or 0:.0%} of its periods, {used}"
    if name == "carriers":
        most = max(int(client.cpus), client.carriers + 1)
        were = "was" if client.carriers == 1 else "were"
        threads = f"{_count(client.carriers, 'OS thread')} of --multiplex={client.carriers}"
        return f"The {threads} {were} busy, {used}; try --multiplex={most}"
    if name == "threads":
        share = client.waiting_share or 0
        crowd = f"{_count(client.os_threads, 'thread')} on {_cpus(client.cpus)}"
        return f"Workers waited for a CPU {share:.0%} of their time, {crowd}{_advice(client)}"
    if name == "clock":
        return (
            f"Reading the clock takes {client.clock_read_ns:.0f} ns (clock source {client.clock_source or 'unknown'}),"
            f" an event {client.latency_sum_ns / client.events:.0f} ns"
        )
    return f"{used[:1].upper()}{used[1:]}{_advice(client)}"


def _advice(client: Client) -> str:
    carriers = max(int(client.cpus), 1)
    if client.carriers or client.os_threads < max(MULTIPLEX_FROM, 2 * carriers):
        return ""
    return f"; --multiplex={carriers} saves most switches between {client.os_threads} threads (docs/multiplex.md)"


def _per_event(client: Client) -> str:
    return f"{(client.cpu_per_event_ns or 0) / 1000:,.1f} us"


def _cpus(cpus: float) -> str:
    return f"{cpus:g} CPU{'' if cpus == 1 else 's'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

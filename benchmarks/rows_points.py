"""Point selects: what a query costs the client, against everything that can do the same."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import CPU_PER_QUERY, PEAK, QUERIES, TRANSACTIONS
from benchmarks.row import Row, against_reference

POINTS = "oltp_point_select {tables}"
# Threads; queries/s and client CPU, then the same with --multiplex.
MARIADB_GOALS = ((4, 1.0, 0.85, 0.95, 0.8), (32, 1.0, 0.8, 0.95, 0.65), (256, 1.08, 0.55, 0.95, 0.4))
POSTGRES_GOALS = ((4, 1.0, 0.85, 0.7), (32, 1.0, 0.8, 0.6), (256, 1.0, 0.6, 0.4))


def _multiplexed(name: str, server: str, carriers: int, threads: int, rate: float | None, cpu: float | None) -> Row:
    arguments = f"{POINTS} {server} --threads={threads} --time={{time}}"
    return Row(
        f"{name}, {threads} thr., --multiplex={carriers}",
        {QUERIES: rate, CPU_PER_QUERY: cpu},
        f"{{reference}} {arguments} run",
        f"{{ours}} {arguments} --multiplex={carriers} run",
    )


def _servers() -> Iterator[Row]:
    for place, server in (("socket", "{mariadb_socket}"), ("TCP", "{mariadb}")):
        name = f"point select, MariaDB, {place}"
        for threads, rate, cpu, multiplexed_rate, multiplexed_cpu in MARIADB_GOALS:
            figures = {QUERIES: rate, CPU_PER_QUERY: cpu}
            yield against_reference(f"{name}, {threads} thr.", f"{POINTS} {server} --threads={threads}", figures)
            yield _multiplexed(name, server, 2, threads, multiplexed_rate, multiplexed_cpu)
            # What is right where the server runs on the same machine.
            yield _multiplexed(name, server, 1, threads, None, None)
    name = "point select, PostgreSQL"
    for threads, rate, cpu, multiplexed_cpu in POSTGRES_GOALS:
        figures = {QUERIES: rate, CPU_PER_QUERY: cpu}
        yield against_reference(f"{name}, {threads} thr.", f"{POINTS} {{postgres}} --threads={threads}", figures)
        yield _multiplexed(name, "{postgres}", 1, threads, None, multiplexed_cpu)
    for threads in (4, 32):
        figures = {CPU_PER_QUERY: 1.0}
        arguments = f"{POINTS} {{mariadb_tls}} --threads={threads}"
        yield against_reference(f"point select, MariaDB, TLS, {threads} thr.", arguments, figures)


def _responder() -> Iterator[Row]:
    for name, server in (("MySQL", "{responder_mysql}"), ("PostgreSQL", "{responder_pgsql}")):
        arguments = f"{POINTS} {server} --threads=32 --time={{time}}"
        theirs = f"{{own_core}} {{reference}} {arguments} run"
        for suffix, option, goal in (("", "", 1.25), (", --multiplex=1", "--multiplex=1", 1.6)):
            ours = f"{{own_core}} {{ours}} {arguments} {option} run"
            yield Row(f"responder, {name}, 32 thr.{suffix}", {QUERIES: goal, CPU_PER_QUERY: None}, theirs, ours)
        # Connecting takes its time, and is not what is measured.
        many = f"{{ours}} {POINTS} {server} --threads=4096 --thread-init-timeout=600 --time={{time}}"
        yield Row(
            f"responder, {name}, 4096 connections, --multiplex=2",
            {PEAK: 0.3, QUERIES: None},
            f"{many} run",
            f"{many} --multiplex=2 run",
            "ours, a thread each",
        )


def _floor() -> Iterator[Row]:
    servers = (
        ("MariaDB, socket", "{mariadb_socket}", "{floor_mariadb_socket}", 1.25),
        ("MariaDB, TCP", "{mariadb}", "{floor_mariadb}", 1.25),
        ("PostgreSQL", "{postgres}", "{floor_postgres}", 1.4),
    )
    for name, server, floor, goal in servers:
        for threads, carriers in ((4, ""), (32, ""), (256, "1")):
            yield Row(
                f"floor, {name}, {threads} thr." + (f", --multiplex={carriers}" if carriers else ""),
                {CPU_PER_QUERY: None if carriers else goal, QUERIES: None},
                f"{{floor}} {floor} {threads} {{time}} {{floor_tables}} {carriers}",
                f"{{ours}} {POINTS} {server} --threads={threads} --time={{time}}"
                + (f" --multiplex={carriers} run" if carriers else " run"),
                "C floor by epoll" if carriers else "C floor",
            )


def _pgbench() -> Iterator[Row]:
    for jobs, option in ((32, ""), (1, "--multiplex=1")):
        yield Row(
            f"pgbench -S -M prepared, 32 clients, -j {jobs}",
            {TRANSACTIONS: 1.0, CPU_PER_QUERY: 1.0},
            f"{{pgbench}} -S -M prepared -c 32 -j {jobs} -T {{time}}",
            f"{{ours}} {POINTS} {{postgres}} --threads=32 {option} --time={{time}} run",
            "pgbench",
        )


ROWS = (*_servers(), *_responder(), *_floor(), *_pgbench())

"""The cost of the driver dbapi against the native drivers, and of two processes against one, on private servers.

    python -m benchmarks.dbapi [--rounds N] [--time S] [WORD...]

Each round runs every variant of a server in turn; the tables show medians over the rounds of the ratios within a
round, with their spread. Client CPU is user and system time of all processes of a run, start-up included, per query.
WORDs select the servers whose names contain one of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import statistics
import subprocess
import sys
from contextlib import ExitStack, closing

from benchmarks.engine import Measured, measure, spread
from tests.support.dbapi import dbapi
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.server import Server

SERVERS: dict[str, tuple[type[Server], str, tuple[str, ...]]] = {
    "PostgreSQL": (PostgreSQL, "pgsql", ("psycopg2", "pg8000.dbapi")),
    "MariaDB": (MariaDB, "mysql", ("pymysql",)),
}
WORKLOAD = ("oltp_point_select", "--tables=4", "--table-size=10000", "--threads=4")
TWO_PROCESSES = ("--workers=process", "--processes=2")


def variants(server: Server, modules: tuple[str, ...]) -> dict[str, list[str]]:
    """Options by name: the native driver, each module, and each in two processes."""
    found = {"native": server.args}
    for module in modules:
        found[module] = dbapi(server, module)
        found[f"{module} in two"] = [*found[module], *TWO_PROCESSES]
    return found


def ratios(runs: dict[str, list[Measured]], of: str, to: str) -> str:
    """The cells of a row: rates and costs of one variant, and what they are to those of another."""
    pairs = list(zip(runs[of], runs[to], strict=True))
    return (
        f"{statistics.median(each.rate_per_s for each in runs[of]):,.0f}"
        f" | {spread([a.rate_per_s / b.rate_per_s for a, b in pairs])}"
        f" | {statistics.median(each.cpu_us for each in runs[of]):.1f}"
        f" | {spread([a.cpu_us / b.cpu_us for a, b in pairs])}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ours", default=f"{sys.executable} -m sysbench_py", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each variant [%(default)s]")
    parser.add_argument("--time", type=int, default=4, help="seconds of each run [%(default)s]")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only servers whose name contains a WORD")
    options = parser.parse_args()
    command = shlex.split(options.ours)
    rows: list[str] = []
    for name, (make, native, modules) in SERVERS.items():
        if options.words and not any(word.lower() in name.lower() for word in options.words):
            continue
        with ExitStack() as stack:
            server = stack.enter_context(closing(make()))
            server.start()
            subprocess.run([*command, *WORKLOAD, *server.args, "prepare"], check=True, stdout=subprocess.DEVNULL)
            runs: dict[str, list[Measured]] = {}
            for _ in range(options.rounds):
                for variant, arguments in variants(server, modules).items():
                    words = [*WORKLOAD, *arguments, f"--time={options.time}"]
                    runs.setdefault(variant, []).append(measure(command, words))
        for module in modules:
            rows.append(f"| {name}: {module} to the driver {native} | {ratios(runs, module, 'native')} |")
        for module in modules:
            rows.append(f"| {name}: {module}, two processes to one | {ratios(runs, f'{module} in two', module)} |")
    load = ", ".join(f"{each:.0f}" for each in os.getloadavg())
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}"
    print(f"{machine}, {options.rounds} rounds, load {load}")
    print()
    print("| oltp_point_select, 4 threads | queries/s | ratio | client CPU us a query | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()

"""The cost of the engine, the reference against our own command, on private servers that this starts and stops.

    python -m benchmarks.engine [--reference PROGRAM] [--ours COMMAND] [--pairs N] [--time S] [WORD...]

Each row runs both in turn (A B A B ...); the table shows medians over the pairs and the median of the pairs' ratios
with its spread. Client CPU is user and system time of the whole process, start-up included, per query or event.
WORDs select the rows whose names contain one of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.reference import report

DEBIAN = "/usr/share/sysbench"
TABLES = ("--tables=4", "--table-size=10000")


@dataclass(frozen=True)
class Row:
    """One comparison; `server` is None for a test without a database."""

    name: str
    server: str | None
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """One run: work done per second, and client CPU per unit of work."""

    rate_per_s: float
    cpu_us: float


def rows(empty_script: str) -> list[Row]:
    found = [
        Row(f"empty event, {threads} thr.", None, (empty_script, f"--threads={threads}")) for threads in (1, 2, 64)
    ]
    for server in ("mariadb", "postgres"):
        found += [
            Row(
                f"{script} on {server}, {threads} thr.",
                server,
                (f"{DEBIAN}/{script}.lua", *TABLES, f"--threads={threads}"),
            )
            for script, threads in (("oltp_point_select", 4), ("oltp_point_select", 32), ("oltp_read_write", 16))
        ]
    return found


def measure(command: Sequence[str], arguments: Sequence[str]) -> Measured:
    """Run once to the end; exits if that fails."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([*command, *arguments, "run"], stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode != 0:
        sys.exit(f"{shlex.join([*command, *arguments])} failed:\n{text}")
    numbers = report(text)
    work = numbers.get("queries", numbers["events"])
    return Measured(work / numbers["total_time_s"], (usage.ru_utime + usage.ru_stime) / work * 1e6)


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):6.3f} ({min(values):.2f}..{max(values):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--reference", default="/usr/bin/sysbench", help="default: %(default)s")
    parser.add_argument("--ours", default=f"{sys.executable} -m sysbench_py", help="default: %(default)s")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs for each row [%(default)s]")
    parser.add_argument("--time", type=int, default=5, help="seconds of each run [%(default)s]")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only rows whose name contains a WORD")
    options = parser.parse_args()
    commands = (shlex.split(options.reference), shlex.split(options.ours))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, {options.pairs} pairs")
    print()
    print("| test | reference /s | ours /s | ours to reference | reference CPU us | ours CPU us | ours to reference |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        empty_script = Path(directory) / "empty.lua"
        empty_script.write_text("function event() end\n")
        connect: dict[str | None, list[str]] = {None: []}
        for row in rows(str(empty_script)):
            if options.words and not any(word in row.name for word in options.words):
                continue
            if row.server not in connect:
                server = stack.enter_context(closing(MariaDB() if row.server == "mariadb" else PostgreSQL()))
                server.start()
                connect[row.server] = server.args
                prepare = [f"{DEBIAN}/oltp_read_write.lua", *server.args, *TABLES, "--threads=2", "prepare"]
                subprocess.run([*commands[1], *prepare], check=True, stdout=subprocess.DEVNULL)
            arguments = [*row.arguments, *connect[row.server], f"--time={options.time}"]
            pairs = [[measure(command, arguments) for command in commands] for _ in range(options.pairs)]
            theirs, ours = zip(*pairs, strict=True)
            print(
                f"| {row.name} | {statistics.median(m.rate_per_s for m in theirs):,.0f} "
                f"| {statistics.median(m.rate_per_s for m in ours):,.0f} "
                f"| {spread([b.rate_per_s / a.rate_per_s for a, b in pairs])} "
                f"| {statistics.median(m.cpu_us for m in theirs):.3f} "
                f"| {statistics.median(m.cpu_us for m in ours):.3f} "
                f"| {spread([b.cpu_us / a.cpu_us for a, b in pairs])} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

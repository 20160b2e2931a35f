"""One run of a program, and the figures that are read from it."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.reference import report

ROOT = Path(__file__).parent.parent


class RunFailed(Exception):
    """A program that ended with an error, or without the figure that was to be read."""


@dataclass(frozen=True)
class Measured:
    """What a program printed, and what it took: CPU is user and system time of the process from start to end."""

    text: str
    wall_s: float
    cpu_s: float
    peak_kib: int


def run(command: Sequence[str], directory: Path) -> Measured:
    """Run to the end in `directory`. Raises RunFailed with the output if the status is not 0."""
    # Our own command is found from any directory, installed or not.
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryFile("w+") as output:
        begin_s = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=directory,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begin_s
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode != 0:
        raise RunFailed(f"{' '.join(command)}: status {process.returncode}\n{text}")
    return Measured(text, wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


@dataclass(frozen=True)
class Metric:
    """A figure of a run; `more_is_better` says on which side of a goal it should be."""

    name: str
    of: Callable[[Measured], float]
    more_is_better: bool


def _number(pattern: str, text: str) -> float:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise RunFailed(f"{pattern!r} is not in the output:\n{text}")
    return float(match[1])


def _counts(text: str) -> tuple[float, float, float]:
    """Events (or transactions), queries, and the seconds that they took, as each of the programs tells them."""
    if "General statistics:" in text:
        values = report(text)
        return values["events"], values.get("queries", values["events"]), values["total_time_s"]
    if text.startswith(("queries: ", "events: ")):  # the floor
        done = _number(r"^(?:queries|events): (\d+)", text)
        return done, done, _number(r"^seconds: ([\d.]+)", text)
    # pgbench tells the rate that leaves connecting out. Its -S has one query in a transaction.
    done = _number(r"^number of transactions actually processed: (\d+)", text)
    return done, done, done / _number(r"^tps = ([\d.]+) \(without initial connection time\)", text)


def _events_per_s(measured: Measured) -> float:
    events, _, seconds = _counts(measured.text)
    return events / seconds


def _queries_per_s(measured: Measured) -> float:
    _, queries, seconds = _counts(measured.text)
    return queries / seconds


def _peak_mib(measured: Measured) -> float:
    # The kernel counts what was there before the program took the place of ours.
    if measured.peak_kib <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        raise RunFailed("the program takes less memory than this one: its peak is not known")
    return measured.peak_kib / 1024


EVENTS = Metric("events/s", _events_per_s, True)
QUERIES = Metric("queries/s", _queries_per_s, True)
TRANSACTIONS = Metric("transactions/s", _events_per_s, True)
CPU_PER_EVENT = Metric("client CPU, us/event", lambda m: m.cpu_s / _counts(m.text)[0] * 1e6, False)
CPU_PER_QUERY = Metric("client CPU, us/query", lambda m: m.cpu_s / _counts(m.text)[1] * 1e6, False)
CPU_PER_TRANSACTION = Metric("client CPU, us/transaction", lambda m: m.cpu_s / _counts(m.text)[0] * 1e6, False)
WALL = Metric("wall time, s", lambda m: m.wall_s, False)
PEAK = Metric("peak memory, MiB", _peak_mib, False)
MEMORY_RATE = Metric("MiB/s", lambda m: _number(r"\(([\d.]+) MiB/sec\)", m.text), True)
FILE_OPERATIONS = Metric(
    "IOPS", lambda m: _number(r"reads/s: +([\d.]+)", m.text) + _number(r"writes/s: +([\d.]+)", m.text), True
)

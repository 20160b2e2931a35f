"""The speed of the built-in tests, the reference against our own command.

    python -m benchmarks.builtin [--reference PROGRAM] [--ours COMMAND] [--pairs N] [--time S] [WORD...]

Each row runs both in turn (A B A B ...); the table shows the medians and their ratio, above 1 where ours does
more in the same time. WORDs select the rows whose names contain one of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison: the arguments of both programs, and which of their numbers counts, a key of METRICS.

    `before` is what the reference does first, once, in the directory of both.
    """

    name: str
    arguments: str
    metric: str
    before: str = ""


def _number(pattern: str, report: str) -> float:
    match = re.search(pattern, report)
    if match is None:
        sys.exit(f"{pattern!r} is not in the report:\n{report}")
    return float(match[1])


def _events_per_s(report: str) -> float:
    return _number(r"total number of events: +(\d+)", report) / _number(r"total time: +([\d.]+)s", report)


def _mib_per_s(report: str) -> float:
    return _number(r"\(([\d.]+) MiB/sec\)", report)


def _operations_per_s(report: str) -> float:
    return _number(r"reads/s: +([\d.]+)", report) + _number(r"writes/s: +([\d.]+)", report)


METRICS: dict[str, Callable[[str], float]] = {"events/s": _events_per_s, "MiB/s": _mib_per_s, "IOPS": _operations_per_s}


def _cpu_rows() -> Iterator[Row]:
    for threads in (1, 2):
        for primes in (10000, 20000):
            yield Row(
                f"cpu, primes below {primes}, {threads} thr.",
                f"cpu --cpu-max-prime={primes} --threads={threads}",
                "events/s",
            )


def _memory_rows() -> Iterator[Row]:
    for oper in ("write", "read", "none"):
        for mode in ("seq", "rnd"):
            for size in ("1K", "1M"):
                for threads in (1, 2):
                    yield Row(
                        f"memory {oper}, {mode}, {size}, {threads} thr.",
                        f"memory --memory-oper={oper} --memory-access-mode={mode} --memory-block-size={size}"
                        f" --memory-total-size=0 --threads={threads}",
                        "events/s" if oper == "none" else "MiB/s",
                    )


def _fileio_rows() -> Iterator[Row]:
    # Files that stay in the page cache, and no fsync: what is compared is the program, not the disk.
    files = "fileio --file-num=8 --file-total-size=64M"
    for mode in ("rndrd", "rndwr", "rndrw", "seqrd"):
        for size in ("4K", "16K"):
            for threads in (1, 2):
                yield Row(
                    f"fileio {mode}, {size}, {threads} thr.",
                    f"{files} --file-test-mode={mode} --file-block-size={size} --file-fsync-freq=0"
                    f" --file-fsync-end=off --threads={threads}",
                    "IOPS",
                    before=f"{files} prepare",
                )


ROWS = (
    *_cpu_rows(),
    *_memory_rows(),
    Row("threads, 1 thr.", "threads", "events/s"),
    Row("threads, 2 thr.", "threads --threads=2", "events/s"),
    Row("threads, 64 thr.", "threads --threads=64", "events/s"),
    # One event a thread: these runs end with their work.
    Row("mutex, 1 thr.", "mutex --mutex-locks=500000", "events/s"),
    Row("mutex, 2 thr.", "mutex --mutex-locks=500000 --threads=2", "events/s"),
    Row("mutex, 64 thr.", "mutex --mutex-locks=20000 --threads=64", "events/s"),
    *_fileio_rows(),
)


def measure(command: Sequence[str], row: Row, time_s: int, directory: str) -> float:
    """Run the test of the row once, in `directory`; exits if that fails."""
    arguments = [*command, *row.arguments.split(), f"--time={time_s}", "run"]
    done = subprocess.run(arguments, cwd=directory, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return METRICS[row.metric](done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--reference", default="/usr/bin/sysbench", help="default: %(default)s")
    parser.add_argument("--ours", default=f"{sys.executable} -m sysbench_py", help="default: %(default)s")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of runs for each row [%(default)s]")
    parser.add_argument("--time", type=int, default=2, help="seconds of each run [%(default)s]")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only rows whose name contains a WORD")
    options = parser.parse_args()
    commands = (shlex.split(options.reference), shlex.split(options.ours))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, {options.pairs} pairs")
    print()
    print("| test | reference | ours | unit | ours to reference |")
    print("| --- | ---: | ---: | --- | ---: |")
    with tempfile.TemporaryDirectory() as directory:
        for row in ROWS:
            if options.words and not any(word in row.name for word in options.words):
                continue
            if row.before:
                subprocess.run([*commands[0], *row.before.split()], cwd=directory, check=True, capture_output=True)
            pairs = [
                [measure(command, row, options.time, directory) for command in commands] for _ in range(options.pairs)
            ]
            theirs, ours = (statistics.median(values) for values in zip(*pairs, strict=True))
            print(
                f"| {row.name} | {theirs:,.2f} | {ours:,.2f} | {row.metric} | {ours / theirs:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

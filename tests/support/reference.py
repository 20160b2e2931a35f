"""The original and our own command, and a strict reader of the report that both print."""

import atexit
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.proc import Result, Run, find_program


class Program:
    """A command under test: call it to run it to its end, `start` it to do something meanwhile."""

    def __init__(self, command: Callable[[], Sequence[str]]) -> None:
        self._command = command

    def __call__(
        self,
        *args: str,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: str = "",
        timeout_s: float = 120,
    ) -> Result:
        """Runs it with `args`; the other parameters are those of `Run` and `Run.result`."""
        with self.start(*args, cwd=cwd, env=env, stdin=stdin) as run:
            return run.result(timeout_s)

    def start(
        self,
        *args: str,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: str = "",
    ) -> Run:
        """Starts it with `args`; the other parameters are those of `Run`."""
        return Run(*self._command(), *args, cwd=cwd, env=env, stdin=stdin)


def _reference_command() -> Sequence[str]:
    # With its directory: an active virtual environment has our own command of the same name.
    return ["env", f"LD_PRELOAD={compiled('steady')}", find_program("/usr/bin/sysbench", "sysbench")]


@cache
def compiled(name: str) -> Path:
    """The library of the C file of that name in this directory, for LD_PRELOAD."""
    directory = Path(tempfile.mkdtemp(prefix="sb-"))
    atexit.register(shutil.rmtree, directory)
    library = directory / f"{name}.so"
    compiler = find_program("gcc", "gcc")
    source = Path(__file__).with_name(f"{name}.c")
    with Run(compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl") as run:
        result = run.result()
    if result.status != 0:
        raise RuntimeError(f"{source.name} does not compile:\n{result.stderr}")
    return library


reference = Program(_reference_command)
"""sysbench 1.0.20, with `prepare` and `init` drawing from libc's default seed in every run (see steady.c)."""

ours = Program(lambda: [sys.executable, "-m", "sysbench_py"])


# printf templates. A text fits one if the values read from it, printed again, give the same text.
SQL_BLOCK = """\
SQL statistics:
    queries performed:
        read:                            %(read)d
        write:                           %(write)d
        other:                           %(other)d
        total:                           %(total)d
    transactions:                        %(transactions)-6d (%(transactions_per_s).2f per sec.)
    queries:                             %(queries)-6d (%(queries_per_s).2f per sec.)
    ignored errors:                      %(ignored_errors)-6d (%(ignored_errors_per_s).2f per sec.)
    reconnects:                          %(reconnects)-6d (%(reconnects_per_s).2f per sec.)
"""

GENERAL_BLOCK = """\
General statistics:
    total time:                          %(total_time_s).4fs
    total number of events:              %(events)d

Latency (ms):
         min: %(latency_min_ms)39.2f
         avg: %(latency_avg_ms)39.2f
         max: %(latency_max_ms)39.2f
        %(percentile)3dth percentile: %(latency_percentile_ms)27.2f
         sum: %(latency_sum_ms)39.2f

Threads fairness:
    events (avg/stddev):           %(events_avg).4f/%(events_stddev)3.2f
    execution time (avg/stddev):   %(execution_time_avg_s).4f/%(execution_time_stddev_s)3.2f

"""
PERCENTILE_LINE = "        %(percentile)3dth percentile: %(latency_percentile_ms)27.2f\n"
NO_PERCENTILE_LINE = "         percentile stats:               disabled\n"
GENERAL_BLOCKS = (GENERAL_BLOCK, GENERAL_BLOCK.replace(PERCENTILE_LINE, NO_PERCENTILE_LINE))

TIMED_LINES = (
    "[ %(time_s)ds ] thds: %(threads)d eps: %(eps)4.2f lat (ms,%(percentile)d%%): %(latency_ms)4.2f\n",
    "[ %(time_s)ds ] thds: %(threads)d tps: %(tps)4.2f qps: %(qps)4.2f"
    " (r/w/o: %(reads_per_s)4.2f/%(writes_per_s)4.2f/%(other_per_s)4.2f)"
    " lat (ms,%(percentile)d%%): %(latency_ms)4.2f"
    " err/s: %(errors_per_s)4.2f reconn/s: %(reconnects_per_s)4.2f\n",
    "[ %(time_s)ds ] queue length: %(queue_length)d concurrency: %(concurrency)d\n",
    "[ %(time_s)ds ] queue length: %(queue_length)d, concurrency: %(concurrency)d\n",
    "[ %(time_s)ds ] Checkpoint report:\n",
)


def report(stdout: str) -> dict[str, Any]:
    """The one cumulative report in `stdout`: its values by the names in the templates above.

    The names of `SQL_BLOCK` are there only if the report has it, those of the percentile only if it is on.
    "intermediate" is the list of the timed lines, each a dict of its own.
    Raises ValueError where a line is missing, is in another shape, or where there is not just one report.
    """
    found = reports(stdout)
    if len(found) != 1:
        raise ValueError(f"{len(found)} reports instead of one in:\n{stdout}")
    return found[0] | {"intermediate": intermediate(stdout)}


def reports(stdout: str) -> list[dict[str, Any]]:
    """All cumulative reports in `stdout`, those of checkpoints first. Raises ValueError as `report` does."""
    lines = stdout.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line == "General statistics:\n"]
    sql_starts = {number for number, line in enumerate(lines) if line == "SQL statistics:\n"}
    found = []
    for start in starts:
        values = _values("".join(lines[start : start + GENERAL_BLOCK.count("\n")]), *GENERAL_BLOCKS)
        sql_start = start - 1 - SQL_BLOCK.count("\n")
        # An empty line comes before, of which a second one in a row is only counted.
        if start == 0 or lines[start - 1] not in ("\n", "(last message repeated 1 times)\n"):
            raise ValueError(f"no empty line before the general statistics in:\n{stdout}")
        if sql_start in sql_starts:
            sql_starts.remove(sql_start)
            values |= _values("".join(lines[sql_start : start - 1]), SQL_BLOCK)
        found.append(values)
    if sql_starts:
        raise ValueError(f"SQL statistics without general statistics in:\n{stdout}")
    return found


def intermediate(stdout: str) -> list[dict[str, Any]]:
    """The values of each timed line, `[ 1s ] ...`. Raises ValueError for one of an unknown shape."""
    return [_values(line, *TIMED_LINES) for line in stdout.splitlines(keepends=True) if line.startswith("[ ")]


_FIELD = re.compile(r"%\((\w+)\)[-.\d]*([df])")


def _values(text: str, *templates: str) -> dict[str, Any]:
    for template in templates:
        fields = _FIELD.findall(template)
        literals = _FIELD.sub("\0", template).replace("%%", "%").split("\0")
        match = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*".join(map(re.escape, literals)), text)
        if match is None:
            continue
        values = {
            name: int(value) if kind == "d" else float(value)
            for (name, kind), value in zip(fields, match.groups(), strict=True)
            if kind == "f" or "." not in value
        }
        if len(values) == len(fields) and template % values == text:
            return values
    raise ValueError(f"not in the shape of a report:\n{text}")

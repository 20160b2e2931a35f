"""--report-style=0.4: the report of sysbench 0.4.12, for all tests."""

import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sysbench_py.sinks.text_0_4 import cumulative_messages, intermediate_messages
from sysbench_py.stats.model import (
    Counters,
    Fairness,
    IntervalStats,
    Latency,
    LatencyHistogram,
    Percentile,
    TotalStats,
)
from tests.support.compat import compat
from tests.support.postgres import PostgreSQL
from tests.support.proc import Run
from tests.support.reference import ours, report
from tests.support.report_0_4 import PUBLISHED, read_report

STYLE = "--report-style=0.4"


def counters(**counts: int) -> Counters:
    names = ("events", "reads", "writes", "other", "errors", "reconnects", "bytes_read", "bytes_written")
    return Counters(**{name: counts.get(name, 0) for name in names})


def latency(*percentiles: float) -> Latency:
    return Latency(
        min_ns=2_240_000,
        avg_ns=2_899_120,
        max_ns=69_170_000,
        sum_ns=28_991_200_000,
        percentiles=tuple(Percentile(percent=percent, latency_ns=3_980_000) for percent in percentiles),
        histogram=LatencyHistogram([], 0),
    )


def total(sql: bool, percentiles: tuple[float, ...] = (95,), **counts: int) -> TotalStats:
    return TotalStats(
        time_total_s=29.04734,
        interval_s=29.04734,
        threads_running=1,
        counters=counters(**counts),
        latency=latency(*percentiles),
        sql=sql,
        fairness=Fairness(events_avg=10000, events_stddev=0, execution_time_avg_s=28.9912, execution_time_stddev_s=0),
        workers=(),
    )


def text(messages: list[str]) -> str:
    return "".join(f"{message}\n" for message in messages)


def test_published_report_to_the_letter() -> None:
    stats = total(sql=True, events=10000, reads=140000, writes=50000, other=20000)
    assert text(cumulative_messages(stats)) == PUBLISHED


def test_other_tests_have_the_summary_only() -> None:
    summary = PUBLISHED[PUBLISHED.index("\nTest execution") :]
    stats = replace(total(sql=False, events=10000), own_lines_0_4=("block",))
    assert text(cumulative_messages(stats)) == f"block\n{summary}"


def test_percentiles() -> None:
    assert "approx." not in text(cumulative_messages(total(sql=False, percentiles=())))
    lines = text(cumulative_messages(total(sql=False, percentiles=(50, 99.9)))).splitlines()
    assert [line for line in lines if "approx." in line] == [
        "         approx.  50 percentile:               3.98ms",
        "         approx. 99.9 percentile:               3.98ms",
    ]


def test_errors_are_deadlocks_and_reconnects_are_others() -> None:
    stats = total(sql=True, events=100, reads=10, writes=20, other=30, errors=4, reconnects=5)
    values = read_report(text(cumulative_messages(stats)))
    assert (values["read"], values["write"], values["other"], values["total"]) == (10, 20, 35, 65)
    assert (values["deadlocks"][0], values["requests"][0], values["others"][0]) == (4, 30, 35)


def test_intermediate_line() -> None:
    stats = IntervalStats(
        time_total_s=9.6,
        interval_s=2.0,
        threads_running=64,
        counters=counters(events=100, reads=1400, writes=500),
        latency=latency(99),
        sql=True,
        rate_mode=False,
        queue_length=0,
        concurrency=0,
    )
    assert intermediate_messages(stats) == [
        "[  10s] threads: 64, tps: 50.00, reads/s: 700.00, writes/s: 250.00 response time: 3.98ms (99%)"
    ]


@compat("report-style")
def test_reports_of_every_database(database: list[str]) -> None:
    """--test=oltp and a test of today, from which the same reader gets what the usual report says."""
    old = ours(
        "--test=oltp", *database, "--oltp-table-size=100", "--max-requests=40", STYLE, "prepare", "run", "cleanup"
    )
    values = read_report(old.stdout)
    assert (values["read"], values["write"], values["other"], values["total"]) == (560, 200, 80, 840)
    assert (values["transactions"][0], values["deadlocks"][0], values["events"]) == (40, 0, 40)
    assert values["requests"][1] / values["transactions"][1] == pytest.approx(19, rel=0.01)
    assert values["min_ms"] <= values["avg_ms"] <= values["max_ms"]
    assert values["fair_events"] == (40, 0)
    today = ours("oltp_read_write", *database, "--table-size=100", "--events=40", STYLE, "prepare", "run", "cleanup")
    assert read_report(today.stdout)["read"] == 560


def test_checkpoints_and_intervals(tmp_path: Path) -> None:
    options = ("--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}", "--table-size=100")
    assert ours("oltp_read_only", *options, "prepare").status == 0
    timed = ("--time=2", "--report-interval=1", "--report-checkpoints=1")
    output = ours("oltp_read_only", *options, *timed, STYLE, "run").stdout
    line = r"^\[   [12]s\] threads: 1, tps: [\d.]+, reads/s: [\d.]+, writes/s: 0\.00 response time: [\d.]+ms \(95%\)$"
    assert len(re.findall(line, output, re.MULTILINE)) == 2
    checkpoint, final = output.split("Checkpoint report:\n")[1].split("Threads fairness:\n")[:2]
    for part in (checkpoint, final):
        events = re.search(r"total number of events: +(\d+)", part)
        assert events is not None
        assert int(events[1]) > 0


def test_cpu() -> None:
    output = ours("--test=cpu", "--cpu-max-prime=2000", "--max-requests=10", STYLE, "run").stdout
    assert "\nPrimer numbers limit: 2000\n" in output
    assert "\nMaximum prime number checked in CPU test: 2000\n" in output
    assert "CPU speed" not in output
    assert read_report(output)["events"] == 10


def test_memory() -> None:
    options = ("--memory-block-size=1M", "--memory-total-size=200M")
    output = ours("--test=memory", *options, STYLE, "run").stdout
    assert re.search(r"^Operations performed: 200 \( *[\d.]+ ops/sec\)$", output, re.MULTILINE)
    assert re.search(r"^200\.00 MB transferred \([\d.]+ MB/sec\)$", output, re.MULTILINE)
    assert read_report(output)["events"] == 200
    none = ours("--test=memory", *options, "--memory-oper=none", STYLE, "run").stdout
    assert "Operations performed: 200" in none
    assert "transferred" not in none


@pytest.mark.parametrize("test", ["threads", "mutex"])
def test_threads_and_mutex(test: str) -> None:
    options = ("--thread-yields=10",) if test == "threads" else ("--mutex-locks=10", "--mutex-loops=10")
    output = ours(f"--test={test}", *options, "--num-threads=2", "--max-requests=2", STYLE, "run").stdout
    assert read_report(output)["events"] == 2


def test_fileio(tmp_path: Path) -> None:
    size = ("--test=fileio", "--file-num=2", "--file-total-size=2M")
    assert ours(*size, "prepare", cwd=tmp_path).status == 0
    result = ours(
        *size, "--file-test-mode=rndrw", "--max-requests=50", "--file-fsync-freq=10", "--report-interval=1", STYLE,
        "run", cwd=tmp_path,
    )  # fmt: skip
    assert result.status == 0, result.stdout + result.stderr
    output = result.stdout
    performed = re.search(r"^Operations performed:  (\d+) Read, (\d+) Write, (\d+) Other = (\d+) Total$", output, re.M)
    moved = re.search(
        r"^Read ([\d.]+)Kb  Written ([\d.]+)Kb  Total transferred ([\d.]+)Kb  \([\d.]+[KMG]b/sec\)$", output, re.M
    )
    rate = re.search(r"^ *([\d.]+) Requests/sec executed$", output, re.M)
    assert performed and moved and rate, output
    read, written, other, everything = map(int, performed.groups())
    assert (read + written + other, other > 0) == (everything, True)
    assert [float(kb) for kb in moved.groups()] == [read * 16, written * 16, (read + written) * 16]
    values = read_report(output)
    assert float(rate[1]) * values["total_time_s"] == pytest.approx(read + written, rel=0.1)


def test_default_is_the_report_of_1_0() -> None:
    for style in ((), ("--report-style=1.0",)):
        output = ours("cpu", "--events=3", *style, "run").stdout
        assert report(output)["events"] == 3


def test_hooks_of_a_script_come_first(tmp_path: Path) -> None:
    (tmp_path / "own.lua").write_text(
        "function event() end\nsysbench.hooks.report_cumulative = function(stat) print('own', stat.events) end\n"
    )
    output = ours("own.lua", "--events=3", STYLE, "run", cwd=tmp_path).stdout
    assert output.endswith("own\t3\n")


@pytest.mark.parametrize("value", ["0.5", "", "1"])
def test_unknown_style(value: str) -> None:
    result = ours("cpu", f"--report-style={value}", "run")
    assert result.stdout == f"FATAL: Invalid value for --report-style: '{value}' (use 1.0 or 0.4)\n"
    assert result.status == 1


LOOP = """\
for i in 5 10; do
  {program} oltp_read_write {database} --report-interval=5 --table_size=1000 --tables=2 --threads=$i --time=1 run > out
  grep queries: out | cut -c 40-57 | cut -d '(' -f 2
  grep avg: out | cut -c 48-65
done
"""


def test_columns_that_a_loop_cuts_out(postgres: PostgreSQL, tmp_path: Path) -> None:
    """As in a published script: a loop over --threads, and the figures by their columns."""
    postgres.empty_database()
    assert ours("oltp_read_write", *postgres.args, "--table_size=1000", "--tables=2", "prepare").status == 0
    loop = LOOP.format(program=f"{sys.executable} -m sysbench_py", database=shlex.join(postgres.args))
    with Run("sh", "-ec", loop, cwd=tmp_path) as run:
        lines = run.result().stdout.splitlines()
    values = report((tmp_path / "out").read_text())
    assert len(lines) == 4
    # The columns have room for 99999.99 and 999.99; behind smaller rates they end in " per sec.)".
    assert re.sub(r"[ p].*", "", lines[2]) == f"{values['queries_per_s']:.2f}"[:8]
    assert lines[3] == f"{values['latency_avg_ms']:39.2f}"[-6:]

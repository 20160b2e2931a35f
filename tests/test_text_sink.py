"""The text reports, held against those of sysbench 1.0.20 itself.

The numbers of a report that the reference printed are read back into a model; the sink has to make
the very same text of that model.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from sysbench_py.sinks.text import (
    CHECKPOINT_HEADING,
    cumulative_messages,
    debug_messages,
    histogram_messages,
    intermediate_messages,
)
from sysbench_py.stats.log_histogram import BUCKETS, bucket_value_ms
from sysbench_py.stats.model import (
    Counters,
    Fairness,
    IntervalStats,
    Latency,
    LatencyHistogram,
    Percentile,
    TotalStats,
    WorkerStats,
)

REFERENCE = "/usr/bin/sysbench"
NO_HISTOGRAM = LatencyHistogram([], 0)


def latency(
    *percentiles: tuple[float, int],
    min_ns: int = 0,
    avg_ns: int = 0,
    max_ns: int = 0,
    sum_ns: int = 0,
    histogram: LatencyHistogram = NO_HISTOGRAM,
) -> Latency:
    """Latencies with (percent, latency_ns) pairs."""
    shown = tuple(Percentile(percent=percent, latency_ns=ns) for percent, ns in percentiles)
    return Latency(
        min_ns=min_ns, avg_ns=avg_ns, max_ns=max_ns, sum_ns=sum_ns, percentiles=shown, histogram=histogram
    )


# Events that take longer and longer, so that minimum, mean, percentile and maximum differ.
PLAIN_SCRIPT = """
local events = 0
local function work()
   local sum = 0
   events = events + 1
   for i = 1, 20000 * events do sum = sum + i % 7 end
   return sum
end
function event() work() end
"""
SQL_SCRIPT = f"""
{PLAIN_SCRIPT}
local connection
function thread_init() connection = sysbench.sql.driver():connect() end
function event() work() connection:query("SELECT 1") end
"""
# What an event that ends its thread did is not counted.
NO_EVENT_SCRIPT = "function event() return true end"


def run_reference(tmp_path: Path, script: str, *options: str) -> str:
    """Everything that the reference prints after the start of its threads."""
    script_file = tmp_path / "script.lua"
    script_file.write_text(script)
    command = [REFERENCE, str(script_file), "--mysql-dry-run", "--threads=2", *options, "run"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return output.split("Threads started!\n\n", 1)[1]


def numbers(pattern: str, text: str) -> list[float]:
    match = re.search(pattern, text)
    assert match, f"{pattern!r} is not in the reference's report:\n{text}"
    return [float(group) for group in match.groups()]


def number(pattern: str, text: str) -> float:
    return numbers(pattern, text)[0]


def counters(**counts: float) -> Counters:
    names = ("events", "reads", "writes", "other", "errors", "reconnects", "bytes_read", "bytes_written")
    return Counters(**{name: round(counts.get(name, 0)) for name in names})


def ns(pattern: str, text: str, unit: float = 1e6) -> int:
    return round(number(pattern, text) * unit)


def read_total(text: str, *, percentile: int, sql: bool) -> TotalStats:
    """The model behind a cumulative report of the reference."""
    events = number(r"total number of events: +(\d+)\n", text)
    counts = {"events": events}
    interval_s = 0.0
    if sql:
        counts["reads"] = number(r"read: +(\d+)\n", text)
        counts["writes"] = number(r"write: +(\d+)\n", text)
        counts["other"] = number(r"other: +(\d+)\n", text)
        counts["errors"] = number(r"ignored errors: +(\d+) ", text)
        counts["reconnects"] = number(r"reconnects: +(\d+) ", text)
        interval_s = events / number(r"transactions: .*\((.*) per sec", text)
    fairness = numbers(r"events \(avg/stddev\): +(.*)/(.*)\n", text)
    fairness += numbers(r"execution time \(avg/stddev\): +(.*)/(.*)\n", text)
    return TotalStats(
        time_total_s=number(r"total time: +(.*)s\n", text),
        interval_s=interval_s,
        threads_running=0,
        counters=counters(**counts),
        latency=latency(
            *([(percentile, ns(r"th percentile: +(.*)\n", text))] if percentile else []),
            min_ns=ns(r" min: +([\d.]+)\n", text),
            avg_ns=ns(r" avg: +([\d.]+)\n", text),
            max_ns=ns(r" max: +([\d.]+)\n", text),
            sum_ns=ns(r" sum: +([\d.]+)\n", text),
            histogram=read_histogram(text),
        ),
        sql=sql,
        fairness=Fairness(
            events_avg=fairness[0],
            events_stddev=fairness[1],
            execution_time_avg_s=fairness[2],
            execution_time_stddev_s=fairness[3],
        ),
        workers=read_workers(text),
    )


def read_workers(text: str) -> tuple[WorkerStats, ...]:
    pattern = r"thread #.*: min: (.*)s  avg: (.*)s  max: (.*)s  events: (\d+)\nDEBUG: .* execution: (.*)s\n"
    workers = []
    for row in re.findall(pattern, text):
        min_s, avg_s, max_s, events, sum_s = map(float, row)
        # The sum is only known as rounded; the mean narrows it down.
        lowest_s = max(sum_s - 0.00005, (avg_s - 0.00005) * events)
        highest_s = min(sum_s + 0.00005, (avg_s + 0.00005) * events)
        workers.append(
            WorkerStats(
                events=int(events),
                latency_min_ns=round(min_s * 1e9),
                latency_max_ns=round(max_s * 1e9),
                latency_sum_ns=round((lowest_s + highest_s) / 2 * 1e9),
            )
        )
    return tuple(workers)


def read_histogram(text: str) -> LatencyHistogram:
    """One latency for each printed row: the next bucket whose value is printed like that."""
    buckets_ns = []
    indexes = iter(range(BUCKETS))
    for printed_ms, count in re.findall(r"^ +([\d.]+) \|\**  *(\d+)\n", text, re.MULTILINE):
        index = next(index for index in indexes if f"{bucket_value_ms(index):.3f}" == printed_ms)
        buckets_ns.append((round(bucket_value_ms(index) * 1e6), int(count)))
    return LatencyHistogram(buckets_ns, max((latency for latency, _ in buckets_ns), default=0))


def read_interval(line: str, queue_line: str | None, *, percentile: int, sql: bool) -> IntervalStats:
    """The model behind an intermediate report; its hundredths are counts over 100 seconds."""
    if sql:
        rates = {
            "events": number(r"tps: (\S+)", line),
            "errors": number(r"err/s: (\S+)", line),
            "reconnects": number(r"reconn/s: (\S+)", line),
        }
        rates["reads"], rates["writes"], rates["other"] = numbers(r"\(r/w/o: (.*)/(.*)/(.*)\) lat", line)
    else:
        rates = {"events": number(r"eps: (\S+)", line)}
    queue = numbers(r"queue length: (\d+),? concurrency: (\d+)", queue_line) if queue_line else [0, 0]
    return IntervalStats(
        time_total_s=1.0,
        interval_s=100.0,
        threads_running=int(number(r"thds: (\d+)", line)),
        counters=counters(**{name: rate * 100 for name, rate in rates.items()}),
        latency=latency(*([(percentile, ns(r"lat \(ms,\d+%\): (\S+)", line))] if percentile else [])),
        sql=sql,
        rate_mode=queue_line is not None,
        queue_length=int(queue[0]),
        concurrency=int(queue[1]),
    )


def logged(messages: list[str], prefix: str = "") -> str:
    """Messages as the log shows them: of consecutive equal ones the first, then how many followed."""
    lines: list[str] = []
    last, repeats = None, 0
    for message in messages:
        if message == last:
            repeats += 1
            continue
        if repeats:
            lines.append(f"(last message repeated {repeats} times)")
        last, repeats = message, 0
        lines.append(prefix + message)
    return "".join(f"{line}\n" for line in lines)


SCRIPTS = {False: PLAIN_SCRIPT, True: SQL_SCRIPT}
kinds = pytest.mark.parametrize("sql", [False, True], ids=["plain", "sql"])


@kinds
@pytest.mark.parametrize("percentile", [95, 7, 100, 0])
def test_cumulative_report_equals_the_reference(tmp_path: Path, sql: bool, percentile: int) -> None:
    text = run_reference(tmp_path, SCRIPTS[sql], "--events=100", f"--percentile={percentile}")
    assert logged(cumulative_messages(read_total(text, percentile=percentile, sql=sql))) == text


@kinds
def test_histogram_equals_the_reference(tmp_path: Path, sql: bool) -> None:
    text = run_reference(tmp_path, SCRIPTS[sql], "--events=100", "--histogram")
    stats = read_total(text, percentile=95, sql=sql)
    assert stats.latency.histogram.count == 100
    assert logged(histogram_messages(stats.latency.histogram) + cumulative_messages(stats)) == text


def test_histogram_without_events_equals_the_reference(tmp_path: Path) -> None:
    text = run_reference(tmp_path, NO_EVENT_SCRIPT, "--histogram")
    stats = read_total(text, percentile=95, sql=False)
    assert stats.latency.histogram.count == stats.counters.events == 0
    assert logged(histogram_messages(stats.latency.histogram) + cumulative_messages(stats)) == text


@kinds
def test_debug_block_equals_the_reference(tmp_path: Path, sql: bool) -> None:
    text = run_reference(tmp_path, SCRIPTS[sql], "--events=100", "--debug").split("Done.\n\n", 1)[1]
    stats = read_total(text, percentile=95, sql=sql)
    assert len(stats.workers) == 2
    shown = logged(cumulative_messages(stats)) + logged(debug_messages(stats), "DEBUG: ") + "\n"
    assert shown == text


@kinds
@pytest.mark.parametrize("percentile", [95, 0])
@pytest.mark.parametrize("rate_mode", [False, True], ids=["unlimited", "rate"])
def test_intermediate_report_equals_the_reference(
    tmp_path: Path, sql: bool, percentile: int, rate_mode: bool
) -> None:
    options = ["--time=3", "--report-interval=2", f"--percentile={percentile}"]
    text = run_reference(tmp_path, SCRIPTS[sql], *options, *(["--rate=40"] if rate_mode else []))
    lines = re.findall(r"^\[ \d+s \] (.*)$", text, re.MULTILINE)
    size = 2 if rate_mode else 1
    reports = [lines[start : start + size] for start in range(0, len(lines), size)]
    assert reports
    for report in reports:
        queue_line = report[1] if rate_mode else None
        stats = read_interval(report[0], queue_line, percentile=percentile, sql=sql)
        assert intermediate_messages(stats) == report


def test_checkpoint_and_final_report_follow_each_other_as_in_the_reference(tmp_path: Path) -> None:
    text = run_reference(tmp_path, PLAIN_SCRIPT, "--time=2", "--rate=40", "--report-checkpoints=1")
    heading, reports = text.split("\n", 1)
    checkpoint, final = reports.split("(last message repeated 1 times)\n")
    messages = cumulative_messages(read_total(checkpoint, percentile=95, sql=False))
    messages += cumulative_messages(read_total(final, percentile=95, sql=False))
    assert heading == f"[ 1s ] {CHECKPOINT_HEADING}"
    assert logged(messages) == reports


def made_up_total(*percentiles: tuple[float, int], sql: bool) -> TotalStats:
    return TotalStats(
        time_total_s=100.00004,
        interval_s=8.0,
        threads_running=0,
        counters=counters(events=12_345_678, reads=10, writes=200, other=3_000, errors=4, reconnects=1),
        latency=latency(
            *percentiles,
            min_ns=1_234,
            avg_ns=2_345_678,
            max_ns=98_765_432_100,
            sum_ns=123_456_789_012_345,
        ),
        sql=sql,
        fairness=Fairness(
            events_avg=1_234.56789,
            events_stddev=123.456,
            execution_time_avg_s=9.87654,
            execution_time_stddev_s=0.005,
        ),
        workers=(
            WorkerStats(
                events=3, latency_min_ns=100_000, latency_max_ns=2_000_000_000, latency_sum_ns=3_000_400_000
            ),
        ),
    )


def test_each_value_of_a_cumulative_report_has_its_place() -> None:
    assert logged(cumulative_messages(made_up_total((99, 4_567_891), sql=True))) == (
        "SQL statistics:\n"
        "    queries performed:\n"
        "        read:                            10\n"
        "        write:                           200\n"
        "        other:                           3000\n"
        "        total:                           3210\n"
        "    transactions:                        12345678 (1543209.75 per sec.)\n"
        "    queries:                             3210   (401.25 per sec.)\n"
        "    ignored errors:                      4      (0.50 per sec.)\n"
        "    reconnects:                          1      (0.12 per sec.)\n"
        "\n"
        "General statistics:\n"
        "    total time:                          100.0000s\n"
        "    total number of events:              12345678\n"
        "\n"
        "Latency (ms):\n"
        "         min:                                    0.00\n"
        "         avg:                                    2.35\n"
        "         max:                                98765.43\n"
        "         99th percentile:                        4.57\n"
        "         sum:                            123456789.01\n"
        "\n"
        "Threads fairness:\n"
        "    events (avg/stddev):           1234.5679/123.46\n"
        "    execution time (avg/stddev):   9.8765/0.01\n"
        "\n"
    )


def test_further_percentiles_follow_the_first_in_its_form() -> None:
    percentiles = ((50, 1_000_000), (99, 4_567_891), (99.9, 5_000_000_000), (99.999, 98_765_432_100))
    messages = cumulative_messages(made_up_total(*percentiles, sql=False))
    assert messages[messages.index("Latency (ms):") + 1 :][:8] == [
        "         min:                                    0.00",
        "         avg:                                    2.35",
        "         max:                                98765.43",
        "         50th percentile:                        1.00",
        "         99th percentile:                        4.57",
        "       99.9th percentile:                     5000.00",
        "     99.999th percentile:                    98765.43",
        "         sum:                            123456789.01",
    ]


def test_block_of_a_built_in_test_comes_before_the_general_one() -> None:
    stats = made_up_total(sql=False)
    block = ("CPU speed:", "    events per second:  2529.90")
    assert cumulative_messages(replace(stats, own_lines=block)) == [*block, *cumulative_messages(stats)]
    assert cumulative_messages(stats)[:2] == ["", "General statistics:"]


def test_each_value_of_a_worker_has_its_place() -> None:
    assert debug_messages(made_up_total(sql=False)) == [
        "Verbose per-thread statistics:\n",
        "    thread #  0: min: 0.0001s  avg: 1.0001s  max: 2.0000s  events: 3",
        "                 total time taken by event execution: 3.0004s",
    ]


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (False, ["thds: 64 eps: 2.50 lat (ms,95%): 12.35", "queue length: 7 concurrency: 3"]),
        (
            True,
            [
                "thds: 64 tps: 2.50 qps: 24.00 (r/w/o: 17.50/5.00/1.50) lat (ms,95%): 12.35 "
                "err/s: 0.25 reconn/s: 0.75",
                "queue length: 7, concurrency: 3",
            ],
        ),
    ],
)
def test_each_value_of_an_intermediate_report_has_its_place(sql: bool, shown: list[str]) -> None:
    stats = IntervalStats(
        time_total_s=12.0,
        interval_s=4.0,
        threads_running=64,
        counters=counters(events=10, reads=70, writes=20, other=6, errors=1, reconnects=3),
        latency=latency((95, 12_345_678)),
        sql=sql,
        rate_mode=True,
        queue_length=7,
        concurrency=3,
    )
    assert intermediate_messages(stats) == shown


def test_further_percentiles_of_an_interval_follow_the_first_in_its_form() -> None:
    stats = IntervalStats(
        time_total_s=1.0,
        interval_s=1.0,
        threads_running=2,
        counters=counters(events=10),
        latency=latency((95, 12_345_678), (50, 1_000_000), (99.9, 13_000_000)),
        sql=False,
        rate_mode=False,
        queue_length=0,
        concurrency=0,
    )
    (shown,) = intermediate_messages(stats)
    assert shown == "thds: 2 eps: 10.00 lat (ms,95%): 12.35 lat (ms,50%): 1.00 lat (ms,99.9%): 13.00"


def test_stars_of_the_histogram_are_in_proportion_to_the_highest_row() -> None:
    title, table, end = histogram_messages(
        LatencyHistogram([(1_000, 1), (1_000_000, 80), (10_100_000, 3)], 10_100_000)
    )
    assert (title, end) == ("Latency histogram (values are in milliseconds)", " ")
    assert table.split("\n")[1:] == [
        f"       0.001 |{'*':40} 1",
        f"       1.007 |{'*' * 40} 80",
        f"      10.090 |{'**':40} 3",
    ]

"""A run from the barrier to its report: limits, warm-up, checkpoints, rate, forced shutdown, failures."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.proc import Result
from tests.support.reference import compiled, intermediate, ours, reference, report, reports

SLEEPS = "ffi.cdef('int usleep(unsigned)')\nlocal function nap(s) ffi.C.usleep(s * 1e6) end\n"
MANY_SECONDS = 60


def run(folder: Path, script: str, *options: str) -> Result:
    (folder / "script.lua").write_text(SLEEPS + script)
    return ours("script.lua", *options, "run", cwd=folder)


def test_thread_that_does_not_get_ready_in_time(tmp_path: Path) -> None:
    script = f"function thread_init(id) if id == 1 then nap({MANY_SECONDS}) end end function event() end"
    result = run(tmp_path, script, "--threads=2", "--thread-init-timeout=1")
    assert result.status == 2
    assert result.stdout.endswith("\nFATAL: Worker threads failed to initialize within 1 seconds!\n")


def test_warm_up_is_not_counted(tmp_path: Path) -> None:
    result = run(tmp_path, "function event() nap(0.02) end", "--warmup-time=1", "--time=0", "--events=5", "--threads=2")
    lines = result.stdout.splitlines()
    assert lines.index("Number of threads: 2") + 1 == lines.index("Warmup time: 1s")
    assert lines.index("Threads started!") + 2 == lines.index("Warming up for 1 seconds...")
    # Events that end after the warm-up count, at most one a thread besides the five.
    assert 5 <= report(result.stdout)["events"] <= 7


def test_times_are_counted_from_the_end_of_the_warm_up(tmp_path: Path) -> None:
    script = "function event() nap(0.05) end"
    result = run(tmp_path, script, "--warmup-time=2", "--time=2", "--report-interval=1", "--report-checkpoints=1")
    timed = intermediate(result.stdout)
    assert timed
    # 20 events a second, and none of the warm-up.
    assert all(0 < line["eps"] < 25 for line in timed if "eps" in line)
    checkpoint, final = reports(result.stdout)
    assert 0.9 < checkpoint["total_time_s"] < final["total_time_s"]
    assert checkpoint["events"] + final["events"] <= 41


@pytest.mark.parametrize("options", [[], ["--rate=50"], ["--workers=process"]], ids=" ".join)
def test_run_begins_where_its_counts_do(tmp_path: Path, options: list[str]) -> None:
    """However late the end of the warm-up was noticed: rates are counts by the time in which they were counted."""
    words = ("--warmup-time=1", "--time=1", "--threads=2", "--output=json:run.json", *options)
    assert run(tmp_path, "function event() nap(0.02) end", *words).status == 0
    result = json.loads((tmp_path / "run.json").read_text())
    first, total = result["intervals"][0], result["total"]
    assert first["time_total_s"] == first["interval_s"]
    assert total["time_total_s"] == total["interval_s"] >= (0.9 if "--rate=50" in options else 1)


@compat("last-interval")
def test_what_is_due_at_the_time_limit_is_reported(tmp_path: Path) -> None:
    options = ("--time=2", "--report-interval=1", "--report-checkpoints=2", "--threads=2")
    result = run(tmp_path, "function event() end", *options)
    timed = intermediate(result.stdout)
    assert max(line["time_s"] for line in timed if "eps" in line) >= 2
    assert len(reports(result.stdout)) == 2


def test_intervals_that_have_been_missed_are_left_out(tmp_path: Path) -> None:
    # The hook takes longer than an interval.
    script = (
        "function event() nap(0.01) end\n"
        "sysbench.hooks.report_intermediate = function(s) print('at', math.floor(s.time_total)) nap(1.5) end"
    )
    result = run(tmp_path, script, "--time=5", "--report-interval=1")
    times = [int(time) for time in re.findall(r"at\t(\d+)", result.stdout)]
    assert times
    assert all(later - earlier >= 2 for earlier, later in pairwise(times))


def test_reports_between_checkpoints_add_up(tmp_path: Path) -> None:
    script = (
        "local n = 0 function event() n = n + 1 nap(0.01) end\n"
        "function thread_done() io.write('did ' .. n .. '\\n') end"
    )
    result = run(tmp_path, script, "--time=3", "--report-checkpoints=2,0,1,9", "--threads=2", "--histogram")
    found = reports(result.stdout)
    assert len(found) == 3
    assert sum(each["events"] for each in found) == sum(map(int, re.findall("did (\\d+)", result.stdout)))
    assert len(intermediate(result.stdout)) == 2
    assert result.stdout.count("Latency histogram") == 1


@compat("restart-ends")
def test_restart_ends_at_the_time_limit(tmp_path: Path) -> None:
    script = "function event() error({errcode = sysbench.error.RESTART_EVENT}) end"
    result = run(tmp_path, script, "--time=1")
    assert (result.status, report(result.stdout)["events"]) == (0, 0)


def test_event_that_runs_is_not_interrupted_by_the_time_limit(tmp_path: Path) -> None:
    result = run(tmp_path, "function event() nap(1.5) end", "--time=1")
    assert (result.status, report(result.stdout)["events"]) == (0, 1)


@compat("late-events")
def test_events_that_are_late_are_named_meanwhile(tmp_path: Path) -> None:
    script = "function event(id) if id == 1 then nap(8) else nap(0.1) end end"
    result = run(tmp_path, script, "--threads=2", "--time=1")
    assert result.status == 0
    assert re.fullmatch(
        r"The time limit was 5 s ago\. Threads inside of an event: #1 for \d+\.\d s "
        r"\(--forced-shutdown would end them\)\n",
        result.stderr,
    )


@compat("late-threads")
def test_forced_shutdown_names_the_threads_that_are_late(tmp_path: Path) -> None:
    script = (
        "local n = 0\n"
        f"function event(id) n = n + 1 if id == 1 and n == 3 then nap({MANY_SECONDS}) end nap(0.1) end\n"
        "function thread_done(id) io.write('done ' .. id .. '\\n') end function done() print('the end') end"
    )
    result = run(tmp_path, script, "--threads=2", "--time=1", "--forced-shutdown=0")
    assert result.status == 2
    lines = result.stdout.splitlines()
    at = lines.index("FATAL: The --max-time limit has expired, forcing shutdown...")
    assert lines[at + 1] == ""
    assert re.fullmatch(r"Number of unfinished transactions on forced shutdown: [12]", lines[at + 2])
    assert re.fullmatch(r"Threads inside of an event: #1 for \d+\.\d s(, #0 for \d+\.\d s)?", lines[at + 3])
    assert "the end" not in lines
    assert "done 1" not in lines


@compat("late-fairness")
def test_unfinished_events_count_for_fairness_only(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        f"function event() nap({MANY_SECONDS}) end",
        "--threads=2",
        "--time=1",
        "--forced-shutdown=0",
    )
    values = report(result.stdout)
    assert (result.status, values["events"], values["latency_sum_ms"]) == (2, 0, 0)
    assert (values["events_avg"], values["events_stddev"]) == (1, 0)
    assert values["execution_time_avg_s"] > 0.5
    assert values["execution_time_stddev_s"] < 1


def test_latency_of_rate_mode_includes_the_time_in_the_queue(tmp_path: Path) -> None:
    result = run(tmp_path, "function event() nap(0.05) end", "--rate=1000", "--time=1", "--report-interval=1")
    assert result.status == 0
    assert "Target transaction rate: 1000/sec\n" in result.stdout
    values = report(result.stdout)
    assert values["latency_avg_ms"] > 200
    queue = values["intermediate"][1]
    assert queue["queue_length"] > 500
    assert queue["concurrency"] <= 1


def test_full_queue_ends_the_run_while_workers_are_busy(tmp_path: Path) -> None:
    result = run(tmp_path, "function event() nap(2) end", "--rate=1000000", "--time=0", "--events=1000")
    assert result.status == 1
    assert "FATAL: The event queue is full." in result.stdout
    assert reports(result.stdout) == []


@compat("partial-report")
def test_run_that_fails_reports_what_was_done(tmp_path: Path) -> None:
    script = "local n = 0 function event(id) n = n + 1 if id == 0 and n > 2 then error('boom') end nap(0.05) end"
    result = run(tmp_path, script, "--threads=2")
    assert result.status == 1
    assert "FATAL: `thread_run' function failed: script.lua:3: boom\n" in result.stdout
    assert report(result.stdout)["events"] >= 2
    assert result.stdout.endswith("\n\nThe run has failed: the figures above are of what was done before.\n")


@compat("failures-counted")
def test_threads_that_fail_alike_are_counted(tmp_path: Path) -> None:
    script = "function thread_init() sysbench.sql.driver():connect() end\nfunction event() end"
    result = run(tmp_path, script, "--mysql-host=127.0.0.1", "--mysql-port=1", "--threads=4")
    fatal = [line for line in result.stdout.splitlines() if line.startswith("FATAL: ")]
    assert result.status == 1
    assert len(set(fatal)) == len(fatal)
    # A line that the next thread prints at once is counted as a repetition of the last one, and not here.
    assert re.fullmatch(r"FATAL: \(the same (up to )?(once|[23] times) more\)", fatal[-2])
    assert fatal[-1] == "FATAL: Thread initialization failed!"


def test_equal_lines_of_threads_are_counted_as_usual(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "function event() end function thread_done() error('boom', 0) end",
        "--threads=4",
        "--events=4",
    )
    failed = "FATAL: `thread_done' function failed: boom\n(last message repeated 3 times)\n"
    assert failed in result.stdout
    assert result.status == 0


@pytest.mark.parametrize("threads", ["1", "64", "300"])
def test_events_are_not_lost_among_threads(tmp_path: Path, threads: str) -> None:
    result = run(tmp_path, "function event() end", f"--threads={threads}", "--events=10000", "--time=0")
    assert (result.status, report(result.stdout)["events"]) == (0, 10000)


def test_verbose_statistics_of_each_thread(tmp_path: Path) -> None:
    result = run(tmp_path, "function event() nap(0.01) end", "--threads=2", "--events=10", "--debug")
    shape = (
        r"DEBUG: Verbose per-thread statistics:\n\n"
        r"(DEBUG:     thread #  [01]: min: \d\.\d{4}s  avg: \d\.\d{4}s  max: \d\.\d{4}s  events: (\d+)\n"
        r"DEBUG:                  total time taken by event execution: \d\.\d{4}s\n){2}\n\Z"
    )
    assert re.search(shape, result.stdout)
    assert sum(map(int, re.findall(r"events: (\d+)$", result.stdout, flags=re.MULTILINE))) == 10


def test_numbers_of_a_thread_depend_on_the_seed_and_its_id_alone(tmp_path: Path) -> None:
    script = (
        "local n = 0 function event(id) n = n + 1 nap(0.05)\n"
        "if n <= 3 then io.write(id .. ' ' .. n .. ' ' .. sysbench.rand.uniform(1, 1000000) .. '\\n') end end"
    )

    def drawn(result: Result) -> list[str]:
        return sorted(re.findall(r"^\d \d \d+$", result.stdout, flags=re.MULTILINE))

    options = ("--threads=3", "--rand-seed=7", "--time=2")
    alone = drawn(run(tmp_path, script, *options))
    assert len(alone) == 9
    for other in ("--report-interval=1", "--rate=100", "--report-checkpoints=1"):
        assert drawn(run(tmp_path, script, *options, other)) == alone
    assert drawn(reference("script.lua", "--rand-seed=7", "--events=3", "run", cwd=tmp_path)) == alone[:3]


@pytest.mark.parametrize("options", [("run",), ("--multiplex=1", "run"), ("prepare",), ("load",)], ids=" ".join)
def test_process_exits_after_its_threads(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Exit code of C libraries must not meet what they do at the end of a thread."""
    script = tmp_path / "script.lua"
    script.write_text(
        "function event() end function prepare() end "
        "sysbench.cmdline.commands = { load = { prepare, sysbench.cmdline.PARALLEL_COMMAND } }"
    )
    slow = {"LD_PRELOAD": str(compiled("slow_thread_end"))}
    result = ours(str(script), "--threads=3", "--events=3", *options, env=slow)
    assert result.status == 0, result

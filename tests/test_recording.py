"""What is recorded of runs of every kind, and how it is drawn."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sysbench_py.sinks.charts import linear_axis, log_axis
from sysbench_py.sinks.csv_rows import head, row
from sysbench_py.sinks.html_page import MOST_POINTS, render
from sysbench_py.sinks.json_document import read
from sysbench_py.sinks.text_saved import result_text
from sysbench_py.stats.cumulate import joined, thinned
from sysbench_py.stats.model import LatencyHistogram
from sysbench_py.stats.result import RunResult
from tests.support.mariadb import MariaDB
from tests.support.proc import Result
from tests.support.reference import ours
from tests.support.results import result as a_result

ROOT = Path(__file__).parent.parent
REPORTS = ("--time=2", "--report-interval=1", "--report-checkpoints=1", "--histogram", "--percentile=50,99")
FILES = ("fileio", "--file-num=2", "--file-total-size=4M")
HOOKS = """
function event() end
sysbench.hooks.report_intermediate = function(stat) print("> " .. stat.events) end
"""


def saved(folder: Path) -> RunResult:
    return read((folder / "a.json").read_bytes())


def recorded(folder: Path, *arguments: str) -> tuple[str, RunResult]:
    """What a run printed after its start, and its result."""
    result = ours(*arguments, "--output=json:a.json", "run", cwd=folder)
    assert result.status == 0, result.stdout
    return result.stdout.split("Threads started!\n\n")[1], saved(folder)


@pytest.mark.parametrize("options", [[], ["--multiplex=2"], ["--workers=process"]], ids=" ".join)
@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("local n = 0 function event(id) n = n + 1 if n == 50 and id == 1 then os.exit(7) end end", 7, "thread_run"),
        ("local n = 0 function event(id) n = n + 1 if n == 50 and id == 1 then os.exit(0) end end", 1, "thread_run"),
        ("function event() end function thread_done(id) if id == 1 then os.exit(false) end end", 1, "thread_done"),
        ("function event() end function done() os.exit(5) end", 5, "done"),
        ("function event() end function done() os.exit() end", 0, "done"),
        ("function event() end function sysbench.hooks.report_cumulative() os.exit(3) end", 3, "report_cumulative"),
    ],
    ids=["event", "event without an error", "thread_done", "done", "done without an error", "hook"],
)
def test_exit_of_a_script_keeps_the_result(
    tmp_path: Path, script: str, status: int, message: str, options: list[str]
) -> None:
    (tmp_path / "x.lua").write_text(script)
    result = ours("x.lua", "--threads=2", "--time=1", *options, "--output=json:a.json", "run", cwd=tmp_path)
    assert (result.status, result.stderr) == (status, "")
    assert f"FATAL: `{message}' function failed: x.lua:1: os.exit(" in result.stdout
    kept = saved(tmp_path)
    assert kept.exit_status == status
    assert kept.total.counters.events > 0


@pytest.mark.parametrize(("when", "limit_s"), [("[ 1s ]", 60), ("General statistics", 1)])
def test_reader_that_goes_away_does_not_lose_the_result(tmp_path: Path, when: str, limit_s: int) -> None:
    script = "function event() end function done() while not io.open('gone') do end error('nobody reads this') end"
    (tmp_path / "x.lua").write_text(script)
    words = ["x.lua", f"--time={limit_s}", "--report-interval=1", "--output=json:a.json", "run"]
    command = [sys.executable, "-m", "sysbench_py", *words]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stderr
        while when not in process.stdout.readline():
            assert process.poll() is None
        process.stdout.close()
        (tmp_path / "gone").touch()
        assert process.stderr.read() == ""
    kept = saved(tmp_path)
    assert (process.returncode, kept.exit_status) == (141, 141)
    assert kept.total.counters.events > 0
    assert kept.total.time_total_s < 30


def test_exit_of_a_script_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "x.lua").write_text("function init() os.exit(3) end function event() end")
    assert ours("x.lua", "--output=json:a.json", "run", cwd=tmp_path).status == 3
    assert list(tmp_path.iterdir()) == [tmp_path / "x.lua"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("memory", "--memory-total-size=1T", *REPORTS),
        (*FILES, "--file-test-mode=rndrw", "--file-latency-detail", *REPORTS),
    ],
    ids=["memory", "fileio"],
)
def test_reports_of_a_test_s_own_are_printed_again_as_they_were(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    if arguments[0] == "fileio":
        assert ours(*FILES, "prepare", cwd=tmp_path).status == 0
    printed, result = recorded(tmp_path, *arguments)
    assert len(result.checkpoints) == 1
    assert result_text(result).endswith(f"\n\n{printed}")
    assert [each.name for each in result.total.operations] == (
        ["read", "write", "fsync"] if arguments[0] == "fileio" else []
    )
    counted = [*(each.counters.events for each in result.checkpoints), result.total.counters.events]
    assert sum(counted) == sum(each.counters.events for each in result.intervals)


@pytest.mark.parametrize("arguments", [("threads", "--events=5"), ("mutex", "--mutex-num=1", "--mutex-locks=100")])
def test_short_runs_are_one_interval(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    printed, result = recorded(tmp_path, *arguments)
    assert result_text(result).endswith(f"\n\n{printed}")
    (interval,) = result.intervals
    assert interval.partial
    assert interval.latency.histogram == result.total.latency.histogram
    assert interval.counters == result.total.counters


def test_the_server_is_named_with_the_version_that_it_told(mariadb: MariaDB, tmp_path: Path) -> None:
    (tmp_path / "one.lua").write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end function event() con:query('SELECT 1') end"
    )
    _, result = recorded(tmp_path, "one.lua", *mariadb.args, "--threads=2", "--events=2")
    ((version,),) = mariadb.sql("SELECT version()")
    (database,) = result.setup.databases
    assert (database.driver, database.server_version) == ("mysql", version)
    assert re.fullmatch(r"PyMySQL \d[\d.]*", database.library)
    options = result.setup.options
    assert {name.partition("_")[0] for name in options} & {"mysql", "pgsql", "sqlite"} == {"mysql"}
    _, result = recorded(tmp_path, "one.lua", "--db-driver=sqlite", "--events=2")
    assert [each.driver for each in result.setup.databases] == ["sqlite"]
    assert result.setup.databases[0].library == f"SQLite {sqlite3.sqlite_version}"


def test_a_report_hook_is_called_no_more_often_than_without_outputs(tmp_path: Path) -> None:
    (tmp_path / "hook.lua").write_text(HOOKS)
    printed, result = recorded(tmp_path, "hook.lua", "--time=1", "--rate=50")
    assert "> " not in printed
    assert len([each for each in result.intervals if not each.partial]) == 1
    printed, result = recorded(tmp_path, "hook.lua", "--time=1", "--report-interval=1", "--rate=50")
    assert re.findall("^> (.*)$", printed, re.MULTILINE) == [str(result.intervals[0].counters.events)]


def test_what_happens_during_the_warm_up_is_not_recorded(tmp_path: Path) -> None:
    printed, result = recorded(tmp_path, "cpu", "--warmup-time=1", "--time=1")
    assert result.setup.warmup_s == 1
    assert sum(each.counters.events for each in result.intervals) == result.total.counters.events
    # The first interval begins when the warm-up, of a second, has ended.
    assert sum(each.interval_s for each in result.intervals) < result.total.time_total_s + 0.5
    assert f"total number of events:              {result.total.counters.events}\n" in printed


def test_a_plain_run_imports_nothing_that_outputs_need(tmp_path: Path) -> None:
    code = (
        "import sys; from sysbench_py.cli import run; run(['sysbench', 'cpu', '--events=1', 'run']); "
        "print(*sorted(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    modules = set(shown.stdout.splitlines()[-1].split())
    late = {"jinja2", "prometheus_client", "hdrh", "json", "rich", "tempfile", "typer"}
    late |= {f"sysbench_py.{name}" for name in ("recording", "describe", "stats.result", "stats.serialise")}
    late |= {f"sysbench_py.sinks.{name}" for name in ("outputs", "files", "html_page", "charts", "prometheus")}
    assert modules & late == set()
    assert "sysbench_py.sinks.text" in modules


# -- pictures and joined intervals, from a result that a run has made


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = tmp_path_factory.mktemp("page")
    return recorded(folder, "cpu", "--time=2", "--threads=2", "--percentile=50,95,99.9")[1]


def test_joined_intervals_are_one_interval_of_all_their_events(result: RunResult) -> None:
    whole, total = joined(result.intervals), result.total
    assert whole.counters == total.counters
    assert whole.latency.histogram.buckets_ns() == total.latency.histogram.buckets_ns()
    assert (whole.latency.sum_ns, whole.latency.avg_ns) == (total.latency.sum_ns, total.latency.avg_ns)
    assert whole.latency.min_ns == pytest.approx(total.latency.min_ns, rel=0.001)
    assert [each.percent for each in whole.latency.percentiles] == [50, 95, 99.9]
    merged = LatencyHistogram.merged(each.latency.histogram for each in result.intervals)
    assert [each.latency_ns for each in whole.latency.percentiles] == [
        merged.percentile_ns(each.percent) for each in whole.latency.percentiles
    ]


def test_a_long_run_is_drawn_with_fewer_points(result: RunResult) -> None:
    many = tuple(replace(result.intervals[0], time_total_s=float(number + 1)) for number in range(1000))
    points = thinned(many, MOST_POINTS)
    assert len(points) == 200
    assert sum(each.counters.events for each in points) == 1000 * many[0].counters.events
    assert points[-1].time_total_s == 1000
    page = render(replace(result, intervals=many))
    assert page.count('class="pointer"') == 2 * 201 + 101


def test_partial_intervals_are_drawn_only_if_there_are_no_others(result: RunResult) -> None:
    whole, rest = replace(result.intervals[0], partial=False), replace(result.intervals[0], partial=True)
    assert thinned((whole, rest), 5) == [whole]
    assert thinned((rest,), 5) == [rest]
    assert thinned((), 5) == []


def test_a_run_without_events_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "none.lua").write_text("function event() return true end")
    _, result = recorded(tmp_path, "none.lua")
    page = render(result)
    assert page.count("<svg") == 2
    assert 'data-name="events">0</td>' in page


def test_names_are_escaped(result: RunResult) -> None:
    setup = replace(result.setup, test="<script>x</script>", options={"a&b": "<b>"}, command_line=("<i>", "&"))
    page = render(replace(result, setup=setup))
    assert "<script" not in page
    assert "&lt;script&gt;x" in page
    assert "&lt;b&gt;" in page


def test_a_run_that_did_not_complete_is_told_at_the_top(result: RunResult) -> None:
    assert "This run was interrupted (exit status 130)." in render(replace(result, exit_status=130))
    assert "This run was" not in render(result)


def test_columns_of_csv_have_their_values(result: RunResult) -> None:
    names, values = head(result.setup), row(result.setup, result.intervals[0])
    assert len(set(names.split(","))) == len(names.split(",")) == len(values.split(","))
    assert {"latency_p50_ns", "latency_p99.9_ns", "events", "events_per_s", "partial"} <= set(names.strip().split(","))


@pytest.mark.parametrize("highest", [0, 0.3, 1, 7, 99, 100, 101, 123_456])
def test_a_linear_axis_holds_its_values_and_has_round_ticks(highest: float) -> None:
    axis = linear_axis(highest, str)
    assert axis.high >= highest
    assert 2 <= len(axis.ticks) <= 6
    assert axis.share(axis.high) == 1


@pytest.mark.parametrize(("lowest", "highest"), [(0.001, 0.0011), (1, 1), (0.2, 30), (0.01, 99_999), (5, 50)])
def test_a_logarithmic_axis_holds_its_values(lowest: float, highest: float) -> None:
    axis = log_axis(lowest, highest, str)
    assert axis.low <= lowest <= highest <= axis.high
    assert axis.ticks
    assert 0 <= axis.share(lowest) <= axis.share(highest) <= 1


@pytest.mark.parametrize("run_style", ["1.0", "0.4"])
@pytest.mark.parametrize("name", ["cpu", "memory", "oltp_point_select"])
def test_a_saved_result_has_the_layout_of_its_run_or_the_one_that_is_asked_for(
    tmp_path: Path, run_style: str, name: str
) -> None:
    arguments = [name, *REPORTS, f"--report-style={run_style}"]
    if name == "memory":
        arguments.append("--memory-total-size=1T")
    if name == "oltp_point_select":
        arguments.append("--db-driver=null")
    printed, _ = recorded(tmp_path, *arguments)
    assert ours("report", "a.json", cwd=tmp_path).stdout.endswith(f"\n\n{printed}")
    shown = {
        style: ours("report", "a.json", f"--report-style={style}", cwd=tmp_path).stdout for style in ("1.0", "0.4")
    }
    assert shown[run_style].endswith(f"\n\n{printed}")
    assert ("General statistics:" in shown["1.0"], "General statistics:" in shown["0.4"]) == (True, False)
    assert ("Test execution summary:" in shown["1.0"], "Test execution summary:" in shown["0.4"]) == (False, True)
    own = {"cpu": ("CPU speed:", "Maximum prime number"), "memory": ("MiB transferred", "MB transferred")}.get(name)
    if own:
        assert [line in shown[style] for style in ("1.0", "0.4") for line in own] == [True, False, False, True]


def test_a_style_that_there_is_not(tmp_path: Path) -> None:
    line = "FATAL: Invalid value for --report-style: '0.5' (use 1.0 or 0.4)\n"
    assert ours("report", "a.json", "--report-style=0.5", cwd=tmp_path) == Result("", line, 1)


ENDS = """
ffi.cdef("int usleep(unsigned); int getpid(); int kill(int, int);")
local n = 0
function event()
  n = n + 1
  ffi.C.usleep(1000)
  if n == 300 and sysbench.opt.how == "fails" then error("no luck", 0) end
  if n == 300 and sysbench.opt.how == "interrupted" then ffi.C.kill(ffi.C.getpid(), 2) end
  if n == 3 and sysbench.opt.how == "hangs" then ffi.C.usleep(9000000) end
end
sysbench.cmdline.options = {how = {"How it ends", "well"}}
"""


@pytest.mark.parametrize(
    ("how", "status", "line"),
    [
        ("well", 0, None),
        ("fails", 1, "The run has failed: the figures above are of what was done before.\n"),
        ("interrupted", 130, "FATAL: interrupted by SIGINT after "),
        ("hangs", 2, "FATAL: The --max-time limit has expired, forcing shutdown...\n"),
    ],
)
def test_a_saved_result_says_how_the_run_has_ended(tmp_path: Path, how: str, status: int, line: str | None) -> None:
    (tmp_path / "ends.lua").write_text(ENDS)
    # Those that fail and are interrupted end before any limit.
    limits = {"well": ["--events=400", "--time=0"], "hangs": ["--time=1", "--forced-shutdown=0"]}
    run = ours("ends.lua", f"--how={how}", *limits.get(how, ["--time=60"]), "--output=json:a.json", "run", cwd=tmp_path)
    shown = ours("report", "a.json", cwd=tmp_path)
    assert (run.status, shown.status) == (status, 0)
    ends = [each for each in shown.stdout.splitlines() if "FATAL" in each or "failed" in each or "end well" in each]
    assert ends == [each for each in run.stdout.splitlines() if each in ends]
    assert len(ends) == (line is not None)
    if line:
        assert line in shown.stdout
        assert line in run.stdout


def test_a_result_of_earlier_versions_says_that_the_run_did_not_end_well(tmp_path: Path) -> None:
    shown = result_text(replace(a_result([1.0], [1.0]), exit_status=130))
    assert shown.endswith("\nThe run did not end well: its exit status is 130.\n")

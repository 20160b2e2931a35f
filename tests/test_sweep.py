"""Sweeps: values, order, what is kept, what happens on Ctrl-C and on failures, and what is drawn."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sysbench_py.errors import UsageError
from sysbench_py.experiments.curve import Curve, CurvePoint, best, knee, table
from sysbench_py.experiments.pictures import draw
from sysbench_py.experiments.sweep import Axis, SweepPlan
from sysbench_py.experiments.values import values_of
from sysbench_py.tools.sweep import plan_of
from tests.support.proc import Result, Run
from tests.support.reference import ours
from tests.support.results import SETUP, total
from tests.support.server import Server

# A script that any number of threads can run for a moment, and that fails at some values.
SCRIPT = """
sysbench.cmdline.options = {n = {"A number", 1}, shape = {"A word", "a"}, path = {"A path", "."}}
ffi.cdef("int usleep(unsigned)")
local function note(word) local f = io.open("notes", "a") f:write(word .. " " .. sysbench.opt.n .. "\\n") f:close() end
function thread_init() if sysbench.opt.n == 13 then error("thirteen", 0) end end
function event() ffi.C.usleep(1000) end
function prepare() note("prepare") end
function cleanup() note("cleanup") end
"""
QUICK = ("--time=0", "--events=20", "--pictures=", "--repeats=1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.lua").write_text(SCRIPT)
    return tmp_path


def sweep(folder: Path, *arguments: str) -> Result:
    return ours("sweep", *arguments, cwd=folder)


def rows(file: Path) -> list[dict[str, str]]:
    with file.open() as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,8", "1 2 8"),
        ("1..5", "1 2 3 4 5"),
        ("10..40+10", "10 20 30 40"),
        ("10..45+10", "10 20 30 40"),
        ("1..64*2", "1 2 4 8 16 32 64"),
        ("5..160*2", "5 10 20 40 80 160"),
        ("1,2,4..64", "1 2 4 8 16 32 64"),
        ("1,3,5..11", "1 3 5 7 9 11"),
        ("1,2,3..5,10..30+10", "1 2 3 4 5 10 20 30"),
        ("0.5..2+0.5", "0.5 1 1.5 2"),
        ("100..300+100,2,100", "100 200 300 2"),
        ("1K..4K*2", "1024 2048 4096"),
        ("-2..1", "-2 -1 0 1"),
        ("uniform,zipfian", "uniform zipfian"),
    ],
)
def test_values(text: str, values: str) -> None:
    assert values_of("threads", text) == tuple(values.split())


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("8..1", "'8..1' (the range is empty: its end is below its start)"),
        ("1..8+0", "'1..8+0' (the range never comes to its end)"),
        ("1..8*1", "'1..8*1' (the range never comes to its end)"),
        ("0..8*2", "'0..8*2' (the range never comes to its end)"),
        ("2,4..64", "'4..64' (no step can be seen in what stands before it: write 4..64+STEP or 4..64*FACTOR)"),
        ("1,5,6..64", "'6..64' (no step can be seen in what stands before it: write 6..64+STEP or 6..64*FACTOR)"),
        ("1..", "'1..' (write for example 1,2,4 or 1..16 or 10..100+10 or 1..64*2)"),
        ("1,,2", "'1,,2' (write for example 1,2,4 or 1..16 or 10..100+10 or 1..64*2)"),
        ("1..5000", "'1..5000' (more than 1000 values)"),
    ],
)
def test_values_that_are_none(text: str, advice: str) -> None:
    with pytest.raises(UsageError) as error:
        values_of("threads", text)
    assert error.value.line == f"Invalid value for --threads: {advice}"


def planned(folder: Path, *words: str, over: str = "") -> SweepPlan:
    return plan_of([str(folder / "t.lua"), *words], 3, 1, over)


def test_what_is_swept_is_told_from_what_has_commas_of_its_own(folder: Path) -> None:
    plan = planned(
        folder,
        "--percentile=50,99",
        "--path=../x",
        "--shape=a,b",
        "--mysql-port=1,2",
        "--threads=1,2",
        "--n=1..3",
        "run",
    )
    assert [(axis.name, axis.values) for axis in plan.axes] == [("threads", ("1", "2")), ("n", ("1", "2", "3"))]
    assert plan.options[:4] == ("--percentile=50,99", "--path=../x", "--shape=a,b", "--mysql-port=1,2")
    sizes = plan_of(["memory", "--memory-block-size=1K..4K*2", "--threads=1,2", "run"], 3, 1, "")
    assert sizes.axes[0] == Axis(name="memory-block-size", values=("1024", "2048", "4096"))
    words = planned(folder, "--shape=a,b", "--percentile=50,99", "run", over="shape")
    assert [(axis.name, axis.values) for axis in words.axes] == [("shape", ("a", "b"))]


def test_words_behind_two_dashes_are_the_test_s(folder: Path) -> None:
    result = sweep(folder, *QUICK, "--folder=out", "--", "t.lua", "--folder=mine", "--n=1,2", "run")
    # An option that the script does not have: that the script was asked shows whose it is.
    assert (result.status, result.stderr) == (1, "invalid option: --folder=mine\n")


def test_every_point_is_run_once_before_any_is_run_again(folder: Path) -> None:
    order = planned(folder, "--threads=1..8", "run").order()
    assert len(order) == 24
    for number in range(3):
        block = order[8 * number : 8 * number + 8]
        assert {run for _, run in block} == {number + 1}
        assert sorted(int(values[0]) for values, _ in block) == list(range(1, 9))
    assert [values for values, _ in order[:8]] != [values for values, _ in order[8:16]]


def test_commands_around_the_runs_have_the_largest_values_but_few_threads(folder: Path) -> None:
    line = planned(folder, "--threads=1..1000*10", "--n=4,16,8", "prepare", "run").common_line()
    assert line.options[-2:] == (f"--threads={len(os.sched_getaffinity(0))}", "--n=16")


def test_a_sweep_of_two_options(folder: Path) -> None:
    result = sweep(
        folder,
        "t.lua",
        "--threads=1,2",
        "--n=5,7",
        *QUICK,
        "--pictures=svg",
        "--folder=out",
        "prepare",
        "run",
        "cleanup",
    )
    assert (result.status, result.stderr) == (0, "")
    assert (folder / "notes").read_text() == "prepare 7\ncleanup 7\n"
    points = rows(folder / "out" / "points.csv")
    assert [(row["threads"], row["n"], row["runs"]) for row in points] == [
        ("1", "5", "1"), ("1", "7", "1"), ("2", "5", "1"), ("2", "7", "1"),
    ]  # fmt: skip
    runs = rows(folder / "out" / "runs.csv")
    assert [row["events"] for row in runs] == ["20"] * 4
    assert [row["events_per_s"] for row in runs] == [row["events_per_s"] for row in points]
    assert result.stdout.count("\n[") == 4
    assert "\nn=5: best: threads=" in result.stdout
    assert result.stdout.endswith("\nout: points.csv, runs.csv, sweep.svg\n")
    assert (folder / "out" / "sweep.svg").exists()
    assert json.loads((folder / "out" / "sweep.json").read_text())["done"] == ["prepare", "cleanup"]


def test_ctrl_c_keeps_what_is_done_and_resume_does_the_rest(folder: Path) -> None:
    arguments = ("t.lua", "--n=1..6", "--time=1", "--warmup-time=0", "--repeats=1", "--folder=out", "prepare", "run")
    with ours.start("sweep", *arguments, "cleanup", "--pictures=", cwd=folder) as running:
        running.wait_for("[2/6]")
        running.process.send_signal(signal.SIGINT)
        result = running.result()
    assert result.status == 130
    # More than two if the signal comes late.
    told = r"interrupted by SIGINT: ([2-5]) of 6 runs are done; sysbench sweep --resume=out goes on\n"
    match = re.fullmatch(told, result.stderr)
    assert match, result.stderr
    done = int(match[1])
    files = {file: file.stat().st_mtime_ns for file in (folder / "out").glob("0*")}
    assert len(files) == len(rows(folder / "out" / "points.csv")) == done
    again = sweep(folder, "--resume=out", "--pictures=")
    assert (again.status, again.stderr) == (0, "")
    assert "[1/6]" not in again.stdout
    assert again.stdout.count("\n[") == 6 - done
    assert {file: file.stat().st_mtime_ns for file in files} == files
    assert len(rows(folder / "out" / "points.csv")) == 6
    assert (folder / "notes").read_text() == "prepare 6\ncleanup 6\n"


def test_a_point_that_fails_is_told_and_loses_no_other(folder: Path) -> None:
    result = sweep(folder, "t.lua", "--n=1,13", *QUICK, "--folder=out", "run", "cleanup")
    assert result.status == 1
    assert result.stderr == (
        "FATAL: 1 of 2 runs failed, and cleanup is left out; sysbench sweep --resume=out tries them again\n"
    )
    failure = folder / "out" / "002-n=13-run1.failed.txt"
    said = "FATAL: `thread_init' function failed: thirteen (see out/002-n=13-run1.failed.txt)"
    assert f"n=13, run 1 failed: run: exit status 1: {said}\n" in result.stdout
    assert "failed: thirteen" in failure.read_text()
    assert [row["n"] for row in rows(folder / "out" / "points.csv")] == ["1"]
    (folder / "t.lua").write_text(SCRIPT.replace("== 13", "== 14"))
    assert sweep(folder, "--resume=out", "--pictures=").status == 0
    assert [row["n"] for row in rows(folder / "out" / "points.csv")] == ["1", "13"]
    assert not failure.exists()


def test_a_full_disk_leaves_no_part_of_a_picture(folder: Path) -> None:
    """The results of the runs have room, the picture has not."""
    command = (sys.executable, "-m", "sysbench_py", "sweep", "t.lua", "--n=1,2", "--threads=1", *QUICK)
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    limited = ("sh", "-c", 'ulimit -f 64; exec "$@"', "sh")
    with Run(*limited, *command, "--pictures=png", "--folder=out", "run", cwd=folder, env=environment) as running:
        result = running.result()
    assert (result.status, result.stderr) == (1, f"FATAL: {folder}/out/sweep.png: File too large\n")
    assert not list((folder / "out").glob("*sweep.png*"))
    assert (folder / "out" / "points.csv").exists()


def test_a_prepare_that_fails_ends_the_sweep(folder: Path) -> None:
    (folder / "t.lua").write_text(SCRIPT.replace('note("prepare")', 'error("no room", 0)'))
    result = sweep(folder, "t.lua", "--n=1,2", *QUICK, "--folder=out", "prepare", "run")
    assert (result.status, result.stderr) == (
        1,
        "FATAL: prepare: exit status 1: FATAL: `prepare' function failed: no room\n",
    )
    assert [file.name for file in (folder / "out").iterdir()] == ["sweep.json"]


def test_what_helps_a_prepare_that_fails_is_told(folder: Path) -> None:
    words = ("oltp_point_select", "--db-driver=sqlite", "--sqlite-db=x.db", "--tables=1,2", *QUICK)
    assert sweep(folder, *words, "--folder=first", "prepare", "run").status == 0
    result = sweep(folder, *words, "--folder=second", "prepare", "run")
    assert result.status == 1
    assert len(result.stderr.splitlines()) == 1
    assert "already exists" in result.stderr
    assert "remove them with 'sysbench oltp_point_select cleanup' and the same options)\n" in result.stderr


def test_a_password_is_not_written_down_and_needed_again(folder: Path) -> None:
    options = ("--pgsql-password=hush", "--n=1,13", *QUICK, "--folder=out")
    assert sweep(folder, "t.lua", *options, "run").status == 1
    assert all("hush" not in file.read_text(errors="replace") for file in (folder / "out").iterdir())
    result = sweep(folder, "--resume=out", "--pictures=")
    assert result.stderr == "FATAL: --resume=out: passwords are not kept, give --pgsql-password=... again\n"
    (folder / "t.lua").write_text(SCRIPT.replace("== 13", "== 14"))
    assert sweep(folder, "--resume=out", "--pictures=", "--pgsql-password=hush").status == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "sweep needs a test: sysbench sweep TEST --options... run"),
        (("cpu", "--threads=1,2"), "sweep needs the command run, once, and has no command: write for example"),
        (("cpu", "run"), "sweep has nothing to sweep over: give an option several values, as in --threads=1,2,4..64"),
        (("slap", "--concurrency=1,2", "run"), "sweep has nothing to sweep over: give an option several values, as in"),
        (
            ("memory", "--memory-oper=read,write", "run"),
            "sweep has nothing to sweep over: give an option several values, as in --threads=1,2,4..64, and name it "
            "with --over if its values are texts or lists (add --over=memory-oper to sweep over its values)\n",
        ),
        (
            ("cpu", "--rand-type=uniform,zipfian", "run"),
            "FATAL: Invalid random numbers distribution: uniform,zipfian. "
            "(add --over=rand-type to sweep over its values)\n",
        ),
        (("cpu", "--threads=4..1", "run"), "Invalid value for --threads: '4..1' (the range is empty"),
        (("cpu", "--threads=0,1", "run"), "FATAL: Invalid value for --threads: 0."),
        (("cpu", "--threads=1,2", "--nosuch=3", "run"), "invalid option: --nosuch=3"),
        (("nosuch", "--threads=1,2", "run"), "FATAL: Cannot find benchmark 'nosuch'"),
        (("cpu", "--threads=1,2", "prepare", "run"), "'cpu' has no command 'prepare' (it has run, help)"),
        (("cpu", "--threads=1,2", "--output=json", "run"), "sweep keeps all results in a folder of its own: leave out"),
        (("cpu", "--threads=1,2", "--time=1,2", "--events=1,2", "run"), "sweep takes one or two options with several"),
        (("cpu", "--threads=1,2", "--over=rate", "run"), "--over=rate: there is no --rate=VALUES to sweep over"),
        (("cpu", "--threads=1,2", "--repeats=0", "run"), "FATAL: Invalid value for --repeats: 0 (use 1 to 1000)"),
        (
            ("cpu", "--threads=1,2", "--repeats=999999999", "run"),
            "FATAL: Invalid value for --repeats: 999999999 (use 1",
        ),
        (("cpu", "--threads=1,2", "--pictures=gif", "run"), "FATAL: Invalid value for --pictures: 'gif' (use png, svg"),
        (("cpu", "--threads=1,2", "--folder=.", "run"), "FATAL: --folder=.: it exists (name another one)"),
        (("--resume=none",), "FATAL: 'none' is no folder of a sweep: sweep.json: No such file or directory"),
        (("--resume=old",), "FATAL: 'old/sweep.json' is no plan of a sweep: plan_version is 99"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_are_one_line_before_anything_is_run(tmp_path: Path, arguments: tuple[str, ...], line: str) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "sweep.json").write_text('{"plan_version": 99}')
    result = sweep(tmp_path, *arguments)
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_script_of_that_name_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sweep.lua").write_text("function event() end function prepare() print('mine') end")
    assert "mine\n" in ours("sweep", "prepare", cwd=tmp_path).stdout


def curve_of(rates: dict[str, float]) -> Curve:
    """A closed loop: latency is threads by throughput."""
    plan = SweepPlan(
        test="t",
        options=(),
        axes=(Axis(name="threads", values=tuple(rates)),),
        repeats=2,
        seed=1,
        before=(),
        after=(),
    )
    points = [
        CurvePoint((threads,), tuple(total(each, 1000 * int(threads) / each) for each in (rate * 0.9, rate * 1.1)))
        for threads, rate in rates.items()
    ]
    return Curve(plan, tuple(points))


def test_best_point_and_knee() -> None:
    curve = curve_of({"1": 100, "2": 200, "4": 400, "8": 440, "16": 450, "32": 420})
    assert best(curve.points).values == ("16",)
    bend = knee(curve.points)
    assert bend is not None
    assert bend.values == ("4",)
    assert knee(curve.points[:2]) is None
    text = table(curve)
    assert text.splitlines()[0].split() == [
        *("threads", "runs", "events/s", "lowest", "highest", "avg,", "ms", "p95,", "ms", "errors/s")
    ]
    assert text.splitlines()[3].split() == ["4", "2", "400.00", "360.00", "440.00", "10.00", "11.11", "0.00"]
    assert text.endswith(
        "best: threads=16 with 450.00 events/s\n"
        "knee: threads=4 with 89% of that, 10.00 ms on average instead of 35.56 ms"
    )


def test_pictures() -> None:
    curve = curve_of({"1": 100, "2": 200, "4": 400, "8": 440})
    assert draw(curve, SETUP, "png").startswith(b"\x89PNG")
    svg = draw(curve, SETUP, "svg")
    ElementTree.fromstring(svg)
    assert draw(curve, SETUP, "svg") == svg
    page = draw(curve, SETUP, "html").decode()
    assert "<svg" in page
    assert "best: threads=8" in page
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"|<metadata>.*?</metadata>', "", page, flags=re.DOTALL)


def test_without_matplotlib_there_are_results_and_a_line(folder: Path) -> None:
    shutil.copy(folder / "t.lua", folder / "u.lua")
    # Finds nothing called matplotlib, as if it were not installed.
    (folder / "sitecustomize.py").write_text(
        "import importlib.util as u\nfound = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'matplotlib' else found(name, package)\n"
    )
    env = {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    missing = "pictures need the Python package matplotlib: pip install 'sysbench-py[report]'\n"
    quick = ("u.lua", "--n=1,2", "--time=0", "--events=5", "--repeats=1", "run")
    refused = ours("sweep", *quick, "--pictures=png", "--folder=a", cwd=folder, env=env)
    assert (refused.status, refused.stderr) == (1, f"FATAL: --pictures=png: {missing}")
    result = ours("sweep", *quick, "--folder=b", cwd=folder, env=env)
    assert (result.status, result.stderr) == (0, f"No pictures: {missing}")
    assert len(rows(folder / "b" / "points.csv")) == 2


def test_on_a_server(server: Server, tmp_path: Path) -> None:
    options = (*server.args, "--table-size=100", "--threads=1,2", "--rate=500,1000", *QUICK)
    result = sweep(tmp_path, "oltp_point_select", *options, "--folder=out", "prepare", "run", "cleanup")
    assert (result.status, result.stderr) == (0, "")
    points = rows(tmp_path / "out" / "points.csv")
    assert len(points) == 4
    assert all(float(row["queries_per_s"]) > 0 for row in points)
    assert "rate=500: best: threads=" in result.stdout


@pytest.mark.parametrize(("name", "values"), [("rand-type", "uniform,zipfian"), ("forced-shutdown", "off,5")])
def test_options_whose_words_are_checked(folder: Path, name: str, values: str) -> None:
    result = sweep(folder, "t.lua", f"--{name}={values}", f"--over={name}", "--folder=s", *QUICK, "run")
    assert result.status == 0, result
    assert sorted(row[name] for row in rows(folder / "s" / "runs.csv")) == sorted(values.split(","))


def test_another_copy_of_the_package_in_the_working_directory_is_not_run(folder: Path) -> None:
    (folder / "sysbench_py").mkdir()
    (folder / "sysbench_py" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    # As the installed command does, this process leaves the working directory out.
    start = "import sys; del sys.path[0]; sys.argv[0] = 'sysbench'; from sysbench_py.cli import main; main()"
    arguments = ("sweep", "t.lua", "--threads=1,2", "--folder=s", *QUICK, "run")
    with Run(sys.executable, "-c", start, *arguments, cwd=folder) as process:
        result = process.result()
    assert result.status == 0, result

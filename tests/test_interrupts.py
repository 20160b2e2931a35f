"""Ctrl-C, SIGTERM and SIGHUP."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sysbench_py.system import SAME_SIGNAL_S
from tests.support.compat import compat
from tests.support.proc import Run, wait_until
from tests.support.reference import ours, report

SLEEPS = "ffi.cdef('int usleep(unsigned)')\nlocal function nap(s) ffi.C.usleep(s * 1e6) end\n"
MANY_SECONDS = 60
MANY_TRIES = 20
ROOT = Path(__file__).parents[1]

STATUSES = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


def start(folder: Path, script: str, *words: str) -> Run:
    (folder / "script.lua").write_text(SLEEPS + script)
    return ours.start("script.lua", *words, cwd=folder)


@compat("interrupted-run")
@pytest.mark.parametrize(("number", "status"), STATUSES)
def test_run_ends_and_reports_what_was_done(tmp_path: Path, number: signal.Signals, status: int) -> None:
    script = "function event() nap(0.01) end function thread_done() io.write('thread done\\n') end"
    with start(tmp_path, script, "--threads=2", "--time=100", "--report-interval=1", "run") as run:
        run.wait_for("[ 1s ]")
        run.process.send_signal(number)
        result = run.result()
    assert (result.status, result.stderr) == (status, "")
    assert f"FATAL: interrupted by {number.name} after " in result.stdout
    assert result.stdout.count("thread done\n") == 2
    assert report(result.stdout)["events"] > 0


@compat("interrupted-run")
@pytest.mark.parametrize("options", [[], ["--live"], ["--threads=2", "--workers=process"]], ids=" ".join)
def test_terminal_that_goes_away(tmp_path: Path, options: list[str]) -> None:
    """As when a connection to the machine is lost: there is nobody to print to, and the result is kept."""
    (tmp_path / "script.lua").write_text(SLEEPS + "function event() nap(0.01) end")
    words = ("script.lua", *options, "--time=100", "--output=json:run.json", "--output=csv:run.csv", "run")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "sysbench_py", *words])
    rows = tmp_path / "run.csv"
    wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 1, "the first interval")
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 129
    result = json.loads((tmp_path / "run.json").read_text())
    assert result["exit_status"] == 129
    assert result["total"]["counters"]["events"] > 0


def test_signal_that_is_to_be_ignored(tmp_path: Path) -> None:
    """As nohup and a shell's `&` want it."""
    (tmp_path / "script.lua").write_text(SLEEPS + "function event() nap(0.01) end")
    ignoring = f"trap '' HUP INT; exec {sys.executable} -m sysbench_py script.lua --time=2 --report-interval=1 run"
    with Run("sh", "-c", ignoring, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}) as run:
        run.wait_for("[ 1s ]")
        for number in (signal.SIGHUP, signal.SIGINT):
            run.process.send_signal(number)
        result = run.result()
    assert result.status == 0
    assert report(result.stdout)["total_time_s"] >= 2


@compat("interrupted-run")
def test_events_that_go_on_are_named(tmp_path: Path) -> None:
    script = (
        f"local n = 0\nfunction event(id) n = n + 1 if id == 1 and n > 2 then nap({MANY_SECONDS}) end nap(0.01) end"
    )
    with start(tmp_path, script, "--threads=2", "--time=100", "--report-interval=1", "run") as run:
        run.wait_for("[ 1s ]")
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == 130
    assert "FATAL: interrupted by SIGINT, and events go on\n" in result.stdout
    assert (
        "\nNumber of unfinished transactions on forced shutdown: 1\nThreads inside of an event: #1 for "
        in result.stdout
    )
    assert report(result.stdout)["events"] > 2


@pytest.mark.parametrize("when", ["during the run", "during the hook"])
def test_report_hook_that_never_ends(tmp_path: Path, when: str) -> None:
    """One signal is enough, whether it comes before the hook or in it."""
    script = """
        function event() nap(0.01) end
        function sysbench.hooks.report_cumulative() io.write("in the hook\\n") while true do end end
    """
    limit = "--time=100" if when == "during the run" else "--time=1"
    with start(tmp_path, script, limit, "--report-interval=1", "--output=json:run.json", "run") as run:
        run.wait_for("[ 1s ]" if when == "during the run" else "in the hook")
        run.process.send_signal(signal.SIGTERM)
        result = run.result()
    assert result.status == 143
    kept = json.loads((tmp_path / "run.json").read_text())
    assert (kept["exit_status"], kept["total"]["counters"]["events"] > 0) == (143, True)
    assert "FATAL: interrupted by SIGTERM, and a hook of the script does not end\n" in result.stdout


def catches(run: Run, number: signal.Signals) -> bool:
    """Whether the process has a handler for the signal: SigCgt of proc(5)."""
    status = Path(f"/proc/{run.process.pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(mask, 16) & 1 << number - 1)


def test_second_signal_ends_at_once(tmp_path: Path) -> None:
    script = f"function event() io.write('event\\n') nap({MANY_SECONDS}) end"
    with start(tmp_path, script, "--time=100", "run") as run:
        run.wait_for("event\n")
        run.process.send_signal(signal.SIGINT)
        # Two that come too soon after each other are one.
        wait_until(lambda: not catches(run, signal.SIGINT), "the first signal to be taken")
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == -signal.SIGINT
    assert "General statistics" not in result.stdout


@compat("interrupted-run")
@pytest.mark.parametrize("apart_s", [0, 0.01, 0.03, 0.1, 0.15])
def test_signals_that_come_together_are_one(tmp_path: Path, apart_s: float) -> None:
    """timeout(1) sends SIGTERM to the process and then to its group.

    The second one comes while the run goes on, while it reports, or when all is said."""
    for _ in range(MANY_TRIES):
        with start(tmp_path, "function event() nap(0.01) end", "--time=100", "--report-interval=1", "run") as run:
            run.wait_for("[ 1s ]")
            began_s = time.monotonic()
            run.process.send_signal(signal.SIGTERM)
            time.sleep(apart_s)
            run.process.send_signal(signal.SIGTERM)
            together = time.monotonic() - began_s < SAME_SIGNAL_S
            result = run.result()
        if together:
            break
    assert together, "the machine is too slow to send two signals at once"
    assert result.status == 143
    assert report(result.stdout)["events"] > 0


@compat("interrupted-command")
@pytest.mark.parametrize(("number", "status"), STATUSES)
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "prepare",
            "during 'prepare': what it was making stands half-done: do 'cleanup', then 'prepare' again",
        ),
        ("cleanup", "during 'cleanup': some of what it was removing may be left: do 'cleanup' again"),
        ("own", "during 'own': what it was doing may stand half-done"),
        ("run", "during 'run': no event has been run"),
    ],
)
def test_command_that_is_cut_off_says_what_it_leaves(
    tmp_path: Path, number: signal.Signals, status: int, command: str, message: str
) -> None:
    script = (
        f"function prepare() print('begun') nap({MANY_SECONDS}) end cleanup, init = prepare, prepare\n"
        "function event() end sysbench.cmdline.commands = {own = {prepare}}"
    )
    with start(tmp_path, script, command) as run:
        run.wait_for("begun\n")
        run.process.send_signal(number)
        result = run.result()
    assert result.status == status
    assert result.stdout.endswith(f"begun\nFATAL: interrupted by {number.name} {message}\n")
    assert result.stderr == ""


def test_parallel_command_is_cut_off(tmp_path: Path) -> None:
    script = (
        f"local function work() io.write('begun\\n') nap({MANY_SECONDS}) end\n"
        "sysbench.cmdline.commands = {own = {work, sysbench.cmdline.PARALLEL_COMMAND}}"
    )
    with start(tmp_path, script, "--threads=3", "own") as run:
        run.wait_for("begun\nbegun\nbegun\n")
        run.process.send_signal(signal.SIGTERM)
        assert run.result().status == 143


def test_workers_that_are_not_ready_yet(tmp_path: Path) -> None:
    script = (
        "function event() end\n"
        f"function thread_init(id) io.write('ready\\n') if id == 1 then nap({MANY_SECONDS}) end end"
    )
    with start(tmp_path, script, "--threads=2", "run") as run:
        run.wait_for("ready\nready\n")
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == 130
    assert result.stdout.endswith("FATAL: interrupted by SIGINT during 'run': no event has been run\n")


def test_warm_up_ends_early(tmp_path: Path) -> None:
    with start(tmp_path, "function event() nap(0.01) end", "--warmup-time=100", "run") as run:
        run.wait_for("Warming up")
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == 130
    assert report(result.stdout)["total_time_s"] < 50


def test_body_of_a_script(tmp_path: Path) -> None:
    with start(tmp_path, f"print('begun') nap({MANY_SECONDS})") as run:
        run.wait_for("begun\n")
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == 130
    assert result.stdout.endswith("begun\nFATAL: interrupted by SIGINT\n")


def test_commands_that_follow_an_interrupted_run_are_not_done(tmp_path: Path) -> None:
    script = "function event() nap(0.01) end function cleanup() print('cleaned') end"
    with start(tmp_path, script, "--time=100", "--report-interval=1", "run", "cleanup") as run:
        run.wait_for("[ 1s ]")
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == 130
    assert "cleaned" not in result.stdout


def test_signal_that_is_ignored_from_outside_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / "script.lua").write_text(SLEEPS + "function event() nap(0.01) end")
    command = [sys.executable, "-m", "sysbench_py", "script.lua", "--time=2", "--report-interval=1", "run"]
    with subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        while not process.stdout.readline().startswith("[ 1s ]"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "interrupted" not in rest


def test_waiting_for_a_script_on_standard_input() -> None:
    command = [sys.executable, "-m", "sysbench_py", "--verbosity=3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"sysbench ")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (-signal.SIGINT, b"")

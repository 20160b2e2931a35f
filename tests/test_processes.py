"""Workers in several processes of one run: the statistics of all in one report, and everything that ends a run."""

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.support.dbapi import dbapi
from tests.support.mariadb import MariaDB
from tests.support.proc import Result, Run, wait_until
from tests.support.reference import intermediate, ours, report, reports

PROCESSES = ("--workers=process", "--processes=2")
NAP = "ffi.cdef('int usleep(unsigned); int getpid();')\nlocal function nap(s) ffi.C.usleep(s * 1e6) end\n"


def script(folder: Path, text: str) -> str:
    (folder / "script.lua").write_text(NAP + text)
    return str(folder / "script.lua")


def children(run: Run) -> list[int]:
    path = Path(f"/proc/{run.process.pid}/task")
    return [int(pid) for task in path.iterdir() for pid in (task / "children").read_text().split()]


def test_counts_of_all_processes_add(tmp_path: Path) -> None:
    """Every event of every worker is in the totals, the histogram, the intervals and the fairness."""
    text = """
        local drv, con
        function thread_init() con = sysbench.sql.driver("null"):connect() end
        function event() con:query("x") nap(0.002) end
        function thread_done() io.write(string.format("> %d %d\\n", sysbench.tid, ffi.C.getpid())) end
    """
    result = ours(script(tmp_path, text), *PROCESSES, "--threads=5", "--events=1000", "--time=0", "--histogram", "run")
    assert result.status == 0, result.stdout
    numbers = report(result.stdout)
    assert (numbers["events"], numbers["other"], numbers["events_avg"]) == (1000, 1000, 200)
    counted = re.findall(r"^ +[\d.]+ \|[* ]+ (\d+)$", result.stdout, re.MULTILINE)
    assert sum(map(int, counted)) == 1000
    workers = dict(line[2:].split() for line in result.stdout.splitlines() if line.startswith("> "))
    assert sorted(workers) == ["0", "1", "2", "3", "4"]
    assert workers["0"] == workers["2"] == workers["4"] != workers["1"] == workers["3"]


def test_same_numbers_as_with_threads(tmp_path: Path) -> None:
    """A worker's random numbers and the unique sequence do not depend on the process that it is in."""
    text = """
        local n = 0
        function event()
           n = n + 1
           if n > 20 then return true end
           io.write(string.format("> %d %d\\n", sysbench.tid, sysbench.rand.uniform(1, 1e9)))
           io.write(string.format(">> %d\\n", sysbench.rand.unique()))
        end
    """
    words = [script(tmp_path, text), "--threads=4", "--rand-seed=5", "run"]
    lines = [sorted(ours(*words, *how).stdout.splitlines()) for how in ((), PROCESSES)]
    drawn = [[line for line in found if line.startswith(">")] for found in lines]
    assert len(drawn[0]) == len(set(drawn[0])) == 160
    assert drawn[0] == drawn[1]


def test_intervals_checkpoints_and_rate(tmp_path: Path) -> None:
    result = ours(
        script(tmp_path, "function event() nap(0.001) end"), *PROCESSES, "--threads=4", "--time=0", "--events=500",
        "--rate=200", "--report-interval=1", "--report-checkpoints=1", "run",
    )  # fmt: skip
    assert result.status == 0, result.stdout
    checkpoint, final = reports(result.stdout)
    assert checkpoint["events"] > 0
    assert checkpoint["events"] + final["events"] == 500
    assert final["total_time_s"] > 1.5
    lines = intermediate(result.stdout)
    assert any(line.get("threads") == 4 and line["eps"] > 0 for line in lines)
    assert any("queue_length" in line for line in lines)


def test_time_limit_and_warm_up(tmp_path: Path) -> None:
    words = [script(tmp_path, "function event() nap(0.01) end"), *PROCESSES, "--threads=2", "--warmup-time=1"]
    result = ours(*words, "--time=1", "run")
    assert result.status == 0, result.stdout
    numbers = report(result.stdout)
    assert numbers["total_time_s"] >= 1
    # Two workers do 100 a second each at most, and those of the warm-up are not among them.
    assert 0 < numbers["events"] < 100 * 2 * numbers["total_time_s"] + 4


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_ends_all_and_reports(tmp_path: Path, number: signal.Signals, status: int) -> None:
    text = "function event() nap(0.01) end function thread_done() io.write('thread done\\n') end"
    words = [script(tmp_path, text), *PROCESSES, "--threads=4", "--time=60", "--report-interval=1", "run"]
    with ours.start(*words) as run:
        run.wait_for("[ 1s ]")
        pids = children(run)
        assert len(pids) == 2
        # As Ctrl-C in a terminal, which goes to all processes.
        for pid in (*pids, run.process.pid):
            os.kill(pid, number)
        result = run.result()
    assert result.status == status
    assert f"FATAL: interrupted by {number.name} after " in result.stdout
    assert result.stdout.count("thread done\n") == 4
    assert report(result.stdout)["events"] > 0


def test_process_that_is_killed_ends_the_run(tmp_path: Path) -> None:
    text = "function event() nap(0.01) end"
    words = [script(tmp_path, text), *PROCESSES, "--threads=5", "--time=60", "--report-interval=1", "run"]
    with ours.start(*words) as run:
        run.wait_for("[ 1s ]")
        victim = min(children(run))
        os.kill(victim, signal.SIGKILL)
        result = run.result()
    assert result.status == 1
    # The first process has three of the five, and either may have the smaller number.
    message = rf"FATAL: a process of workers \(pid {victim}\) has ended by SIGKILL, with (2 of 2|3 of 3) at work\n"
    assert re.search(message, result.stdout)
    assert report(result.stdout)["events"] > 0


def test_processes_do_not_outlive_the_one_that_reports(tmp_path: Path) -> None:
    with ours.start(
        script(tmp_path, "function event() nap(0.01) end"), *PROCESSES, "--threads=2", "--time=60", "run"
    ) as run:
        run.wait_for("Threads started!")
        pids = children(run)
        run.process.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in pids), "the processes of workers to end")


@pytest.mark.parametrize("options", [[], ["--rate=500"], ["--warmup-time=60"]], ids=" ".join)
def test_a_stopped_process_holds_up_nothing(tmp_path: Path, options: list[str]) -> None:
    """Ctrl-C ends all, the stopped one too, and the others' events are reported."""
    words = [script(tmp_path, "function event() nap(0.01) end"), *PROCESSES, "--threads=4", "--time=60", *options]
    with ours.start(*words, "run") as run:
        run.wait_for("Warming up" if options == ["--warmup-time=60"] else "Threads started!")
        time.sleep(0.5)
        pids = children(run)
        os.kill(pids[0], signal.SIGSTOP)
        run.process.send_signal(signal.SIGINT)
        result = run.result()
        wait_until(lambda: not any(is_alive(pid) for pid in pids), "the processes of workers to end")
    assert result.status == 130
    assert "FATAL: interrupted by SIGINT" in result.stdout
    # Of a warm-up that was cut off nothing need be left.
    assert report(result.stdout)["events"] > 0 or options == ["--warmup-time=60"]


def test_a_process_that_does_not_end_after_its_workers_is_ended(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(
        "import time\n"
        "from sysbench_py import core, processes\n"
        "def work(group):\n"
        "    core.worker_missing()\n"
        "    return True\n"
        # Done by a process of workers when all of them have ended.
        "core.log_end = lambda: time.sleep(600)\n"
        "crew = processes.ProcessCrew(work, [[0], [1]], 0, 2)\n"
        "crew.start()\n"
        "print(crew.join(), crew.failed)\n"
    )
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with Run(sys.executable, "hangs.py", cwd=tmp_path, env=environment) as run:
        assert run.result() == Result("True False\n", "", 0)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("where", ["thread_init", "event"])
def test_failure_in_one_process_ends_the_run(tmp_path: Path, where: str) -> None:
    text = f"function event() nap(0.01) end function {where}() nap(0.01) if sysbench.tid == 3 then error('no') end end"
    result = ours(script(tmp_path, text), *PROCESSES, "--threads=4", "--time=60", "run")
    assert result.status == 1
    assert ("Thread initialization failed!" in result.stdout) == (where == "thread_init")


def test_forced_shutdown_names_threads_of_all_processes(tmp_path: Path) -> None:
    text = "function event() nap(600) end"
    result = ours(script(tmp_path, text), *PROCESSES, "--threads=3", "--time=1", "--forced-shutdown=0", "run")
    assert result.status == 2
    assert "Number of unfinished transactions on forced shutdown: 3\n" in result.stdout


def test_errors_by_code_add(tmp_path: Path) -> None:
    text = """
        local con
        function thread_init()
           con = sysbench.sql.driver():connect()
        end
        function sysbench.hooks.sql_error_ignorable() return true end
        local n = 0
        function event()
           n = n + 1
           if n % 2 == 1 then con:query("SELECT * FROM missing") end
        end
    """
    words = ["--db-driver=sqlite", f"--sqlite-db={tmp_path}/x.db", "--sqlite-ignore-errors=1", "--errors=on"]
    result = ours(script(tmp_path, text), *PROCESSES, *words, "--threads=4", "--events=40", "--time=0", "run")
    assert result.status == 0, result.stdout
    counted = report(result.stdout)["ignored_errors"]
    assert counted >= 4
    row = next(line for line in result.stdout.splitlines() if "no such table: missing" in line)
    assert str(counted) in row.split(), row


def test_hosts_are_rotated_across_processes(tmp_path: Path) -> None:
    """Connections have numbers of the whole run: the hosts of a list get as many each."""
    text = "local c function thread_init() c = sysbench.sql.driver():connect() end function event() return true end"
    ports = ("1", "2")
    words = ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={','.join(ports)}"]
    result = ours(script(tmp_path, text), *PROCESSES, *words, "--threads=2", "run")
    assert result.status == 1
    for port in ports:
        assert f"port {port}" in result.stdout


def test_driver_with_the_interpreter_lock(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    words = ["oltp_read_write", *dbapi(mariadb, "pymysql"), "--table-size=1000", "--threads=4"]
    assert ours(*words, "prepare").status == 0
    output = f"--output=json:{tmp_path}/result.json"
    result = ours(*words, *PROCESSES, output, "--events=100", "--time=0", "run")
    assert result.status == 0, result.stdout
    numbers = report(result.stdout)
    assert numbers["events"] == 100
    assert numbers["total"] >= 2000
    # The result knows what the other processes have connected to, and not with which password.
    setup = json.loads((tmp_path / "result.json").read_text())["setup"]
    assert [each["library"].split()[0] for each in setup["databases"]] == ["pymysql"]
    assert "dbapi_connect" not in setup["options"]
    assert str(mariadb.port) not in str(setup["command_line"])
    assert result.stdout.count("costs this client") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cpu", "--workers=process"], "--workers=process is for scripts: the 'cpu' test needs no Python lock"),
        (["cpu", "--workers=process", "--multiplex=1"], "--multiplex=1 and --workers=process exclude each other"),
        (
            ["oltp_insert", "--workers=process", "--statements=on"],
            "--statements=on needs --workers=thread: statements are not told apart across processes",
        ),
        (["oltp_insert", "--processes=2"], "--processes=2 needs --workers=process"),
        (["oltp_insert", "--workers=process", "--processes=-1"], "Invalid value for --processes: -1. (use at least 0)"),
        (["oltp_insert", "--workers=both"], "Invalid value for --workers: 'both' (use thread, process)"),
        (
            ["oltp_insert", "--db-driver=sqlite", "--sqlite-db=:memory:", "--workers=process"],
            "--sqlite-db=:memory: cannot be shared by processes: use a file, or --workers=thread",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused(words: list[str], said: str) -> None:
    result = ours(*words, "run")
    assert result.status == 1
    assert f"FATAL: {said}\n" in result.stdout

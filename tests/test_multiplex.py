"""--multiplex: many workers on few OS threads do what they do on one each."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Result
from tests.support.reference import intermediate, ours, report, reports
from tests.support.server import Server

USLEEP = "ffi.cdef('int usleep(unsigned)')\n"
CONNECTED = "function thread_init() con = sysbench.sql.driver():connect() end\n"


def run(folder: Path, script: str, *options: str) -> Result:
    (folder / "script.lua").write_text(script)
    return ours("script.lua", *options, "run", cwd=folder)


def printed(result: Result) -> list[str]:
    return sorted(line for line in result.stdout.splitlines() if line.startswith("> "))


@pytest.mark.parametrize("carriers", [1, 2])
def test_a_workload_on_each_database(database: list[str], carriers: int) -> None:
    options = (*database, "--tables=2", "--table-size=200", "--threads=6", f"--multiplex={carriers}")
    result = ours("oltp_read_write", *options, "--events=120", "--time=0", "prepare", "run", "cleanup")
    assert result.status == 0, result.stdout
    values = report(result.stdout)
    assert values["events"] == 120
    # An event that was restarted has sent some of its statements twice, and perhaps a ROLLBACK.
    tries = 120 + values["ignored_errors"]
    assert 120 * 14 <= values["read"] <= tries * 14
    assert 120 * 20 <= values["queries"] <= tries * 21


def test_the_same_statements_as_without(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    options = (*mariadb.args, "--table-size=100", "--events=20", "--time=0", "--rand-seed=7")
    ours("oltp_read_write", *options, "prepare")
    logs = []
    for multiplex in (), ("--multiplex=1",):
        with mariadb.query_log() as log:
            assert ours("oltp_read_write", *options, *multiplex, "run").status == 0
        logs.append([(entry.command, entry.text) for entry in log])
    assert logs[0] == logs[1]
    assert len(logs[0]) > 20 * 18


def test_each_worker_has_its_own_globals(tmp_path: Path) -> None:
    script = """
    count = 0
    function thread_init(id) string.mine, sysbench.opt.mine = id, id end
    function event(id)
       count = count + 1
       assert(string.mine == id and sysbench.opt.mine == id and sysbench.tid == id)
       if count == 5 then return true end
    end
    function thread_done(id) print("> " .. id .. " " .. count .. " " .. sysbench.rand.uniform(1, 1000000)) end
    """
    options = ("--threads=40", "--time=0", "--events=0", "--rand-seed=3", "--verbosity=0")
    result = run(tmp_path, script, *options, "--multiplex=3")
    assert [line.split()[1:3] for line in printed(result)] == sorted([str(i), "5"] for i in range(40))
    assert printed(result) == printed(run(tmp_path, script, *options))


def test_thousands_of_workers(tmp_path: Path) -> None:
    script = CONNECTED + "function event() con:query('SELECT 1') end"
    result = run(tmp_path, script, "--db-driver=null", "--threads=3000", "--multiplex=2", "--events=60000", "--time=0")
    assert report(result.stdout)["events"] == 60000
    assert result.status == 0


def test_workers_take_turns_though_their_events_do_not_wait(tmp_path: Path) -> None:
    script = """
    function event() done = (done or 0) + 1 end
    function thread_done(id) print("> " .. id) assert(done > 100) end
    """
    result = run(tmp_path, script, "--threads=20", "--multiplex=1", "--time=1")
    assert len(printed(result)) == 20
    assert result.status == 0


def test_rate(postgres: PostgreSQL, tmp_path: Path) -> None:
    script = CONNECTED + "function event() con:query('SELECT 1') end"
    options = (*postgres.args, "--threads=20", "--multiplex=2", "--rate=200", "--time=5", "--report-interval=1")
    result = run(tmp_path, script, *options)
    # A Poisson process: 1000 events, and six standard deviations.
    assert 810 < report(result.stdout)["events"] < 1190
    assert intermediate(result.stdout)


def test_warm_up_and_checkpoints(tmp_path: Path) -> None:
    script = USLEEP + "function event() ffi.C.usleep(1000) end"
    options = ("--threads=4", "--multiplex=2", "--warmup-time=1", "--time=2", "--report-checkpoints=1")
    result = run(tmp_path, script, *options)
    checkpoint, final = reports(result.stdout)
    # Each carrier does less than 1000 a second, and up to a checkpoint that may be late.
    at_s, end_s = checkpoint["total_time_s"], final["total_time_s"]
    assert 150 < checkpoint["events"] < 2000 * at_s + 10
    assert 150 < final["events"] < 2000 * (end_s - at_s) + 10


@pytest.mark.parametrize("options", [(), ("--db-ps-mode=disable",)])
@pytest.mark.parametrize("name", ["mariadb", "mariadb_tls", "postgres"])
def test_connections_that_are_killed(name: str, options: tuple[str, ...], request: pytest.FixtureRequest) -> None:
    server: Server = request.getfixturevalue(name)
    server.empty_database()
    ignore = "--mysql-ignore-errors=all" if isinstance(server, MariaDB) else "--pgsql-ignore-errors=all"
    arguments = (*server.args, *options, "--table-size=100", "--threads=8")
    assert ours("oltp_point_select", *arguments, "prepare").status == 0
    running = (*arguments, ignore, "--multiplex=2", "--time=3", "run")
    with ours.start("oltp_point_select", *running) as started:
        started.wait_for("Threads started!")
        server.kill_all_client_connections()
        result = started.result()
    assert result.status == 0, result.stdout
    assert report(result.stdout)["reconnects"] >= 8


@pytest.mark.parametrize("name", ["mariadb", "mariadb_tls", "postgres"])
def test_large_statements_wait_for_room(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server: Server = request.getfixturevalue(name)
    script = CONNECTED + """
    function event() assert(#con:query_row("SELECT '" .. string.rep("x", 8000000) .. "'") == 8000000) end
    """
    result = run(tmp_path, script, *server.args, "--threads=3", "--multiplex=1", "--events=6", "--time=0")
    assert report(result.stdout)["events"] == 6


def test_a_transport_in_python_simply_runs(mariadb: MariaDB, tmp_path: Path) -> None:
    script = CONNECTED + "function event() con:query('SELECT 1') end"
    options = (*mariadb.args, "--mysql-compression", "--threads=3", "--multiplex=1", "--events=30", "--time=0")
    assert report(run(tmp_path, script, *options).stdout)["read"] == 30


@pytest.mark.parametrize("name", ["mariadb_tls", "postgres_tls"])
def test_tls(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server: Server = request.getfixturevalue(name)
    mode = ["--pgsql-sslmode=require"] if name == "postgres_tls" else []
    script = CONNECTED + """
    function event() assert(#con:query_row("SELECT repeat('x', 100000)") == 100000) end
    """
    options = (*server.args, *mode, "--threads=5", "--multiplex=2", "--events=100", "--time=0")
    assert report(run(tmp_path, script, *options).stdout)["read"] == 100


def test_a_worker_that_waits_over_tls_lets_others_run(mariadb_tls: MariaDB, tmp_path: Path) -> None:
    script = """
    function thread_init(id)
       con = sysbench.sql.driver():connect()
       if id == 0 then con:query("SELECT GET_LOCK('held', 0)") end
    end
    function event(id)
       if id == 1 then print("> " .. con:query_row("SELECT GET_LOCK('held', 600)")) return end
       con:query("SELECT SLEEP(0.5)")
       con:query("SELECT RELEASE_LOCK('held')")
    end
    """
    options = (*mariadb_tls.args, "--threads=2", "--multiplex=1", "--events=2", "--time=0")
    assert printed(run(tmp_path, script, *options)) == ["> 1"]


# -- failures and ends


def test_a_worker_that_cannot_be_set_up(tmp_path: Path) -> None:
    script = 'function thread_init(id) if id == 3 then error("no") end end function event() end'
    result = run(tmp_path, script, "--threads=6", "--multiplex=2")
    assert result.status == 1
    assert "FATAL: `thread_init' function failed: " in result.stdout
    assert "FATAL: Thread initialization failed!" in result.stdout


def test_a_failing_event_ends_the_run(tmp_path: Path) -> None:
    script = 'function event(id) if id == 3 then error("no") end end'
    result = run(tmp_path, script, "--threads=6", "--multiplex=2", "--time=60")
    assert result.status == 1
    assert "`thread_run' function failed: " in result.stdout


def test_forced_shutdown_names_the_workers(postgres: PostgreSQL, tmp_path: Path) -> None:
    script = CONNECTED + "function event(id) con:query(id == 1 and 'SELECT pg_sleep(60)' or 'SELECT 1') end"
    options = (*postgres.args, "--threads=4", "--multiplex=1", "--time=1", "--forced-shutdown=1")
    result = run(tmp_path, script, *options)
    assert "Number of unfinished transactions on forced shutdown: 1" in result.stdout
    assert "#1 for" in result.stdout
    assert report(result.stdout)["events"] > 10


def test_ctrl_c_reports(mariadb: MariaDB, tmp_path: Path) -> None:
    (tmp_path / "script.lua").write_text(CONNECTED + "function event() con:query('SELECT SLEEP(0.01)') end")
    arguments = ("script.lua", *mariadb.args, "--threads=10", "--multiplex=1", "--time=60", "run")
    with ours.start(*arguments, cwd=tmp_path) as started:
        started.wait_for("Threads started!")
        os.kill(started.process.pid, signal.SIGINT)
        result = started.result()
    assert result.status == 130
    assert "General statistics" in result.stdout


def test_parallel_commands(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    options = (*mariadb.args, "--tables=9", "--table-size=50", "--threads=4", "--multiplex=2")
    assert ours("oltp_read_write", *options, "prepare").status == 0
    assert len(mariadb.sql("SHOW TABLES")) == 9
    assert ours("oltp_read_write", *options, "prepare").status == 1


def test_a_worker_that_blocks_is_named(tmp_path: Path) -> None:
    script = USLEEP + "function event(id) if id == 2 then ffi.C.usleep(300000) return true end end"
    result = run(tmp_path, script, "--threads=3", "--multiplex=1", "--time=1")
    assert len(re.findall(r"Worker #2 kept others from running for \d+\.\d s: with --multiplex", result.stderr)) == 1
    result = run(tmp_path, script, "--threads=3", "--time=1")
    assert "kept others" not in result.stderr


def test_a_worker_alone_on_its_carrier_keeps_nobody_waiting(tmp_path: Path) -> None:
    script = USLEEP + "function event() ffi.C.usleep(300000) end"
    result = run(tmp_path, script, "--threads=2", "--multiplex=4", "--time=1")
    assert "kept others" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cpu", "--multiplex=2"), "Invalid value for --multiplex: 2 (it is for Lua scripts; here it must be 0)"),
        (("oltp_read_write", "--multiplex=-1"), "multiplex"),
    ],
)
def test_bad_values(arguments: tuple[str, ...], message: str) -> None:
    result = ours(*arguments, "run")
    assert result.status == 1
    assert message in result.stdout + result.stderr


@pytest.mark.parametrize(("options", "policy"), [(("--multiplex=1",), os.SCHED_BATCH), ((), os.SCHED_OTHER)])
def test_carriers_do_not_interrupt_servers(tmp_path: Path, options: tuple[str, ...], policy: int) -> None:
    """The scheduling policy is field 41 of /proc/thread-self/stat: proc(5)."""
    script = """
    function event()
       local fields = io.open("/proc/thread-self/stat"):read("*a"):match("%) (.*)")
       local n = 2
       for field in fields:gmatch("%S+") do
          n = n + 1
          if n == 41 then io.write("> ", field, "\\n") end
       end
    end
    """
    assert printed(run(tmp_path, script, "--threads=2", "--events=2", *options)) == [f"> {policy}"] * 2


@pytest.mark.parametrize("also", ["", "n = (n or 0) + 1 if sysbench.tid == 0 and n == 3 then error('no') end"])
def test_thread_done_of_one_worker_is_no_time_of_another(tmp_path: Path, also: str) -> None:
    """Be the events of a worker over by their limit or by an error."""
    script = f"""{USLEEP}
    function event() {also} end
    function thread_done() ffi.C.usleep(1000000) end
    """
    began_s = time.monotonic()
    result = run(tmp_path, script, "--threads=3", "--events=30", "--time=0", "--multiplex=1")
    # A worker that has failed does not call it.
    called = 2 if also else 3
    assert report(result.stdout)["total_time_s"] <= time.monotonic() - began_s - called

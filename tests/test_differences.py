"""Differences from 1.0.20 in databases and numbers, each shown beside what the reference does."""

import ctypes
import subprocess
from pathlib import Path

from sysbench_py import core
from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.reference import ours, reference, report


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "script.lua"
    path.write_text(text)
    return str(path)


def shown(stdout: str) -> list[str]:
    return [line.removeprefix("> ") for line in stdout.splitlines() if line.startswith("> ")]


@compat("all-results")
def test_a_procedure_that_selects_can_be_called_again(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.sql("CREATE OR REPLACE PROCEDURE selects() SELECT 1", "sbtest")
    name = script(
        tmp_path,
        """
        function thread_init() con = sysbench.sql.driver():connect() end
        function event() con:query("CALL selects()") end
        """,
    )
    arguments = (name, *mariadb.args, "--events=10", "--time=0", "run")
    assert reference(*arguments).status == 1
    result = ours(*arguments)
    assert result.status == 0
    assert (report(result.stdout)["events"], report(result.stdout)["read"]) == (10, 10)


@compat("first-result")
def test_several_statements_in_one_text(postgres: PostgreSQL, tmp_path: Path) -> None:
    name = script(
        tmp_path,
        """
        function prepare()
           local con = sysbench.sql.driver():connect()
           print("> " .. table.concat({ con:query_row("SELECT 1; SELECT 2, 3") }, " "))
        end
        """,
    )
    assert shown(reference(name, *postgres.args, "prepare").stdout) == ["2 3"]
    assert shown(ours(name, *postgres.args, "prepare").stdout) == ["1"]


@compat("literals-and-comments")
def test_markers_in_strings_and_comments(postgres: PostgreSQL, tmp_path: Path) -> None:
    name = script(
        tmp_path,
        """
        function prepare()
           local con = sysbench.sql.driver():connect()
           local stmt = con:prepare("SELECT '?', 5 /* ? */ WHERE 1 = ? -- ?")
           local param = stmt:bind_create(sysbench.sql.type.INT)
           print("> " .. stmt:bind_param(param))
           param:set(1)
           print("> " .. stmt:execute().nrows)
        end
        """,
    )
    assert shown(reference(name, *postgres.args, "prepare").stdout) != ["0", "1"]
    for mode in ("auto", "disable"):
        result = ours(name, *postgres.args, f"--db-ps-mode={mode}", "prepare")
        assert shown(result.stdout) == ["0", "1"], result.stdout


@compat("exact-percentiles")
def test_percentile_is_a_latency_that_occurred(tmp_path: Path) -> None:
    """All events sleep equally long; the reference's value is that of a bucket, perhaps above the maximum."""
    name = script(
        tmp_path,
        """
        ffi.cdef("int usleep(unsigned int);")
        function event() ffi.C.usleep(20000) end
        """,
    )
    for percentile in (1, 50, 99, 100):
        numbers = report(ours(name, "--events=20", "--time=0", f"--percentile={percentile}", "run").stdout)
        assert numbers["latency_min_ms"] <= numbers["latency_percentile_ms"] <= numbers["latency_max_ms"]
    assert numbers["latency_percentile_ms"] == numbers["latency_max_ms"]


@compat("seed-of-prepare")
def test_prepare_draws_the_same_in_every_run(tmp_path: Path) -> None:
    name = script(tmp_path, 'function prepare() print("> " .. sysbench.rand.uniform(1, 1000000000)) end')
    plain = {subprocess.check_output(["/usr/bin/sysbench", name, "prepare"], text=True) for _ in range(3)}
    assert plain
    steady = shown(reference(name, "prepare").stdout)
    assert [shown(ours(name, "prepare").stdout) for _ in range(3)] == [steady] * 3


@compat("time-of-work")
def test_total_time_ends_with_the_last_worker() -> None:
    """However long it takes to clear its thread away."""
    done = ctypes.CDLL(None).sb_worker_done
    core.run_setup([(1, 2)] * 3, 0, True, True)
    done(0)
    before_ns = core.now_ns()
    done(2)
    after_ns = core.now_ns()
    assert before_ns <= core.snapshot(ended=True).time_ns <= after_ns < core.snapshot().time_ns


@compat("time-of-work")
def test_total_time_is_without_thread_done(tmp_path: Path) -> None:
    """Except for the rows of bulk inserts, which events have left to it."""
    name = script(
        tmp_path,
        """
        ffi.cdef[[
           int usleep(unsigned int);
           typedef struct { long s, ns; } moment;
           int clock_gettime(int, moment *);
        ]]
        local function now_s()
           local m = ffi.new("moment")
           ffi.C.clock_gettime(1, m)
           return tonumber(m.s) + tonumber(m.ns) / 1e9
        end
        local bulk = os.getenv("BULK") == "yes"
        local ready_s, con
        function thread_init()
           con = sysbench.sql.driver("null"):connect()
           if bulk then con:bulk_insert_init("INSERT INTO t VALUES") end
           ready_s = now_s()
        end
        function event()
           if bulk then con:bulk_insert_next("(1)") end
        end
        function thread_done()
           print("> " .. now_s() - ready_s)
           ffi.C.usleep(tonumber(os.getenv("SLEEP_US")))
           if bulk then con:bulk_insert_done() end
        end
        """,
    )
    for bulk in ("no", "yes"):
        environment = {"BULK": bulk, "SLEEP_US": "200000"}
        stdout = ours(name, "--events=10", "--time=0", "run", env=environment).stdout
        (events_s,) = map(float, shown(stdout))
        total_s = report(stdout)["total_time_s"]
        # Of the time the report prints four decimals.
        assert total_s >= 0.2 if bulk == "yes" else total_s <= events_s + 0.0001
    # Nor is it if it takes so long that it is cut off.
    environment = {"BULK": "no", "SLEEP_US": "60000000"}
    cut_off = ours(name, "--events=10", "--time=1", "--forced-shutdown=1", "run", env=environment)
    assert cut_off.status == 2
    (events_s,) = map(float, shown(cut_off.stdout))
    assert report(cut_off.stdout)["total_time_s"] <= events_s + 0.0001
    original = script(
        tmp_path,
        """
        ffi.cdef("int usleep(unsigned int);")
        function event() end
        function thread_done() ffi.C.usleep(200000) end
        """,
    )
    assert report(reference(original, "--events=10", "--time=0", "run").stdout)["total_time_s"] >= 0.2


@compat("place-in-long-lines")
def test_the_place_of_an_error_in_a_long_line(postgres: PostgreSQL, tmp_path: Path) -> None:
    text = "SELECT nosuch FROM pg_class WHERE" + " AND".join(f" {i} = {i}" for i in range(10, 40))
    for query, mark in ((text[:149] + " OR true", True), (text, False), (text[:13] + "\n" + text[13:], True)):
        name = script(
            tmp_path,
            f"function prepare() con = sysbench.sql.driver():connect() pcall(con.prepare, con, [==[{query}]==]) end",
        )
        there, here = (program(name, *postgres.args, "prepare").stdout for program in (reference, ours))
        line = f"LINE 1: {query.splitlines()[0]}\n"
        assert "FATAL: PQprepare() failed: ERROR:  " in here
        assert "LINE 1: SELECT nosuch" in there
        assert (line in there) == ("\n" in query)
        assert (f"{line}{'^':>16}" in here) == mark

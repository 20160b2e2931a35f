"""--preflight: what a run needs is told before the load, or after a failure, and asked for at no other time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sysbench_py.stock_needs import Needs, stock_needs
from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.proc import Result
from tests.support.reference import ours
from tests.support.server import USER, Server
from tests.support.workloads import DEBIAN, LUA

TABLES = ("--tables=3", "--table-size=100")
ONCE = ("--events=1", "--time=0", "--rand-seed=1")
FAILED = "FATAL: Thread initialization failed!\n"


def run(server: Server, *options: str, script: str = "oltp_read_write") -> Result:
    return ours(script, *server.args, *TABLES, *ONCE, *options, "run")


@pytest.fixture
def prepared(server: Server) -> Server:
    assert ours("oltp_read_write", *server.args, *TABLES, "prepare").status == 0
    return server


@pytest.fixture
def limited(prepared: Server) -> Iterator[tuple[Server, str]]:
    """A server that takes 5 connections of the user, and the name of the limit."""
    if isinstance(prepared, MariaDB):
        name, limit, none = "max_user_connections", f"ALTER USER '{USER}' WITH MAX_USER_CONNECTIONS", 0
    else:
        name, limit, none = "the role's connection limit", f"ALTER ROLE {USER} CONNECTION LIMIT", -1
    prepared.sql(f"{limit} 5")
    try:
        yield prepared, name
    finally:
        prepared.sql(f"{limit} {none}")


def test_missing_tables_end_the_run_before_it_starts(server: Server) -> None:
    result = run(server, "--preflight=on")
    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.endswith(
        "FATAL: 3 of 3 tables missing (sbtest1, sbtest2, sbtest3): "
        "do 'sysbench oltp_read_write ... prepare' with the same options\n"
    )
    assert "Running the test" not in result.stdout


def test_fewer_tables_and_rows_than_the_options_say(prepared: Server) -> None:
    result = run(prepared, "--preflight=on", "--tables=10", "--table-size=1000")
    again = "do 'sysbench oltp_read_write ... cleanup prepare' with the same options\n"
    assert result.status == 1
    named = "sbtest4, sbtest5, sbtest6, sbtest7, sbtest8 and 2 more"
    assert result.stdout.endswith(f"FATAL: 7 of 10 tables missing ({named}): {again}")
    assert result.stderr == (
        "WARNING: --table-size=1000, but the largest id in sbtest1, sbtest2, sbtest3 is 100: "
        f"what is read beyond is not there; {again}"
    )
    result = run(prepared, "--preflight=on", "--table-size=1000")
    assert result.status == 0
    assert result.stderr.startswith("WARNING: --table-size=1000, but the largest id in ")
    assert run(prepared, "--table-size=1000").stderr == ""


def test_a_good_run_is_the_same_with_and_without_it(prepared: Server) -> None:
    logs = []
    for mode in ("auto", "off", "on"):
        with prepared.query_log() as log:
            result = run(prepared, f"--preflight={mode}")
        assert (result.status, result.stderr) == (0, "")
        logs.append([entry.text for entry in log if entry.command not in ("Connect", "Quit")])
    assert logs[0] == logs[1]
    asked = logs[2][: len(logs[2]) - len(logs[0])]
    assert logs[2] == asked + logs[0]
    assert [text for text in asked if "MAX(id)" in text] == [
        f"SELECT MAX(id) FROM sbtest{number}" for number in (1, 2, 3)
    ]


@compat("refused-connections")
def test_more_threads_than_connections(limited: tuple[Server, str]) -> None:
    server, limit = limited
    needed = f"--threads=9 needs 9 connections, and the server has room for 5: {limit} is 5, 0 in use\n"
    before = run(server, "--threads=9", "--preflight=on")
    assert (before.status, before.stderr) == (1, "")
    assert before.stdout.endswith(f"FATAL: {needed}")
    after = run(server, "--threads=9")
    assert after.status == 1
    # The server may not have noticed yet that the connections of the run are closed.
    room = rf"--threads=9 needs 9 connections, and the server has room for (\d): {re.escape(limit)} is 5, (\d) in use\n"
    match = re.fullmatch(room, after.stderr)
    assert match and int(match[1]) + int(match[2]) == 5, after.stderr
    assert after.stdout.endswith(FAILED)
    nothing = run(server, "--threads=9", "--preflight=off")
    assert (nothing.status, nothing.stderr) == (1, "")
    assert run(server, "--threads=5", "--preflight=on").status == 0


def test_connections_that_others_use_are_not_there(mariadb: MariaDB) -> None:
    mariadb.sql("SET GLOBAL max_connections=20")
    try:
        with mariadb.connect(), mariadb.connect():
            result = run(mariadb, "--threads=19", "--preflight=on")
    finally:
        mariadb.sql("SET GLOBAL max_connections=1200")
    assert (
        "FATAL: --threads=19 needs 19 connections, and the server has room for 18: max_connections is 20, 2 in use\n"
        in (result.stdout)
    )


def test_several_servers_share_the_threads(mariadb: MariaDB) -> None:
    mariadb.sql("SET GLOBAL max_connections=20")
    try:
        servers = f"--mysql-port={mariadb.port},{mariadb.port}"
        result = run(mariadb, "--threads=61", "--preflight=on", servers)
    finally:
        mariadb.sql("SET GLOBAL max_connections=1200")
    assert (
        "FATAL: --threads=61 (31 of them here) needs 31 connections, and the server has room for 20: " in result.stdout
    )
    assert (
        "FATAL: --threads=61 (30 of them here) needs 30 connections, and the server has room for 20: " in result.stdout
    )


def test_prepared_statements_are_counted(mariadb: MariaDB) -> None:
    """At the limit that is told the run works, and just below it does not."""
    mariadb.empty_database()
    assert run(mariadb).status == 1
    assert ours("oltp_read_write", *mariadb.args, *TABLES, "prepare").status == 0
    need = 4 * (3 * 9 + 2)
    try:
        mariadb.sql(f"SET GLOBAL max_prepared_stmt_count={need - 1}")
        refused = run(mariadb, "--threads=4", "--preflight=on")
        failed = run(mariadb, "--threads=4")
        mariadb.sql(f"SET GLOBAL max_prepared_stmt_count={need}")
        worked = run(mariadb, "--threads=4", "--preflight=on")
    finally:
        mariadb.sql("SET GLOBAL max_prepared_stmt_count=DEFAULT")
    assert refused.stdout.endswith(
        f"FATAL: --threads=4 needs {need} prepared statements (29 a thread), and the server has room for {need - 1}: "
        f"max_prepared_stmt_count is {need - 1}, 0 in use (--db-ps-mode=disable needs none)\n"
    )
    assert failed.status == 1
    assert (worked.status, worked.stderr) == (0, "")


@pytest.mark.parametrize(
    "script", ["oltp_read_only", "oltp_write_only", "oltp_delete", "oltp_insert", "select_random_ranges"]
)
def test_each_workload_prepares_as_many_as_are_told(mariadb: MariaDB, script: str) -> None:
    options = {"tables": 3, "table_size": 100, "skip_trx": False, "range_selects": True, "db_ps_mode": "auto"}
    needs = stock_needs(script, {**options, **dict.fromkeys(WORK, 1)})
    assert needs is not None
    if ("sbtest3",) not in mariadb.sql("SHOW TABLES"):
        assert ours("oltp_read_write", *mariadb.args, *TABLES, "prepare").status == 0
    path = DEBIAN if script.startswith("oltp") else LUA
    with mariadb.query_log() as log:
        assert run(mariadb, script=str(path / f"{script}.lua")).status == 0
    assert len([entry for entry in log if entry.command == "Prepare"]) == needs.statements


WORK = (
    *("point_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges"),
    *("index_updates", "non_index_updates", "delete_inserts"),
)


def test_needs_follow_the_options() -> None:
    options = {
        **dict.fromkeys(WORK, 2.0),
        **{"tables": 5.0, "table_size": 10, "skip_trx": False, "range_selects": True, "db_ps_mode": "auto"},
    }
    assert stock_needs("oltp_read_write.lua", options) == Needs(5, 10, 5 * 9 + 2, True, 16)
    assert stock_needs("oltp_read_only", {**options, "range_selects": False, "skip_trx": True}) == Needs(
        5, 10, 5, False, 2
    )
    assert stock_needs("oltp_write_only", {**options, "db_ps_mode": "disable"}) == Needs(5, 10, 0, False, 6)
    assert stock_needs("select_random_points", options) == Needs(1, 10, 1)
    assert stock_needs("bulk_insert", {"threads": 4}) == Needs(4)
    assert stock_needs("mine.lua", options) is None
    assert stock_needs("oltp_read_write", {"tables": 1}) is None


@compat("no-work")
def test_work_that_would_be_nothing(tmp_path: Path) -> None:
    options = ("--db-driver=sqlite", "--sqlite-db=a.db", "--tables=1", "--table-size=10")
    assert ours("oltp_read_only", *options, "prepare", cwd=tmp_path).status == 0
    nothing = ("--point-selects=0", "--range-selects=off")
    result = ours("oltp_read_only", *options, *nothing, *ONCE, "run", cwd=tmp_path)
    warning = "WARNING: with these options an event of oltp_read_only reads and writes nothing\n"
    assert (result.status, result.stderr) == (0, warning)
    assert ours("oltp_read_only", *options, *nothing, *ONCE, "--preflight=off", "run", cwd=tmp_path).stderr == ""


def test_databases_without_limits(tmp_path: Path) -> None:
    options = ("oltp_read_only", "--tables=2", "--table-size=10", *ONCE, "--preflight", "run")
    result = ours(*options, "--db-driver=sqlite", "--sqlite-db=a.db", cwd=tmp_path)
    assert result.stdout.endswith(
        "FATAL: 2 of 2 tables missing (sbtest1, sbtest2): "
        "do 'sysbench oltp_read_only ... prepare' with the same options\n"
    )
    result = ours(*options, "--db-driver=null", cwd=tmp_path)
    assert (result.status, result.stderr) == (0, "WARNING: --preflight has nothing to ask of the driver null\n")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    options = ("oltp_read_only", "--db-driver=mysql", f"--mysql-socket={tmp_path / 'none'}")
    result = ours(*options, *ONCE, "--preflight", "run")
    assert result.status == 1
    assert "FATAL: unable to connect to MySQL server" in result.stdout
    assert result.stdout.endswith("FATAL: --preflight: the server cannot be asked\n")
    assert ours(*options, *ONCE, "run").stderr == ""


def test_a_value_that_is_none() -> None:
    result = ours("oltp_read_only", "--preflight=maybe", "run")
    assert result.status == 1
    assert "Invalid value for --preflight: 'maybe' (use auto, on, off)" in result.stdout

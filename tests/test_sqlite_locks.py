"""The SQLite driver: transactions, locks and several threads, and that it keeps nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.reference import ours, report
from tests.support.sqlite import SqliteScript, fatal


@pytest.fixture
def script(tmp_path: Path) -> SqliteScript:
    return SqliteScript(tmp_path)


# -- transactions


UPGRADE = """
    local one, two = connect(), connect()
    one:query("CREATE TABLE t (a)") one:query("INSERT INTO t VALUES (0)")
    local begin = one:prepare("BEGIN")
    local function transaction(start)
       start()
       case(ask(one, "SELECT count(*) FROM t"))
       case(ask(two, "UPDATE t SET a = a + 1"))
       case(ask(one, "UPDATE t SET a = a + 10"))
       case(ask(one, "COMMIT"))
    end
    transaction(function() begin:execute() end)
    transaction(function() begin:execute() end)
    transaction(function() one:query("START TRANSACTION") end)
    case(ask(two, "SELECT a FROM t"))
"""
# The error ends the transaction, and so COMMIT finds none.
CONFLICT = ["[1]", "none", "restart 5 40001", "none"]
IMMEDIATE = ["[1]", "restart 5 40001", "none", "none"]


@pytest.mark.parametrize(
    ("begin", "expected"),
    [
        ("auto", [*CONFLICT, *IMMEDIATE, *IMMEDIATE, "[21]"]),
        ("deferred", [*CONFLICT, *CONFLICT, *CONFLICT, "[3]"]),
        ("immediate", [*IMMEDIATE, *IMMEDIATE, *IMMEDIATE, "[30]"]),
    ],
)
def test_begin(script: SqliteScript, begin: str, expected: list[str]) -> None:
    assert script.cases(UPGRADE, f"--sqlite-begin={begin}", "--sqlite-busy-timeout=0") == expected


def test_transactions_that_only_read_or_write_first_stay_deferred(script: SqliteScript) -> None:
    body = """
        local one, two = connect(), connect()
        one:query("CREATE TABLE t (a)")
        for i = 1, 2 do
           one:query("BEGIN") one:query("SELECT * FROM t")
           case(ask(two, "INSERT INTO t VALUES (1)"))
           one:query("COMMIT")
           one:query("BEGIN")
           case(ask(two, "INSERT INTO t VALUES (1)"))
           one:query("INSERT INTO t VALUES (1)") one:query("SELECT * FROM t") one:query("UPDATE t SET a = 2")
           one:query("COMMIT")
        end
    """
    assert script.cases(body, "--sqlite-busy-timeout=0") == ["none"] * 4


def test_what_a_worker_has_learnt_outlives_its_connection(script: SqliteScript) -> None:
    body = """
        local one, two = connect(), connect()
        one:query("CREATE TABLE t (a)")
        one:query("BEGIN; SELECT * FROM t; INSERT INTO t VALUES (1); COMMIT")
        one:reconnect()
        one:query("BEGIN")
        case(ask(two, "INSERT INTO t VALUES (1)"))
    """
    assert script.cases(body, "--sqlite-busy-timeout=0") == ["restart 5 40001"]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        # MySQL commits what is open, PostgreSQL warns and goes on.
        ("mysql", ["none", "none", "none", "[1]"]),
        ("pgsql", ["none", "none", "none", "[0]"]),
        (
            "sqlite",
            [
                "SQL error, errno = 1, state = 'HY000': cannot start a transaction within a transaction",
                "none",
                "SQL error, errno = 1, state = 'HY000': cannot commit - no transaction is active",
                "[0]",
            ],
        ),
    ],
)
def test_begin_and_commit_out_of_place(script: SqliteScript, dialect: str, expected: list[str]) -> None:
    body = """
        local con = connect()
        con:query("CREATE TABLE t (a)")
        con:query("BEGIN") con:query("INSERT INTO t VALUES (1)")
        case(ask(con, "BEGIN"))
        case(ask(con, "ROLLBACK"))
        case(ask(con, "COMMIT"))
        case(ask(con, "SELECT count(*) FROM t"))
    """
    assert script.cases(body, f"--sqlite-dialect={dialect}") == expected


# -- several threads


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--sqlite-db=:memory:"],
        ["--sqlite-journal=delete"],
        ["--reconnect=3"],
        # Without transactions, another thread may insert between a DELETE and its INSERT.
        ["--skip-trx", "--delete-inserts=0"],
    ],
    ids=" ".join,
)
def test_several_writers(script: SqliteScript, options: list[str]) -> None:
    result = ours(
        "oltp_read_write", "--db-driver=sqlite", f"--sqlite-db={script.database}", "--threads=4",
        "--tables=2", "--table-size=500", "--time=3", *options, "prepare", "run",
    )  # fmt: skip
    assert result.status == 0, result.stdout
    assert not fatal(result)
    found = report(result.stdout)
    assert found["events"] > 0
    # Each worker once, until it has learnt how to begin, and once if it waits at the end of the run.
    assert found["ignored_errors"] <= 8
    if script.database.exists():
        assert script.sql("PRAGMA integrity_check") == [("ok",)]
        assert script.sql("SELECT count(*) FROM sbtest1") == [(500,)]


def test_a_database_in_memory_is_one_for_all_threads_and_commands(tmp_path: Path) -> None:
    result = ours(
        "oltp_point_select", "--db-driver=sqlite", "--sqlite-db=:memory:", "--threads=64",
        "--table-size=1000", "--time=0", "--events=6400", "prepare", "run", "cleanup", cwd=tmp_path,
    )  # fmt: skip
    assert result.status == 0, result.stdout
    assert report(result.stdout)["read"] == 6400
    assert list(tmp_path.iterdir()) == []


def test_parallel_commands_wait_for_each_other_as_long_as_it_takes(script: SqliteScript) -> None:
    arguments = ["--db-driver=sqlite", f"--sqlite-db={script.database}", "--threads=8"]
    arguments.append("--sqlite-busy-timeout=0")
    result = ours("oltp_read_only", *arguments, "--tables=8", "--table-size=3000", "prepare")
    assert result.status == 0, result.stdout
    assert script.sql("SELECT count(*) FROM sqlite_schema WHERE type = 'index'") == [(8,)]
    assert ours("oltp_read_only", *arguments, "--tables=8", "cleanup").status == 0
    result = ours("bulk_insert", *arguments, "--events=8000", "--time=0", "prepare", "run")
    assert result.status == 0, result.stdout
    total = " UNION ALL ".join(f"SELECT count(*) FROM sbtest{n}" for n in range(1, 9))
    assert sum(int(str(count)) for (count,) in script.sql(total)) == 8000


def test_a_lock_that_another_process_holds(script: SqliteScript) -> None:
    script.run("connect():query('CREATE TABLE t (a)')")
    body = "con = con or connect() con:query('INSERT INTO t VALUES (1)')"
    with closing(sqlite3.connect(script.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        options = ("--threads=2", "--events=0", "--time=1")
        result = script.run(body, *options, "--sqlite-busy-timeout=50", command="run")
        assert result.status == 0, result.stdout
        found = report(result.stdout)
        assert found["events"] == 0
        assert found["ignored_errors"] > 4
        # However long it may wait, an event does not wait beyond the end of the run.
        result = script.run(body, *options, "--sqlite-busy-timeout=60000", command="run")
        assert result.status == 0, result.stdout
        found = report(result.stdout)
        assert (found["events"], found["ignored_errors"]) == (0, 2)
    assert script.run(body, command="run").status == 0


# -- leaks


@pytest.mark.parametrize("database", ["file", ":memory:"])
def test_a_thousand_connections_leave_nothing_behind(script: SqliteScript, database: str) -> None:
    body = """
        local function count_files()
           local pipe = io.popen("ls /proc/$PPID/fd | wc -l")
           local n = tonumber(pipe:read("*a")) pipe:close()
           return n
        end
        local function resident_pages()
           local file = io.open("/proc/self/statm")
           local n = tonumber(file:read("*a"):match("%d+ (%d+)")) file:close()
           return n
        end
        local function session()
           local con = connect()
           con:query("CREATE TABLE IF NOT EXISTS t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(99))")
           con:query("REPLACE INTO t VALUES (1, '" .. string.rep("x", 99) .. "')")
           local select = con:prepare("SELECT * FROM t WHERE id = ?")
           local p = bind(select, T.INT)
           for i = 1, 3 do p[1]:set(i) select:execute() end
           con:prepare("BEGIN"):execute()
           con:query("SELECT * FROM t; DELETE FROM t")
           pcall(con.query, con, "SELECT * FROM nowhere")
           if math.random() < 0.5 then select:close() end
           con:disconnect()
        end
        connect():query("DROP TABLE IF EXISTS t")
        local files, pages
        for i = 1, 1000 do
           session()
           collectgarbage()
           if i == 200 then files, pages = count_files(), resident_pages() end
        end
        -- Not one a connection: a few may wait for a garbage collection.
        case(math.abs(count_files() - files) <= 3)
        case((resident_pages() - pages) * 4 < 2000)
    """
    options = () if database == "file" else (f"--sqlite-db={database}",)
    assert script.cases(body, *options, "--verbosity=0", "--sqlite-sync=off") == ["true", "true"]

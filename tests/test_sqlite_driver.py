"""The SQLite driver: results, errors, dialects, and the opening of a database."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sysbench_py import core
from tests.support.reference import ours, report
from tests.support.sqlite import SqliteScript, fatal


@pytest.fixture
def script(tmp_path: Path) -> SqliteScript:
    return SqliteScript(tmp_path)


# -- results


@pytest.mark.parametrize("database", ["file", ":memory:"])
def test_values_are_text_and_null_is_null(script: SqliteScript, database: str) -> None:
    body = """
        local con = connect()
        con:query("CREATE TABLE t (a, b, c, d)")
        con:query("INSERT INTO t VALUES (9223372036854775807, 0.1, 'caf\\195\\169', x'00ff00')")
        con:query("INSERT INTO t VALUES (NULL, -1e300, '', x'')")
        local rs = con:query("SELECT * FROM t")
        local first, second = rs:fetch_row(), rs:fetch_row()
        case(rs.nrows, rs.nfields, unpack(first, 1, 3))
        case(#first[4], first[4] == "\\0\\255\\0")
        case(unpack(second, 1, 4))
        case(rs:fetch_row())
        case(rows(con:query("SELECT 1 WHERE 0")))
    """
    options = () if database == "file" else (f"--sqlite-db={database}",)
    assert script.cases(body, *options) == [
        "2 4 9223372036854775807 0.1 café",
        "3 true",
        "nil -1.0e+300  ",
        "nil",
        "[]",
    ]


def test_bound_values(script: SqliteScript) -> None:
    body = """
        local con = connect()
        con:query("CREATE TABLE t (a, b, c)")
        local stmt = con:prepare("INSERT INTO t VALUES (?, ?, ?)")
        local p = bind(stmt, T.BIGINT, T.DOUBLE, T.VARCHAR)
        stmt:execute()
        p[1]:set(9007199254740993LL) p[2]:set(0.5) p[3]:set("it's\\0?") stmt:execute()
        p[1]:set(nil) p[2]:set(nil) p[3]:set(nil) stmt:execute()
        p[1]:set(-7) p[2]:set(1e300) p[3]:set_rand_str("@@##") stmt:execute()
        case(ask(con, "SELECT a, b, hex(c), typeof(a), typeof(b), typeof(c) FROM t LIMIT 3"))
        case(ask(con, "SELECT a, b, length(c) FROM t LIMIT 1 OFFSET 3"))
    """
    assert script.cases(body) == [
        "[0,0.0,,integer,real,text;9007199254740993,0.5,69742773003F,integer,real,text;NULL,NULL,,null,null,null]",
        "[-7,1.0e+300,4]",
    ]


def test_a_prepared_select_can_be_fetched_and_holds_no_lock(script: SqliteScript) -> None:
    body = """
        local con, other = connect(), connect()
        con:query("CREATE TABLE t (a)") con:query("INSERT INTO t VALUES (1), (2), (3)")
        local stmt = con:prepare("SELECT a, a * 2 FROM t WHERE a >= ? ORDER BY a")
        local p = bind(stmt, T.INT)
        p[1]:set(2)
        local rs = stmt:execute()
        other:query("DROP TABLE t")
        case(rows(rs))
        other:query("CREATE TABLE t (a, b)") other:query("INSERT INTO t VALUES (5, 6)")
        case(rows(stmt:execute()))
    """
    assert script.cases(body, "--sqlite-journal=delete") == ["[2,4;3,6]", "[5,10]"]


def test_several_statements_have_several_results(script: SqliteScript) -> None:
    body = """
        local con = connect()
        con:query("CREATE TABLE t (a)")
        local insert = "INSERT INTO t VALUES (';')"
        local rs = con:query("SELECT 1; ROLLBACK ; ; -- comment;\\n" .. insert .. "; SELECT a FROM t")
        case(rows(rs))
        while con:more_results() do case(rows(con:next_result())) end
        case(con:next_result() == nil)
        case(ask(con, "INSERT INTO t VALUES (1); SELECT missing; INSERT INTO t VALUES (2)"))
        case(ask(con, "SELECT count(*) FROM t"))
        case(ask(con, ""), ask(con, " /* nothing */ ;"))
    """
    assert script.cases(body) == [
        "[1]", "none", "none", "[;]", "true",
        "SQL error, errno = 1, state = 'HY000': no such column: missing", "[2]", "none none",
    ]  # fmt: skip


def test_statements_are_classified_by_their_outcome(script: SqliteScript) -> None:
    script.run("""connect():query("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT)")""")
    body = """
        local con = connect()
        con:query("INSERT INTO t VALUES (0, 1), (NULL, 2), (0, 3)")     -- write
        con:query("UPDATE t SET a = a")                                 -- write
        con:query("UPDATE t SET a = 0 WHERE id > 3")                    -- other
        con:query("BEGIN") con:query("COMMIT") con:query("SET a = 1")   -- other
        con:query("SELECT 1 WHERE 0")                                   -- read
        con:query("DELETE FROM t RETURNING id")                         -- read
        con:query("CREATE TABLE u (id INT)")                            -- other
        con:prepare("INSERT INTO t VALUES (0, 1)"):execute()            -- write
        con:prepare("BEGIN"):execute()                                  -- other
        con:prepare("ROLLBACK"):execute()                               -- other
    """
    result = script.run(body, command="run")
    assert result.status == 0, result.stdout
    found = report(result.stdout)
    assert (found["read"], found["write"], found["other"]) == (2, 3, 7)


# -- errors


def test_errors(script: SqliteScript) -> None:
    body = """
        local con = connect()
        con:query("CREATE TABLE t (a INTEGER PRIMARY KEY)")
        con:query("INSERT INTO t VALUES (1)")
        case(ask(con, "INSERT INTO t VALUES (1)"))
        case(con.sql_errno, require("ffi").string(con.sql_state))
        case(ask(con, "SELECT * FROM nowhere"))
        case(ask(con, "SELECT 1; SELECT 2", con.prepare))
        case(ask(con, "SELECT 'still there'"))
    """
    result = script.run(body)
    assert [line for line in result.stdout.splitlines() if line.startswith("case")] == [
        "case SQL error, errno = 19, state = '23000': UNIQUE constraint failed: t.a",
        "case 19 23000",
        "case SQL error, errno = 1, state = 'HY000': no such table: nowhere",
        "case SQL error, errno = 1, state = 'HY000': only one statement can be prepared at a time",
        "case [still there]",
    ]
    assert fatal(result) == [
        "sqlite3_step() returned error 19 (UNIQUE constraint failed: t.a)"
        " for query 'INSERT INTO t VALUES (1)'",
        "sqlite3_prepare_v2() returned error 1 (no such table: nowhere) for query 'SELECT * FROM nowhere'",
        "sqlite3_prepare_v2() returned error 1 (only one statement can be prepared at a time)"
        " for query 'SELECT 1; SELECT 2'",
    ]


def test_a_long_query_is_cut_in_messages(script: SqliteScript) -> None:
    query = "SELECT missing" + " " * 2000
    (line, *_) = fatal(script.run(f'ask(connect(), "{query}")'))
    assert line.endswith(f"for query '{query[:1000]}...'")


def test_errors_to_ignore_restart_the_event(script: SqliteScript) -> None:
    body = """
        con = con or connect()
        tries = (tries or 0) + 1
        con:query("CREATE TABLE IF NOT EXISTS t (a UNIQUE)")
        con:query("BEGIN")
        con:query("INSERT INTO t VALUES (" .. (tries < 3 and "1), (1" or "1") .. ")")
        con:query("COMMIT")
    """
    result = script.run(body, "--sqlite-ignore-errors=5,19", command="run")
    assert result.status == 0, result.stdout
    assert report(result.stdout)["ignored_errors"] == 2
    assert script.sql("SELECT * FROM t") == [(1,)]
    assert script.run(body, command="run").status == 1


# -- dialects


def test_a_script_is_told_the_dialect(script: SqliteScript) -> None:
    body = "case(sysbench.sql.driver():name())"
    assert script.cases(body) == ["mysql"]
    for dialect in ("mysql", "pgsql", "sqlite"):
        assert script.cases(body, f"--sqlite-dialect={dialect}") == [dialect]


def test_ddl_is_translated_in_queries_and_prepared(script: SqliteScript) -> None:
    body = """
        local con = connect()
        con:query("SELECT 1; CREATE TABLE a (id INT AUTO_INCREMENT, KEY (id)); SELECT ';' FROM a")
        local create = con:prepare(" CREATE TABLE b (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY) ENGINE=x;")
        create:execute()
        con:query("INSERT INTO a VALUES (0), (0)") con:query("INSERT INTO b VALUES (0), (0)")
        case(ask(con, "SELECT a.id, b.id FROM a JOIN b ON a.id = b.id ORDER BY a.id"))
        case(ask(con, "SELECT avg(id) FROM (SELECT * FROM a FORCE KEY (PRIMARY) LIMIT 2) t"))
        case(rows(con:prepare("SELECT id FROM a WHERE id = 2 FOR UPDATE"):execute()))
        case(ask(con, "TRUNCATE TABLE a"), ask(con, "ANALYZE TABLE a"), ask(con, "SET NAMES utf8"))
        case(ask(con, "SELECT count(*) FROM a"))
    """
    assert script.cases(body) == ["[1,1;2,2]", "[1.5]", "[2]", "none none none", "[0]"]


def test_a_translation_is_done_wholly_or_not_at_all(script: SqliteScript) -> None:
    body = """
        local con = connect()
        case(ask(con, "CREATE TABLE t (id INT AUTO_INCREMENT, KEY k (id), KEY x (missing))"))
        case(ask(con, "SELECT count(*) FROM sqlite_schema"))
        con:query("BEGIN") con:query("CREATE TABLE u (a)")
        case(ask(con, "CREATE TABLE t (id INT AUTO_INCREMENT, KEY k (id), KEY x (missing))"))
        con:query("COMMIT")
        case(ask(con, "SELECT group_concat(name) FROM sqlite_schema"))
    """
    first, tables, second, tables_after_commit = script.cases(body)
    assert "missing" in first
    assert (tables, second, tables_after_commit) == ("[0]", first, "[u]")


def test_locks_of_tables_are_transactions(script: SqliteScript) -> None:
    body = """
        local con, other = connect(), connect()
        con:query("CREATE TABLE t (a)")
        con:query("LOCK TABLES t WRITE")
        case(ask(other, "INSERT INTO t VALUES (1)"))
        con:query("INSERT INTO t VALUES (2)")
        con:query("UNLOCK TABLES")
        case(ask(other, "SELECT a FROM t"))
    """
    assert script.cases(body, "--sqlite-busy-timeout=0") == ["restart 5 40001", "[2]"]


def test_the_dialect_of_sqlite_is_left_alone(script: SqliteScript) -> None:
    for statement in ("CREATE TABLE t (id INTEGER NOT NULL AUTO_INCREMENT)", "SET a = 1", "TRUNCATE TABLE t"):
        result = script.run(f"connect():query('{statement}')", "--sqlite-dialect=sqlite")
        assert "syntax error" in fatal(result)[0]


def test_the_words_of_the_user_stand_in_messages(script: SqliteScript) -> None:
    statement = "CREATE TABLE t (id INT AUTO_INCREMENT, KEY (missing)) ENGINE=x"
    (line, *_) = fatal(script.run(f'connect():query("{statement}")'))
    assert line.endswith(f" for query '{statement}'")


@pytest.mark.parametrize("options", [["--secondary"], ["--auto-inc=off"], ["--db-ps-mode=disable"]])
def test_options_of_the_workloads(script: SqliteScript, options: list[str]) -> None:
    result = ours(
        "oltp_read_write", "--db-driver=sqlite", f"--sqlite-db={script.database}", "--tables=2",
        "--table-size=500", "--threads=2", "--events=50", *options, "prepare", "prewarm", "run",
    )  # fmt: skip
    assert result.status == 0, result.stdout
    assert script.sql("SELECT count(*), min(id), max(id) FROM sbtest2") == [(500, 1, 500)]


# -- opening


def refusal(script: SqliteScript, database: object, *options: str) -> str:
    """The one line that says why a database is not opened."""
    result = script.run("connect()", f"--sqlite-db={database}", "--threads=4", *options)
    assert result.status == 1, result.stdout
    prefix = f"unable to open SQLite database '{database}': "
    lines = [line.removeprefix(prefix) for line in fatal(result) if line.startswith(prefix)]
    assert len(lines) == 1, result.stdout
    return lines[0]


def test_what_is_no_database(script: SqliteScript, tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.db"
    for content in (b"hello", bytes(range(256)) * 64):
        garbage.write_bytes(content)
        assert refusal(script, garbage) == "file is not a database"
        assert garbage.read_bytes() == content
    assert refusal(script, tmp_path) == "unable to open database file (Is a directory)"
    missing = tmp_path / "missing" / "x.db"
    assert refusal(script, missing) == "unable to open database file (No such file or directory)"
    assert refusal(script, f"file:{tmp_path}/x.db?mode=rw").startswith("unable to open database file")


def test_a_damaged_page_is_an_error_when_it_is_read(script: SqliteScript) -> None:
    script.run("""
        local con = connect()
        con:query("CREATE TABLE t (a)")
        con:query("INSERT INTO t VALUES " .. string.rep("(1),", 5000) .. "(1)")
    """)
    with script.database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    result = script.run("""connect():query("SELECT sum(a) FROM t")""")
    assert result.status == 1
    assert fatal(result)[0] == (
        "sqlite3_step() returned error 11 (database disk image is malformed) for query 'SELECT sum(a) FROM t'"
    )


def test_what_cannot_be_written(script: SqliteScript, tmp_path: Path) -> None:
    assert script.run("connect():query('CREATE TABLE t (a)')", "--sqlite-journal=delete").status == 0
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(script.database, folder / "x.db")
    folder.chmod(0o555)
    script.database.chmod(0o444)
    # Without the capability, permissions hold for root too.
    bound = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    bound = bound if os.geteuid() == 0 else []

    def line(database: str) -> str:
        command = [*bound, sys.executable, "-m", "sysbench_py", "oltp_read_only", "--db-driver=sqlite"]
        result = subprocess.run(
            [*command, f"--sqlite-db={database}", "prepare"], capture_output=True, text=True, check=False
        )
        assert result.returncode == 1
        return result.stdout.split("FATAL: ")[1].rstrip("\n")

    def refused(database: object, why: str) -> str:
        return f"unable to open SQLite database '{database}': {why}"

    database = str(script.database)
    why = "it cannot be written to (file:NAME?mode=ro opens it for reading)"
    assert line(database) == refused(database, why)
    new, old = f"{folder}/new.db", f"{folder}/x.db"
    assert line(new) == refused(new, "unable to open database file (Permission denied)")
    assert line(old) == refused(old, "cannot change its journal mode: its folder cannot be written to")
    body = "case(ask(connect(), 'SELECT count(*) FROM t'))"
    assert script.cases(body, f"--sqlite-db=file:{database}?mode=ro") == ["[0]"]


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "memory", "wal", "off"])
def test_journal_modes(script: SqliteScript, mode: str) -> None:
    body = """
        local con, other = connect(), connect()
        case(con:query_row("PRAGMA journal_mode"), other:query_row("PRAGMA journal_mode"))
        case(con:query_row("PRAGMA synchronous"))
    """
    assert script.cases(body, "--sqlite-journal=wal") == ["wal wal", "1"]
    assert script.cases(body, f"--sqlite-journal={mode}", "--sqlite-sync=extra") == [f"{mode} {mode}", "3"]


def test_a_journal_mode_that_another_process_holds(script: SqliteScript) -> None:
    script.run("connect()")
    with closing(sqlite3.connect(script.database)) as reader:
        reader.execute("SELECT * FROM sqlite_schema").fetchall()
        options = ("--sqlite-journal=delete", "--sqlite-busy-timeout=50")
        why = "cannot change its journal mode: database is locked"
        assert refusal(script, script.database, *options) == why


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--sqlite-db=", "Invalid value for --sqlite-db: '' (use the name of a file, or :memory:)"),
        (
            "--sqlite-busy-timeout=-1",
            "Invalid value for --sqlite-busy-timeout: '-1' (use milliseconds, 0 or more)",
        ),
        (
            "--sqlite-ignore-errors=5,BUSY",
            "Invalid value for --sqlite-ignore-errors: 'BUSY' (use result codes such as 5, or all)",
        ),
    ],
)
def test_bad_options(script: SqliteScript, option: str, message: str) -> None:
    result = script.run("connect()", option)
    assert result.status == 1
    assert f"FATAL: {message}\n" in result.stdout + result.stderr


def test_without_the_library(tmp_path: Path) -> None:
    with pytest.raises(core.ConnectError, match="install the package libsqlite3-0") as caught:
        core.sqlite_load(str(tmp_path / "libsqlite3.so.0"), "libm.so.6")
    assert caught.value.lines == (str(caught.value),)

"""Any database with a DB-API 2.0 module: errors, lost connections, transactions, bad input."""

from pathlib import Path

import pytest

from tests.support.dbapi import dbapi, dbapi_file, of_module
from tests.support.mariadb import MariaDB
from tests.support.querylog import Entry
from tests.support.reference import ours, report
from tests.support.server import PASSWORD, PASSWORD_USER, Server
from tests.support.workloads import LUA

SCRIPT = "oltp_point_select"
MODULES = {"psycopg2": "postgres", "pg8000.dbapi": "postgres", "pymysql": "mariadb"}


@pytest.fixture(params=MODULES)
def client(request: pytest.FixtureRequest) -> tuple[Server, list[str]]:
    """An empty server and our options for each module that reaches it."""
    server: Server = request.getfixturevalue(MODULES[request.param])
    server.kill_all_client_connections()
    server.empty_database()
    return server, dbapi(server, request.param)


def run_lua(folder: Path, script: str, *arguments: str) -> tuple[int, list[str]]:
    """The exit status, and the lines that begin with `> `."""
    (folder / "script.lua").write_text(script)
    result = ours(str(folder / "script.lua"), *arguments)
    return result.status, [line[2:] for line in result.stdout.splitlines() if line.startswith("> ")]


def test_lost_connections_are_made_again(client: tuple[Server, list[str]]) -> None:
    server, options = client
    assert ours(SCRIPT, *options, "--table-size=100", "prepare").status == 0
    words = [SCRIPT, *options, "--table-size=100", "--threads=2", "--time=5", "--report-interval=1", "run"]
    with ours.start(*words) as run:
        run.wait_for("[ 1s ]")
        killed = server.kill_all_client_connections()
        result = run.result()
    assert result.status == 0, result.stdout
    numbers = report(result.stdout)
    assert numbers["reconnects"] == killed == 2
    assert "SELECT 1' costs this client " in result.stdout


@pytest.mark.parametrize(
    ("module", "ignore", "status"),
    [
        ("psycopg2", ["23505"], 0),
        ("psycopg2", ["UniqueViolation"], 0),
        ("pymysql", ["IntegrityError"], 0),
        ("pymysql", ["1062"], 0),
        ("pymysql", [], 1),
    ],
)
def test_duplicate_keys_are_ignored_if_asked(
    module: str, ignore: list[str], status: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server: Server = request.getfixturevalue(MODULES[module])
    server.empty_database()
    script = """
        local con, put, id
        function thread_init()
           con = sysbench.sql.driver():connect()
           con:query("CREATE TABLE t (id INTEGER PRIMARY KEY)")
           put = con:prepare("INSERT INTO t VALUES (?)")
           id = put:bind_create(sysbench.sql.type.INT)
           put:bind_param(id)
        end
        local n = 0
        function event()
           con:query("BEGIN")
           n = n + 1
           id:set(math.floor(n / 2))
           put:execute()
           con:query("COMMIT")
        end
        function done() print("> rows " .. sysbench.sql.driver():connect():query_row("SELECT COUNT(*) FROM t")) end
    """
    words = [*dbapi(server, module), *(f"--dbapi-ignore-errors={each}" for each in ignore), "--events=5", "--time=0"]
    found, lines = run_lua(tmp_path, script, *words, "run")
    assert (found, lines) == (status, ["rows 5" if status == 0 else "rows 2"])


TYPES = """
    local con = sysbench.sql.driver():connect()
    print("> " .. table.concat({con:query_row([[%s]])}, "|"))
    local s = con:prepare("SELECT '%%' AS p, '?' AS q, COUNT(*) %% 2 FROM (SELECT 1 AS x) AS t WHERE x = ?")
    local p = s:bind_create(sysbench.sql.type.INT)
    s:bind_param(p)
    p:set(1)
    print("> " .. table.concat(s:execute():fetch_row(), "|"))
"""
PG_TYPES = (
    "SELECT 9223372036854775807, 0.5::float8, 1.50::numeric, true, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03',"
    " '\\x00ff'::bytea = '\\x00ff'::bytea, 'x'",
    "9223372036854775807|0.5|1.50|t|2024-02-29|2024-02-29 01:02:03|t|x",
)
MY_TYPES = (
    "SELECT 18446744073709551615, 0.5e0, 1.50, true, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03', x'41', 'x'",
    "18446744073709551615|0.5|1.50|1|2024-02-29|2024-02-29 01:02:03|A|x",
)


def test_types_and_percent_signs(client: tuple[Server, list[str]], tmp_path: Path) -> None:
    server, options = client
    query, shown = MY_TYPES if isinstance(server, MariaDB) else PG_TYPES
    script = f"function prepare() {TYPES % query} end"
    assert run_lua(tmp_path, script, *options, "prepare") == (0, [shown, "%|?|1"])
    # The native driver sees the same.
    assert run_lua(tmp_path, script, *server.args, "prepare") == (0, [shown, "%|?|1"])


def test_results_of_a_procedure(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    mariadb.sql("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2 UNION SELECT 3; END")
    script = """function prepare()
        local con = sysbench.sql.driver():connect()
        local rs = con:query("CALL p()")
        print("> " .. rs.nrows .. " " .. tostring(con:more_results()))
        print("> " .. con:next_result().nrows)
    end"""
    assert run_lua(tmp_path, script, *dbapi(mariadb, "pymysql"), "prepare") == (0, ["1 true", "2"])


def test_changes_of_duckdb_are_told_from_queries(tmp_path: Path) -> None:
    """It answers a change with its number of rows, as a row."""
    script = """function prepare()
        local con = sysbench.sql.driver():connect()
        local counters = {}
        for i, text in ipairs{
           "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1), (2)", "UPDATE t SET a = 3 WHERE a = 9",
           'SELECT COUNT(*) AS "Count" FROM t', 'SELECT COUNT(*) AS "Count" FROM t LIMIT 0',
           "INSERT INTO t VALUES (4) RETURNING a", "DROP TABLE t",
        } do
           local rs = con:query(text)
           counters[i] = rs == nil and "-" or rs.nrows
        end
        print("> " .. table.concat(counters, " "))
    end"""
    assert run_lua(tmp_path, script, *dbapi_file("duckdb", tmp_path), "prepare") == (0, ["- - - 1 0 1 -"])


def test_module_without_autocommit_gets_commits(tmp_path: Path) -> None:
    words = of_module("tests.support.plain_dbapi", f"database={tmp_path}/x.db")
    script = """function prepare()
        local con = sysbench.sql.driver():connect()
        con:query("CREATE TABLE t (a INTEGER)")
        con:query("INSERT INTO t VALUES (1)")
        con:query("BEGIN") con:query("INSERT INTO t VALUES (2)") con:query("ROLLBACK")
        con:query("BEGIN") con:query("INSERT INTO t VALUES (3)") con:query("COMMIT")
        local rs = sysbench.sql.driver():connect():query("SELECT a FROM t ORDER BY a")
        print("> " .. rs:fetch_row()[1] .. rs:fetch_row()[1] .. tostring(rs:fetch_row()))
    end"""
    assert run_lua(tmp_path, script, *words, "--dbapi-dialect=sqlite", "prepare") == (0, ["13nil"])


# -- the same SQL as from the native driver


@pytest.mark.parametrize("script", ["oltp_read_write", "oltp_insert", "bulk_insert", "select_random_points"])
def test_same_sql_as_the_native_driver(mariadb: MariaDB, script: str) -> None:
    mariadb.empty_database()
    sizes = [] if script == "bulk_insert" else ["--table-size=100"]
    logs = []
    for options in ([*mariadb.args, "--db-ps-mode=disable"], dbapi(mariadb, "pymysql")):
        with mariadb.query_log() as log:
            result = ours(
                str(LUA / f"{script}.lua"), *options, *sizes, "--rand-seed=7", "--events=30", "--time=0",
                "--verbosity=0", "prepare", "run", "cleanup",
            )  # fmt: skip
        assert result.status == 0, result.stdout
        logs.append([(entry.command, entry.text) for entry in log if of_the_script(entry)])
    assert len(logs[0]) >= (3 if script == "bulk_insert" else 30)
    assert logs[1] == logs[0]


def of_the_script(entry: Entry) -> bool:
    """Not what PyMySQL says when it connects."""
    return entry.command == "Query" and not entry.text.startswith(("SET NAMES", "SET AUTOCOMMIT"))


# -- passwords


def test_password_of_a_file_or_the_environment(mariadb: MariaDB, tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    (tmp_path / "script.lua").write_text("function prepare() sysbench.sql.driver():connect() end")
    connect = f"host=127.0.0.1,port={mariadb.port},user={PASSWORD_USER}"
    words = [f"{tmp_path}/script.lua", *of_module("pymysql", connect), "prepare"]
    assert ours(*words, f"--dbapi-password-file={tmp_path}/password").status == 0
    assert ours(*words, env={"SYSBENCH_DBAPI_PASSWORD": PASSWORD}).status == 0
    assert ours(*words, f"--dbapi-password={PASSWORD}").status == 0
    refused = ours(*words)
    assert refused.status == 1
    assert "FATAL: pymysql: cannot connect: OperationalError: Access denied for user" in refused.stdout


def test_arguments_of_connect_are_hidden(tmp_path: Path) -> None:
    (tmp_path / "s.lua").write_text("function event() os.execute('sleep 0.1') end")
    with ours.start("--dbapi-connect=password=secret", f"{tmp_path}/s.lua", "--time=60", "run") as run:
        run.wait_for("Threads started!")
        shown = Path(f"/proc/{run.process.pid}/cmdline").read_bytes()
    assert b"--dbapi-connect=xxxx" in shown
    assert b"secret" not in shown


# -- bad input


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the driver dbapi needs --dbapi-module (a Python module such as pymysql or duckdb)"),
        (
            ["--dbapi-module=nosuchmodule", "--dbapi-dialect=mysql"],
            "--dbapi-module: cannot import 'nosuchmodule' (install it, or name another DB-API 2.0 module)",
        ),
        (
            ["--dbapi-module=json", "--dbapi-dialect=mysql"],
            "--dbapi-module: 'json' is not a DB-API 2.0 module: it has no apilevel, threadsafety, paramstyle, connect,"
            " Error",
        ),
        (
            ["--dbapi-module=nosuchmodule"],
            "--dbapi-module: cannot import 'nosuchmodule' (install it, or name another DB-API 2.0 module)",
        ),
        (["--dbapi-module=json"], "--dbapi-module: 'json' is not a DB-API 2.0 module: it has no apilevel, "),
        (
            ["--dbapi-module=tests.support.plain_dbapi"],
            "nothing is known of the dialect of 'tests.support.plain_dbapi': say which with --dbapi-dialect"
            " (mysql, pgsql, sqlite, oracle, mssql, duckdb)",
        ),
        (
            ["--dbapi-module=sqlite3", "--dbapi-dialect=db2"],
            "Invalid value for --dbapi-dialect: 'db2' (use auto, mysql, pgsql, sqlite, oracle, mssql, duckdb)",
        ),
        (["--dbapi-module=sqlite3", '--dbapi-connect={"database": }'], "--dbapi-connect: bad JSON: Expecting value"),
        (
            ["--dbapi-module=sqlite3", "--dbapi-connect=x.db"],
            "--dbapi-connect: 'x.db' is not the name of an argument and its value"
            " (use JSON, key=value,key=value, or @FILE)",
        ),
        (["--dbapi-module=sqlite3", "--dbapi-connect=nosuch=1"], "sqlite3: cannot connect: TypeError: "),
        (
            ["--dbapi-module=sqlite3", "--dbapi-ignore-errors=a b"],
            "Invalid value for --dbapi-ignore-errors: 'a b' (use exception classes, numbers, SQLSTATEs such as 40001,"
            " or all)",
        ),
        (
            ["--dbapi-module=tests.support.plain_dbapi", "--dbapi-dialect=sqlite", "--threads=2"],
            "--dbapi-module: 'tests.support.plain_dbapi' is not thread-safe (threadsafety 0), and --threads=2"
            " (use --threads=1, or --workers=process --processes=2)",
        ),
        (
            ["--dbapi-module=sqlite3", "--multiplex=2"],
            "--multiplex is for the drivers mysql and pgsql: dbapi waits inside of Python",
        ),
        (["--dbapi-only-print=on"], "--dbapi-only-print=on needs --dbapi-dialect (mysql, pgsql, sqlite, oracle, "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_bad_input(words: list[str], said: str) -> None:
    result = ours(SCRIPT, "--db-driver=dbapi", *words, "run")
    assert result.status == 1
    assert "Traceback" not in result.stdout + result.stderr
    assert result.stdout.count(f"FATAL: {said}") == 1, result.stdout


def test_error_is_one_line(tmp_path: Path) -> None:
    result = ours(SCRIPT, *dbapi_file("duckdb", tmp_path), "--events=1", "run")
    lines = [line for line in result.stdout.splitlines() if line.startswith("FATAL: duckdb")]
    assert lines == [
        "FATAL: duckdb returned error 0 (CatalogException: Catalog Error: Table with name sbtest1 does not exist!)"
        " for query 'SELECT c FROM sbtest1 WHERE id=?'"
    ]


def test_thread_unsafe_module_has_a_process_a_thread(tmp_path: Path) -> None:
    words = [*of_module("tests.support.plain_dbapi", f"database={tmp_path}/x.db"), "--dbapi-dialect=sqlite"]
    assert ours(SCRIPT, *words, "--table-size=10", "prepare").status == 0
    result = ours(
        SCRIPT, *words, "--table-size=10", "--threads=2", "--workers=process", "--processes=2", "--events=20", "run"
    )
    assert result.status == 0, result.stdout
    assert report(result.stdout)["read"] == 20


# -- tools


def test_drivers_are_listed() -> None:
    result = ours("tools", "drivers")
    assert result.status == 0
    assert "mysql - MySQL driver\n  needs:  PyMySQL, which logs in\n  here:   usable: PyMySQL " in result.stdout
    assert "duckdb" in result.stdout
    assert result.stdout.endswith("null - Null driver: sends nothing\n  needs:  nothing\n  here:   usable\n")


def test_driver_that_cannot_be_used_is_listed_as_such(tmp_path: Path) -> None:
    (tmp_path / "psycopg2.py").write_text("raise ImportError('libpq.so.5: cannot open shared object file')\n")
    result = ours("tools", "drivers", env={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"})
    assert result.status == 0
    assert "  here:   not usable: libpq.so.5: cannot open shared object file\n" in result.stdout

"""Bad input ends in exit status 1 and a line that names what is wrong; never in a traceback or a hang."""

import re
import socket
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.dbapi import dbapi
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Result
from tests.support.reference import ours, report
from tests.support.server import PASSWORD_USER, Server

SCRIPT = "oltp_point_select"
MISSING = f"A table is missing: make the tables with 'sysbench {SCRIPT} prepare' and the same options\n"
THERE = f"Tables of an earlier 'prepare' are there: remove them with 'sysbench {SCRIPT} cleanup' and the same options\n"


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def fails_saying(result: Result, *texts: str) -> None:
    assert result.status == 1, result.stdout
    for text in texts:
        assert text in result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert result.stderr == "" or len(result.stderr.splitlines()) == 1


def option(server: Server, name: str) -> str:
    return f"--{'mysql' if isinstance(server, MariaDB) else 'pgsql'}-{name}"


@pytest.mark.parametrize("threads", ["1", "4"])
def test_wrong_password(server: Server, threads: str) -> None:
    if isinstance(server, PostgreSQL):
        result = ours(SCRIPT, *server.args, f"--pgsql-user={PASSWORD_USER}", "--pgsql-password=no",
                      f"--threads={threads}", "run")  # fmt: skip
        fails_saying(result, "Connection to database failed", "password authentication failed")
    else:
        result = ours(SCRIPT, *server.args, f"--mysql-user={PASSWORD_USER}", "--mysql-password=no",
                      f"--threads={threads}", "run")  # fmt: skip
        fails_saying(result, "unable to connect to MySQL server", "error 1045: Access denied")
    assert result.stdout.count("failed: connection creation failed") <= 1


def test_no_such_host(server: Server) -> None:
    result = ours(SCRIPT, *server.args, option(server, "host=no.such.host.invalid"), "run")
    fails_saying(result, "no.such.host.invalid")


def test_no_such_database(server: Server) -> None:
    result = ours(SCRIPT, *server.args, option(server, "db=nosuchdb"), "run")
    fails_saying(result, "nosuchdb")


def test_closed_port(server: Server) -> None:
    port = closed_port()
    result = ours(SCRIPT, *server.args, option(server, f"port={port}"), "run")
    fails_saying(result, str(port))


@compat("other-servers")
def test_a_server_of_the_other_protocol(mariadb: MariaDB, postgres: PostgreSQL) -> None:
    for command in ("run", "prepare"):
        result = ours(SCRIPT, *mariadb.args, f"--mysql-port={postgres.port}", command)
        fails_saying(
            result,
            f"unable to connect to MySQL server on host '127.0.0.1', port {postgres.port}, aborting...\n"
            "FATAL: error 2012: a PostgreSQL server answers there, which --db-driver=pgsql",
        )
    for mode in ("disable", "require"):
        result = ours(SCRIPT, *postgres.args, f"--pgsql-port={mariadb.port}", f"--pgsql-sslmode={mode}", "run")
        fails_saying(result, f"port {mariadb.port} failed: ", "For MySQL and MariaDB use --db-driver=mysql")


@compat("other-servers")
@pytest.mark.parametrize(("driver", "seconds"), [("mysql", 4), ("pgsql", 1)])
def test_a_server_that_says_nothing(driver: str, seconds: int) -> None:
    """The first one is also asked whether it is a PostgreSQL server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        place = [f"--{driver}-host=127.0.0.1", f"--{driver}-port={port}"]
        words = (SCRIPT, f"--db-driver={driver}", *place, "--threads=3", f"--thread-init-timeout={seconds}", "run")
        result = ours(*words)
    assert result.status == 2
    assert result.stdout.endswith(f"FATAL: Worker threads failed to initialize within {seconds} seconds!\n")
    assert result.stderr == (
        f"3 threads have no answer from host '127.0.0.1', port {port}: is there a server of --db-driver={driver}?\n"
    )


@compat("way-out")
@pytest.mark.parametrize("threads", ["1", "4"])
def test_missing_table(server: Server, threads: str) -> None:
    result = ours(SCRIPT, *server.args, f"--threads={threads}", "run")
    fails_saying(result, "sbtest1")
    assert result.stderr == MISSING


@pytest.mark.parametrize(
    "words", [(SCRIPT, "--tables=3"), ("oltp_read_write", "--tables=3"), ("select_random_points",), ("--test=oltp",)]
)
def test_tables_that_are_missing_are_told_once(server: Server, words: tuple[str, ...]) -> None:
    """Not for each statement and thread."""
    result = ours(*words, *server.args, "--threads=8", "run")
    assert result.status == 1
    fatal = [line for line in result.stdout.splitlines() if line.startswith("FATAL: ")]
    place = next(i for i, line in enumerate(fatal) if "`thread_init' function failed: " in line)
    assert place == (2 if isinstance(server, MariaDB) else 1)
    # A line that the next thread prints at once is counted as a repetition of the last one, and not here.
    assert re.fullmatch(r"FATAL: \(the same (up to )?[1-7] times more\)", fatal[place + 1])
    assert fatal[place + 2 :] == ["FATAL: Thread initialization failed!"]


@compat("way-out")
@pytest.mark.parametrize("script", [SCRIPT, "oltp_insert", f"/usr/share/sysbench/{SCRIPT}.lua"])
def test_some_tables_are_missing(server: Server, script: str) -> None:
    """The command that is named helps."""
    arguments = [script, *server.args, "--tables=3", "--table-size=10"]
    assert ours(*arguments, "--tables=2", "prepare").status == 0
    result = ours(*arguments, "--threads=2", "--events=50", "run")
    fails_saying(result, "sbtest3")
    anew = MISSING.replace("missing:", "missing, and others are there:").replace(
        "make the tables", "make all of them anew"
    )
    assert result.stderr == anew.replace(f"{SCRIPT} ", f"{script} cleanup ")
    assert ours(*arguments, "cleanup", "prepare").status == 0
    assert ours(*arguments, "--events=50", "run").status == 0


def test_a_script_that_goes_on_after_failed_prepares(postgres: PostgreSQL) -> None:
    """It has 9 statements for each table."""
    postgres.empty_database()
    script = "/usr/share/sysbench/oltp_read_write.lua"
    result = ours(script, *postgres.args, "--tables=4", "--threads=2", "run")
    assert result.stdout.count("PQprepare() failed") == 1
    fails_saying(result, 'PQprepare() failed: ERROR:  relation "sbtest1" does not exist')
    assert result.stderr == MISSING.replace(SCRIPT, script)


@pytest.mark.parametrize("threads", ["1", "4"])
def test_table_already_there(server: Server, threads: str) -> None:
    arguments = [SCRIPT, *server.args, "--tables=4", "--table-size=10", f"--threads={threads}"]
    assert ours(*arguments, "prepare").status == 0
    result = ours(*arguments, "prepare")
    fails_saying(result, "sbtest1", "already exists")
    assert result.stderr == THERE


@pytest.mark.parametrize("threads", ["1", "4"])
def test_table_already_there_on_sqlite(tmp_path: Path, threads: str) -> None:
    arguments = [SCRIPT, "--db-driver=sqlite", f"--sqlite-db={tmp_path}/x.db", "--tables=4", "--table-size=10",
                 f"--threads={threads}"]  # fmt: skip
    assert ours(*arguments, "prepare").status == 0
    result = ours(*arguments, "prepare")
    fails_saying(result, "sbtest1", "already exists")
    assert result.stderr == THERE


def test_missing_table_on_sqlite(tmp_path: Path) -> None:
    result = ours(SCRIPT, "--db-driver=sqlite", f"--sqlite-db={tmp_path}/x.db", "run")
    fails_saying(result, "no such table: sbtest1")
    assert result.stderr == MISSING


@compat("failed-bulk")
@pytest.mark.parametrize("kind", ["mysql", "pgsql", "pgsql copy", "sqlite", "dbapi"])
def test_the_reason_of_a_bulk_insert_that_fails(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Though it is an error that events ignore."""
    driver = kind.partition(" ")[0]
    if driver == "sqlite":
        options = ["--db-driver=sqlite", f"--sqlite-db={tmp_path}/x.db"]
    else:
        server: Server = request.getfixturevalue("mariadb" if driver == "mysql" else "postgres")
        server.empty_database()
        options = dbapi(server, "psycopg2") if driver == "dbapi" else server.args
    if driver != "pgsql":
        options = [*options, f"--{driver}-ignore-errors=all"]
    words = ["bulk_insert", *options, *(["--bulk=copy"] if "copy" in kind else [])]
    # The rows of the second are all sent by thread_done, whose errors do not count.
    for events, status in ((100000, 1), (10, 0)):
        assert ours(*words, f"--events={events}", "--time=0", "prepare", "run").status == 0
        result = ours(*words, f"--events={events}", "--time=0", "run")
        assert result.status == status
        assert f"db_bulk_insert_{'next' if status else 'done'}() failed" in result.stdout
        # A run that fails and has stored nothing has no report; one that reports such rows says so.
        assert ("total number of events:" in result.stdout) == (status == 0)
        *lost, line = result.stderr.splitlines()
        assert lost == ([] if status else ["Rows of events that bulk inserts have failed to store: 10"])
        assert line.startswith(
            f"A bulk insert has met an error of --{driver}-ignore-errors, and is not tried again as events are: "
        )
        assert "UNIQUE" in line or "uplicate" in line
        assert ours(*words, "cleanup").status == 0


@pytest.mark.parametrize("more", [(), ("--workers=process",)], ids=["threads", "processes"])
def test_rows_that_a_failed_run_has_not_stored(mariadb: MariaDB, more: tuple[str, ...]) -> None:
    """Of two threads that have a statement's worth of rows stored, one fails at its second."""
    mariadb.empty_database()
    words = ("bulk_insert", *mariadb.args, "--threads=2", "--events=0", "--time=0", *more)
    assert ours(*words, "prepare").status == 0
    mariadb.sql("INSERT INTO sbtest2 VALUES (50000, 1)")
    result = ours(*words, "run")
    assert result.status == 1
    (lost,) = re.findall(r"^Rows of events that bulk inserts have failed to store: (\d+)$", result.stderr, re.MULTILINE)
    stored = sum(mariadb.sql(f"SELECT COUNT(*) FROM sbtest{number}")[0][0] for number in (1, 2)) - 1
    assert report(result.stdout)["events"] == stored + int(lost)


def test_no_way_out_that_the_script_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "s.lua").write_text("""
    function event() sysbench.sql.driver():connect():query("SELECT 1 FROM nowhere") end
    function prepare() local con = sysbench.sql.driver():connect() con:query("CREATE TABLE t(a INT)") end
    """)
    words = ("s.lua", "--db-driver=sqlite", "--sqlite-db=s.db")
    assert ours(*words, "prepare", cwd=tmp_path).status == 0
    assert ours(*words, "prepare", cwd=tmp_path).stderr == ""
    assert ours(*words, "run", cwd=tmp_path).stderr == MISSING.replace(SCRIPT, "s.lua")


@pytest.mark.parametrize("name", ["oracle", "", "MYSQL"])
def test_unknown_driver(name: str) -> None:
    result = ours(SCRIPT, f"--db-driver={name}", "run")
    fails_saying(result, f"'{name}'" if name else "--db-driver")


@compat("drivers-first")
@pytest.mark.parametrize("script", [SCRIPT, "bulk_insert", "old.lua"])
@pytest.mark.parametrize(
    "line",
    [
        "invalid database driver name: 'nosuch' (use mysql, --db-driver=nosuch",
        "Invalid value for db-ps-mode: nosuch (use auto, disable) --db-ps-mode=nosuch",
        "Invalid value for --mysql-port: 'abc' (use numbers from 1 to 65535) --mysql-port=abc",
        "Invalid value for --mysql-ignore-errors: 'x' (use error numbers, SQLSTATEs, or all) --mysql-ignore-errors=x",
        "No MySQL hosts specified, aborting --mysql-host=",
    ],
)
def test_what_keeps_a_driver_from_all_threads_is_told_once(script: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "old.lua").write_text("function prepare() db_connect() end function event() db_query('SELECT 1') end")
    message, _, typed = line.rpartition(" ")
    for command in ("run", "prepare"):
        result = ours(script, "--threads=4", typed, command, cwd=tmp_path)
        fails_saying(result, f"\n\nFATAL: {message}")
        assert (result.stdout.count("FATAL"), result.stderr) == (1, "")


def test_a_wrong_driver_that_is_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "none.lua").write_text("function event() end")
    (tmp_path / "hidden.lua").write_text('local name = "driver" function prepare() sysbench.sql[name]() end')
    assert ours("none.lua", "--db-driver=nosuch", "--events=1", "run", cwd=tmp_path).status == 0
    fails_saying(ours("hidden.lua", "--db-driver=nosuch", "prepare", cwd=tmp_path), "invalid database driver name")


@compat("whole-numbers")
@pytest.mark.parametrize("value", ["1.5", "-1", "inf"])
def test_counts_of_stock_workloads_are_whole_numbers(value: str, tmp_path: Path) -> None:
    for script, name in (("oltp_read_write", "tables"), ("select_random_points", "random_points")):
        result = ours(script, "--db-driver=null", f"--{name}={value}", "--events=1", "run")
        fails_saying(result, f"invalid option: --{name}={value} (use a whole number, 0 or more)")
    (tmp_path / "tables.cnf").write_text(f"tables = {value}\n")
    result = ours("oltp_read_write", f"--config-file={tmp_path}/tables.cnf", "--db-driver=null", "run")
    fails_saying(result, f"tables.cnf:1: invalid option: tables={value} (use a whole number, 0 or more)")


@compat("whole-numbers")
@pytest.mark.parametrize(
    ("words", "value", "right"),
    [
        ("oltp_read_only --tables=0", "--tables: '0'", "at least 1"),
        ("oltp_point_select --tables=0", "--tables: '0'", "at least 1"),
        ("oltp_insert --tables=0", "--tables: '0'", "at least 1"),
        ("oltp_insert --table-size=0", "--table-size: '0'", "at least 1"),
        ("oltp_read_write --table-size=0", "--table-size: '0'", "at least 1"),
        ("oltp_write_only --table_size=0", "--table-size: '0'", "at least 1"),
        ("select_random_points --random-points=0", "--random-points: '0'", "1 to 7998"),
        ("select_random_points --random-points=7999", "--random-points: '7999'", "1 to 7998"),
        ("select_random_ranges --number-of-ranges=0", "--number-of-ranges: '0'", "1 to 3999"),
        ("select_random_ranges --number-of-ranges=4000", "--number-of-ranges: '4000'", "1 to 3999"),
    ],
)
def test_values_with_which_no_event_works(words: str, value: str, right: str) -> None:
    """One line for all threads, and before there are any."""
    result = ours(*words.split(), "--db-driver=null", "--threads=3", "--events=1", "run")
    fails_saying(result, f"FATAL: `init' function failed: Invalid value for {value} (use {right})")
    assert result.stdout.count("FATAL") == 1
    assert "Initializing worker threads" not in result.stdout


@pytest.mark.parametrize(
    "words",
    [
        "oltp_read_write --tables=0 prepare cleanup",
        "oltp_read_write --table-size=0 prepare cleanup",
        "oltp_point_select --table-size=0 run",
        "oltp_write_only --table-size=0 --delete-inserts=0 run",
        "select_random_points --tables=0 run",
        "select_random_points --random-points=7998 run",
        "select_random_ranges --tables=0 run",
        "select_random_ranges --number-of-ranges=3999 run",
    ],
)
def test_values_of_which_something_is_left(words: str) -> None:
    result = ours(*words.split(), "--db-driver=null", "--events=1")
    assert (result.status, result.stderr) == (0, ""), result.stdout


def test_no_numbers_in_a_config_file(tmp_path: Path) -> None:
    for name, advice in (("threads", "use a whole number"), ("table_size", "use a number, without a unit")):
        (tmp_path / "n.cnf").write_text(f"{name} = 10k\n")
        result = ours("oltp_read_write", "--config-file=n.cnf", "--db-driver=null", "run", cwd=tmp_path)
        fails_saying(result, f"n.cnf:1: Invalid value for the '{name}' option: '10k' ({advice})")


def test_script_that_does_not_parse(tmp_path: Path) -> None:
    (tmp_path / "bad.lua").write_text("function event(\n")
    fails_saying(ours("bad.lua", "run", cwd=tmp_path), "bad.lua:")


def test_script_without_event(tmp_path: Path) -> None:
    (tmp_path / "none.lua").write_text("function thread_init() end\n")
    fails_saying(ours("none.lua", "run", cwd=tmp_path), "cannot find the event() function in none.lua")


def test_no_such_script() -> None:
    fails_saying(ours("no_such_script", "run"), "Cannot find benchmark 'no_such_script'")


@pytest.mark.parametrize("threads", ["1", "4"])
def test_unwritable_sqlite_path(tmp_path: Path, threads: str) -> None:
    path = tmp_path / "missing" / "x.db"
    result = ours(SCRIPT, "--db-driver=sqlite", f"--sqlite-db={path}", f"--threads={threads}", "prepare")
    fails_saying(result, str(path))


def test_sqlite_path_is_a_folder(tmp_path: Path) -> None:
    fails_saying(ours(SCRIPT, "--db-driver=sqlite", f"--sqlite-db={tmp_path}", "prepare"), str(tmp_path))


@pytest.mark.parametrize("content", [b"this is not a database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_corrupt_sqlite_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "corrupt.db"
    path.write_bytes(content)
    fails_saying(ours(SCRIPT, "--db-driver=sqlite", f"--sqlite-db={path}", "run"), str(path))
    assert path.read_bytes() == content

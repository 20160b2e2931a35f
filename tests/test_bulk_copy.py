"""--bulk=copy: the same tables as by INSERT statements, or INSERT statements and a line that says why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_mysql import FakeMySQL, packets
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Result, wait_until
from tests.support.reference import ours, report
from tests.support.server import Server
from tests.support.workloads import DEBIAN, LUA

COPY = "--bulk=copy"
# Three statements of 512 KiB and a rest.
SIZE = 9000
SAID = "WARNING: --bulk=copy: rows are sent by INSERT statements: "


def rows_of(server: Server, table: str = "sbtest1") -> list[tuple[Any, ...]]:
    if isinstance(server, MariaDB):
        rows = server.sql(f"CHECKSUM TABLE {table}")
        return [*rows, *server.sql(f"SELECT COUNT(*) FROM {table}")]
    return server.sql(f"SELECT * FROM {table} ORDER BY 1")


def make_table(server: Server, columns: str, name: str = "t") -> None:
    server.sql(f"CREATE TABLE {name} ({columns})")
    if isinstance(server, PostgreSQL):
        server.sql(f"GRANT ALL ON {name} TO sbtest")


def run(server: Server, folder: Path, body: str, *options: str) -> Result:
    """A script whose `prepare` has the connection `con`."""
    (folder / "bulk.lua").write_text(
        f"function prepare()\nlocal con = sysbench.sql.driver():connect()\n{body}\ncon:disconnect()\nend\n"
    )
    return ours("bulk.lua", *server.args, *options, "prepare", cwd=folder)


def rows(head: str, *values: str) -> str:
    """Lua that inserts rows; each of `values` stands between brackets."""
    added = "".join(f"con:bulk_insert_next([==[({value})]==])\n" for value in values)
    return f"con:bulk_insert_init([==[{head}]==])\n{added}con:bulk_insert_done()\n"


def loads(server: Server, log: list[Any]) -> list[str]:
    word = "LOAD DATA" if isinstance(server, MariaDB) else "COPY"
    return [entry.text for entry in log if entry.text.startswith(word)]


@pytest.mark.parametrize("folder", [DEBIAN, LUA], ids=["debian", "ours"])
@pytest.mark.parametrize("options", [(), ("--auto_inc=off",)], ids=["generated", "given"])
def test_prepared_tables_are_equal(server: Server, folder: Path, options: tuple[str, ...]) -> None:
    found = []
    for mode in ("--bulk=insert", COPY):
        server.empty_database()
        arguments = [*server.args, "--tables=2", f"--table-size={SIZE}", *options, mode]
        with server.query_log() as log:
            result = ours(str(folder / "oltp_common.lua"), *arguments, "prepare")
        assert result.status == 0, result.stdout
        found.append((result.stdout, rows_of(server), rows_of(server, "sbtest2")))
        assert len(loads(server, log)) == (2 if mode == COPY else 0)
    assert found[0] == found[1]


@pytest.mark.parametrize("options", ["--mysql-compression=on", "--mysql-ssl=required"])
def test_transports_of_mysql(mariadb_tls: MariaDB, options: str) -> None:
    found = []
    for mode in ("--bulk=insert", COPY):
        mariadb_tls.empty_database()
        result = ours("oltp_read_write", *mariadb_tls.args, options, f"--table-size={SIZE}", mode, "prepare")
        assert (result.status, SAID in result.stdout) == (0, False), result.stdout
        found.append(rows_of(mariadb_tls))
    assert found[0] == found[1]
    assert found[0][1] == (SIZE,)


def test_over_tls_on_postgresql(postgres_tls: PostgreSQL) -> None:
    postgres_tls.empty_database()
    arguments = [*postgres_tls.args, f"--table-size={SIZE}", "--pgsql-sslmode=require", COPY]
    assert ours("oltp_read_write", *arguments, "prepare").status == 0
    assert postgres_tls.sql("SELECT COUNT(*), MAX(id) FROM sbtest1") == [(SIZE, SIZE)]


@pytest.mark.parametrize("multiplex", [0, 2])
def test_several_threads(server: Server, multiplex: int) -> None:
    arguments = [*server.args, "--tables=5", f"--table-size={SIZE}", "--threads=3", f"--multiplex={multiplex}", COPY]
    result = ours("oltp_read_write", *arguments, "prepare")
    assert (result.status, SAID in result.stdout) == (0, False), result.stdout
    for number in range(1, 6):
        assert server.sql(f"SELECT COUNT(*), MIN(id), MAX(id) FROM sbtest{number}") == [(SIZE, 1, SIZE)]


PLAIN = (
    "1, 'plain', 0",
    "2, 'it''s', -5",
    "3, '', 2147483647",
    "4, NULL, NULL",
    "  5 ,\n '\t\r\n|,()' , null ",
    "6, 'x'',''y', 1), (7, 'two in one', 2",
    "8, '\\N'" + ", 3",
)


HEADS = ("INSERT INTO t VALUES", " insert into t (id, s, n)  values ", 'INSERT INTO "T" VALUES')


@pytest.mark.parametrize("head", HEADS)
def test_values(server: Server, tmp_path: Path, head: str) -> None:
    if isinstance(server, MariaDB):
        head = head.replace('"', "`")
    table = "t" if '"' not in head and "`" not in head else head.split()[2]
    values = PLAIN[:-1] if isinstance(server, PostgreSQL) else PLAIN
    found = []
    for mode in ("--bulk=insert", COPY):
        server.empty_database()
        make_table(server, "id INT PRIMARY KEY, s VARCHAR(20), n INT", table)
        with server.query_log() as log:
            result = run(server, tmp_path, rows(head, *values), mode)
        assert (result.status, SAID in result.stdout) == (0, False), result.stdout
        assert len(loads(server, log)) == (mode == COPY)
        found.append(server.sql(f"SELECT * FROM {table} ORDER BY id"))
    assert len(found[0]) == len(values) + 1
    assert found[0] == found[1]


def test_escapes_of_mysql(mariadb: MariaDB, tmp_path: Path) -> None:
    values = ("1, '\\\\ \\' \\\" \\n \\t \\r \\b \\0 \\Z \\% \\_ \\x \\\\N', 1.50", "2, '\\N', 0.25", "3, 'NULL', -0.5")
    found = []
    for mode in ("--bulk=insert", COPY):
        mariadb.empty_database()
        mariadb.sql("CREATE TABLE t (id INT PRIMARY KEY, s VARBINARY(60), d DECIMAL(5, 2))")
        result = run(mariadb, tmp_path, rows("INSERT INTO t VALUES", *values), mode)
        assert (result.status, SAID in result.stdout) == (0, False), result.stdout
        found.append(mariadb.sql("SELECT id, HEX(s), d FROM t ORDER BY id"))
    assert found[0] == found[1]


NOT_PLAIN = {
    "an expression": ("INSERT INTO t VALUES", "1, 'a', 1 + 1", "a value is no plain number, string or NULL"),
    "DEFAULT": ("INSERT INTO t VALUES", "1, 'a', DEFAULT", "a value is no plain number, string or NULL"),
    "an exponent": ("INSERT INTO t VALUES", "1, 'a', 1e1", "a value is no plain number, string or NULL"),
    "a leading zero": ("INSERT INTO t VALUES", "1, 'a', 007", "a value is no plain number, string or NULL"),
    "a negative zero": ("INSERT INTO t VALUES", "1, 'a', -0", "a value is no plain number, string or NULL"),
    "a function": ("INSERT INTO t VALUES", "1, CONCAT('a', 'b'), 1", "a value is no plain number, string or NULL"),
    "a comment": ("INSERT INTO t VALUES", "1, 'a' /* b */, 1", "a value is no plain number, string or NULL"),
    "a head with more": (
        "INSERT INTO t (id, s, n) SELECT * FROM (VALUES",
        "1, 'a', 1",
        "it is not of the form INSERT INTO table (columns) VALUES",
    ),
}


@pytest.mark.parametrize("case", [name for name in NOT_PLAIN if name != "a head with more"])
def test_what_is_not_plain_goes_by_insert(server: Server, tmp_path: Path, case: str) -> None:
    head, value, reason = NOT_PLAIN[case]
    make_table(server, "id INT PRIMARY KEY, s VARCHAR(20), n INT")
    body = rows(head, value) + rows(head, value.replace("1", "2", 1))
    with server.query_log() as log:
        result = run(server, tmp_path, body, COPY)
    assert result.status == 0, result.stdout
    assert result.stdout.count(SAID) == 1
    assert f"{SAID}{reason}: {head}\n" in result.stdout
    assert loads(server, log) == []
    assert server.sql("SELECT COUNT(*) FROM t") == [(2,)]


def test_heads_and_strings_of_postgresql(postgres: PostgreSQL, tmp_path: Path) -> None:
    postgres.empty_database()
    postgres.sql("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20)); GRANT ALL ON t TO sbtest")
    body = rows("INSERT INTO t VALUES", r"1, 'a\b'")
    result = run(postgres, tmp_path, body, COPY)
    assert f"{SAID}a string has a backslash: INSERT INTO t VALUES\n" in result.stdout
    body = rows("INSERT INTO t AS u VALUES", "2, 'é'") + rows("INSERT INTO t VALUES", "3, 'é'")
    with postgres.query_log() as log:
        result = run(postgres, tmp_path, body, COPY)
    assert f"{SAID}{NOT_PLAIN['a head with more'][2]}: INSERT INTO t AS u VALUES\n" in result.stdout
    assert loads(postgres, log) == ["COPY t FROM STDIN"]
    assert postgres.sql("SELECT * FROM t ORDER BY id") == [(1, r"a\b"), (2, "é"), (3, "é")]


def test_heads_and_strings_of_mysql(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    mariadb.sql("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20)) CHARACTER SET utf8mb4")
    result = run(mariadb, tmp_path, rows("INSERT IGNORE INTO t VALUES", "1, 'a'"), COPY)
    assert f"{SAID}{NOT_PLAIN['a head with more'][2]}: INSERT IGNORE INTO t VALUES\n" in result.stdout
    result = run(mariadb, tmp_path, rows("INSERT INTO t VALUES", "2, 'é'"), COPY)
    assert f"{SAID}a string has other characters than ASCII: INSERT INTO t VALUES\n" in result.stdout
    # In this mode the load's own escapes are none, and the server says so.
    body = "con:query(\"SET sql_mode='NO_BACKSLASH_ESCAPES'\")\n" + rows("INSERT INTO t VALUES", r"3, 'a\n'")
    result = run(mariadb, tmp_path, body, COPY)
    assert (result.status, result.stdout.count(SAID)) == (0, 1), result.stdout
    assert mariadb.sql("SELECT CONVERT(s USING utf8mb4) FROM t ORDER BY id") == [("a",), ("é",), (r"a\n",)]


def test_rows_that_stop_being_plain(server: Server, tmp_path: Path) -> None:
    make_table(server, "id INT PRIMARY KEY, s CHAR(100)")
    body = f"""con:bulk_insert_init("INSERT INTO t VALUES")
    for id = 1, {SIZE} do
      local value = id == {SIZE - 1} and "COALESCE(NULL, '%s')" or "'%s'"
      con:bulk_insert_next(("(%d, " .. value .. ")"):format(id, ("x"):rep(100)))
    end
    con:bulk_insert_done()"""
    with server.query_log() as log:
        result = run(server, tmp_path, body, COPY)
    assert (result.status, result.stdout.count(SAID)) == (0, 1), result.stdout
    assert len(loads(server, log)) == 1
    assert server.sql("SELECT COUNT(*), MIN(id), MAX(id) FROM t") == [(SIZE, 1, SIZE)]


def test_a_server_without_local_infile(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    mariadb.sql("SET GLOBAL local_infile=0")
    try:
        result = ours("oltp_read_write", *mariadb.args, "--tables=3", f"--table-size={SIZE}", COPY, "prepare")
    finally:
        mariadb.sql("SET GLOBAL local_infile=1")
    assert (result.status, result.stdout.count("--bulk=copy")) == (0, 1), result.stdout
    assert re.search(f"{SAID}.*local infile.*: INSERT INTO sbtest1", result.stdout)
    assert rows_of(mariadb, "sbtest3")[1] == (SIZE,)


@pytest.mark.parametrize("options", [["--db-driver=null"], ["--mysql-dry-run"], ["--db-driver=sqlite"]])
def test_drivers_without_loads(options: list[str], tmp_path: Path) -> None:
    arguments = [*options, f"--sqlite-db={tmp_path / 'test.db'}", "--tables=2", "--table-size=100", COPY]
    result = ours("oltp_read_write", *arguments, "prepare")
    assert (result.status, result.stdout.count("--bulk=copy")) == (0, 1), result.stdout
    assert f"{SAID}the driver has no statement for it: INSERT INTO sbtest1(k, c, pad) VALUES\n" in result.stdout


def test_no_line_where_nothing_is_loaded() -> None:
    result = ours("oltp_read_write", "--mysql-dry-run", "--events=5", COPY, "run")
    assert "--bulk" not in result.stdout
    result = ours("oltp_read_write", "--bulk=fast", "prepare")
    assert (result.status, "Invalid value for --bulk: 'fast' (use insert, copy)" in result.stdout) == (1, True)


def last_lines(result: Result) -> list[str]:
    assert result.status == 1, result.stdout
    return [line for line in result.stdout.splitlines() if line.startswith("FATAL: ")]


def test_a_table_that_is_missing(server: Server, tmp_path: Path) -> None:
    body = rows("INSERT INTO t VALUES", "1")
    found = [last_lines(run(server, tmp_path, body, mode)) for mode in ("--bulk=insert", COPY)]
    assert found[0] == found[1]
    assert re.search(r"doesn't exist|does not exist", found[0][0])


def test_a_duplicate_key(server: Server, tmp_path: Path) -> None:
    make_table(server, "id INT PRIMARY KEY, s CHAR(100)")
    body = f"""con:bulk_insert_init("INSERT INTO t VALUES")
    for id = 1, {10 * SIZE} do
      con:bulk_insert_next(("(%d, '%s')"):format(id == {SIZE} and 5 or id, ("x"):rep(100)))
    end
    con:bulk_insert_done()"""
    # Else it is no fatal error on PostgreSQL, and nothing tells it but the script's own failure.
    fatal = last_lines(run(server, tmp_path, body, COPY, "--pgsql-ignore-errors=40001"))
    assert re.search(r"1062 \(Duplicate entry '5'|duplicate key value violates unique constraint", fatal[0])
    assert "bulk_insert" in fatal[-1]
    assert "failed" in fatal[-1]


def test_rows_that_do_not_fit(server: Server, tmp_path: Path) -> None:
    make_table(server, "id INT PRIMARY KEY, s CHAR(5)")
    fatal = last_lines(run(server, tmp_path, rows("INSERT INTO t VALUES", "1, 'too long for it'"), COPY))
    assert re.search(r"Data too long for column 's'|Data truncated for column 's'|value too long for type", fatal[0])


def test_an_error_in_a_transaction(postgres: PostgreSQL, tmp_path: Path) -> None:
    postgres.empty_database()
    body = 'con:query("BEGIN")\n' + rows("INSERT INTO t VALUES", "1")
    fatal = last_lines(run(postgres, tmp_path, body, COPY))
    assert 'relation "t" does not exist' in fatal[0]


WAITS = f"""con:bulk_insert_init("INSERT INTO t VALUES")
    for id = 1, {4 * SIZE} do
      con:bulk_insert_next(("(%d, '%s')"):format(id, ("x"):rep(100)))
      if id == {2 * SIZE} then
         io.open("reached", "w"):close()
         while io.open("go") == nil do os.execute("sleep 0.05") end
      end
    end
    con:bulk_insert_done()"""


@pytest.mark.parametrize("mode", ["--bulk=insert", COPY])
def test_a_killed_connection(server: Server, tmp_path: Path, mode: str) -> None:
    make_table(server, "id INT PRIMARY KEY, s CHAR(100)")
    (tmp_path / "bulk.lua").write_text(
        f"function prepare()\nlocal con = sysbench.sql.driver():connect()\n{WAITS}\nend\n"
    )
    with ours.start("bulk.lua", *server.args, mode, "prepare", cwd=tmp_path) as started:
        wait_until((tmp_path / "reached").exists, "rows to be sent")
        assert server.kill_all_client_connections() == 1
        (tmp_path / "go").touch()
        result = started.result()
    fatal = last_lines(result)
    assert re.search("gone away|Lost connection|Connection was killed|terminating connection|closed the", fatal[0])
    assert "bulk_insert" in fatal[-1]


BETWEEN = f"""local stmt = con:prepare("SELECT COUNT(*) FROM t")
    con:bulk_insert_init("INSERT INTO t VALUES")
    for id = 1, {SIZE} do
      con:bulk_insert_next(("(%d, '%s')"):format(id, ("x"):rep(100)))
      if id == {SIZE // 2} then print("> " .. con:query_row("SELECT COUNT(*) FROM t")) end
      if id == {SIZE - 1} then stmt:close() end
    end
    con:bulk_insert_done()
    print("> " .. con:query_row("SELECT COUNT(*) FROM t"))"""


def test_other_statements_between_rows(server: Server, tmp_path: Path) -> None:
    found = []
    for mode in ("--bulk=insert", COPY):
        server.empty_database()
        make_table(server, "id INT PRIMARY KEY, s CHAR(100)")
        result = run(server, tmp_path, BETWEEN, mode)
        assert result.status == 0, result.stdout
        found.append([line for line in result.stdout.splitlines() if line.startswith("> ")])
    assert found[0] == found[1]
    assert found[0][1] == f"> {SIZE}"


def test_a_run_counts_the_same(server: Server) -> None:
    counted = []
    for mode in ("--bulk=insert", COPY):
        server.empty_database()
        arguments = ["bulk_insert", *server.args, "--threads=2", "--events=120000", "--time=0", mode, "--statements=on"]
        assert ours(*arguments, "prepare").status == 0
        result = ours(*arguments, "run")
        assert result.status == 0, result.stdout
        values = report(result.stdout)
        assert values["events"] == 120000
        lines = re.findall(r"^    bulk +\d+ +[\d.]+ +0 +(\d+) ", result.stdout, re.MULTILINE)
        assert sum(map(int, lines)) == 120000
        counted.append(values["write"])
        total = server.sql("SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)")
        assert int(total[0][0]) == 120000
    assert counted[0] >= 4
    assert abs(counted[0] - counted[1]) <= 1


# -- a server that asks for something else


@pytest.fixture
def fake() -> Iterator[FakeMySQL]:
    with FakeMySQL() as server:
        yield server


def prepare_on(fake: FakeMySQL, folder: Path, body: str) -> Result:
    (folder / "bulk.lua").write_text(f"function prepare()\nlocal con = sysbench.sql.driver():connect()\n{body}\nend\n")
    return ours("bulk.lua", *fake.args, COPY, "prepare", cwd=folder)


@pytest.mark.parametrize("name", [b"/etc/passwd", b"rows of sysbench/", b""])
def test_no_file_is_ever_sent(fake: FakeMySQL, tmp_path: Path, name: bytes) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    fake.reply = [packets(b"\xfb" + (name.replace(b"/etc/passwd", bytes(secret))))]
    fake.hang_up = True
    result = prepare_on(fake, tmp_path, rows("INSERT INTO t VALUES", "1"))
    assert result.status == 1
    assert not any(b"secret" in command for command in fake.commands)
    assert len(fake.commands) <= 2


MANY = "for i = 1, 4000 do con:bulk_insert_next(([[(%d, NULL, '%s')]]):format({id}, ('x'):rep(180))) end\n"
HEAD = 'con:bulk_insert_init("INSERT INTO t VALUES")\n'


@pytest.mark.parametrize("mode", ["--bulk=insert", COPY])
def test_statements_of_a_bulk_insert_that_is_not_ended(server: Server, mode: str, tmp_path: Path) -> None:
    """What has been sent is in the table when the script is done, as if each statement had been waited for."""
    make_table(server, "a INT, b INT, c TEXT")
    (tmp_path / "open.lua").write_text(
        f"function prepare()\ncon = sysbench.sql.driver():connect()\n{HEAD}{MANY.format(id='i')}end\n"
    )
    result = ours("open.lua", *server.args, mode, "prepare", cwd=tmp_path)
    assert (result.status, result.stdout.count("FATAL")) == (0, 0), result.stdout
    ((rows_there,),) = server.sql("SELECT COUNT(*) FROM t")
    assert 2000 < rows_there < 4000


@pytest.mark.parametrize("mode", ["--bulk=insert", COPY])
@pytest.mark.parametrize("end", ["", "con:disconnect()", "con:reconnect()", "con = nil"])
def test_failure_of_a_bulk_insert_that_is_not_ended(server: Server, mode: str, end: str, tmp_path: Path) -> None:
    make_table(server, "a INT PRIMARY KEY, b INT, c TEXT")
    (tmp_path / "open.lua").write_text(
        f"function prepare()\ncon = sysbench.sql.driver():connect()\n{HEAD}{MANY.format(id='1')}{end}\nend\n"
    )
    result = ours("open.lua", *server.args, mode, "prepare", cwd=tmp_path)
    assert result.status == 1
    assert re.search("FATAL: .*[Dd]uplicate", result.stdout), result.stdout


def test_reconnect_ends_a_load(server: Server, tmp_path: Path) -> None:
    make_table(server, "a INT, b INT, c TEXT")
    more = f"con:reconnect()\n{MANY.format(id='i + 4000')}con:bulk_insert_done()"
    result = run(server, tmp_path, HEAD + MANY.format(id="i") + more, COPY)
    assert result.status == 0, result.stdout
    assert server.sql("SELECT COUNT(*), MIN(a), MAX(a) FROM t") == [(8000, 1, 8000)]

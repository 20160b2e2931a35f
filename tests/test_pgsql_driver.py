"""The PostgreSQL driver: what its statements send and return, its messages, and that it keeps nothing."""

import math
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.postgres import PostgreSQL
from tests.support.proc import Result, Run, wait_until
from tests.support.querylog import Entry
from tests.support.reference import Program, ours, reference, report
from tests.support.server import DATABASE, PASSWORD, PASSWORD_USER, USER

PRELUDE = """\
local T = sysbench.sql.type
function rows(rs)
   local lines = {}
   for i = 1, rs.nrows do
      local row, fields = rs:fetch_row(), {}
      for k = 1, rs.nfields do fields[k] = row[k] or "NULL" end
      lines[i] = table.concat(fields, ",")
   end
   return table.concat(lines, ";")
end
function bind(stmt, ...)
   local params = {}
   for i, type in ipairs({...}) do params[i] = stmt:bind_create(type, 1000) end
   return params, stmt:bind_param(unpack(params))
end
function tell(...)
   local ok, why = pcall(...)
   if type(why) == "table" then why = "restart " .. why.sql_state end
   print("case " .. tostring(ok) .. " " .. tostring(why))
end
function thread_init() con = sysbench.sql.driver():connect() end
"""


@pytest.fixture
def database(postgres: PostgreSQL) -> PostgreSQL:
    """The server with nothing in database `sbtest`."""
    postgres.kill_all_client_connections()
    postgres.empty_database()
    return postgres


class Event:
    """Runs a piece of Lua once as the event of a script, with `con` connected."""

    def __init__(self, directory: Path) -> None:
        self._script = directory / "case.lua"

    def command(self, server: PostgreSQL, body: str, *options: str) -> list[str]:
        """Writes the script; returns the arguments that run it."""
        self._script.write_text(f"{PRELUDE}function event()\n{dedent(body)}end\n")
        return [str(self._script), *server.args, "--events=1", "--time=0", *options, "run"]

    def __call__(self, server: PostgreSQL, body: str, *options: str, program: Program = ours) -> Result:
        return program(*self.command(server, body, *options))

    def cases(self, server: PostgreSQL, body: str, *options: str) -> list[str]:
        """The lines that it printed with `case` before them."""
        result = self(server, body, *options)
        assert result.status == 0, result.stdout + result.stderr
        return said(result, "case ")


@pytest.fixture
def event(tmp_path: Path) -> Event:
    return Event(tmp_path)


def said(result: Result, prefix: str) -> list[str]:
    lines = result.stdout.splitlines()
    return [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]


def fatal(result: Result) -> list[str]:
    assert "Traceback" not in result.stdout + result.stderr
    return said(result, "FATAL: ")


def sent(log: list[Entry]) -> list[str]:
    return [f"{entry.command} {entry.text}" for entry in log if entry.command not in ("Connect", "Quit")]


def test_nothing_but_the_login_is_sent(database: PostgreSQL, event: Event) -> None:
    logs = []
    for program in (reference, ours):
        with database.query_log() as log:
            event(database, "", program=program)
        logs.append(log)
    assert [entry.command for entry in logs[1]] == ["Connect", "Quit"]
    assert logs[1] == logs[0]


def test_statements_are_prepared_when_their_types_are_known(database: PostgreSQL, event: Event) -> None:
    body = """\
    local plain, int = con:prepare("SELECT 1"), con:prepare("SELECT ?")
    con:query("SELECT 'between'")
    bind(int, T.INT)
    bind(int, T.INT)
    plain:execute()
    int:execute()
    int:close()
    """
    logs = []
    for program in (reference, ours):
        with database.query_log() as log:
            event(database, body, program=program)
        logs.append(sent(log))
    assert logs[1] == [
        "Prepare s1: SELECT 1",
        "Query SELECT 'between'",
        "Prepare s2: SELECT $1",
        "Execute s1: SELECT 1",
        "Execute s2: SELECT $1 [$1 = '0']",
    ]
    assert logs[1] == logs[0]


def test_other_types_prepare_anew(database: PostgreSQL, event: Event) -> None:
    with database.query_log() as log:
        event.cases(
            database,
            """\
            local stmt = con:prepare("SELECT ?")
            for _, type in ipairs({T.BIGINT, T.DOUBLE, T.VARCHAR, T.CHAR}) do
               local params = bind(stmt, type)
               params[1]:set(type == T.VARCHAR and "x" or type ~= T.CHAR and 1.5 or nil)
               stmt:execute()
            end
            """,
        )
    assert sent(log) == [
        "Prepare s1: SELECT $1",
        "Execute s1: SELECT $1 [$1 = '1']",
        "Prepare s2: SELECT $1",
        "Execute s2: SELECT $1 [$1 = '1.5']",
        "Prepare s3: SELECT $1",
        "Execute s3: SELECT $1 [$1 = 'x']",
        "Execute s3: SELECT $1 [$1 = NULL]",
    ]


MARKERS = {
    "SELECT ?, ?": "SELECT $1, $2",
    "SELECT '?', ?, 'it''s ?'": "SELECT '?', $1, 'it''s ?'",
    r"SELECT 'a\', ?": r"SELECT 'a\', $1",
    r"SELECT E'a\'?', ?": r"SELECT E'a\'?', $1",
    r"SELECT E'a''\'?', ?": r"SELECT E'a''\'?', $1",
    r"SELECT 1 AS re, 'a\', ?": r"SELECT 1 AS re, 'a\', $1",
    'SELECT 1 AS "?", ?': 'SELECT 1 AS "?", $1',
    "SELECT $$ ? $$, ?": "SELECT $$ ? $$, $1",
    "SELECT $a$ ? $$ ? $b$ ? $a$, ?": "SELECT $a$ ? $$ ? $b$ ? $a$, $1",
    "SELECT 1 AS a$b$, ? AS c$b$": "SELECT 1 AS a$b$, $1 AS c$b$",
    "SELECT -- ?\n ?": "SELECT -- ?\n $1",
    "SELECT /* ? /* ? */ ? */ ?": "SELECT /* ? /* ? */ ? */ $1",
    "SELECT /*! ? */ ?": "SELECT /*! ? */ $1",
}


def test_markers_are_numbered_outside_of_strings_and_comments(database: PostgreSQL, event: Event) -> None:
    bodies = [
        f"local s = con:prepare([==[{text}]==])\nbind(s, {'T.INT, T.INT' if '$2' in numbered else 'T.INT'})\n"
        for text, numbered in MARKERS.items()
    ]
    with database.query_log() as log:
        event.cases(database, "".join(f"do\n{body}end\n" for body in bodies))
    prepared = [entry.text.split(": ", 1)[1] for entry in log if entry.command == "Prepare"]
    assert prepared == list(MARKERS.values())


# -- what comes back


def test_values_arrive_as_they_were_given(database: PostgreSQL, event: Event) -> None:
    cases = event.cases(
        database,
        """\
        con:query("CREATE TABLE t (n int8, d float8, s text)")
        local insert = con:prepare("INSERT INTO t VALUES (?, ?, ?)")
        local p = bind(insert, T.BIGINT, T.DOUBLE, T.VARCHAR)
        local function put(n, d, s) p[1]:set(n) p[2]:set(d) p[3]:set(s) insert:execute() end
        put(0, 0.1, "")
        put(-7, 1 / 3, string.rep("long", 200))
        put(9007199254740992, 1e300, "it's \\\\ $1 ?")
        put(-9223372036854775808, -math.huge, nil)
        put(nil, 0 / 0, "ä")
        put(1, nil, "x")
        local select = con:prepare("SELECT n, d, length(s), s FROM t WHERE n IS NOT DISTINCT FROM ?")
        local key = bind(select, T.BIGINT)
        for _, n in ipairs({0, -7, 9007199254740992, -9223372036854775808}) do
           key[1]:set(n)
           print("case " .. rows(select:execute()))
        end
        key[1]:set(nil)
        print("case " .. rows(select:execute()))
        """,
    )
    assert cases == [
        "0,0.1,0,",
        f"-7,{1 / 3!r},800,{'long' * 200}",
        "9007199254740992,1e+300,11,it's \\ $1 ?",
        "-9223372036854775808,-Infinity,NULL,NULL",
        "NULL,NaN,1,ä",
    ]
    assert float(cases[1].split(",")[1]) == 1 / 3
    assert database.sql("SELECT n, d FROM t WHERE s = 'x'") == [(1, None)]
    assert math.isnan(database.sql("SELECT d FROM t WHERE s = 'ä'")[0][0])


def test_all_results_of_a_text_are_there(database: PostgreSQL, event: Event) -> None:
    body = """\
        con:query("CREATE TABLE t (a int)")
        local rs = con:query("SELECT 1 UNION ALL SELECT 2; INSERT INTO t VALUES (1), (2); BEGIN; SELECT 3, 4")
        print("case " .. rows(rs))
        for _ = 1, 2 do print("case " .. tostring(con:more_results()), con:next_result() == nil) end
        print("case " .. tostring(con:more_results()), rows(con:next_result()))
        print("case " .. tostring(con:more_results()), con:next_result() == nil)
        print("case " .. con:query_row("SELECT 5"))
        """
    result = event(database, body)
    assert said(result, "case ") == ["1;2", "true\ttrue", "true\ttrue", "true\t3,4", "false\ttrue", "5"]
    values = report(result.stdout)
    assert (values["read"], values["write"], values["other"]) == (3, 1, 2)


def test_statements_are_counted_by_their_outcome(database: PostgreSQL, event: Event) -> None:
    result = event(
        database,
        """\
        con:query("CREATE TABLE t (a int)")                         -- other
        con:query("INSERT INTO t VALUES (1), (2)")                  -- write
        con:query("UPDATE t SET a = 1 WHERE a = 1")                 -- write: changed or not
        con:query("UPDATE t SET a = 1 WHERE a = 7")                 -- other
        con:query("SELECT * FROM t WHERE a = 7")                    -- read
        con:query("INSERT INTO t VALUES (3) RETURNING a")           -- read
        con:query("CREATE TABLE u AS SELECT * FROM t")              -- write
        local delete = con:prepare("DELETE FROM t WHERE a = 3")
        delete:execute()                                            -- write
        delete:execute()                                            -- other
        """,
    )
    values = report(result.stdout)
    assert (values["read"], values["write"], values["other"]) == (2, 4, 3)


@pytest.mark.parametrize("fixture", ["postgres", "postgres_tls"])
def test_large_texts_and_results(fixture: str, request: pytest.FixtureRequest, event: Event) -> None:
    server: PostgreSQL = request.getfixturevalue(fixture)
    server.empty_database()
    cases = event.cases(
        server,
        """\
        print("case " .. con:query_row("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))
        con:query("CREATE TABLE t (a int, s text)")
        con:bulk_insert_init("INSERT INTO t VALUES ")
        for i = 1, 3000 do con:bulk_insert_next(string.format("(%d, '%s')", i, string.rep("x", 500))) end
        con:bulk_insert_done()
        for _, size in ipairs({1, 8000, 16000, 17000, 33000, 70000, 3000000}) do
           print("case " .. #con:query_row("SELECT repeat('x', " .. size .. ")"))
        end
        print("case " .. #rows(con:query("SELECT s FROM t ORDER BY a")))
        print("case " .. #con:query_row("SELECT '" .. string.rep("y", 2000000) .. "'"))
        """,
        f"--pgsql-sslmode={'require' if fixture == 'postgres_tls' else 'disable'}",
    )
    ssl = "t" if fixture == "postgres_tls" else "f"
    assert cases == [ssl, "1", "8000", "16000", "17000", "33000", "70000", "3000000", "1502999", "2000000"]


# -- errors


def test_fatal_errors_are_reported(database: PostgreSQL, event: Event) -> None:
    result = event(
        database,
        """\
        tell(con.query, con, "SELECT 1; SELECT nosuch")
        tell(con.query, con, "SELECT nosuch /*" .. string.rep("x", 2000) .. "*/")
        local stmt = con:prepare("SELECT 1 / ?")
        bind(stmt, T.INT)
        tell(stmt.execute, stmt)
        tell(con.prepare, con, "SELECT * FROM nosuch")
        local _, rc = bind(con:prepare("SELECT * FROM nosuch WHERE a = ?"), T.INT)
        print("case " .. rc .. " " .. con.sql_errno)
        """,
    )
    missing = """PQprepare() failed: ERROR:  relation "nosuch" does not exist"""
    assert fatal(result)[:4] == [
        """PQexec() failed: 7 column "nosuch" does not exist""",
        "failed query was: SELECT 1; SELECT nosuch",
        "failed query was: " + "SELECT nosuch /*".ljust(1000, "x") + "...",
        "PQexecPrepared() failed: 7 division by zero",
    ]
    # Of those that follow each other, the first is told.
    assert fatal(result)[4] == missing
    assert fatal(result).count(missing) == 1
    assert said(result, "case ") == [
        """false SQL error, errno = 0, state = '42703': column "nosuch" does not exist""",
        """false SQL error, errno = 0, state = '42703': column "nosuch" does not exist""",
        "false SQL error, errno = 0, state = '22012': division by zero",
        """false SQL error, errno = 0, state = '42P01': relation "nosuch" does not exist""",
        "1 0",
    ]
    assert report(result.stdout)["ignored_errors"] == 5


@pytest.mark.parametrize("prepared", [False, True])
def test_ignorable_errors_roll_back(database: PostgreSQL, event: Event, prepared: bool) -> None:
    database.sql("CREATE TABLE t (a int PRIMARY KEY)")
    database.sql("INSERT INTO t VALUES (1)")
    database.sql(f"ALTER TABLE t OWNER TO {USER}")
    insert = "INSERT INTO t VALUES (1)"
    text, statement = (
        f'tell(con.query, con, "{insert}")',
        f'local s = con:prepare("{insert}") tell(s.execute, s)',
    )
    body = f'con:query("BEGIN")\ncon:query("INSERT INTO t VALUES (2)")\n{statement if prepared else text}\n'
    with database.query_log() as log:
        result = event(database, body)
    assert said(result, "case ") == ["false restart 23505"]
    assert fatal(result) == []
    assert sent(log)[-1] == "Query ROLLBACK"
    assert report(result.stdout)["ignored_errors"] == 1
    assert database.sql("SELECT * FROM t") == [(1,)]
    result = event(database, body, "--pgsql-ignore-errors=40P01,22012")
    assert said(result, "case ")[0].startswith("false SQL error, errno = 0, state = '23505': duplicate key")
    assert len(fatal(result)) == (1 if prepared else 2)


def test_copy_and_nothing_are_no_statements(database: PostgreSQL, event: Event) -> None:
    result = event(
        database,
        """\
        con:query("CREATE TABLE t (a int)")
        for _, text in ipairs({"COPY t FROM STDIN", "COPY t TO STDOUT", "",
                               "SELECT 1; COPY t FROM STDIN; SELECT 2",
                               "COPY (SELECT repeat('x', 100) FROM generate_series(1, 100000)) TO STDOUT"}) do
           tell(con.query, con, text)
           print("case " .. con:query_row("SELECT count(*) FROM t"))
        end
        """,
    )
    assert said(result, "case ") == ["false SQL API error", "0"] * 5
    assert report(result.stdout)["ignored_errors"] == 5
    assert fatal(result) == []


def test_a_session_that_the_server_ends_is_made_again(database: PostgreSQL, event: Event) -> None:
    body = """\
    local other = sysbench.sql.driver():connect()
    local function kill(con)
       local pid = con:query_row("SELECT pg_backend_pid()")
       return "SELECT pg_terminate_backend(" .. pid .. ", 10000)"
    end
    local stmt = con:prepare("SELECT ?::int8 + 1")
    local value = bind(stmt, T.INT)
    value[1]:set(4)
    tell(con.query, con, kill(con))
    print("case " .. rows(stmt:execute()))
    other:query(kill(con))
    tell(stmt.execute, stmt)
    print("case " .. rows(stmt:execute()))
    other:query(kill(con))
    tell(con.prepare, con, "SELECT 1")
    print("case " .. con:query_row("SELECT 6"))
    """
    result = event(database, body, "--pgsql-ignore-errors=all")
    assert result.status == 0, result.stdout
    restart = "false restart 57P01"
    assert said(result, "case ") == [restart, "5", restart, "5", restart, "6"]
    assert report(result.stdout)["reconnects"] == 3
    result = event(database, body)
    assert result.status == 1
    assert fatal(result)[0] == "PQexec() failed: 7 terminating connection due to administrator command"
    connected = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{USER}'"
    wait_until(lambda: database.sql(connected) == [(0,)], "the server to see that the client has gone")


def test_a_server_that_dies_leaves_a_message(database: PostgreSQL, event: Event) -> None:
    body = 'print("ready") tell(con.query, con, "SELECT pg_sleep(60)") tell(con.query, con, "SELECT 1")\n'
    with ours.start(*event.command(database, body)) as run:
        run.wait_for("ready")
        database.kill9()
        result = run.result()
    assert fatal(result) == [
        "PQexec() failed: 7 server closed the connection unexpectedly",
        "failed query was: SELECT pg_sleep(60)",
    ]
    assert said(result, "case ") == [
        "false SQL error, errno = 0, state = '08006': server closed the connection unexpectedly",
        "false SQL API error",
    ]


# -- connections


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pgsql-db=nosuch"], 'database "nosuch" does not exist'),
        (["--pgsql-db=nosuch=1"], 'invalid connection option "nosuch"'),
        (["--pgsql-host=/nosuch"], "No such file or directory; Is the server running locally"),
        (["--pgsql-port=1"], "Connection refused; Is the server running on that host"),
        (["--pgsql-sslmode=require"], "server does not support SSL, but SSL was required"),
        ([f"--pgsql-user={PASSWORD_USER}"], "no password supplied"),
    ],
)
def test_a_connection_that_fails_is_one_line(
    database: PostgreSQL, event: Event, options: list[str], message: str
) -> None:
    result = event(database, "", *options)
    assert result.status == 1
    assert fatal(result)[0].startswith("Connection to database failed: ")
    assert message in fatal(result)[0]
    assert len(fatal(result)) == 3
    assert result.stderr == ""


def test_ways_to_connect(database: PostgreSQL, event: Event) -> None:
    body = """print("case " .. table.concat({con:query_row("SELECT user, current_database()")}, " "))\n"""
    for options, user in (
        ([f"--pgsql-host={database.directory}"], USER),
        ([f"--pgsql-db=dbname={DATABASE} application_name=x"], USER),
        ([f"--pgsql-db=postgresql:///{DATABASE}"], USER),
        ([f"--pgsql-user={PASSWORD_USER}", f"--pgsql-password={PASSWORD}"], PASSWORD_USER),
    ):
        assert event.cases(database, body, *options) == [f"{user} {DATABASE}"]


def test_ignored_errors_must_be_sqlstates(database: PostgreSQL, event: Event) -> None:
    result = event(database, "", "--pgsql-ignore-errors=40001,deadlock")
    assert result.status == 1
    message = "Invalid value for --pgsql-ignore-errors: 'deadlock' (use SQLSTATEs such as 40001, or all)"
    assert fatal(result)[0] == message


def test_nothing_is_kept(database: PostgreSQL, event: Event) -> None:
    """Descriptors and memory are the same after 1,000 connections as after 100."""
    result = event(
        database,
        """\
        local ffi = require("ffi")
        ffi.cdef("int dup(int); int close(int);")
        local function descriptors()
           local fd = ffi.C.dup(0)      -- the lowest one that is free
           ffi.C.close(fd)
           return fd
        end
        local function resident()
           return tonumber(io.open("/proc/self/statm"):read("*a"):match("%d+ (%d+)")) * 4096
        end
        local function once()
           local con = sysbench.sql.driver():connect()
           con:query("SELECT repeat('x', 100000)")
           con:query("DO $$ BEGIN RAISE WARNING 'FATAL: a notice'; END $$")
           pcall(con.query, con, "SELECT 1; SELECT 1/0")
           local stmt = con:prepare("SELECT ?::int8, ?::float8, ?::text")
           bind(stmt, T.INT, T.DOUBLE, T.CHAR)
           stmt:execute()
           stmt:close()
           con:reconnect()
           con:disconnect()
        end
        local old_descriptors, old_resident
        for i = 1, 1000 do
           once()
           if i % 50 == 0 then collectgarbage() end
           if i == 100 then old_descriptors, old_resident = descriptors(), resident() end
        end
        print("case " .. descriptors() - old_descriptors)
        print("case " .. resident() - old_resident)
        """,
        "--pgsql-ignore-errors=all",
    )
    descriptors, memory_bytes = map(int, said(result, "case "))
    assert descriptors == 0
    assert memory_bytes < 1_000_000
    assert "a notice" not in result.stdout + result.stderr


def test_a_client_library_without_a_function_is_named() -> None:
    program = dedent("""\
        import _ssl
        from sysbench_py import core
        for path in (_ssl.__file__, "/no/such/module"):
            try:
                core.pgsql_load(path)
            except core.ConnectError as error:
                print(*error.lines)
        """)
    with Run(sys.executable, "-c", program) as run:
        assert run.result().stdout.splitlines() == [
            "psycopg2's libraries have no function PQsslStruct: install psycopg2-binary 2.9.9 or newer",
            "cannot look into psycopg2's extension module /no/such/module",
        ]

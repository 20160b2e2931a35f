"""SQL from Lua: the same as in the reference where that works, and checked on every database."""

import json
import re
from pathlib import Path

import pytest

from tests.support.mariadb import MariaDB
from tests.support.proc import Result
from tests.support.reference import Program, ours, reference, report
from tests.support.server import Server

LUA = Path(__file__).parent / "lua"
QUIET = "--verbosity=2"
SCRIPTS = ("connection", "sql_errors", "bulk", "statement", "legacy_sql")


def neutral(result: Result) -> Result:
    """Without lines of internal Lua, numbers of types, and our count of a last message."""
    text = re.sub(r'(\[string "sysbench[\w.]*"\]):\d+:', r"\1:N:", result.stdout)
    text = re.sub(r"(struct|enum) \d+", r"\1 N", text)
    # A named difference, wrong-members.
    text = re.sub(r"(?:'struct N'|a \w+) (has no member named '\w+')(?: \(it has .*\))?", r"\1", text)
    text = re.sub(r"\(last message repeated \d+ times\)\n\Z", "", text)
    return Result(text, result.stderr, result.status)


def run(program: Program, script: str, *args: str) -> Result:
    return neutral(program(f"api/{script}.lua", QUIET, *args, cwd=LUA))


def messages_left_out(text: str) -> list[str]:
    """What the script prints, without the messages of the database, whose words are its own."""
    return [line for line in text.splitlines() if not re.match(r"FATAL: |ALERT: |\(last message|$", line)]


@pytest.mark.parametrize("script", SCRIPTS)
def test_same_output(script: str, server: Server) -> None:
    expected = run(reference, script, *server.args, "prepare")
    server.empty_database()
    assert run(ours, script, *server.args, "prepare") == expected
    assert expected.status == 0


@pytest.mark.parametrize("script", SCRIPTS)
def test_sqlite_does_what_mysql_does(script: str, mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    expected = run(ours, script, *mariadb.args, "prepare")
    result = run(ours, script, "--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}", "prepare")
    assert messages_left_out(result.stdout) == messages_left_out(expected.stdout)
    assert result.status == expected.status == 0


def test_same_output_when_events_restart(server: Server) -> None:
    expected = run(reference, "sql_errors", *server.args, "--events=7", "run")
    result = run(ours, "sql_errors", *server.args, "--events=7", "run")
    assert messages_left_out(result.stdout) == messages_left_out(expected.stdout)
    assert expected.stdout.count("restart: 1") == 3
    assert result.status == expected.status == 0


def test_garbage_collection_closes(server: Server) -> None:
    run(ours, "connection", *server.args, "prepare")
    assert run(ours, "connection", *server.args, "cleanup").stdout == "collected:\n"


@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_beyond_the_reference(ps_mode: str, database: list[str]) -> None:
    result = run(ours, "beyond", *database, f"--db-ps-mode={ps_mode}", "prepare")
    assert result.status == 0, result.stdout
    assert result.stdout.count("ok ") == 11


VALUES = ("ab'c", "''", "a\\", "\\'", '"', "%s ? $1", "ünï", "a;b -- c", "/* x */", "\ttab", "x\ny")


@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_strings_are_stored_as_they_are(ps_mode: str, database: list[str], tmp_path: Path) -> None:
    """A bound string needs no quoting by the script, in whichever way the statement is sent."""
    script = tmp_path / "quote.lua"
    script.write_text(
        f"""
        function prepare()
           local con = sysbench.sql.driver():connect()
           con:query("CREATE TABLE quoted (id INTEGER PRIMARY KEY, s CHAR(20))")
           local stmt = con:prepare("INSERT INTO quoted VALUES (?, ?)")
           local id, s = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(sysbench.sql.type.CHAR, 20)
           stmt:bind_param(id, s)
           for i, value in ipairs {{ {", ".join(map(lua_string, VALUES))} }} do
              id:set(i)
              s:set(value)
              stmt:execute()
           end
           local rs = con:query("SELECT s FROM quoted ORDER BY id")
           for _ = 1, rs.nrows do io.write("[", (rs:fetch_row()[1]:gsub(" +$", "")), "]") end
        end
        """
    )
    result = ours(str(script), "--verbosity=0", *database, f"--db-ps-mode={ps_mode}", "prepare")
    assert (result.stdout, result.status) == ("".join(f"[{value}]" for value in VALUES), 0)


def lua_string(value: str) -> str:
    return '"' + "".join(f"\\{byte:03d}" for byte in value.encode()) + '"'


@pytest.fixture
def procedures(mariadb: MariaDB) -> MariaDB:
    """Procedures with two results, with none, and with one that is followed by an error."""
    mariadb.empty_database()
    mariadb.sql("CREATE PROCEDURE two_results(n INT) BEGIN SELECT n; SELECT n + 1 UNION SELECT n + 2; END")
    mariadb.sql("CREATE PROCEDURE no_result() BEGIN DECLARE x INT; SET x = 1; END")
    mariadb.sql("CREATE PROCEDURE fails_late() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'late'; END")
    return mariadb


def test_procedures_with_several_results(procedures: MariaDB) -> None:
    """What a script does not fetch does not disturb the next statement."""
    result = ours("published/procedures.lua", *procedures.args, "--events=10", "run", cwd=LUA)
    assert result.status == 0, result.stdout
    assert report(result.stdout)["events"] == 10


@pytest.mark.parametrize(
    "event",
    [
        'con:query("CALL two_results(1)")',
        'con:query("SELECT 1; SELECT 2; SELECT 3")',
        'con:query_row("CALL two_results(1)")',
        'con:query("CALL two_results(1)") con:disconnect() con = drv:connect()',
        'con:query("CALL two_results(1)") con:reconnect()',
        'con:query("CALL two_results(1)") con:bulk_insert_init("INSERT INTO t VALUES")'
        ' con:bulk_insert_next("(1)") con:bulk_insert_done()',
        'con:query("CALL two_results(1)") local s = con:prepare("SELECT ?") s:close()',
        'con:query("CALL two_results(1)"):free()',
        'local s = con:prepare("CALL two_results(?)") local p = s:bind_create(sysbench.sql.type.INT)'
        " s:bind_param(p) p:set(3) s:execute() s:execute() s:close()",
        'db_query("CALL two_results(1)") db_query("CALL two_results(2)")',
    ],
)
def test_results_that_nobody_fetches(event: str, procedures: MariaDB, tmp_path: Path) -> None:
    procedures.sql("CREATE TABLE t (n INT)")
    script = tmp_path / "call.lua"
    script.write_text(
        f"function thread_init() drv = sysbench.sql.driver() con = drv:connect() end\nfunction event() {event} end\n"
    )
    result = ours(str(script), *procedures.args, "--events=10", "run")
    assert result.status == 0, result.stdout
    assert report(result.stdout)["events"] == 10


def test_error_in_a_later_result(procedures: MariaDB, tmp_path: Path) -> None:
    script = tmp_path / "late.lua"
    script.write_text(
        """
        function prepare()
           local con = sysbench.sql.driver():connect()
           print(pcall(con.query, con, "CALL fails_late()"))
           print(con:query_row("SELECT 5"))
        end
        """
    )
    result = ours(str(script), "--verbosity=0", *procedures.args, "prepare")
    lines = messages_left_out(result.stdout)
    assert lines == ["false\tSQL error, errno = 1644, state = '45000': late", "5"]


def test_connect_failure_is_caught(tmp_path: Path) -> None:
    """What is raised while Python connects arrives in pcall as any other error."""
    script = tmp_path / "refused.lua"
    script.write_text(
        """
        function prepare()
           local drv = sysbench.sql.driver()
           print(pcall(drv.connect, drv))
           print(pcall(function() local con = drv:connect() end))
           print(pcall(db_query, "SELECT 1"))
           print(pcall(function() db_connect() end))
           drv:connect()
        end
        """
    )
    for options in (
        ["--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-port=1"],
        ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--pgsql-port=1"],
        ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'no' / 'such' / 'folder.db'}"],
    ):
        result = ours(script.name, "--verbosity=0", *options, "prepare", cwd=tmp_path)
        assert result.status == 1
        assert messages_left_out(result.stdout) == [
            "false\tconnection creation failed",
            "false\trefused.lua:5: connection creation failed",
            "false\tFailed to connect to the database",
            "false\trefused.lua:7: Failed to connect to the database",
        ]
        last = result.stdout.splitlines()[-1]
        assert last == "FATAL: `prepare' function failed: refused.lua:8: connection creation failed"
        assert "Traceback" not in result.stdout + result.stderr


JSON_HOOKS = """
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(1000) end
"""


@pytest.mark.parametrize(
    ("hooks", "interval", "checkpoints"),
    [
        ("intermediate", 0, ""),
        ("intermediate", 1, ""),
        ("intermediate", 5, ""),
        ("cumulative", 0, ""),
        ("cumulative", 1, "1"),
        ("both", 0, ""),
        ("both", 1, ""),
        ("both", 1, "1"),
    ],
)
def test_json_reports_are_one_document(hooks: str, interval: int, checkpoints: str, tmp_path: Path) -> None:
    """Whatever hooks and intervals, standard output is one JSON document with the thread count."""
    script = tmp_path / "json.lua"
    text = JSON_HOOKS
    if hooks != "cumulative":
        text += "sysbench.hooks.report_intermediate = sysbench.report_json\n"
    if hooks != "intermediate":
        text += "sysbench.hooks.report_cumulative = sysbench.report_json\n"
    script.write_text(text)
    result = ours(
        str(script),
        "--threads=4",
        "--time=2",
        "--verbosity=0",
        f"--report-interval={interval}",
        f"--report-checkpoints={checkpoints}",
        "run",
    )
    assert result.status == 0
    if hooks == "intermediate" and interval != 1:
        assert result.stdout == ""
        return
    reports = json.loads(result.stdout)
    assert reports[0]["threads"] == 4
    if hooks != "intermediate":
        assert reports[-1]["threads"] == 4
    if hooks == "cumulative":
        assert len(reports) == (2 if checkpoints else 1)
    else:
        assert len(reports) >= (hooks == "both") + (interval == 1)
    assert all(entry["tps"] > 0 and set(entry["qps"]) == {"total", "reads", "writes", "other"} for entry in reports)


def test_json_before_the_usual_report(tmp_path: Path) -> None:
    script = tmp_path / "json.lua"
    script.write_text(f"{JSON_HOOKS}sysbench.hooks.report_intermediate = sysbench.report_json\n")
    result = ours(str(script), "--time=2", "--report-interval=1", "run")
    document = re.search(r"^\[$.*?^\]$", result.stdout, re.MULTILINE | re.DOTALL)
    assert document is not None
    assert json.loads(document[0])[0]["threads"] == 1
    assert report(result.stdout)["events"] > 0


def test_json_of_a_run_that_is_forced_to_end(tmp_path: Path) -> None:
    script = tmp_path / "json.lua"
    script.write_text(
        'ffi.cdef("int sleep(unsigned int);")\n'
        "function event() ffi.C.sleep(sysbench.tid == 0 and 60 or 0) end\n"
        "sysbench.hooks.report_cumulative = sysbench.report_json\n"
    )
    result = ours(str(script), "--threads=2", "--time=1", "--forced-shutdown=1", "run")
    assert result.status == 2
    document = re.search(r"^\[$.*^\]$", result.stdout, re.MULTILINE | re.DOTALL)
    assert document is not None
    assert json.loads(document[0])[0]["threads"] == 2

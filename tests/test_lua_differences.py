"""Where the Lua API deliberately differs from the reference: what that does, and what we do."""

from pathlib import Path

import pytest

from sysbench_py.script import NEWER_OPTIONS
from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Result
from tests.support.reference import Program, ours, reference
from tests.support.server import Server

CRASH = -11
SQL_BODY = """
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE d (a INTEGER, x DOUBLE PRECISION, s VARCHAR(20))")
   con:query("INSERT INTO d VALUES (1, 1, 'one')")
   {body}
end
"""


def run(program: Program, folder: Path, text: str, *args: str) -> Result:
    (folder / "d.lua").write_text(text)
    return program("d.lua", "--verbosity=0", *args, cwd=folder)


def both(folder: Path, text: str, *args: str) -> tuple[str, str]:
    """What the script prints in `prepare` under the reference and under ours."""
    there = run(reference, folder, text, *args, "prepare")
    here = run(ours, folder, text, *args, "prepare")
    return there.stdout, here.stdout


def both_sql(folder: Path, server: Server, body: str, *args: str) -> tuple[Result, Result]:
    """The same with a connection `con` and a table with one row."""
    text = SQL_BODY.replace("{body}", body)
    server.empty_database()
    there = run(reference, folder, text, *server.args, *args, "prepare")
    server.empty_database()
    here = run(ours, folder, text, *server.args, *args, "prepare")
    return there, here


def last_line(result: Result) -> str:
    return result.stdout.splitlines()[-1] if result.stdout else ""


@compat("result-of-no-rows")
def test_result_of_no_rows_can_be_asked(server: Server, tmp_path: Path) -> None:
    body = 'local rs = con:query("DELETE FROM d") print(rs == nil) print(rs.nrows, rs:fetch_row())'
    there, here = both_sql(tmp_path, server, body)
    assert (there.stdout, there.status) == ("true\n", CRASH)
    assert (here.stdout, here.status) == ("true\n0\tnil\n", 0)


@compat("error-positions")
@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        (
            'con:disconnect() local function q() con:query("SELECT 1") end q()',
            "d.lua:6: SQL API error",
            "d.lua:6: SQL API error",
        ),
        (
            'con:disconnect() local function q()\n con:query("SELECT 1")\n end\n q()',
            "d.lua:9: SQL API error",
            "d.lua:7: SQL API error",
        ),
        ('con:query_row("SELECT * FROM nosuch")', '[string "sysbench.sql.lua"]:', "d.lua:6: SQL error"),
    ],
)
def test_error_has_the_line_of_the_call(body: str, before: str, after: str, mariadb: MariaDB, tmp_path: Path) -> None:
    there, here = both_sql(tmp_path, mariadb, body)
    assert last_line(there).startswith(f"FATAL: `prepare' function failed: {before}")
    assert last_line(here).startswith(f"FATAL: `prepare' function failed: {after}")


@compat("prepared-rows")
def test_rows_of_prepared_statements_are_text(server: Server, tmp_path: Path) -> None:
    body = 'local rs = con:prepare("SELECT a, s FROM d"):execute() local r = rs:fetch_row() print(r and r[1])'
    there, here = both_sql(tmp_path, server, body)
    assert there.stdout != "1\n"
    assert here.stdout == "1\n"


@compat("double-parameters")
def test_double_parameters_have_their_value(server: Server, tmp_path: Path) -> None:
    body = """
        local st = con:prepare("UPDATE d SET x = ?")
        local p = st:bind_create(sysbench.sql.type.DOUBLE)
        st:bind_param(p) p:set(2.5) st:execute()
        print(tonumber((con:query_row("SELECT x FROM d"))))
    """
    there, here = both_sql(tmp_path, server, body)
    assert (there.stdout, here.stdout) == ("0\n", "2.5\n")


@compat("null-parameters")
def test_null_is_sent_as_null(postgres: PostgreSQL, tmp_path: Path) -> None:
    body = """
        local st = con:prepare("UPDATE d SET a = ?")
        local p = st:bind_create(sysbench.sql.type.INT)
        st:bind_param(p) p:set(7) st:execute() p:set(nil) st:execute()
        print((con:query_row("SELECT a FROM d")))
    """
    there, here = both_sql(tmp_path, postgres, body)
    assert (there.stdout, here.stdout) == ("7\n", "nil\n")


@compat("emulated-quotes")
def test_emulated_statements_quote(server: Server, tmp_path: Path) -> None:
    body = """
        local st = con:prepare("UPDATE d SET s = ?")
        local p = st:bind_create(sysbench.sql.type.CHAR, 20)
        st:bind_param(p) p:set("it's") st:execute()
        print((con:query_row("SELECT s FROM d")))
    """
    there, here = both_sql(tmp_path, server, body, "--db-ps-mode=disable")
    assert there.status == 1
    assert here.stdout == "it's\n"


@compat("failed-prepare")
def test_failed_prepare_tells_its_own_error(server: Server, tmp_path: Path) -> None:
    body = 'print(pcall(con.prepare, con, "SELECT * FROM nosuch"))'
    there, here = both_sql(tmp_path, server, body)
    assert last_line(there) == "false\tSQL API error"
    assert last_line(here).startswith("false\tSQL error, errno = ")
    assert "nosuch" in last_line(here)


@compat("closed-bulk")
def test_bulk_insert_on_a_closed_connection_fails(server: Server, tmp_path: Path) -> None:
    body = 'con:disconnect() print((pcall(con.bulk_insert_init, con, "INSERT INTO d VALUES")))'
    there, here = both_sql(tmp_path, server, body)
    assert (there.stdout, here.stdout) == ("true\n", "false\n")


@compat("closed-statement")
def test_closed_statement_is_refused(server: Server, tmp_path: Path) -> None:
    body = 'local st = con:prepare("SELECT 1") print(st:close()) print(st:close(), (pcall(st.execute, st)))'
    there, here = both_sql(tmp_path, server, body)
    assert (there.stdout, there.status) == ("0\n", CRASH)
    assert (here.stdout, here.status) == ("0\n1\tfalse\n", 0)


@compat("kept-connection")
def test_statement_keeps_its_connection_open(server: Server, tmp_path: Path) -> None:
    body = """
        local st = con.driver:connect():prepare("SELECT 1")
        collectgarbage() collectgarbage()
        print((pcall(st.execute, st)))
    """
    there, here = both_sql(tmp_path, server, body)
    assert (there.stdout, here.stdout) == ("false\n", "true\n")


@compat("long-random-strings")
def test_random_string_is_cut_off(tmp_path: Path) -> None:
    """The reference writes behind the parameter's memory, so it is not asked."""
    text = """
    function prepare()
       local st = sysbench.sql.driver():connect():prepare("SELECT ?")
       local p = st:bind_create(sysbench.sql.type.CHAR, 5)
       p:set_rand_str("123456789")
       print(p.data_len[0], ffi.string(p.buffer, 5), p.buffer[5])
    end
    """
    assert run(ours, tmp_path, text, "--db-driver=null", "prepare").stdout == "5\t12345\t0\n"


@compat("wrong-parameters")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "st:bind_create(sysbench.sql.type.CHAR)",
            "a parameter of characters needs its greatest length, not nil",
        ),
        ("st:bind_create()", "Unsupported argument type: nil"),
        (
            "st:bind_param(5)",
            "bad argument #1 to 'bind_param' (what bind_create returns expected, got number)",
        ),
        (
            "st:bind_create(12, 5):set_rand_str(7)",
            "bad argument #1 to 'set_rand_str' (string expected, got number)",
        ),
    ],
)
def test_wrong_parameters_are_named(call: str, message: str, tmp_path: Path) -> None:
    text = f"""function prepare()
       local st = sysbench.sql.driver():connect():prepare("SELECT ?")
       local _ = {call}
    end"""
    failed = "FATAL: `prepare' function failed:"
    there, here = both(tmp_path, text, "--mysql-dry-run")
    assert there.startswith(f'{failed} [string "sysbench.sql.lua"]:')
    assert here == f"{failed} d.lua:3: {message}\n"


@compat("numbers-for-enums")
def test_error_class_and_counter_are_numbers(server: Server, tmp_path: Path) -> None:
    body = """
        local rs = con:query("SELECT 1")
        print(type(con.error), type(rs.counter), con.error == 0, rs.counter == 1)
    """
    there, here = both_sql(tmp_path, server, body)
    assert there.stdout == "cdata\tcdata\ttrue\ttrue\n"
    assert here.stdout == "number\tnumber\ttrue\ttrue\n"


@compat("one-json-document")
def test_json_reports_are_one_array(tmp_path: Path) -> None:
    text = """
    ffi.cdef("int usleep(unsigned int);")
    function event() ffi.C.usleep(1000) end
    sysbench.hooks.report_intermediate = sysbench.report_json
    sysbench.hooks.report_cumulative = sysbench.report_json
    """
    args = ("--time=3", "--report-interval=2", "run")
    assert run(reference, tmp_path, text, *args).stdout.splitlines().count("[") == 2
    assert run(ours, tmp_path, text, *args).stdout.splitlines().count("[") == 1


@compat("rates-of-no-time")
def test_rates_of_no_time_are_zero(tmp_path: Path) -> None:
    text = """
    function prepare()
       sysbench.report_csv {
          time_total = 0, threads_running = 1, time_interval = 0, events = 0, reads = 0, writes = 0,
          other = 0, errors = 0, reconnects = 0, latency_pct = 0,
       }
    end
    """
    there, here = both(tmp_path, text)
    assert there == "0,1, nan, nan, nan, nan, nan,0.00, nan, nan\n"
    assert here == "0,1,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0.00\n"


@compat("own-validators")
def test_every_option_has_its_own_validator(tmp_path: Path) -> None:
    text = """
    local text = sysbench.cmdline.ARG_STRING
    sysbench.cmdline.options = {
       a = { "first", "", text, function() io.write("a") return true end },
       b = { "second", "", text, function(_, v) io.write("b") return ffi.string(v) ~= "no" end },
    }
    function prepare() print(sysbench.opt.b) end
    """
    assert both(tmp_path, text, "--b=yes") == ("ayes\n", "byes\n")
    assert both(tmp_path, text, "--b=no") == ("ano\n", "b")


def test_validator_says_what_would_be_right(tmp_path: Path) -> None:
    text = """
    sysbench.cmdline.options = {
       n = { "", 1, nil, function(_, v) return tonumber(ffi.string(v)) > 0, "use a number above 0" end },
       odd = { "", 1, nil, function() return false, {} end },
    }
    function prepare() print(sysbench.opt.n) end
    """
    assert run(ours, tmp_path, text, "--n=2", "prepare").stdout == "2\n"
    assert run(ours, tmp_path, text, "--n=0", "prepare").stderr == "invalid option: --n=0 (use a number above 0)\n"
    assert run(ours, tmp_path, text, "--odd=0", "prepare").stderr == "invalid option: --odd=0\n"


@compat("failing-validators")
def test_validator_that_fails_is_an_error_of_the_script(tmp_path: Path) -> None:
    text = """
    sysbench.cmdline.options = { a = { "", "", sysbench.cmdline.ARG_STRING, function() error("in it") end } }
    """
    there = run(reference, tmp_path, text, "--a=1", "prepare")
    result = run(ours, tmp_path, text, "--a=1", "prepare")
    assert there.stderr.startswith("PANIC: ")
    assert result.stdout == "FATAL: the validator of option a failed: d.lua:2: in it\n"
    assert (there.status, result.status) == (1, 1)


@compat("option-tables")
@pytest.mark.parametrize("option", ['{ "a list", { "x" }, sysbench.cmdline.ARG_LIST }', '{ 5, "x" }'])
def test_more_forms_of_options_are_taken(option: str, tmp_path: Path) -> None:
    text = f"""
    sysbench.cmdline.options = {{ a = {option} }}
    function prepare() print(type(sysbench.opt.a) == "table" and sysbench.opt.a[1] or sysbench.opt.a) end
    """
    there, here = both(tmp_path, text)
    assert there.startswith("FATAL: `sysbench.cmdline.read_cmdline_options' function failed:")
    assert here == "x\n"


@compat("declared-again")
def test_constants_may_be_declared_again(tmp_path: Path) -> None:
    text = """
    ffi.cdef("typedef enum { SB_CNT_OTHER, SB_CNT_READ } sb_counter_type;")
    function prepare() print(ffi.C.SB_CNT_READ) end
    """
    there, here = both(tmp_path, text)
    assert there == "FATAL: d.lua:2: attempt to redefine 'SB_CNT_OTHER'\n"
    assert here == "1\n"


@compat("thrown-tables")
def test_message_of_a_thrown_sql_error(server: Server, tmp_path: Path) -> None:
    body = 'sysbench.hooks.sql_error_ignorable = function() return true end con:query("SELECT * FROM nosuch")'
    there, here = both_sql(tmp_path, server, body)
    assert last_line(there) == "FATAL: `prepare' function failed: (not a string)"
    assert last_line(here).startswith("FATAL: `prepare' function failed: SQL error, errno = ")


@compat("later-functions")
def test_functions_of_the_development_branch_are_there(tmp_path: Path) -> None:
    text = """
    function prepare()
       local con = sysbench.sql.driver():connect()
       local ok = pcall(function() return con.more_results, con.next_result end)
       print(sysbench.rand.zipfian ~= nil, sysbench.rand.varstring ~= nil, ok, tonumber(ffi.C.SB_CNT_MAX))
    end
    """
    assert both(tmp_path, text, "--mysql-dry-run") == ("false\tfalse\tfalse\t6\n", "true\ttrue\ttrue\t8\n")


@compat("c-functions")
def test_c_functions_that_no_script_needs_are_not_there(tmp_path: Path) -> None:
    text = """
    local function has(name) return (pcall(function() return ffi.C[name] end)) end
    function prepare()
       print(has("db_destroy"), has("db_connection_free"), has("db_bind_result"), has("db_query"))
    end
    """
    assert both(tmp_path, text) == ("true\ttrue\ttrue\ttrue\n", "false\tfalse\tfalse\ttrue\n")


@compat("c-types")
def test_c_types_are_those_of_this_library(tmp_path: Path) -> None:
    text = """
    local function of(names)
       local found = {}
       for name in names:gmatch("%S+") do found[#found + 1] = tostring((pcall(ffi.typeof, name))) end
       return table.concat(found, " ")
    end
    function prepare()
       print(of("sql_bind sb_arg_t sb_histogram_t sb_arg_type_t sql_bind_type_t"))
       print(of("sb_counter_type sql_connection sql_result"), ffi.C.SB_ARG_TYPE_LIST, ffi.C.SQL_TYPE_CHAR)
    end
    """
    theirs, here = (output.splitlines() for output in both(tmp_path, text))
    assert (theirs[0], here[0]) == ("true true true true true", "false false false false false")
    assert theirs[1] == here[1] == "true true true\t6\t11"


@compat("ffi-table")
def test_ffi_is_filled_at_its_first_use(tmp_path: Path) -> None:
    text = "local before = next(ffi) ~= nil local _ = ffi.C function prepare() print(before, next(ffi) ~= nil) end"
    assert both(tmp_path, text) == ("true\ttrue\n", "false\ttrue\n")


@compat("luajit-of-debian")
def test_functions_of_another_luajit_are_not_there(tmp_path: Path) -> None:
    text = 'function prepare() print((pcall(require, "table.nkeys")), (pcall(require, "table.new"))) end'
    assert both(tmp_path, text) == ("true\ttrue\n", "false\ttrue\n")


@compat("histograms")
def test_histogram_has_a_text_and_needs_a_range(tmp_path: Path) -> None:
    text = "function prepare() print((pcall(tostring, sysbench.histogram.new(2, 1, 2)))) end"
    assert both(tmp_path, text) == ("false\n", "true\n")
    text = "function prepare() sysbench.histogram.new(5, 0, 10) end"
    result = run(ours, tmp_path, text, "prepare")
    assert "d.lua:1: a histogram needs" in result.stdout


@compat("legacy-numbers")
def test_legacy_functions_take_numeric_strings(tmp_path: Path) -> None:
    text = "function prepare() print(sb_rand(1, size) <= 5, sb_rand_uniq('0', '4294967295') > 0) end"
    there, here = both(tmp_path, text, "--size=5")
    assert there.startswith("FATAL: `prepare' function failed: ")
    assert here == "true\ttrue\n"


@compat("legacy-strings")
def test_legacy_string_parameters_are_whole(postgres: PostgreSQL, tmp_path: Path) -> None:
    body = """
        local st = db_prepare("UPDATE d SET s = ?")
        local values = { "whole" }
        db_bind_param(st, values) db_execute(st)
        print((con:query_row("SELECT s FROM d")))
    """
    there, here = both_sql(tmp_path, postgres, body)
    assert (there.stdout, here.stdout) == ("w\n", "whole\n")


@compat("legacy-errors")
def test_legacy_errors_are_told(server: Server, tmp_path: Path) -> None:
    body = """
        print((pcall(function()
           db_bulk_insert_init("INSERT INTO nosuch VALUES") db_bulk_insert_next("(1)") db_bulk_insert_done()
        end)))
        local st = db_prepare("SELECT ?")
        print(type(select(2, pcall(db_bind_param, st, { 1, 2 }))))
    """
    there, here = both_sql(tmp_path, server, body)
    printed = [
        [line for line in result.stdout.splitlines() if line in ("true", "false", "number", "string")]
        for result in (there, here)
    ]
    assert printed == [["true", "number"], ["false", "string"]]


@compat("legacy-objects")
def test_legacy_objects_are_tables(server: Server, tmp_path: Path) -> None:
    body = 'local st = db_prepare("SELECT 1") print(type(st), type(db_execute(st)))'
    there, here = both_sql(tmp_path, server, body)
    assert (there.stdout, here.stdout) == ("userdata\tuserdata\n", "table\ttable\n")


@compat("own-options")
def test_newer_options_leave_globals_alone(tmp_path: Path) -> None:
    """Of a script without declared options, which has all options as globals."""
    newer = [name.decode() for name in NEWER_OPTIONS]
    globals_of_its_own = "".join(f"{name} = 'own'\n" for name in ("threads", *newer))
    body = "function prepare() for name in pairs(sysbench.opt) do print(name, _G[name]) end end"
    theirs, here = (
        dict(line.split("\t") for line in output.splitlines())
        for output in both(tmp_path, globals_of_its_own + body)
    )
    assert here["threads"] == theirs["threads"] == "1"
    assert here.keys() - theirs.keys() == set(newer)
    assert {here[name] for name in newer} == {"own"}


@pytest.mark.parametrize(
    "typed",
    [
        (),
        ("--mysql-ssl", "--mysql-host=", "--mysql-db=", "--mysql-port=1,2", "--report-checkpoints=1"),
        ("--mysql-ssl=off", "--validate", "--rand-pareto-h=0.5", "--thread-stack-size=1M", "--forced-shutdown=3"),
    ],
)
def test_all_other_options_are_as_in_the_original(tmp_path: Path, typed: tuple[str, ...]) -> None:
    """With their types; those of the script, too."""
    body = """
    local arg = sysbench.cmdline
    arg.options = {
       b = {"b", false}, bb = {"b", nil, arg.ARG_BOOL}, d = {"d", nil, arg.ARG_DOUBLE}, e = {"e", nil, arg.ARG_LIST},
       f = {"f", nil, arg.ARG_FILE}, i = {"i", nil, arg.ARG_INT}, l = {"l", {"a", "b"}}, n = {"n", 4},
       s = {"s", nil, arg.ARG_STRING}, z = {"z", "10K", arg.ARG_SIZE},
    }
    function prepare()
       for name, value in pairs(sysbench.opt) do
          local text = type(value) == "table" and #value .. ":" .. table.concat(value, ",") or tostring(value)
          print(name, type(value), text)
       end
    end"""
    theirs, here = (
        {line for line in output.splitlines() if line.split("\t")[0].encode() not in NEWER_OPTIONS}
        for output in both(tmp_path, body, *typed)
    )
    assert here == theirs
    assert len(here) > 50


@compat("program-name")
def test_program_name(tmp_path: Path) -> None:
    assert both(tmp_path, "function prepare() print(sysbench.cmdline.argv[0]) end") == (
        "/usr/bin/sysbench\n",
        "sysbench\n",
    )


@compat("whole-lines")
def test_lines_of_several_threads_do_not_mix(tmp_path: Path) -> None:
    """In the reference they may; a race that it need not lose each time."""
    script = 'function event(id) print("a", id, "b", nil, 1.5, "c") end'
    result = run(ours, tmp_path, script, "--threads=8", "--events=20000", "--time=0", "run")
    lines = result.stdout.splitlines()
    assert len(lines) == 20000
    assert set(lines) <= {f"a\t{thread}\tb\tnil\t1.5\tc" for thread in range(8)}

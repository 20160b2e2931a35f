"""Wrong arguments of the SQL API are told in the name of the script's line; statements are not cut at a NUL byte."""

import re
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.reference import ours, reference

CALLS = """\
con:query(nil)|bad argument #1 to 'query' (string expected, got nil)
con:query_row({})|bad argument #1 to 'query_row' (string expected, got table)
con:prepare(5)|bad argument #1 to 'prepare' (string expected, got number)
con:bulk_insert_init()|bad argument #1 to 'bulk_insert_init' (string expected, got nil)
con:bulk_insert_next(7)|bad argument #1 to 'bulk_insert_next' (string expected, got number)
con.query("SELECT 1")|'query' needs what it belongs to before a colon, as in object:query(), not a string
con.disconnect(stmt)|'disconnect' needs what it belongs to before a colon
con.reconnect()|'reconnect' needs what it belongs to before a colon
con.check_error()|'check_error' needs what it belongs to before a colon
con.more_results()|'more_results' needs what it belongs to before a colon
con.next_result()|'next_result' needs what it belongs to before a colon
con.bulk_insert_done()|'bulk_insert_done' needs what it belongs to before a colon
sysbench.sql.driver({})|bad argument #1 to 'driver' (name of a driver expected, got table)
drv.connect()|'connect' needs what it belongs to before a colon
drv.name(con)|'name' needs what it belongs to before a colon
stmt.bind_create(sysbench.sql.type.INT)|'bind_create' needs what it belongs to before a colon
stmt:bind_create({})|Unsupported argument type: table
stmt:bind_create(sysbench.sql.type.CHAR)|a parameter of characters needs its greatest length, not nil
stmt.bind_param(int)|'bind_param' needs what it belongs to before a colon
stmt:bind_param(5)|bad argument #1 to 'bind_param' (what bind_create returns expected, got number)
stmt.execute()|'execute' needs what it belongs to before a colon
stmt.next_result()|'next_result' needs what it belongs to before a colon
stmt.close(con)|'close' needs what it belongs to before a colon
int:set("5")|bad argument #1 to 'set' (number expected, got string)
int:set(true)|bad argument #1 to 'set' (number expected, got boolean)
int:set(rs)|bad argument #1 to 'set' (number expected, got cdata)
text:set(5)|bad argument #1 to 'set' (string expected, got number)
int.set(5)|'set' needs a parameter before a colon, as in param:set(), not a number
int:set_rand_str("#")|Unsupported argument type: 4
text:set_rand_str(5)|bad argument #1 to 'set_rand_str' (string expected, got number)
text.set_rand_str({})|'set_rand_str' needs a parameter before a colon
rs.fetch_row()|'fetch_row' needs what it belongs to before a colon
rs.free(con)|'free' needs what it belongs to before a colon
db_bind_param(db_prepare("SELECT ?"), 5)|bad argument #2 to 'db_bind_param' (table expected, got number)
"""


MEMBERS = """\
drv:conect()|a driver has no member named 'conect' (did you mean 'connect'?)
drv:query("SELECT 1")|a driver has no member named 'query' (it has connect, name)
con:qery("SELECT 1")|a connection has no member named 'qery' (did you mean 'query'?)
con:disconect()|a connection has no member named 'disconect' (did you mean 'disconnect'?)
con:bulk_insert("x")|a connection has no member named 'bulk_insert' (did you mean 'bulk_insert_done'?)
con:close()|a connection has no member named 'close' (it has bulk_insert_done, bulk_insert_init, bulk_insert_next,
local x = con.sql_erno|a connection has no member named 'sql_erno' (did you mean 'sql_errno'?)
con.mine = 5|a connection cannot be given a member 'mine'
con.query = print|a connection cannot be given a member 'query'
stmt:exeute()|a statement has no member named 'exeute' (did you mean 'execute'?)
stmt:fetch_row()|a statement has no member named 'fetch_row' (it has bind_create, bind_param, close, connection,
rs:fetch()|a result has no member named 'fetch' (did you mean 'fetch_row'?)
local x = rs.nrow|a result has no member named 'nrow' (did you mean 'nrows'?)
local x = rs[{}]|a result has no member named 'table: 0x
sysbench.histogram.new(10, 1, 100):updat(3)|a histogram has no member named 'updat' (did you mean 'update'?)
sysbench.histogram.new(10, 1, 100).size = 3|a histogram cannot be given a member 'size'
"""


@compat("wrong-members")
def test_members_that_objects_do_not_have(tmp_path: Path) -> None:
    """Guessed or listed, in the name of the script's line; in compiled code too."""
    calls = [line.split("|") for line in MEMBERS.splitlines()]
    script = """
    function prepare()
       drv = sysbench.sql.driver()
       con = drv:connect()
       stmt = con:prepare("SELECT ?")
       rs = con:query("SELECT 1")
       rs.nrows = rs.nrows + 0
       for i = 1, 200 do
          local ok, err = pcall(function() return i < 200 and con.sql_errno or con.nosuch end)
          assert(ok == (i < 200))
       end
    """ + "\n".join(f"print(select(2, pcall(function() {call} end)))" for call, _ in calls)
    (tmp_path / "members.lua").write_text(f"{script} end")
    result = ours("members.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", "--verbosity=0", "prepare", cwd=tmp_path)
    assert (result.status, result.stderr) == (0, ""), result.stdout
    first = script.count("\n") - len(calls) + 2
    for number, (line, (_, message)) in enumerate(zip(result.stdout.splitlines(), calls, strict=True)):
        assert line.startswith(f"members.lua:{first + number}: {message}")


@compat("wrong-parameters")
def test_mistakes_in_arguments_name_line_and_argument(tmp_path: Path) -> None:
    calls = [line.split("|") for line in CALLS.splitlines()]
    script = """
    function prepare()
       drv = sysbench.sql.driver()
       con = drv:connect()
       stmt = con:prepare("SELECT ?")
       int, text = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(sysbench.sql.type.CHAR, 10)
       rs = con:query("SELECT 1")
       int:set(5ULL)
    """ + "\n".join(f"print(select(2, pcall(function() {call} end)))" for call, _ in calls)
    (tmp_path / "wrong.lua").write_text(f"{script}\nend\n")
    result = ours("wrong.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", "prepare", cwd=tmp_path)
    lines = result.stdout.splitlines()[2:]
    assert len(lines) == len(calls)
    first_line = script.count("\n") + 2 - len(calls)
    for number, (line, (call, message)) in enumerate(zip(lines, calls, strict=True)):
        assert line.startswith(f"wrong.lua:{first_line + number}: {message}"), call


NUL = r"""
function prepare()
   local con = sysbench.sql.driver():connect()
   local function try(f, ...)
      local ok, result = pcall(f, con, ...)
      print("> " .. tostring(ok) .. " " .. (tostring(result):gsub("%z", "@")))
   end
   try(con.query_row, "SELECT 'a\0b'")
   try(con.prepare, "SELECT 'a\0b', ?")
   con:query("CREATE TABLE t(a VARCHAR(10))")
   try(con.bulk_insert_init, "INSERT INTO t \0 VALUES")
   con:bulk_insert_init("INSERT INTO t VALUES")
   try(con.bulk_insert_next, "('c\0d')")
   con:bulk_insert_done()
   con:query("INSERT INTO t VALUES ('end')")
   print("> " .. (con:query_row("SELECT a FROM t"):gsub("%z", "@")))
end
"""


@compat("nul-bytes")
def test_statements_are_not_cut_at_a_nul_byte(database: list[str], tmp_path: Path) -> None:
    (tmp_path / "nul.lua").write_text(NUL)
    result = ours("nul.lua", *database, "prepare", cwd=tmp_path)
    shown = [line[2:] for line in result.stdout.splitlines() if line.startswith("> ")]
    if "--db-driver=mysql" in database:
        assert shown[0] == "true a@b"
        assert shown[1].startswith("true ")
        assert shown[-1] == "c@d"
        return
    name = database[0].removeprefix("--db-driver=")
    for line in shown[:2]:
        assert re.search(f"^false .*state = '22021': a statement for {name} cannot have a NUL byte, as behind", line)
    assert [line.split()[0] for line in shown[2:4]] == ["false", "false"]
    assert shown[4] == "end"
    assert f"FATAL: a statement for {name} cannot have a NUL byte, as behind 'SELECT 'a'\n" in result.stdout
    if name == "pgsql":
        assert "> true\n" not in reference("nul.lua", *database, "prepare", cwd=tmp_path).stdout


@pytest.mark.parametrize("mode", ["auto", "disable"])
def test_parameters_may_have_nul_bytes_or_are_refused(mode: str, database: list[str], tmp_path: Path) -> None:
    (tmp_path / "nul.lua").write_text(r"""
    function prepare()
       local con = sysbench.sql.driver():connect()
       con:query("CREATE TABLE t(a VARCHAR(10))")
       local stmt = con:prepare("INSERT INTO t VALUES (?)")
       local param = stmt:bind_create(sysbench.sql.type.VARCHAR, 10)
       stmt:bind_param(param)
       param:set("a\0b")
       print("> " .. tostring(pcall(stmt.execute, stmt)))
       print("> " .. (tostring(con:query_row("SELECT a FROM t")):gsub("%z", "@")))
    end
    """)
    result = ours("nul.lua", *database, f"--db-ps-mode={mode}", "prepare", cwd=tmp_path)
    shown = [line[2:] for line in result.stdout.splitlines() if line.startswith("> ")]
    taken = "--db-driver=mysql" in database or ("--db-driver=sqlite" in database and mode == "auto")
    assert shown == (["true", "a@b"] if taken else ["false", "nil"]), result.stdout

"""How scripts are found and loaded, and what a state keeps to itself."""

import os
import re
import stat
import sys
from pathlib import Path

import pytest

from tests.support.proc import Result, Run
from tests.support.reference import ours, reference, report

LUA = Path(__file__).parent / "lua"
OUR_LUA = Path(__file__).parent.parent / "lua"


def neutral(result: Result) -> Result:
    """With one name for the folder of the workloads, and without the driver folder, which holds no module."""
    text = result.stdout.replace("/usr/share/sysbench/", "DATA/").replace(f"{OUR_LUA}/", "DATA/")
    return Result(text.replace("/usr/lib/x86_64-linux-gnu/sysbench;", ""), result.stderr, result.status)


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"LUA_PATH": "/foo/?.lua"},
        {"LUA_PATH": ";;"},
        {"LUA_PATH": "/foo/?.lua;;"},
        {"LUA_PATH": ";;/foo/?.lua"},
        {"LUA_PATH": "a;;b;;c"},
        {"LUA_PATH": ""},
        {"LUA_CPATH": ";;/foo/?.so"},
        {"LUA_CPATH": ""},
        {"HOME": None},
        {"HOME": ""},
        {"LUA_PATH_5_1": "/foo/?.lua", "LUA_INIT": "print('never')"},
    ],
)
def test_search_paths(env: dict[str, str | None], tmp_path: Path) -> None:
    # No script in a folder of its own: that one would be in our path too.
    (tmp_path / "path.lua").write_text("print(package.path) print(package.cpath)")
    expected = neutral(reference("path.lua", "--verbosity=0", cwd=tmp_path, env=env))
    assert neutral(ours("path.lua", "--verbosity=0", cwd=tmp_path, env=env)) == expected
    assert "DATA/" in expected.stdout or "LUA_PATH" in env


def test_library_beside_the_script_is_found_first(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "oltp_common.lua").write_text("return 'beside the script'")
    (folder / "main.lua").write_text("print(require('oltp_common'))")
    assert ours("own/main.lua", "--verbosity=0", cwd=tmp_path).stdout == "beside the script\n"


def test_modules(tmp_path: Path) -> None:
    (tmp_path / "src" / "lua").mkdir(parents=True)
    (tmp_path / "pack").mkdir()
    (tmp_path / "src" / "lua" / "deep.lua").write_text("return 'deep'")
    (tmp_path / "pack" / "init.lua").write_text("return 'pack'")
    (tmp_path / "pack" / "part.lua").write_text("local name = ... return name")
    (tmp_path / "broken.lua").write_text("x = = 1")
    (tmp_path / "main.lua").write_text(
        """
        print(require("deep"), require("pack"), require("pack.part"), require("pack/part"))
        print(package.loaded.deep, require("deep") == package.loaded.deep)
        local ok, err = pcall(require, "broken")
        print(ok, err)
        print(select("#", ...))
        """
    )
    for script in ("main.lua", "main"):
        expected = reference(script, "--verbosity=0", cwd=tmp_path)
        assert ours(script, "--verbosity=0", cwd=tmp_path) == expected
        assert expected.stdout.startswith("deep\tpack\tpack.part\tpack/part\n")
    expected = reference("broken", "--verbosity=0", cwd=tmp_path)
    assert ours("broken", "--verbosity=0", cwd=tmp_path) == expected
    assert expected.status == 1


@pytest.mark.parametrize(
    "text",
    [
        "print(sysbench.cmdline.script_path, sysbench.cmdline.command, test, sysbench.tid, sysbench.opt)",
        'error("x")',
        "x = = 1",
        "#!shebang\nprint(1) error('second line')",
        "error({})",
        "",
        "print(...)",
        "return 5",
        "function event() end",
        "local t = nil; t.x = 1",
        "print(debug.getinfo(1).source, debug.getinfo(1).short_src)",
        "print(foo, sysbench.opt)",
    ],
)
@pytest.mark.parametrize("args", [(), ("-",), ("--foo=1",)])
def test_script_on_standard_input(text: str, args: tuple[str, ...]) -> None:
    expected = reference("--verbosity=0", *args, stdin=text)
    result = ours("--verbosity=0", *args, stdin=text)
    assert (result.stdout, result.status) == (expected.stdout, expected.status)


def test_executable_script(tmp_path: Path) -> None:
    script = tmp_path / "run-me"
    script.write_text(
        "#!/usr/bin/env sysbench\n"
        "print(sysbench.cmdline.argv[1], sysbench.cmdline.argv[2], sysbench.cmdline.command, test)\n"
        "function event() error('in the third line') end\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    command = tmp_path / "bin" / "sysbench"
    command.parent.mkdir()
    outputs = []
    for program in ("/usr/bin/sysbench", f"{sys.executable} -m sysbench_py"):
        command.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        command.chmod(0o755)
        env = {"PATH": f"{command.parent}:{os.environ['PATH']}"}
        with Run("./run-me", "--events=2", "--verbosity=0", "run", cwd=tmp_path, env=env) as run:
            outputs.append(run.result())
    assert outputs[0] == outputs[1]
    lines = outputs[0].stdout.splitlines()
    assert lines[0].split("\t")[1:3] == ["--events=2", "run"]
    assert lines[-1] == "FATAL: `thread_run' function failed: ./run-me:3: in the third line"


@pytest.mark.parametrize(
    ("threads", "command", "times"), [(4, "run", 5), (1, "run", 2), (4, "prepare", 1), (1, "help", 1)]
)
def test_body_runs_once_a_state(threads: int, command: str, times: int, tmp_path: Path) -> None:
    script = tmp_path / "body.lua"
    script.write_text("print('body') function event() end function prepare() end function help() end")
    args = (str(script), f"--threads={threads}", "--events=4", "--verbosity=0", command)
    assert reference(*args).stdout == ours(*args).stdout == "body\n" * times


RAND = """
sysbench.cmdline.options = { folder = { "where to write" } }
local n = 0
function thread_init() out = io.open(sysbench.opt.folder .. "/" .. sysbench.tid, "w") end
function event()
   n = n + 1
   if n > 200 then return true end
   local rand = sysbench.rand
   out:write(rand.uniform(1, 1000000), " ", rand.default(1, 100), " ", rand.string("#@"), "\\n")
end
function thread_done() out:close() end
"""


def test_numbers_depend_on_seed_and_thread_alone(tmp_path: Path) -> None:
    """Reports, rate and the number of threads do not move the stream of a thread."""
    script = tmp_path / "rand.lua"
    script.write_text(RAND)
    streams = []
    for number, options in enumerate(
        [
            ("--threads=3",),
            ("--threads=3",),
            ("--threads=5",),
            ("--threads=3", "--report-interval=1"),
            ("--threads=3", "--report-interval=1", "--report-checkpoints=1", "--percentile=50"),
            ("--threads=3", "--rate=2000"),
            ("--threads=3", "--histogram", "--warmup-time=1"),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        result = ours(str(script), "--rand-seed=7", "--time=20", f"--folder={folder}", *options, "run")
        assert result.status == 0, result.stdout
        streams.append([(folder / str(thread)).read_text() for thread in range(3)])
    assert all(stream == streams[0] for stream in streams)
    assert len(set(streams[0])) == 3
    assert all(stream.count("\n") == 200 for stream in streams[0])


def test_one_thread_draws_what_the_reference_draws(tmp_path: Path) -> None:
    script = tmp_path / "rand.lua"
    script.write_text(RAND)
    for program, name in ((reference, "a"), (ours, "b")):
        (tmp_path / name).mkdir()
        assert program(str(script), "--rand-seed=7", f"--folder={tmp_path / name}", "run").status == 0
    assert (tmp_path / "a" / "0").read_text() == (tmp_path / "b" / "0").read_text()


@pytest.mark.parametrize("threads", [1, 4, 16])
def test_number_of_events_is_exact(threads: int, tmp_path: Path) -> None:
    script = tmp_path / "empty.lua"
    script.write_text("function event() end")
    result = ours(str(script), f"--threads={threads}", "--events=10000", "--time=0", "run")
    assert report(result.stdout)["events"] == 10000


def test_constants_may_be_declared_again(tmp_path: Path) -> None:
    (tmp_path / "module.lua").write_text(
        "ffi.cdef[[ typedef enum { SB_CNT_OTHER, SB_CNT_READ } sb_counter_type; ]] return 'module'"
    )
    (tmp_path / "again.lua").write_text(
        """
        local ffi = require("ffi")
        ffi.cdef[[
           typedef unsigned int useconds_t; int usleep(useconds_t);
           /* a copy of what the core declares */
           typedef enum { SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT,
                          SB_CNT_MAX } sb_counter_type;
           void sb_counter_inc(int thread_id, sb_counter_type type);
        ]]
        print(require("module"))
        ffi.cdef[[ enum counter { SB_CNT_OTHER, SB_CNT_READ = 1, mine = 7 };
                   uint64_t sb_counter_val(int, enum counter); ]]
        ffi.cdef[[ typedef enum { DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL } errors_t;
                   typedef struct { int error; int sql_errno; } sql_connection;
                   struct sb_histogram { int size; }; ]]
        print(ffi.C.SB_CNT_READ, ffi.C.mine, ffi.C.SB_CNT_ERROR, ffi.new("enum counter", 7) == ffi.C.mine)
        print(pcall(ffi.cdef, "enum other { mine };"))
        print(pcall(ffi.cdef, "int broken("))
        print(pcall(function() ffi.cdef("int broken(") end))
        function thread_init(id)
           local con = sysbench.sql.driver():connect()
           print(con.error, con:query("SELECT 1"))
           local h = sysbench.histogram.new(10, 1, 2)
           h:update(1)
           ffi.C.sb_counter_inc(id, ffi.C.SB_CNT_ERROR)
           ffi.C.usleep(1)
           print(ffi.C.sb_counter_val(id, ffi.C.SB_CNT_ERROR))
        end
        function event() return true end
        """
    )
    result = ours("again.lua", "--verbosity=0", "--db-driver=null", "--events=1", "run", cwd=tmp_path)
    body = (
        "module\n1\t7\t4\ttrue\nfalse\tattempt to redefine 'mine'\n"
        "false\tdeclaration specifier expected near '<eof>'\n"
        "false\tagain.lua:19: declaration specifier expected near '<eof>'\n"
    )
    assert result.stdout == f"{body}{body}0\t<sql_result>\n1ULL\n"


def test_everything_is_in_ffi_c_without_a_declaration(tmp_path: Path) -> None:
    header = (OUR_LUA.parent / "ext/abi.h").read_text()
    names = re.findall(r"(?:[ *](\w+)\([^()]*\);|\b((?:SB|SQL|DB)_[A-Z_]+)\b)", header)
    wanted = sorted({function or constant for function, constant in names})
    assert {"db_query", "sb_rand_uniform", "SB_CNT_ERROR", "SQL_TYPE_INT"} < set(wanted)
    script = tmp_path / "all.lua"
    listed = ",".join(f'"{name}"' for name in wanted)
    script.write_text(
        f"local C = ffi.C for _, name in ipairs{{{listed}}} do"
        " if not pcall(function() return C[name] end) then print(name) end end"
        " print(pcall(function() return C.nosuch end))"
        # Objects that come from there have their methods.
        " print(C.db_create('null'):name(), C.sb_histogram_new(2, 1, 2), C.db_create('null'):connect())"
    )
    result = ours("all.lua", "--verbosity=0", cwd=tmp_path)
    assert result.stdout == (
        "false\tall.lua:1: missing declaration for symbol 'nosuch'\nmysql\t<sb_histogram>\t<sql_connection>\n"
    )


def test_first_use_changes_nothing_that_a_script_can_see(tmp_path: Path) -> None:
    script = tmp_path / "same.lua"
    script.write_text(
        """
        local function all(seen, found)
           for key, value in pairs(seen) do
              found[tostring(seen) .. tostring(key)] = value
              if type(value) == "table" and not found[value] then
                 found[value] = true
                 all(value, found)
              end
           end
           return found
        end
        local before = all(_G, {})
        sb_rand(1, 2) sysbench.rand.string("#") sysbench.histogram.new(2, 1, 2) sysbench.cmdline.command_defined("x")
        sysbench.sql.driver("null"):connect():query("SELECT 1")
        pcall(db_close) pcall(sysbench.report_csv)
        local after = all(_G, {})
        for key, value in pairs(before) do
           if after[key] ~= value then print("changed", key) end
        end
        for key in pairs(after) do
           if before[key] == nil then print("new", key) end
        end
        local n = 0
        for _ in pairs(before) do n = n + 1 end
        print(n > 300)
        """
    )
    result = ours(str(script), "--verbosity=0", "--db-driver=null")
    assert result == Result("true\n", "", 0)


def test_files_that_change_between_commands_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "rows.lua").write_text("return 'old'")
    (tmp_path / "main.lua").write_text(
        """
        local rows = require("rows")
        function prepare()
           print(rows)
           local file = io.open("rows.lua", "w")
           file:write("return 'quite new'")
           file:close()
        end
        function thread_init() print(rows) end
        function event() return true end
        """
    )
    result = ours("main.lua", "--verbosity=0", "--threads=2", "--events=2", "prepare", "run", cwd=tmp_path)
    assert result == Result("old\nquite new\nquite new\n", "", 0)


@pytest.mark.parametrize(
    "damage",
    [
        "pcall, error, type, tostring, print, pairs = nil",
        "string.format = nil table.sort = nil table.concat = nil io.open = nil",
        "string.find = nil string.gsub = nil getmetatable('').__index = nil",
        "sysbench = { hooks = {} }",
        "ffi = nil bit = nil jit = nil debug = nil",
        "setmetatable(_G, { __newindex = function(t, k, v) rawset(t, k, v) end })",
        "package.loaded.ffi = nil",
        "collectgarbage = nil loadstring = nil require = nil",
        "assert = nil unpack = nil select = nil setmetatable = nil getmetatable = nil",
    ],
)
def test_a_script_may_spoil_its_globals(damage: str, tmp_path: Path) -> None:
    script = tmp_path / "spoilt.lua"
    script.write_text(
        f"local connect = sysbench.sql.driver\n{damage}\n"
        "function event() con = con or connect():connect() con:query('SELECT 1') con:query_row('') end"
    )
    result = ours(str(script), "--db-driver=null", "--events=3", "--time=0", "run")
    assert (result.stderr, result.status) == ("", 0)
    assert report(result.stdout)["events"] == 3


EMPTIED = """
for _, library in pairs({ string, table, math, bit, coroutine, debug, jit, os }) do
   for name in pairs(library) do library[name] = nil end
end
getmetatable("").__index = nil
for name in pairs(_G) do
   if not keep[name] then _G[name] = nil end
end
"""
WHOLE_API = """
local print, pcall, pairs, require = print, pcall, pairs, require
local keep = { _G = true, event = true, sysbench = true, thread_run = true, io = true, print = true }
for name in pairs(_G) do if name:find("^db_") or name:find("^sb_") then keep[name] = true end end
sysbench.cmdline.options = { b = { "b", { "x", "y" } }, a = { "a", 1 } }
sysbench.cmdline.commands = { own = { function() print(sysbench.opt.b[2]) end } }
sysbench.hooks.report_cumulative = function(stat)
   sysbench.report_default({ time_interval = 1, time_total = 1, threads_running = 1, events = stat.events, reads = 0,
                             writes = 0, other = 0, errors = 0, reconnects = 0, latency_pct = 0 })
   sysbench.report_csv({ time_interval = 0, time_total = 1, threads_running = 1, events = 1, reads = 0,
                         writes = 0, other = 0, errors = 0, reconnects = 0, latency_pct = 0 })
end
%s
function prepare()
   local ffi = require("ffi")
   ffi.cdef("enum { SB_CNT_ERROR = 3, MY_OWN = 9 }; int getppid(void);")
   print(ffi.C.SB_CNT_ERROR, ffi.C.MY_OWN, ffi.C.getppid() > 0, ffi.new("sql_value").length)
   print(pcall(ffi.cdef, "nonsense"))
   print(#sysbench.rand.string("a#"), #sysbench.rand.varstring(3, 3), sysbench.rand.uniform(2, 2), sb_rand_uniq() > 0)
   local h = sysbench.histogram.new(10, 1, 2)
   h:update(1) h:print()
   print(h, pcall(sysbench.histogram.new, 0, 1, 2))
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t (a INTEGER)")
   con:bulk_insert_init("INSERT INTO t VALUES") con:bulk_insert_next("(1)") con:bulk_insert_done()
   local stmt = con:prepare("SELECT a FROM t WHERE a = ?")
   local a = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(a) a:set(1)
   print(stmt:execute():fetch_row()[1], con:query_row("SELECT 2"), con, pcall(con.query, con, "no sql"))
   print(pcall(function() con:qery() end), pcall(function() con.nothing = 1 end), pcall(function() return h.qq end))
   print(pcall(con.query, con), pcall(a.set, a, {}), pcall(sysbench.cmdline.share, -1), sysbench.cmdline.share(2)())
   db_connect() db_query("SELECT 1") print(pcall(db_query, "no sql")) print(pcall(db_query, {}))
   local s = db_prepare("SELECT ?")
   db_bind_param(s, { "x" }) db_free_results(db_execute(s)) print(pcall(db_close, 1))
   sysbench.cmdline.print_test_options()
end
function event()
   n = (n or 0) + 1
   if n == 2 then sysbench.hooks.sql_error_ignorable = function() return true end db_query("SELECT 1") end
   con = con or sysbench.sql.driver():connect()
   if n == 2 or n == 9 then con:query("no sql") end
end
"""


def test_internal_lua_calls_nothing_that_a_script_can_take_away(tmp_path: Path) -> None:
    """The whole API says the same in a state without any library, and without methods of strings."""
    script = tmp_path / "emptied.lua"
    whole: list[Result] = []
    emptied: list[Result] = []
    for results, damage in ((whole, ""), (emptied, EMPTIED)):
        script.write_text(WHOLE_API % damage.replace("\n", " "))
        for words in (["prepare", "own"], ["run"], ["help"]):
            options = ["--db-driver=sqlite", "--sqlite-db=:memory:", "--events=4", "--time=0", "--verbosity=0"]
            results.append(ours(str(script), *options, *words))
    assert emptied == whole
    assert [each.status for each in whole] == [0, 0, 0]


@pytest.mark.parametrize(
    "damage", ["sysbench.cmdline = nil", "sysbench.hooks = nil", "sysbench.cmdline = {}", "sysbench = nil"]
)
def test_a_script_that_spoils_the_library_gets_a_message(damage: str, tmp_path: Path) -> None:
    script = tmp_path / "spoilt.lua"
    script.write_text(f"{damage}\nfunction event() end function prepare() end")
    for command in ("prepare", "run", "help"):
        result = ours(str(script), "--events=3", command)
        assert "Traceback" not in result.stdout + result.stderr


def test_python_cannot_be_reached(tmp_path: Path) -> None:
    script = tmp_path / "reach.lua"
    script.write_text("print(python, package.loaded.python, pcall(require, 'python') == false)")
    assert ours(str(script), "--verbosity=0").stdout == "nil\tnil\ttrue\n"


STRICT = """
setmetatable(_G, {
   __index = function(_, name) error("undefined " .. name, 2) end,
   __newindex = function(_, name) error("new global " .. name, 2) end,
})
rawset(_G, "event", function() %s end)
"""


def test_script_that_is_strict_about_globals(tmp_path: Path) -> None:
    (tmp_path / "strict.lua").write_text(STRICT % "sb_rand(1, 10)")
    result = ours("strict.lua", "--events=3", "--table-size=5", "run", cwd=tmp_path)
    assert (result.status, report(result.stdout)["events"]) == (0, 3), result.stdout


@pytest.mark.parametrize("statement", ["sysbench.sql.driver():connect():query('no sql')", "db_query('no sql')"])
def test_strict_script_is_told_the_error_of_its_statement(statement: str, tmp_path: Path) -> None:
    (tmp_path / "strict.lua").write_text(STRICT % statement)
    result = ours("strict.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=1", "run", cwd=tmp_path)
    assert result.status == 1
    assert "new global" not in result.stdout and "syntax error" in result.stdout


def test_hooks_that_cannot_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "hooks.lua").write_text(
        "sysbench.hooks = setmetatable({}, {__index = function() error('no hook') end}) function event() end"
    )
    result = ours("hooks.lua", "--events=2", "run", cwd=tmp_path)
    assert (result.status, result.stderr, report(result.stdout)["events"]) == (0, "", 2)


@pytest.mark.parametrize("kind", ["sql_connection", "sql_result", "sb_histogram"])
def test_types_of_the_core_keep_their_methods(kind: str, tmp_path: Path) -> None:
    """Also before anything has used them."""
    (tmp_path / "own.lua").write_text(
        f"""
        print(pcall(require("ffi").metatype, "{kind}", {{}}))
        local con = sysbench.sql.driver():connect()
        print(con:query_row("SELECT 1"), sysbench.histogram.new(10, 1, 2))
        """
    )
    result = ours("own.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", "--verbosity=0", cwd=tmp_path)
    assert result.stdout == "false\tcannot change a protected metatable\n1\t<sb_histogram>\n"


@pytest.mark.parametrize(
    "call",
    [*(f"cmdline.share({n})" for n in ("nil", "'x'", "-1", "2.5", "1e30", "0/0")), "rand.seed()", "rand.seed({})"],
)
def test_numbers_that_cannot_be_shared_out_or_begun_with(call: str, tmp_path: Path) -> None:
    (tmp_path / "own.lua").write_text(f"\nsysbench.{call}\n")
    result = ours("own.lua", "--verbosity=0", cwd=tmp_path)
    name = call.partition(".")[2].partition("(")[0]
    assert result.status == 1
    assert re.match(rf"FATAL: own\.lua:2: bad argument #1 to '{name}' \(.+\)\n$", result.stdout), result.stdout

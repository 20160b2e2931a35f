"""Workers of a carrier share a Lua state: scripts see what they see in one of their own."""

import os
import signal
from pathlib import Path

import pytest
from lupa import luajit21
from psycopg2 import _psycopg

from sysbench_py import core
from tests.support.mariadb import MariaDB
from tests.support.proc import Result
from tests.support.reference import ours
from tests.support.server import Server

SQLITE = ("--db-driver=sqlite", "--sqlite-db=:memory:")

# Each prints lines that begin with "> ", the same whichever way its workers run.
SCRIPTS = {
    "globals": """
        count = 0
        local mine = {}
        function thread_init(id) name = "worker " .. id; mine[1] = id end
        function event(id)
           count = count + 1
           assert(name == "worker " .. id and mine[1] == id and thread_id == id and sysbench.tid == id)
           assert(_G.count == count and getfenv(0) == _G and getfenv(1) == _G)
        end
        function thread_done(id) print("> " .. id .. " " .. count) end
        """,
    "libraries": """
        function string.mine(s) return s .. name end
        table.mine, math.mine = {}, function() return name end
        function thread_init(id) name = "w" .. id; table.mine[1] = id end
        function event(id)
           assert(("x"):mine() == "xw" .. id and string.mine("y") == "yw" .. id)
           assert(table.mine[1] == id and math.mine() == name and require("math") == math)
           assert(package.loaded.string == string and package.loaded._G == _G)
        end
        function thread_done(id) print("> " .. ("z"):mine()) end
        """,
    "replaced functions of libraries": """
        local upper = string.upper
        function string.upper(s) return upper(s) .. name end
        getmetatable("").__mod = function(a, b) return a:format(b) .. name end
        getmetatable("").__index = function(s, k) return type(k) == "number" and s:sub(k, k) or string[k] end
        assert(getmetatable("").__index ~= string and ("ab")[2] == "b")
        function thread_init(id) name = "w" .. id end
        function event(id)
           assert(("x"):upper() == "Xw" .. id and "%d" % 5 == "5w" .. id and ("abc")[3] == "c")
        end
        function thread_done(id) print("> " .. ("y"):upper()) end
        """,
    "random numbers of math": """
        numbers = { math.random(1000) }
        function thread_init(id) math.randomseed(id) end
        function event(id) numbers[#numbers + 1] = math.random(1000) end
        function thread_done(id) print("> " .. table.concat(numbers, " ")) end
        """,
    "main thread": """
        assert(coroutine.running() == nil and not pcall(coroutine.yield))
        function event(id)
           assert(coroutine.running() == nil)
           local co = coroutine.create(function() return coroutine.running() end)
           assert(select(2, coroutine.resume(co)) == co)
        end
        function thread_done(id) print("> " .. id .. tostring(coroutine.running())) end
        """,
    "globals of the thread": """
        function thread_init(id)
           setfenv(0, setmetatable({ mine = id }, { __index = _G }))
           con = sysbench.sql.driver():connect()
        end
        function event(id) con:query("SELECT 1") assert(loadstring("return mine")() == id) end
        function thread_done(id) print("> " .. id .. " " .. tonumber(ffi.C.sb_counter_val(id, ffi.C.SB_CNT_READ))) end
        """,
    "finalizers": """
        local ended = 0
        function thread_init(id) con, other = sysbench.sql.driver():connect(), sysbench.sql.driver():connect() end
        function event(id)
           getmetatable(newproxy(true)).__gc = function()
              ended = ended + 1
              other:query("SELECT " .. ended)
           end
           collectgarbage("step", 10)
           con:query("SELECT 1")
        end
        function thread_done(id) collectgarbage() collectgarbage() print("> " .. id .. " " .. ended) end
        """,
    "a collector that is stopped": """
        function event(id)
           collectgarbage("stop")
           assert(not collectgarbage("isrunning"))
           collectgarbage("restart")
           assert(collectgarbage("isrunning"))
        end
        function thread_done(id) print("> " .. id) end
        """,
    "hooks": """
        sysbench.cmdline.options = {}
        jit.off()
        local calls = 0
        local function hook(event) calls = calls + 1 seen = event .. thread_id end
        function event(id)
           if id % 2 == 0 then debug.sethook(hook, "", 10) assert(debug.gethook() == hook) end
           for i = 1, 1000 do local x = i end
           debug.sethook()
           assert(debug.gethook() == nil)
        end
        function thread_done(id) print("> " .. tostring(calls > 100) .. tostring(seen)) end
        """,
    "methods of C types": """
        ffi.cdef("typedef struct { int x; } cell;")
        local calls = 0
        local cell = ffi.metatype("cell", {
           __index = { get = function(c) calls = calls + 1 return c.x + thread_id end },
           __add = function(a, b) return thread_id end,
           __call = function(c, ...) return select("#", ...) end,
        })
        function event(id)
           local c = cell(1)
           assert(c:get() == 1 + id and c + c == id and c(1, 2) == 2)
           assert(select(2, pcall(function() return c.none end)):find("has no member named .none.$"))
        end
        function thread_done(id) print("> " .. id .. " " .. calls) end
        """,
    "files that change": """
        local name = os.tmpname()
        local function write(text) local file = io.open(name, "w") file:write(text) file:close() end
        function event(id)
           n = (n or 0) + 1
           write("return " .. n)
           assert(dofile(name) == n and loadfile(name)() == n)
           write("#!x\\nmine = " .. n)
           assert(dofile(name) == nil and mine == n)
           write("this is no Lua")
           assert(not pcall(dofile, name) and select(2, loadfile(name)):find("'=' expected near 'is'", 1, true))
        end
        function thread_done(id) os.remove(name) print("> " .. id .. mine) end
        """,
    "mistakes": """
        local function said(f, ...) return (select(2, pcall(f, ...)):gsub("^.*/", "")) end
        local function text()
           package.loaders[5] = function(name) return "\\n\\tnot " .. name end
           local lines = {
              said(require), said(require, {}), said(function() require() end), said(module), said(dofile, {}),
              said(io.write, {}), said(io.input, "/no/file"), said(function() io.lines("/no/file") end),
              said(io.read, "*q"), said(function() math.random({}) end),
              said(require, "none"):sub(-9),
           }
           io.output(io.tmpfile())
           io.close()
           lines[#lines + 1] = said(io.write, 1)
           io.output(io.stdout)
           package.loaders = nil
           lines[#lines + 1] = said(require, "none")
           package.loaders = {}
           return table.concat(lines, "; ")
        end
        function event(id) first = first or text() end
        function thread_done(id) print("> " .. first) end
        """,
    "modules": """
        local m = require("counter")
        assert(require("counter") == m and package.loaded.counter == m)
        local old = require("old.style")
        package.preload.made = function(...) return { name = ... } end
        assert(require("made").name == "made")
        assert(type(require("jit.util").funcinfo) == "function" and require("ffi") == ffi and require("bit") == bit)
        local ok, message = pcall(require, "no.such.module")
        assert(not ok and message:find("no field package.preload['no.such.module']", 1, true), message)
        assert(message:find("no file './no/such/module.lua'", 1, true), message)
        assert(select(2, pcall(require, "broken")):find("^error loading module 'broken' from file '[^']*broken.lua':"))
        function thread_init(id) for i = 1, id do m.add() end; old.set(id) end
        function event(id) assert(m.value() == id and old.get() == id and old._NAME == "old.style") end
        function thread_done(id) print("> " .. m.value() .. old.get()) end
        """,
    "search paths": """
        package.path = "./old/?.lua"
        local ok, message = pcall(require, "counter")
        assert(not ok and message:find("no file './old/counter.lua'\\n\\tno file './counter.so'", 1, true), message)
        require("style")
        function event() assert(style.get() == nil) end
        function thread_done(id) style.set(id) print("> " .. style.get()) end
        """,
    "wrong types": """
        function event(id)
           local _, missing = pcall(function() ffi.metatype("missing", {}) end)
           local _, none = pcall(function() ffi.metatype(nil, {}) end)
           told = missing .. none
        end
        function thread_done() print("> " .. told) end
        """,
    "files": """
        local folder = string.match(test, "(.*/)") or ""
        dofile(folder .. "globals.inc")
        local f = loadfile(folder .. "globals.inc")
        assert(getfenv(f) == _G)
        assert(not pcall(dofile, "none.lua") and loadfile("none.lua") == nil)
        local g = loadstring("from_text = (from_text or 0) + 1")
        function thread_init(id) g(); f() end
        function event(id) assert(from_text == 1 and from_file == 2) end
        function thread_done(id) print("> " .. id .. from_text .. from_file) end
        """,
    "declarations": """
        ffi.cdef("typedef struct { int x; double y; } point; enum { MINE = 7 }; int getpid(void);")
        local point = ffi.metatype("point", { __index = { sum = function(p) return p.x + p.y end } })
        function event(id)
           local p = point(id, 0.5)
           assert(p:sum() == id + 0.5 and ffi.C.MINE == 7 and ffi.C.getpid() > 0)
           assert(ffi.C.SB_CNT_MAX == 8)
        end
        function thread_done(id) print("> " .. id) end
        """,
    "output": """
        local name = os.tmpname()
        function thread_init(id) io.output(name); io.write(id, " begins") end
        function event(id) end
        function thread_done(id)
           io.write(", ends"); io.close(); io.output(io.stdout)
           io.input(name)
           local text = io.read("*a")
           io.close(io.input())
           for line in io.lines(name) do assert(line == text) end
           io.write("> " .. text .. "\\n")
           os.remove(name)
        end
        """,
    "coroutines": """
        function thread_init(id) con = sysbench.sql.driver():connect(); end
        local function numbers(id)
           return coroutine.wrap(function()
              for i = 1, 3 do coroutine.yield(tonumber(con:query_row("SELECT " .. (id + i)))) end
           end)
        end
        function event(id)
           local sum = 0
           for n in numbers(id) do sum = sum + n end
           assert(sum == 3 * id + 6)
           assert(not pcall(coroutine.yield))
           local list = { 3, 1, 2 }
           table.sort(list, function(a, b) con:query("SELECT 1") return a < b end)
           assert(list[1] == 1 and list[3] == 3)
           assert(("abc"):gsub(".", function(c) return c .. con:query_row("SELECT " .. id) end)
                  == ("a%db%dc%d"):format(id, id, id))
           local lazy = setmetatable({}, { __index = function(_, k) return con:query_row("SELECT '" .. k .. "'") end })
           assert(lazy["k" .. id] == "k" .. id)
           local ok, err = pcall(function() con:query("SELECT 1") error({ id = id }) end)
           assert(not ok and err.id == id)
           assert(select(2, xpcall(error, function() return con:query_row("SELECT " .. id) end)) == tostring(id))
        end
        function thread_done(id) print("> " .. id) end
        """,
    "errors": """
        function thread_init(id) con = sysbench.sql.driver():connect() end
        sysbench.hooks.sql_error_ignorable = function(err) hooked = err.query return true end
        function event(id)
           local ok, err = pcall(con.query, con, "SELECT wrong" .. id)
           assert(not ok and err.errcode == sysbench.error.RESTART_EVENT)
           assert(hooked == "SELECT wrong" .. id and errdesc.query == hooked and errdesc.connection == con)
           assert(not pcall(con.query, con) and not pcall(con.query, nil, "SELECT 1"))
           assert(ffi.C.db_query(con, "SELECT 1, wrong", 8) ~= nil)
        end
        function thread_done(id) print("> " .. hooked) end
        """,
    "options": """
        sysbench.cmdline.options = { mine = { "An option", 5 }, list = { "A list", { "a", "b" } } }
        function thread_init(id) sysbench.opt.mine = sysbench.opt.mine + id; sysbench.opt.list[3] = "c" .. id end
        function event(id) assert(sysbench.opt.mine == 5 + id and #sysbench.opt.list == 3) end
        function thread_done(id) print("> " .. sysbench.opt.mine .. table.concat(sysbench.opt.list)) end
        """,
    "loops of their own": """
        function thread_run(id)
           done = 0
           while done < 50 and ffi.C.sb_more_events(id) do
              ffi.C.sb_event_start(id)
              done = done + 1
              ffi.C.sb_event_stop(id)
           end
        end
        function event() end
        function thread_done(id) print("> " .. id .. " " .. done) end
        """,
    "names of 0.5": """
        function thread_init(id) db_connect(); set = sb_rand_uniform(id, id) end
        function event(id)
           db_query("SELECT 1")
           local s = db_prepare("SELECT ?")
           db_bind_param(s, { id })
           db_execute(s)
           db_close(s)
           assert(set == id and thread_id == id)
        end
        function thread_done(id) print("> " .. set) db_disconnect() end
        """,
}
OPTIONS = {
    "coroutines": SQLITE, "errors": SQLITE, "names of 0.5": SQLITE,
    "globals of the thread": SQLITE, "finalizers": SQLITE,
    "loops of their own": ("--rate=2000",),
}
# Each worker has 50 events.
LIMIT = """
local whole_event, events = event, 0
function event(id) events = events + 1; whole_event(id); return events == 50 end
"""
FILES = {
    "counter.lua": "local n = 0\nreturn { add = function() n = n + 1 end, value = function() return n end }\n",
    "old/style.lua": 'module(..., package.seeall)\nfunction set(v) value = v end\nfunction get() return value end\n',
    "broken.lua": "this is no Lua\n",
    "globals.inc": "from_file = (from_file or 0) + 1\n",
}


ON_A_SERVER = ("coroutines", "errors", "finalizers", "names of 0.5")


def run(folder: Path, script: str, *options: str) -> Result:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "script.lua").write_text(script + LIMIT)
    arguments = ("--threads=7", "--time=0", "--events=0", "--verbosity=0", *options)
    return ours("./script.lua", *arguments, "run", cwd=folder)


def lines(result: Result) -> list[str]:
    return sorted(line for line in result.stdout.splitlines() if line.startswith("> "))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_same_as_with_states_of_their_own(name: str, tmp_path: Path) -> None:
    options = OPTIONS.get(name, ())
    alone = run(tmp_path, SCRIPTS[name], *options)
    together = run(tmp_path, SCRIPTS[name], *options, "--multiplex=2")
    assert len(lines(alone)) == 7, alone.stdout
    assert lines(together) == lines(alone), together.stdout
    assert alone.status == together.status == 0


@pytest.mark.parametrize("name", ON_A_SERVER)
def test_the_same_on_a_database_that_they_wait_for(name: str, database: list[str], tmp_path: Path) -> None:
    alone = run(tmp_path, SCRIPTS[name], *database)
    together = run(tmp_path, SCRIPTS[name], *database, "--multiplex=2")
    assert len(lines(alone)) == 7, alone.stdout
    assert lines(together) == lines(alone), together.stdout
    assert alone.status == together.status == 0


def test_workers_that_share_a_state_take_a_fraction_of_the_memory(tmp_path: Path) -> None:
    script = """
        function event() return true end
        function done()
           for line in io.lines("/proc/self/status") do
              local kib = line:match("^VmHWM:%s+(%d+)")
              if kib then print("> " .. kib) end
           end
        end
        """
    (tmp_path / "script.lua").write_text(script)
    words = ("script.lua", "--threads=1000", "--verbosity=0")
    alone, together = (ours(*words, *way, "run", cwd=tmp_path) for way in ((), ("--multiplex=1",)))
    ((_, kib_alone),), ((_, kib_together),) = ([line.split() for line in lines(result)] for result in (alone, together))
    assert int(kib_together) < 0.6 * int(kib_alone)


def test_a_module_without_functions_of_lua_is_refused() -> None:
    assert not core.lua_load(b"/no/such/module.so")
    assert not core.lua_load(_psycopg.__file__.encode())
    assert core.lua_load(luajit21.__file__.encode())


@pytest.mark.parametrize("multiplex", ["0", "1"])
def test_workers_have_the_stack_that_they_ask_for(multiplex: str, tmp_path: Path) -> None:
    # Each level takes 8 KiB of it and more.
    script = """
        local function deep(n) return n == 0 and "x" or (("a"):gsub("a", function() return deep(n - 1) end)) end
        function event(id) assert(deep(%d) == "x") end
        function thread_done(id) print("> " .. id) end
        """
    default = run(tmp_path, script % 40, f"--multiplex={multiplex}")
    assert (default.status, len(lines(default))) == (0, 7), default.stderr
    larger = run(tmp_path, script % 400, f"--multiplex={multiplex}", "--thread-stack-size=8388608")
    assert (larger.status, len(lines(larger))) == (0, 7), larger.stderr


def test_garbage_of_a_worker_in_the_middle_of_a_statement_waits(mariadb: MariaDB, tmp_path: Path) -> None:
    # The server stops while the first worker sends; the second collects the first one's statements then.
    script = f"""
        function thread_init(id) con = sysbench.sql.driver():connect() end
        function event(id)
           if id == 0 then
              local large = "SELECT LENGTH('" .. ("x"):rep(15000000) .. "')"
              for i = 1, 20 do con:prepare("SELECT " .. i) end
              os.execute("kill -STOP {mariadb.pid} && touch stopped")
              print("> " .. con:query_row(large) .. " " .. con:query_row("SELECT 5"))
              return true
           end
           local file = io.open("stopped")
           if file then
              file:close()
              collectgarbage()
              os.execute("kill -CONT {mariadb.pid}")
              return true
           end
        end
        """
    (tmp_path / "script.lua").write_text(script)
    arguments = (*mariadb.args, "--threads=2", "--multiplex=1", "--time=0", "--events=0", "run")
    try:
        result = ours("./script.lua", *arguments, cwd=tmp_path, timeout_s=30)
    finally:
        os.kill(mariadb.pid, signal.SIGCONT)
    assert lines(result) == ["> 15000000 5"], result.stdout
    assert result.status == 0


def test_what_is_wrong_with_a_type_is_told_of_the_line_of_the_script(tmp_path: Path) -> None:
    script = """
        print("> " .. select(2, pcall(function() ffi.metatype("missing", {}) end)))
        print("> " .. select(2, pcall(function() ffi.metatype(nil, {}) end)))
        os.exit(0)
        """
    (tmp_path / "script.lua").write_text(script)
    result = ours("./script.lua", "help", cwd=tmp_path)
    assert lines(result) == [
        "> ./script.lua:2: declaration specifier expected near 'missing'",
        "> ./script.lua:3: bad argument #1 to 'metatype' (C type expected, got nil)",
    ]


# What each prints of itself as a file: texts that a function around them might break.
TEXTS = {
    "a header": "#!/usr/bin/sysbench\nprint('> ' .. debug.getinfo(1).currentline, ...)",
    "a byte order mark": "\ufeffprint('> ' .. debug.getinfo(1).currentline)",
    "a comment at the end": "print('> ' .. select('#', ...)) -- the end",
    "a long comment": "print('> here') --[==[ ]] end\n]==]",
    "a return": "print('> here') do return end print('> not here')",
    "locals": "".join(f"local v{i} = {i}\n" for i in range(200)) + "print('> ' .. v0 + v199)",
    "as many levels as can be": "do " * 197 + "print('> here')" + " end" * 197,
    "nothing": "",
    "no Lua": "end, function()",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_file_is_the_same_for_many_workers(kind: str, tmp_path: Path) -> None:
    (tmp_path / "text.lua").write_text(TEXTS[kind])
    (tmp_path / "script.lua").write_text('print("> ", pcall(require, "text")) function event() return true end')
    alone, together = (
        ours("./script.lua", "--threads=3", *way, "run", cwd=tmp_path) for way in ((), ("--multiplex=1",))
    )
    assert lines(together) == lines(alone)
    assert len(lines(alone)) >= 4
    assert alone.status == together.status == 0


def test_what_a_script_is_to_itself_is_no_function(tmp_path: Path) -> None:
    script = """
        function event() return true end
        print("> " .. debug.getinfo(1).what .. debug.traceback("", 1):match("in main chunk"))
        """
    (tmp_path / "script.lua").write_text(script)
    result = ours("./script.lua", "--threads=2", "run", cwd=tmp_path)
    assert lines(result) == ["> mainin main chunk"] * 3
    assert result.status == 0


def test_a_finalizer_does_not_get_the_reply_to_a_statement_that_its_worker_waits_for(
    server: Server, tmp_path: Path
) -> None:
    script = """
        function event(id)
           collectgarbage()
           con = sysbench.sql.driver():connect()
           stmt = con:prepare("SELECT 1")
           local object = newproxy(true)
           getmetatable(object).__gc = function()
              con:query("SELECT 'wrong'")
              stmt:close()
              con:disconnect()
           end
           object = nil
           for i = 1, 3 do assert(con:query_row("SELECT " .. id) == tostring(id)) end
        end
        function thread_done(id) print("> " .. id) end
        """
    result = run(tmp_path, script, *server.args, "--multiplex=1", "--verbosity=5")
    assert lines(result) == [f"> {i}" for i in range(7)]
    assert "what a finalizer asks of a connection is left out" in result.stdout
    assert result.status == 0

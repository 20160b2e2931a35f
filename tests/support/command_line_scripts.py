"""Small scripts and config files for command lines, by file name."""

EVENT = "function event() end\n"
USLEEP = "ffi.cdef('int usleep(unsigned)')\n"

FILES = {
    "none.lua": EVENT,
    "empty.lua": "",
    "sub/init.lua": "function event() end function prepare() print('prepared') end",
    "options.lua": EVENT
    + """
sysbench.cmdline.options = {
  tables = {"Number of tables", 1},
  table_size = {"Rows per table", 10000},
  ["skip-trx"] = {"Skip transactions", false},
  engine = {"Storage engine", "innodb"},
  names = {"Names of things", {"a", "b"}},
  empty = {"Empty string", ""},
  unset = {"No default"},
  count = {"A count", 5, sysbench.cmdline.ARG_INT},
  size = {"A size", "10K", sysbench.cmdline.ARG_SIZE},
  ratio = {"A ratio", 0.25},
}
function prepare()
  local names = {}
  for name in pairs(sysbench.cmdline.options) do names[#names + 1] = (name:gsub("-", "_")) end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = sysbench.opt[name]
    if type(value) == "table" then value = "{" .. table.concat(value, "|") .. "}" end
    print(name .. " = " .. tostring(value) .. " (" .. type(value) .. ")")
  end
end
""",
    "threads_option.lua": EVENT
    + "sysbench.cmdline.options = {threads = {'t', 9}, time = {'x', 1}}\n"
    + "function init() print(sysbench.opt.threads, sysbench.opt.time) end",
    "rejects.lua": EVENT
    + "sysbench.cmdline.options = {n = {'n', 1, sysbench.cmdline.ARG_INT, function() return false end}}",
    "no_options.lua": EVENT + "sysbench.cmdline.options = {}",
    "globals.lua": EVENT + "function prepare() print(foo_bar, type(foo_bar), num_threads, type(threads)) end",
    "library.lua": "function read() return deep_option end",
    "uses_library.lua": EVENT + "require('library')",
    "bad_options_number.lua": "sysbench.cmdline.options = 5",
    "bad_options_entry.lua": "sysbench.cmdline.options = {a = 5}",
    "bad_options_description.lua": "sysbench.cmdline.options = {a = {}}",
    "bad_options_name.lua": "sysbench.cmdline.options = {{'x'}}",
    "bad_options_type.lua": "sysbench.cmdline.options = {a = {'x', 5, 77}}",
    "bad_default_bool.lua": "sysbench.cmdline.options = {a = {'x', 'y', sysbench.cmdline.ARG_BOOL}}",
    "bad_default_int.lua": EVENT + "sysbench.cmdline.options = {a = {'x', 'y', sysbench.cmdline.ARG_INT}}",
    "argv.lua": "local c = sysbench.cmdline\n"
    "print(c.argv[0], table.concat(c.argv, '|'), c.command, c.script_path)\n" + EVENT,
    "order.lua": """print('body', sysbench.tid, sysbench.opt == nil)
function init(...) print('init', select('#', ...), sysbench.tid) end
function done(...) print('done', select('#', ...), sysbench.tid) end
function thread_init(...) print('thread_init', select('#', ...), ...) end
function thread_done(...) print('thread_done', select('#', ...), ...) end
function event(...) print('event', select('#', ...), ...) end
function prepare(...) print('prepare', select('#', ...), sysbench.tid) end
function cleanup(...) print('cleanup', select('#', ...)) return false end
function help(...) print('help', select('#', ...)) end
""",
    "no_events.lua": "function event() return true end\n"
    "function thread_init(id) io.write('init ' .. id .. '\\n') end\n"
    "function thread_done(id) io.write('done ' .. id .. '\\n') end\n"
    "function done() print('the end') end",
    "commands.lua": EVENT
    + """local parallel = sysbench.cmdline.PARALLEL_COMMAND
sysbench.cmdline.commands = {
  tell = {function(...) print('tell', sysbench.tid, ...) end},
  all = {function(...) io.write('all ' .. select('#', ...) .. '\\n') end, parallel},
  no = {function() return false end},
  zero = {function() return 0 end},
  fails = {function() error('boom') end},
  fails_oddly = {function() error({}) end},
  all_fail = {function() error('boom') end, parallel},
  all_no = {function() return false end, parallel},
  run = {function() print('my run') end},
  help = {function() print('my help') end},
  prepare = {function() print('my prepare') end},
  number = 5, nothing = {}, uncallable = {5}, gap = {nil, true},
}
""",
    "fails.lua": "function prepare() error('p') end function cleanup() error('c') end\nfunction help() error('h') end",
    "init_fails.lua": EVENT + "function init() error('boom') end",
    "init_fails_oddly.lua": EVENT + "function init() error({}) end",
    "no_event.lua": "function init() print('init') end",
    "thread_init_fails.lua": EVENT
    + "function thread_init(id) if id == 0 then error('boom') end end\n"
    + "function thread_done() print('thread_done') end function done() print('done') end",
    "event_fails.lua": "function event() error('boom') end\n"
    "function thread_done() print('thread_done') end function done() print('done') end",
    "event_fails_oddly.lua": "function event() error({1}) end",
    "event_fails_late.lua": "local n = 0 function event() n = n + 1 if n > 3 then error('boom', 0) end end",
    "thread_done_fails.lua": EVENT + "function thread_done() error('boom') end",
    "done_fails.lua": EVENT + "function done() error('boom') end",
    "returns_zero.lua": "local n = 0 function event() n = n + 1 if n == 3 then return 0 end end",
    "returns_table.lua": "local n = 0 function event() n = n + 1 if n == 3 then return {} end end",
    "returns_false.lua": "function event() return false end",
    "own_loop.lua": EVENT
    + "function thread_run(id) for i = 1, 3 do io.write('turn ' .. id .. ' ' .. i .. '\\n') end end",
    "own_loop_events.lua": EVENT
    + """
ffi.cdef('bool sb_more_events(int); void sb_event_start(int); void sb_event_stop(int);')
function thread_run(id)
  while ffi.C.sb_more_events(id) do ffi.C.sb_event_start(id) event(id) ffi.C.sb_event_stop(id) end
end
""",
    "restarts.lua": """local n = 0
sysbench.hooks.before_restart_event = function(err) print('restart', err.errcode, err.n) end
function event()
  n = n + 1
  if n < 3 then error({errcode = sysbench.error.RESTART_EVENT, n = n}) end
  print('ok')
end""",
    "report.lua": EVENT + "sysbench.hooks.report_cumulative = function(s) print('events', s.events) end",
    "report_threads.lua": EVENT
    + "sysbench.hooks.report_cumulative = function(s) print('threads', s.threads_running) end",
    "report_fails.lua": EVENT + "sysbench.hooks.report_cumulative = function() error('boom') end",
    "short_sleep.lua": USLEEP + "function event() ffi.C.usleep(300000) end",
    "long_sleep.lua": USLEEP + "function event() ffi.C.usleep(2500000) end",
    "sql.lua": "function thread_init() con = sysbench.sql.driver():connect() end\n"
    "function event() con:query('SELECT 1') end\n"
    "function prepare() sysbench.sql.driver():connect():query('CREATE TABLE x') print('done') end",
    "syntax_error.lua": "x = = 1",
    "runtime_error.lua": "error('body')",
    "odd_error.lua": "error({})",
    "nil_error.lua": "local x = nil; x.y = 1",
    "needs_module.lua": "require('no_such_module')",
    "needs_bad_module.lua": "require('syntax_error')",
    "plain.cnf": "threads=2\n# comment=1\n\n[mysql]\nevents=3\n",
    "trimmed.cnf": " threads = 2\nevents = 3 # three\n",
    "off.cnf": "events=3\nhistogram=off\n",
    "tables.cnf": "tables=7\n",
    "foo.cnf": "foo=7\n",
    "quotes.cnf": "mysql-host='a b', c \"d,e\" f#g\nevents=3\n",
    "open_quote.cnf": "events=3\nmysql-host='a\nthreads=2\n",
}

-- What scripts see of sysbench: its fields and functions; and the default event loop.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: thread id, version, version string; argv as a table, command or nil, script path or nil.
local tid, version, version_string, argv, command, script_path = ...
local stdout = _G.io.stdout

sysbench.tid, sysbench.version, sysbench.version_string = tid, version, version_string
sysbench.error = { NONE = 0, RESTART_EVENT = 1 }
sysbench.hooks = {}

-- Add functions of a part to a table, each loaded at its first call: a script cannot tell them from the functions
-- themselves. There are many of them in each state, so they are small, with two upvalues: until then, `real` is the
-- name.
local function late(functions, name_of_part, names)
   local loaded = shared_parts[name_of_part]
   local function load(name) return part(name_of_part)[name] end
   local function add(real)
      functions[real] = loaded and loaded[real] or function(...)
         if type(real) == "string" then
            real = load(real)
         end
         return real(...)
      end
   end
   for name in gmatch(names, "%S+") do
      add(name)
   end
   return functions
end

late(sysbench, "sysbench.report", "report_default report_csv report_json")
sysbench.rand = late({}, "sysbench.rand",
   "uniform_uint64 uniform_double default uniform gaussian special pareto zipfian unique string varstring seed")
sysbench.histogram = late({}, "sysbench.histogram", "new")
late(sysbench.sql, "sysbench.sql", "driver")
sysbench.sql.type = {
   NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8,
   DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
}
sysbench.sql.error = { NONE = 0, IGNORABLE = 1, FATAL = 2 }
sysbench.cmdline = late({
   argv = argv,
   command = command,
   script_path = script_path,
   ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6,
   ARG_FILE = 7, ARG_MAX = 8,
   PARALLEL_COMMAND = true,
}, "sysbench.cmdline",
   "read_cmdline_options command_defined command_parallel call_command print_test_options share meet")

-- The names of sysbench 0.5.
_G.thread_id, _G.test, _G.mysql_table_engine, _G.myisam_max_rows = tid, script_path, "innodb", 1000000
late(_G, "legacy", "sb_rand sb_rand_uniform sb_rand_gaussian sb_rand_special sb_rand_str sb_rnd sb_rand_uniq " ..
    "db_connect db_disconnect db_query db_bulk_insert_init db_bulk_insert_next db_bulk_insert_done db_prepare " ..
    "db_bind_param db_bind_result db_execute db_store_results db_free_results db_close")
_G.DB_ERROR_NONE, _G.DB_ERROR_RESTART_TRANSACTION, _G.DB_ERROR_FAILED = 0, 1, 2
sysbench.db = { DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2 }
for name in gmatch("connect disconnect query bulk_insert_init bulk_insert_next bulk_insert_done prepare bind_param " ..
                   "bind_result execute store_results free_results close", "%S+") do
   sysbench.db[name] = _G["db_" .. name]
end

-- LuaJIT's print writes a line in pieces, and those of several threads mix; this one writes it at once.
function _G.print(...)
   local line = {}
   for i = 1, select("#", ...) do
      line[i] = tostring((select(i, ...)))
   end
   stdout:write(concat(line, "\t") .. "\n")
end

local exit = _G.os.exit

function _G.os.exit(...)
   part("sysbench.failure").leave(...)
   exit(...)
end

local sb_event_next, native, part, pcall = native("sb_event_next"), native, part, pcall

-- A script without the function is told what pcall would tell it.
local function call(f, ...)
   return f(...)
end

-- Events follow each other in one loop that compiled code need not leave: an error ends it. True if an event wants no more.
local function run_events(thread_id)
   while sb_event_next(thread_id) do
      if call(event, thread_id) then
         return true
      end
   end
   return false
end

local function thread_run(thread_id)
   local ok, stopped = pcall(run_events, thread_id)
   while not ok do
      ok, stopped = part("sysbench.restart")(thread_id, stopped)
      if not ok then
         stopped = true
         break
      elseif not stopped then
         ok, stopped = pcall(run_events, thread_id)
      end
   end
   if stopped then
      native("sb_event_cancel")(thread_id)
   end
end
setfenv(run_events, _G)
_G.thread_run = setfenv(thread_run, _G)

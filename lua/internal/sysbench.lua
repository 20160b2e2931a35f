-- What scripts see of sysbench: its fields and functions; and the default event loop.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: native, part and late of sysbench.ffi.lua; thread id, version, version string; argv as a
-- table, command or nil, script path or nil.
local native, _, late, tid, version, version_string, argv, command, script_path = ...
local sb_event_next, sb_event_cancel, sb_event_may_restart =
   native("sb_event_next"), native("sb_event_cancel"), native("sb_event_may_restart")

-- What a script makes of the globals must not break the library.
local sysbench = sysbench
local pcall, type, error = pcall, type, error
local select, tostring, concat, stdout = select, tostring, table.concat, io.stdout

sysbench.tid, sysbench.version, sysbench.version_string = tid, version, version_string
sysbench.error = { NONE = 0, RESTART_EVENT = 1 }
sysbench.hooks = {}
local RESTART_EVENT = sysbench.error.RESTART_EVENT

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
thread_id, test, mysql_table_engine, myisam_max_rows = tid, script_path, "innodb", 1000000
late(_G, "legacy", "sb_rand sb_rand_uniform sb_rand_gaussian sb_rand_special sb_rand_str sb_rnd sb_rand_uniq " ..
    "db_connect db_disconnect db_query db_bulk_insert_init db_bulk_insert_next db_bulk_insert_done db_prepare " ..
    "db_bind_param db_bind_result db_execute db_store_results db_free_results db_close")
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2
sysbench.db = { DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2 }
for name in ("connect disconnect query bulk_insert_init bulk_insert_next bulk_insert_done prepare bind_param " ..
             "bind_result execute store_results free_results close"):gmatch("%S+") do
   sysbench.db[name] = _G["db_" .. name]
end

-- LuaJIT's print writes a line in pieces, and those of several threads mix; this one writes it at once.
function print(...)
   local line = {}
   for i = 1, select("#", ...) do
      line[i] = tostring((select(i, ...)))
   end
   stdout:write(concat(line, "\t") .. "\n")
end

local function is_restart(err)
   return type(err) == "table" and err.errcode == RESTART_EVENT
end

-- Call event() until it succeeds; nil if the run ends before. A restart is part of the same event.
local function restart(thread_id, err)
   while sb_event_may_restart(thread_id) do
      local hook = sysbench.hooks.before_restart_event
      local ok, result = true, nil
      if hook then
         ok, result = pcall(hook, err)
      end
      if ok then
         ok, result = pcall(event, thread_id)
         if ok then
            return true, result
         end
      end
      -- The hook itself talks to the server and may lose the connection again.
      if not is_restart(result) then
         error(result, 0)
      end
      err = result
   end
   return false
end

function thread_run(thread_id)
   while sb_event_next(thread_id) do
      local ok, result = pcall(event, thread_id)
      if not ok then
         if not is_restart(result) then
            sb_event_cancel(thread_id)
            error(result, 0)
         end
         ok, result = restart(thread_id, result)
      end
      if not ok or result then
         sb_event_cancel(thread_id)
         return
      end
   end
end

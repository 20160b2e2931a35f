-- The root of what scripts see: sysbench.tid, version, error, hooks; and the default event loop.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: thread id, version, version string.
local tid, version, version_string = ...
local C = require("ffi").C

sysbench = {
   tid = tid,
   version = version,
   version_string = version_string,
   error = { NONE = 0, RESTART_EVENT = 1 },
   hooks = {},
}

local RESTART_EVENT = sysbench.error.RESTART_EVENT
-- What a script makes of the globals must not break the library.
local sysbench = sysbench
local pcall, type, error = pcall, type, error
local select, tostring, concat, stdout = select, tostring, table.concat, io.stdout

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
   while C.sb_event_may_restart(thread_id) do
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
   local next_event = C.sb_event_next
   while next_event(thread_id) do
      local ok, result = pcall(event, thread_id)
      if not ok then
         if not is_restart(result) then
            C.sb_event_cancel(thread_id)
            error(result, 0)
         end
         ok, result = restart(thread_id, result)
      end
      if not ok or result then
         C.sb_event_cancel(thread_id)
         return
      end
   end
end

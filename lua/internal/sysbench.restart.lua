-- What becomes of an event that has failed.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the function.
local sb_event_cancel, sb_event_may_restart = native("sb_event_cancel"), native("sb_event_may_restart")
local _G, error, pcall, sysbench, type = _G, error, pcall, sysbench, type
local RESTART_EVENT = 1

local function is_restart(err)
   return type(err) == "table" and err.errcode == RESTART_EVENT
end

-- Call event() until it succeeds; false if the run ends before. A restart is part of the same event. Any error but
-- one that asks for a restart is raised.
return function(thread_id, err)
   if not is_restart(err) then
      sb_event_cancel(thread_id)
      error(err, 0)
   end
   while sb_event_may_restart(thread_id) do
      local hook = sysbench.hooks.before_restart_event
      local ok, result = true, nil
      if hook then
         ok, result = pcall(hook, err)
      end
      if ok then
         ok, result = pcall(_G.event, thread_id)
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

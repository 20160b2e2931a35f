-- What the engine calls in a state. Every function returns true and results, or false and the error as text.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: a function that closes what the report functions have begun, and one that makes
-- options globals.
local close_reports, export_globals = ...
local C = require("ffi").C
local FATAL = 0

local engine = {}

-- Errors are any Lua value; messages are text.
local function text_of(err)
   if type(err) == "string" or type(err) == "number" then
      return tostring(err)
   elseif type(err) == "table" and type(err.sql_errmsg) == "string" then
      return string.format("SQL error, errno = %d, state = '%s': %s", err.sql_errno or 0, err.sql_state or "",
                           err.sql_errmsg)
   end
   return "(not a string)"
end

local function checked(ok, ...)
   if ok then
      return true, ...
   end
   return false, text_of((...))
end

local function log_failure(name, err)
   C.sb_log(FATAL, string.format("`%s' function failed: %s", name, text_of(err)))
end

-- Run the script's body: a file that can be read, else a module of that name.
-- The third result tells whether the name was not found at all.
function engine.load_script(name)
   local file = io.open(name, "rb")
   local _, problem
   if file then
      _, problem = file:read(0)
      file:close()
   end
   if file and not problem then
      local chunk, message = loadfile(name)
      if not chunk then
         return false, message
      end
      return checked(pcall(chunk))
   end
   local ok, err = pcall(require, name)
   return ok, not ok and text_of(err) or nil, not ok and type(err) == "string" and err:sub(1, 7) == "module "
end

function engine.load_text(text, name)
   local chunk, message = loadstring(text, name)
   if not chunk then
      return false, message
   end
   return checked(pcall(chunk))
end

function engine.set_options(options)
   sysbench.opt = options
   if sysbench.cmdline.options == nil then
      export_globals(options)
   end
end

function engine.defined(name)
   return type(_G[name]) == "function"
end

function engine.hook_defined(name)
   return sysbench.hooks[name] ~= nil
end

-- Call a global function; its errors are logged under its name.
function engine.call(name, ...)
   local ok, err = pcall(_G[name], ...)
   if not ok then
      log_failure(name, err)
   end
   return ok
end

function engine.call_hook(name, ...)
   local ok, err = pcall(sysbench.hooks[name], ...)
   if not ok then
      log_failure(name, err)
   end
   return ok
end

function engine.command(function_name, ...)
   return checked(pcall(sysbench.cmdline[function_name], ...))
end

function engine.call_command(name)
   local ok, result = pcall(sysbench.cmdline.call_command, name)
   if not ok then
      log_failure("sysbench.cmdline.call_command", result)
      return false
   end
   return result
end

-- A whole worker: set up, wait for the others, run events, tear down. Whether the run went well so far.
function engine.run_worker(thread_id)
   if thread_init and not engine.call("thread_init", thread_id) then
      C.sb_run_fail()
   end
   if not C.sb_worker_ready(thread_id) then
      return false
   end
   local ok, err = pcall(thread_run, thread_id)
   if not ok then
      C.sb_run_fail()
      log_failure("thread_run", err)
      return false
   end
   if thread_done then
      engine.call("thread_done", thread_id)
   end
   return true
end

function engine.close()
   close_reports()
   collectgarbage()
end

return engine

-- What the engine calls in a state. Every function returns true and results, or false and the error as text.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: a function that makes options globals.
local export_globals = ...
local ffi = require("ffi")
local C = ffi.C
local FATAL = 0
local c_string, c_function, address =
   ffi.typeof("const char *"), ffi.typeof("void (*)(void)"), ffi.typeof("uintptr_t")
-- What a script makes of the globals must not break the engine.
local _G, sysbench = _G, sysbench
local collectgarbage, loadfile, loadstring, pairs, pcall, require, tonumber, tostring, type =
   collectgarbage, loadfile, loadstring, pairs, pcall, require, tonumber, tostring, type
local open, format = io.open, string.format
local driver = sysbench.sql.driver

local engine = {}

-- Errors are any Lua value; messages are text.
local function text_of(err)
   if type(err) == "string" or type(err) == "number" then
      return tostring(err)
   elseif type(err) == "table" and type(err.sql_errmsg) == "string" then
      return format("SQL error, errno = %d, state = '%s': %s", err.sql_errno or 0, err.sql_state or "", err.sql_errmsg)
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
   C.sb_log(FATAL, format("`%s' function failed: %s", name, text_of(err)))
end

-- Run the script's body: a file that can be read, else a module of that name.
-- The third result tells whether the name was not found at all.
function engine.load_script(name)
   local file = open(name, "rb")
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

local function call_cmdline(function_name, ...)
   return sysbench.cmdline[function_name](...)
end

-- Call a function of sysbench.cmdline.
function engine.command(function_name, ...)
   return checked(pcall(call_cmdline, function_name, ...))
end

function engine.call_command(name)
   local ok, result = pcall(call_cmdline, "call_command", name)
   if not ok then
      log_failure("sysbench.cmdline.call_command", result)
      return false
   end
   return result
end

-- The names of the script's own commands.
function engine.command_names()
   local commands, names = sysbench.cmdline.commands, {}
   for name in pairs(type(commands) == "table" and commands or {}) do
      if type(name) == "string" and sysbench.cmdline.command_defined(name) then
         names[#names + 1] = name
      end
   end
   return names
end

function engine.has_options()
   return sysbench.cmdline.options ~= nil
end

-- Whether the script's own validator, if any, accepts the text of an option. It gets C strings.
function engine.option_accepts(name, text)
   local validate = sysbench.cmdline.options[name][4]
   if not validate then
      return true, true
   end
   return checked(pcall(validate, ffi.cast(c_string, name), ffi.cast(c_string, text)))
end

-- `options` is a chunk that returns them as a table.
function engine.set_options(options)
   sysbench.opt = loadstring(options)()
   if not engine.has_options() then
      export_globals(sysbench.opt)
   end
end

-- init and done are called whatever they are, as in the original; anything else must be a function to count.
function engine.defined(name)
   if name == "init" or name == "done" then
      return _G[name] ~= nil
   end
   return type(_G[name]) == "function"
end

function engine.hook_defined(name)
   return type(sysbench.hooks) == "table" and sysbench.hooks[name] ~= nil
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
   C.sb_worker_done(thread_id)
   return true
end

-- A C function without arguments that calls one of these functions, and one that tells, once, how it went.
function engine.body(name, argument)
   local ok = false
   local body = ffi.cast(c_function, function() ok = engine[name](argument) end)
   return tonumber(ffi.cast(address, body)), function()
      body:free()
      return ok
   end
end

-- A function that queries on a connection of its own: a list of rows of texts, or nil if that fails.
-- Without a query it disconnects. Nothing if the connection cannot be made.
function engine.asker()
   local ok, con = pcall(function() return driver():connect() end)
   if not ok then
      return nil
   end
   local function rows_of(sql)
      local rs, rows = con:query(sql), {}
      for i = 1, rs.nrows do
         local row = rs:fetch_row()
         for k = 1, rs.nfields do
            row[k] = row[k] or ""
         end
         rows[i] = row
      end
      return rows
   end
   return function(sql)
      if sql == nil then
         con:disconnect()
         return nil
      end
      local answered, rows = pcall(rows_of, sql)
      return answered and rows or nil
   end
end

-- Close connections that nobody refers to.
function engine.close()
   collectgarbage()
end

return engine

-- What the engine calls in few states: the main one, those of reports and of commands. Every function returns true
-- and results, or false and the error as text.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: two functions of the engine's.
local checked, field = ...
local sb_team_leave = native("sb_team_leave")
local _G, ffi, loadstring, pairs, part, pcall, sysbench, type =
   _G, ffi, loadstring, pairs, part, pcall, sysbench, type
local log_failure = part("sysbench.failure").log

local main = {}

local function call_cmdline(function_name, ...)
   return sysbench.cmdline[function_name](...)
end

function main.load_text(text, name)
   local chunk, message = loadstring(text, name)
   if not chunk then
      return false, message
   end
   return checked(pcall(chunk))
end

function main.has_options()
   return sysbench.cmdline.options ~= nil
end

-- Call a function of sysbench.cmdline.
function main.command(function_name, ...)
   return checked(pcall(call_cmdline, function_name, ...))
end

-- Run a command of the script's own; errors are logged.
function main.call_command(name)
   local ok, result = pcall(call_cmdline, "call_command", name)
   if not ok then
      log_failure("sysbench.cmdline.call_command", result)
      result = false
   end
   sb_team_leave(result ~= false)
   return result
end

-- The names of the script's own commands.
function main.command_names()
   local commands, names = sysbench.cmdline.commands, {}
   for name in pairs(type(commands) == "table" and commands or {}) do
      if type(name) == "string" and sysbench.cmdline.command_defined(name) then
         names[#names + 1] = name
      end
   end
   return names
end

-- Whether the script's own validator, if any, accepts the text of an option. It gets C strings.
function main.option_accepts(name, text)
   local validate = sysbench.cmdline.options[name][4]
   if not validate then
      return true, true
   end
   return checked(pcall(validate, ffi.cast("const char *", name), ffi.cast("const char *", text)))
end

-- init and done are called whatever they are, as in the original; anything else must be a function to count.
function main.defined(name)
   if name == "init" or name == "done" then
      return field(_G, name) ~= nil
   end
   return type(field(_G, name)) == "function"
end

function main.hook_defined(name)
   return type(sysbench.hooks) == "table" and field(sysbench.hooks, name) ~= nil
end

function main.call_hook(name, ...)
   local ok, err = pcall(field(sysbench.hooks, name), ...)
   if not ok then
      log_failure(name, err)
   end
   return ok
end

-- A function that queries on a connection of its own: a list of rows of texts, or nil if that fails.
-- Without a query it disconnects. Nothing if the connection cannot be made.
function main.asker()
   local ok, con = pcall(function() return part("sysbench.sql").driver():connect() end)
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

return main

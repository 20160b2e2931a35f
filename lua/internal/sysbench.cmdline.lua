-- sysbench.cmdline: arguments, the script's options, its own commands.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: argv as a table, command or nil, script path or nil.
local argv, command, script_path = ...
local ffi = require("ffi")
local C = ffi.C
-- What a script makes of the globals must not break the library.
local sysbench, error, pairs, tostring, type = sysbench, error, pairs, tostring, type
local concat, sort = table.concat, table.sort

local cmdline = {
   argv = argv,
   command = command,
   script_path = script_path,
   ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6,
   ARG_FILE = 7, ARG_MAX = 8,
   PARALLEL_COMMAND = true,
}
sysbench.cmdline = cmdline

local type_of_default = {
   boolean = cmdline.ARG_BOOL, string = cmdline.ARG_STRING, number = cmdline.ARG_DOUBLE,
   table = cmdline.ARG_LIST, ["nil"] = cmdline.ARG_STRING,
}

local function default_text(value)
   if value == nil then
      return nil
   elseif type(value) == "table" then
      return concat(value, ",")
   elseif type(value) == "boolean" then
      return value and "on" or "off"
   end
   return tostring(value)
end

local function option_of(name, definition)
   if type(name) ~= "string" or type(definition) ~= "table" then
      error("wrong table structure in sysbench.cmdline.options")
   end
   local description, default, kind = definition[1], definition[2], definition[3]
   if description == nil then
      error("nil description for option " .. name)
   end
   kind = kind or type_of_default[type(default)]
   if type(kind) ~= "number" or kind <= cmdline.ARG_NULL or kind >= cmdline.ARG_MAX then
      error("wrong type for option " .. name .. ": " .. tostring(kind or type(default)))
   end
   if type(default) == "table" and kind ~= cmdline.ARG_LIST then
      error("wrong type for list option " .. name)
   end
   return { name = name, desc = tostring(description), value = default_text(default), type = kind }
end

-- Declare the script's options, sorted by name, to the core.
function cmdline.read_cmdline_options()
   local options = sysbench.cmdline.options
   if options == nil then
      return
   end
   if type(options) ~= "table" then
      error("wrong type for sysbench.cmdline.options: " .. type(options))
   end
   local list = {}
   for name, definition in pairs(options) do
      list[#list + 1] = option_of(name, definition)
   end
   sort(list, function(a, b) return a.name < b.name end)
   local args = ffi.new("sb_arg[?]", #list)
   for i = 1, #list do
      args[i - 1] = list[i]
   end
   C.sb_lua_set_test_args(args, #list)
end

local function definition_of(name)
   local commands = sysbench.cmdline.commands
   local definition = type(commands) == "table" and commands[name]
   if type(definition) == "table" and definition[1] ~= nil then
      return definition
   end
   return nil
end

function cmdline.command_defined(name)
   return definition_of(name) ~= nil
end

function cmdline.command_parallel(name)
   local definition = definition_of(name)
   return definition ~= nil and definition[2] == cmdline.PARALLEL_COMMAND
end

-- True unless the command returns false: nil stands for success.
function cmdline.call_command(name)
   return definition_of(name)[1]() ~= false
end

function cmdline.print_test_options()
   C.sb_print_test_options()
end

-- sysbench.cmdline: arguments, the script's options, its own commands.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: argv as a table, command or nil, script path or nil, function that formats options.
local argv, command, script_path, format_options = ...
local C = require("ffi").C

sysbench.cmdline = {
   argv = argv,
   command = command,
   script_path = script_path,
   ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6,
   ARG_FILE = 7, ARG_MAX = 8,
   PARALLEL_COMMAND = true,
}
local cmdline = sysbench.cmdline

local type_of_default = {
   boolean = cmdline.ARG_BOOL, string = cmdline.ARG_STRING, number = cmdline.ARG_DOUBLE,
   table = cmdline.ARG_LIST, ["nil"] = cmdline.ARG_STRING,
}

local function default_text(value)
   if value == nil then
      return nil
   elseif type(value) == "table" then
      return table.concat(value, ",")
   elseif type(value) == "boolean" then
      return value and "on" or "off"
   end
   return tostring(value)
end

-- The script's options as a list of {name, description, default text or nil, type}; nil if it declares none.
function cmdline.read_cmdline_options()
   local options = cmdline.options
   if options == nil then
      return nil
   end
   if type(options) ~= "table" then
      error("wrong type for sysbench.cmdline.options: " .. type(options))
   end
   local list = {}
   for name, definition in pairs(options) do
      if type(name) ~= "string" or type(definition) ~= "table" then
         error("wrong table structure in sysbench.cmdline.options")
      end
      if definition[1] == nil then
         error("nil description for option " .. name)
      end
      list[#list + 1] = { name, tostring(definition[1]), default_text(definition[2]),
                          definition[3] or type_of_default[type(definition[2])] }
   end
   table.sort(list, function(a, b) return a[1] < b[1] end)
   return list
end

-- Whether the script's own validator, if any, accepts the value of an option (nil and text are both allowed).
function cmdline.option_accepts(name, value)
   local definition = (cmdline.options or {})[name]
   local validate = definition and definition[4]
   return not validate or validate(name, value) and true or false
end

local function definition_of(name)
   local commands = cmdline.commands
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
   C.sb_print(format_options())
end

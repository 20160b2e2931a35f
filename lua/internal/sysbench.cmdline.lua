-- sysbench.cmdline: arguments, the script's options, its own commands.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the functions of sysbench.cmdline.
local ffi, sysbench, error, pairs, tonumber, tostring, type = ffi, sysbench, error, pairs, tonumber, tostring, type
local concat, sort = concat, sort
local sb_lua_set_test_args, sb_print_test_options = native("sb_lua_set_test_args"), native("sb_print_test_options")
local sb_team_next, sb_team_meet = native("sb_team_next"), native("sb_team_meet")
local ARG_NULL, ARG_BOOL, ARG_DOUBLE, ARG_STRING, ARG_LIST, ARG_MAX =
   native("SB_ARG_TYPE_NULL"), native("SB_ARG_TYPE_BOOL"), native("SB_ARG_TYPE_DOUBLE"),
   native("SB_ARG_TYPE_STRING"), native("SB_ARG_TYPE_LIST"), native("SB_ARG_TYPE_MAX")

local cmdline = {}

local type_of_default = {
   boolean = ARG_BOOL, string = ARG_STRING, number = ARG_DOUBLE,
   table = ARG_LIST, ["nil"] = ARG_STRING,
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
   if type(kind) ~= "number" or kind <= ARG_NULL or kind >= ARG_MAX then
      error("wrong type for option " .. name .. ": " .. tostring(kind or type(default)))
   end
   if type(default) == "table" and kind ~= ARG_LIST then
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
   sb_lua_set_test_args(args, #list)
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
   return definition ~= nil and definition[2] == true
end

-- True unless the command returns false: nil stands for success.
function cmdline.call_command(name)
   return definition_of(name)[1]() ~= false
end

-- For the threads of a parallel command: the numbers 0 .. n-1, each of which one thread gets. None are left once a
-- thread has failed.
function cmdline.share(n)
   -- Beyond 2^53 not every number can be told from the next.
   if type(n) ~= "number" or not (n >= 0 and n <= 2 ^ 53 and n % 1 == 0) then
      error("bad argument #1 to 'share' (how many numbers expected, got " .. tostring(n) .. ")", 2)
   end
   return function()
      local number = tonumber(sb_team_next(n))
      return number >= 0 and number or nil
   end
end

-- Wait until all threads of a parallel command have come here, or have ended; false if one has failed. Numbers are
-- shared out anew after that.
function cmdline.meet()
   return sb_team_meet()
end

function cmdline.print_test_options()
   sb_print_test_options()
end

return cmdline

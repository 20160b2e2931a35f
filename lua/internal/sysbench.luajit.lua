-- What --luajit-cmd asks for: a function of the jit library, or the start function of a module jit.*.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: NAME or NAME=ARGUMENT,... as behind -j of luajit; an empty argument is nil.
-- Returns what is wrong, nil if nothing is.
local name, equals, rest = (...):match("^([^=]*)(=?)(.*)$")

local run = jit[name]
if type(run) ~= "function" then
   local ok, module = pcall(require, "jit." .. name)
   run = ok and type(module) == "table" and module.start
end
if type(run) ~= "function" then
   return "unknown luaJIT command or jit.* modules not installed"
end

local arguments, n = {}, 0
if equals ~= "" then
   for argument in (rest .. ","):gmatch("([^,]*),") do
      n = n + 1
      arguments[n] = argument ~= "" and argument or nil
   end
end
local ok, message = pcall(run, unpack(arguments, 1, n))
return not ok and tostring(message) or nil

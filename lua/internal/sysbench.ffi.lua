-- The core's declarations; the parts of this library that are loaded when they are first needed; and an ffi.cdef that
-- lets scripts declare the core once more.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the types of abi.h, and sb_stored. Returns the functions native, part and late, which other
-- chunks get as their first arguments.
local types = ...
ffi = require("ffi")
local C, cdef, to_string = ffi.C, ffi.cdef, ffi.string
local gmatch, loadstring, setfenv, type = string.gmatch, loadstring, setfenv, type
cdef(types)
local sb_stored = C.sb_stored

-- The root of what scripts see.
sysbench = { sql = {} }

-- Parts run in this environment: what a script makes of the globals must not break one that is loaded after it.
local kept = {
   _G = _G, ffi = ffi, sysbench = sysbench, sql = sysbench.sql, assert = assert, error = error, getmetatable = getmetatable, pcall = pcall, pairs = pairs,
   rawequal = rawequal, select = select, setmetatable = setmetatable, tonumber = tonumber, tostring = tostring,
   type = type, unpack = unpack, format = string.format, concat = table.concat, sort = table.sort, max = math.max,
}
local pcall, error, tostring = pcall, error, tostring

local function stored(name)
   local text = sb_stored(name)
   return text ~= nil and to_string(text.buffer, text.length)
end

-- A script that asks for anything in ffi.C finds everything there. Few do, and the declarations take much room.
local library = debug.getmetatable(C)
local index = library.__index
local all_declared = false
local declare_all

function library.__index(namespace, name)
   declare_all()
   return index(namespace, name)
end

-- A function or constant of the core's. In a local that is never assigned to, it is a constant for compiled code.
local function native(name)
   local prototype = not all_declared and stored(name)
   if prototype then
      cdef(prototype)
   end
   return index(C, name)
end

-- What a part returns, which is loaded at its first use.
local parts = {}

local function part(name, ...)
   if not parts[name] then
      parts[name] = setfenv(loadstring(stored(name)), kept)(native, part, ...)
   end
   return parts[name]
end

-- Add functions of a part to a table, each loaded at its first call: a script cannot tell them from the functions
-- themselves. There are many of them in each state, so they are small: until then, `real` is the name.
local function late(functions, name_of_part, names)
   local function load(name) return part(name_of_part)[name] end
   local function add(real)
      functions[real] = function(...)
         if type(real) == "string" then
            real = load(real)
         end
         return real(...)
      end
   end
   for name in gmatch(names, "%S+") do
      add(name)
   end
   return functions
end

function declare_all()
   if not all_declared then
      all_declared = true
      library.__index = index
      cdef(stored("prototypes"))
      part("sysbench.sql")
      part("sysbench.histogram")
   end
end

-- Whether a constant of an enum of abi.h is found by the pattern.
local function is_ours(pattern)
   for constants in stored("types"):gmatch("enum%s*(%b{})") do
      if constants:find(pattern) then
         return true
      end
   end
   return false
end

-- Scripts declare what they use of the core. LuaJIT takes functions and types twice, but no constant of an enum:
-- one that is declared already gets another name in the script's text, so that the rest is declared as it says.
local renamed = 0

function ffi.cdef(text, ...)
   declare_all()
   local ok, message = pcall(cdef, text, ...)
   while not ok do
      local name = tostring(message):match("^attempt to redefine '([%w_]+)'")
      local pattern = name and "%f[%w_]" .. name .. "%f[^%w_]"
      if not pattern or not is_ours(pattern) then
         error(message, 2)
      end
      renamed = renamed + 1
      text = text:gsub(pattern, "redeclared_" .. renamed .. "_" .. name)
      ok, message = pcall(cdef, text, ...)
   end
end

return native, part, late

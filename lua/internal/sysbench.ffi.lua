-- The core's functions, and the parts of this library that are loaded when they are first needed.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the prototype of sb_stored. Returns the environment of internal Lua.
local ffi = require("ffi")
local C, cdef, to_string = ffi.C, ffi.cdef, ffi.string
local loadstring, setfenv = loadstring, setfenv
cdef((...))
local sb_stored, library = C.sb_stored, debug.getmetatable(C)
local index = library.__index

-- The root of what scripts see.
sysbench = { sql = {} }

-- What a script makes of the globals and of the libraries must not break what is loaded after it. So internal Lua has
-- no methods of strings.
local kept = {
   _G = _G, ffi = ffi, sysbench = sysbench, package = package, assert = assert, error = error,
   collectgarbage = collectgarbage, getmetatable = getmetatable, loadfile = loadfile, loadstring = loadstring,
   pcall = pcall, pairs = pairs, rawequal = rawequal, rawset = rawset, require = require, select = select,
   setfenv = setfenv, setmetatable = setmetatable, tonumber = tonumber, tostring = tostring, type = type,
   unpack = unpack, format = string.format, dump = string.dump, open = io.open, concat = table.concat,
   sort = table.sort, find = string.find, gsub = string.gsub, sub = string.sub,
}

local function stored(name)
   local text = sb_stored(name)
   return text ~= nil and to_string(text + 1, text[0])
end

-- What parts return, by their names; and which texts of abi.h are declared: "types" with all that is made of them, and
-- "plain", the other functions.
local parts = {}

-- These take much room, and few states need them.
local function declare(name)
   if not parts[name] then
      parts[name] = true
      cdef(stored(name))
   end
end

-- A function or constant of the core's. In a local that is never assigned to, it is a constant for compiled code.
function kept.native(name)
   local prototype = not parts.plain and stored(name)
   if prototype then
      cdef(prototype)
   else
      declare("types")
   end
   return index(C, name)
end

-- What a part returns, which is loaded at its first use. Further arguments count then.
function kept.part(name, ...)
   if not parts[name] then
      parts[name] = setfenv(loadstring(stored(name)), kept)(...)
   end
   return parts[name]
end
kept.parts = parts

-- Scripts get LuaJIT's ffi with the core's declarations, when they first use any of it.
_G.ffi = setmetatable({}, {
   __index = function(empty, name)
      kept.part("sysbench.cdef", empty, library, declare, stored)
      return empty[name]
   end,
})
package.loaded.ffi = _G.ffi

return kept

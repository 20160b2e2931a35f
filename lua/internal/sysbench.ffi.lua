-- The core's declarations, and the parts of this library that are loaded when they are first needed.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the types of abi.h, and sb_stored. Returns the functions native, part and late, which other
-- chunks get as their first arguments, and the parts that are loaded.
local types = ...
ffi = require("ffi")
local C, cdef, metatype, to_string = ffi.C, ffi.cdef, ffi.metatype, ffi.string
local find, gmatch, loadstring, setfenv, type = string.find, string.gmatch, loadstring, setfenv, type
cdef(types)
local sb_stored = C.sb_stored

-- The root of what scripts see.
sysbench = { sql = {} }

-- Parts run in this environment: what a script makes of the globals must not break one that is loaded after it.
local kept = {
   _G = _G, ffi = ffi, sysbench = sysbench, sql = sysbench.sql, assert = assert, error = error,
   getmetatable = getmetatable, loadstring = loadstring, pcall = pcall, pairs = pairs, rawequal = rawequal,
   rawset = rawset, select = select, setmetatable = setmetatable, tonumber = tonumber, tostring = tostring, type = type,
   unpack = unpack, metatype = metatype, format = string.format, concat = table.concat, sort = table.sort,
   max = math.max,
}

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
local loading = false

-- Further arguments count at the first call.
local function part(name, ...)
   if not parts[name] then
      local outer = loading
      loading = true
      parts[name] = setfenv(loadstring(stored(name)), kept)(native, part, ...)
      loading = outer
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

-- Scripts declare what they use of the core.
function ffi.cdef(...)
   declare_all()
   return part("sysbench.cdef", cdef, stored("types"))(...)
end

-- The types of the core are not to be had, as ever.
function ffi.metatype(...)
   declare_all()
   return metatype(...)
end

-- Objects of the core that a script makes itself have their methods, too.
for name in gmatch("new typeof cast", "%S+") do
   local real = ffi[name]
   ffi[name] = function(...)
      local ct = ...
      if not all_declared and not loading and type(ct) == "string"
            and (find(ct, "sql_", 1, true) or find(ct, "sb_histogram", 1, true)) then
         declare_all()
      end
      return real(...)
   end
end

return native, part, late, parts

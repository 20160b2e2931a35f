-- The core's functions, and the parts of this library that are loaded when they are first needed.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the prototype of sb_stored. Returns what internal Lua has instead of globals.
local ffi = require("ffi")
local C, cdef, to_string = ffi.C, ffi.cdef, ffi.string
local loadstring, setfenv, setmetatable = loadstring, setfenv, setmetatable
cdef((...))
local sb_stored, library = C.sb_stored, debug.getmetatable(C)
local index = library.__index

-- What a script makes of the globals and of the libraries must not break what is loaded after it. So internal Lua has
-- no methods of strings.
local base = {
   ffi = ffi, jit = jit, assert = assert, error = error, collectgarbage = collectgarbage, getfenv = getfenv,
   getmetatable = getmetatable, load = load, loadstring = loadstring, pcall = pcall, pairs = pairs,
   rawequal = rawequal, rawget = rawget, rawset = rawset, select = select, setfenv = setfenv,
   setmetatable = setmetatable, tonumber = tonumber, tostring = tostring, type = type, unpack = unpack,
   format = string.format, dump = string.dump, open = io.open, concat = table.concat,
   sort = table.sort, byte = string.byte, find = string.find, gmatch = string.gmatch, gsub = string.gsub,
   match = string.match, sub = string.sub,
}

function base.stored(name)
   local text = sb_stored(name)
   return text ~= nil and to_string(text + 1, text[0])
end
local stored = base.stored

-- Which texts of abi.h are declared: "types" with all that is made of them, and "plain", the other functions. These
-- take much room, and few states need them.
local declared = {}

function base.declare(name)
   if not declared[name] then
      declared[name] = true
      cdef(stored(name))
   end
end

-- A function or constant of the core's. In a local that is never assigned to, it is a constant for compiled code.
function base.native(name)
   local prototype = not declared.plain and stored(name)
   if prototype then
      cdef(prototype)
   else
      base.declare("types")
   end
   return index(C, name)
end

-- A script that asks for anything in ffi.C finds everything there.
function base.declare_all()
   if not declared.all then
      declared.all = true
      library.__index = index
      base.declare("plain")
      base.part("sysbench.sql")
      base.part("sysbench.histogram")
   end
end

function library.__index(namespace, name)
   base.declare_all()
   return index(namespace, name)
end

-- Have others of the core's functions take the places of some.
function base.replace(functions)
   local original = index
   function index(namespace, name)
      if functions[name] then
         return functions[name]
      end
      return original(namespace, name)
   end
end

-- What scripts have declared with ffi, and the globals of the first that did.
base.script_texts, base.script_metatypes = {}, {}

-- Whether several workers run in this state, and code is kept for the next one.
base.code_is_shared = false
local makers = {}

-- A part as a function, made anew of the same code each time.
local function code(name)
   local maker = makers[name] or loadstring(stored(name))
   makers[name] = base.code_is_shared and maker or nil
   return maker()
end

-- What these parts return is the same for all globals of a state: they have to do with the core's types, or with
-- nothing but their arguments.
local shared = {
   ["sysbench.failure"] = true, ["sysbench.files"] = true, ["sysbench.histogram"] = true,
   ["sysbench.members"] = true, ["sysbench.rand"] = true, ["sysbench.sql"] = true,
   ["sysbench.strings"] = true, ["sysbench.turns"] = true, ["sysbench.workers"] = true,
}
base.shared_parts = {}

local function load_part(parts, environment, name, ...)
   if not parts[name] then
      parts[name] = setfenv(code(name), environment)(...)
   end
   return parts[name]
end

-- What a part returns, which is loaded at its first use. Further arguments count then.
function base.part(name, ...)
   return load_part(base.shared_parts, base, name, ...)
end

local environment = { __index = base }
local only

-- Internal Lua for a table of globals, with the root of what scripts see and ffi in it.
function base.environment(globals)
   local sysbench, parts = { sql = {} }, {}
   local kept = setmetatable({ _G = globals, package = globals.package, sysbench = sysbench }, environment)

   function kept.part(name, ...)
      if shared[name] then
         return base.part(name, ...)
      end
      return load_part(parts, kept, name, ...)
   end

   only = kept
   globals.sysbench = sysbench
   -- Scripts get LuaJIT's ffi with the core's declarations, when they first use any of it.
   globals.ffi = setmetatable({}, {
      __index = function(empty, name)
         kept.part("sysbench.cdef", empty)
         return empty[name]
      end,
   })
   globals.package.loaded.ffi = globals.ffi
   return kept
end

-- That of the running script, for parts that all share.
function base.running()
   return only
end

return base

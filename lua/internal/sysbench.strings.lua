-- Strings have one metatable in a state: methods of strings are those of the running worker, and so is what else a
-- script gives to that metatable.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the globals as LuaJIT has made them. Returns functions that the workers' part calls.
local original = ...
local getmetatable, pairs, rawget, running, setmetatable, type =
   getmetatable, pairs, rawget, running, setmetatable, type
local metatable, library, debug = getmetatable(""), original.string, original.debug

local strings = {}

local function index(text, key)
   local from = running().string_metatable.__index
   if type(from) == "function" then
      return from(text, key)
   end
   return from[key]
end

-- While scripts are set up they may give other functions to their libraries. If none has, the methods are LuaJIT's own,
-- which costs nothing, and those that a script adds.
local changed = false
metatable.__index = index
setmetatable(library, { __index = function(_, name) return rawget(running().string, name) end })

local function has_changed(worker)
   for name, call in pairs(library) do
      if worker.string[name] ~= call then
         return true
      end
   end
   return false
end

-- The worker has set up what it needs.
function strings.check(worker)
   changed = changed or has_changed(worker)
end

-- All have.
function strings.begin()
   metatable.__index = changed and index or library
end

-- Any other event: what happens is what the worker's own metatable says.
local function change(event)
   changed = true
   metatable.__index = index
   if event ~= "__index" then
      metatable[event] = function(...) return running().string_metatable[event](...) end
   end
end

-- The metatable as the worker's script knows it, made when it asks for it.
local function seen(worker)
   worker.seen = worker.seen or setmetatable({}, {
      __index = function(_, event) return worker.string_metatable[event] end,
      __newindex = function(_, event, value)
         worker.string_metatable[event] = value
         change(event)
      end,
   })
   return worker.seen
end

local function get_by(get)
   return function(...)
      if type((...)) == "string" then
         return seen(running())
      end
      return get(...)
   end
end

local get, get_any = get_by(getmetatable), get_by(debug.getmetatable)

local function set(...)
   local value, own = ...
   if type(value) ~= "string" or type(own) ~= "table" then
      return debug.setmetatable(...)
   end
   running().string_metatable = own
   for event in pairs(own) do
      change(event)
   end
   change("__index")
   return value
end

-- Give a new worker its own metatable of strings.
function strings.add(worker)
   worker.string = worker._G.string
   worker.string_metatable = { __index = worker.string }
   worker._G.getmetatable = get
   worker._G.debug.getmetatable, worker._G.debug.setmetatable = get_any, set
end

return strings

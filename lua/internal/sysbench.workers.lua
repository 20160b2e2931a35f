-- Many workers in one Lua state: each is a coroutine with globals and libraries of its own, and all run the same code,
-- which is compiled once for all of them.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: the globals as LuaJIT has made them; what sysbench.waiting.lua gets; and what sysbench.lua
-- gets but for the thread id. Returns the functions that the engine calls.
jit.off(true, true)
local original, calls, version, version_string, argv, command, script_path = ...
local create, resume, string_metatable = original.coroutine.create, original.coroutine.resume, getmetatable("")
local environment, format, pairs, rawget, running, setfenv, setmetatable, type =
   environment, format, pairs, rawget, running, setfenv, setmetatable, type

code_is_shared = true
collectgarbage("setpause", 150)
collectgarbage("setstepmul", 300)
replace(part("sysbench.waiting", calls))
part("sysbench.rand")

-- Methods of strings are the same for all. What a worker's script has added to its own library is found there.
setmetatable(string_metatable.__index, {
   __index = function(_, name)
      local library = running()._G.string
      return type(library) == "table" and rawget(library, name) or nil
   end,
})

local function copy(values)
   local result = {}
   for key, value in pairs(values) do
      result[key] = value
   end
   return result
end

-- What a state of the worker's own would have.
local function new_globals()
   local copies, loaded = {}, {}
   for _, library in pairs(original) do
      if type(library) == "table" then
         copies[library] = copy(library)
      end
   end
   local globals = copies[original]
   for name, value in pairs(globals) do
      globals[name] = copies[value] or value
   end
   for name, module in pairs(original.package.loaded) do
      loaded[name] = copies[module] or module
   end
   globals.package.loaded, globals.package.preload = loaded, copy(original.package.preload)
   return globals
end

local workers, team = {}, {}

-- A function of the engine's in a coroutine of the worker's.
local function begin(worker, name, ...)
   setfenv(0, worker._G)
   return worker.part("sysbench.engine")[name](...)
end

local function returned(ok, ...)
   if ok then
      return ...
   end
   return false, part("sysbench.failure").text_of((...))
end

local function in_coroutine(worker, name, ...)
   return returned(resume(create(begin), worker, name, ...))
end

-- Make a worker and execute the script's body; what engine.load_script returns.
function team.add(thread_id, text)
   local worker = environment(new_globals())
   worker.part("sysbench.modules", original.package)
   worker.part("sysbench", thread_id, version, version_string, copy(argv), command, script_path)
   workers[thread_id] = worker
   if text then
      return in_coroutine(worker, "load_text", text, "=stdin")
   end
   return in_coroutine(worker, "load_script", script_path)
end

function team.set_options(thread_id, options, newer)
   local own = copy(options)
   for name, value in pairs(own) do
      own[name] = type(value) == "table" and copy(value) or value
   end
   in_coroutine(workers[thread_id], "set_options", own, newer)
end

-- A coroutine, as its address, that will call a function of the engine's.
function team.body(thread_id, name, argument)
   local worker = workers[thread_id]
   worker.coroutine = create(function() worker.succeeded = begin(worker, name, argument) end)
   return format("%p", worker.coroutine)
end

function team.succeeded(thread_id)
   return workers[thread_id].succeeded
end

function team.close(thread_id)
   return workers[thread_id].part("sysbench.engine").close()
end

return team

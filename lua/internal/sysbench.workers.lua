-- Many workers in one Lua state: each is a coroutine with globals and libraries of its own, and all run the same code,
-- which is compiled once for all of them.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: the globals as LuaJIT has made them; what sysbench.waiting.lua gets; and what sysbench.lua
-- gets but for the thread id. Returns the functions that the engine calls.
jit.off(true, true)
local original, calls, version, version_string, argv, command, script_path = ...
local create, running_coroutine = original.coroutine.create, original.coroutine.running
local collectgarbage, environment, format, pairs, pcall, select, setfenv, type, unpack =
   collectgarbage, environment, format, pairs, pcall, select, setfenv, type, unpack
local sb_running_worker = native("sb_running_worker")
local workers, newest = {}, nil

code_is_shared = true
local PAUSE = 150
collectgarbage("setpause", PAUSE)
collectgarbage("setstepmul", 300)

-- While scripts are loaded, in no worker's turn, it is the newest one's.
function running()
   return workers[sb_running_worker()] or newest
end

local functions = part("sysbench.waiting", calls)
local strings = part("sysbench.strings", original)
local sb_worker_ready = functions.sb_worker_ready

function functions.sb_worker_ready(thread_id)
   strings.check(running())
   local goes = sb_worker_ready(thread_id)
   strings.begin()
   return goes
end
replace(functions)
part("sysbench.rand")
part("sysbench.turns", original)

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

-- What runs a worker is, for its script, no coroutine: it would be the main thread of a state of its own.
local function running_for_script()
   local coroutine = running_coroutine()
   return coroutine ~= running().coroutine and coroutine or nil
end

-- A collector that is stopped is one in the middle of a finalizer (lua_calls.pxi). A script that stops it gets one that
-- hardly ever begins.
local stopped = false

local function collect_for_script(...)
   local option = ...
   if option == "stop" or option == "restart" then
      stopped = option == "stop"
      collectgarbage("setpause", stopped and 100000 or PAUSE)
      return 0
   elseif option == "isrunning" then
      return not stopped
   end
   return collectgarbage(...)
end

-- A coroutine, as its address, that will call a function of the engine's.
local function call_later(worker, name, ...)
   local n, arguments = select("#", ...), { ... }
   worker.results = {}
   worker.coroutine = create(function()
      setfenv(0, worker._G)
      local ok, first, second, third = pcall(worker.part("sysbench.engine")[name], unpack(arguments, 1, n))
      worker.results = ok and { first, second, third } or { false, part("sysbench.failure").text_of(first) }
   end)
   return format("%p", worker.coroutine)
end

local team = {}

-- Make a worker; its coroutine will execute the script's body.
function team.add(thread_id, text)
   local worker = environment(new_globals())
   workers[thread_id], newest = worker, worker
   worker._G.coroutine.running, worker._G.collectgarbage = running_for_script, collect_for_script
   strings.add(worker)
   worker.part("sysbench.modules", original)
   worker.part("sysbench", thread_id, version, version_string, copy(argv), command, script_path)
   if text then
      return call_later(worker, "load_text", text, "=stdin")
   end
   return call_later(worker, "load_script", script_path)
end

function team.set_options(thread_id, options, newer)
   local own = copy(options)
   for name, value in pairs(own) do
      own[name] = type(value) == "table" and copy(value) or value
   end
   workers[thread_id].part("sysbench.engine").set_options(own, newer)
end

function team.call_later(thread_id, name, argument)
   return call_later(workers[thread_id], name, argument)
end

-- What the function has returned; nothing if it has not come to its end.
function team.results(thread_id)
   local worker = workers[thread_id]
   worker.coroutine = nil
   return unpack(worker.results, 1, 3)
end

function team.close(thread_id)
   return workers[thread_id].part("sysbench.engine").close()
end

return team

-- What the engine calls in a state. Every function returns true and results, or false and the error as text.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Traces of these functions would only cost time and memory.
jit.off(true, true)
local require, searchpath = _G.require, package.searchpath

local engine = {}
local kib_collected = collectgarbage("count")

-- Collect garbage if there may be much of it: what follows then takes its room, and not more from the system. A script
-- that loads megabytes is left to LuaJIT's own pace, and so is a state of many workers.
local function make_room()
   if code_is_shared then
      return
   end
   local kib = collectgarbage("count")
   if kib > 1.25 * kib_collected and kib < 4096 then
      collectgarbage()
      kib_collected = collectgarbage("count")
   end
end

local function checked(ok, ...)
   if ok then
      return true, ...
   end
   return false, part("sysbench.failure").text_of((...))
end

local function index(object, key)
   return object[key]
end

-- A field; nil if there is none, or if asking for it is an error: scripts may be strict about globals.
local function field(object, key)
   local ok, value = pcall(index, object, key)
   if ok then
      return value
   end
   return nil
end

local load_module = package.loaders[2]

-- A file's code as a function of the script's globals; else nil and what is wrong.
local function load_file(path)
   local chunk, message = part("sysbench.files").load(path)
   return chunk and setfenv(chunk, _G), message
end

-- The loader of modules in Lua: `require` finds, and says, the same as without it.
package.loaders[2] = function(name)
   local path, chunk, message = type(package.path) == "string" and searchpath(name, package.path), nil, nil
   if path then
      chunk, message = load_file(path)
   end
   if message then
      error(format("error loading module '%s' from file '%s':\n\t%s", name, path, message), 0)
   end
   return chunk or load_module(name)
end

-- Run the script's body: a file that can be read, else a module of that name.
-- The third result tells whether the name was not found at all.
function engine.load_script(name)
   local chunk, message = load_file(name)
   if chunk then
      return checked(pcall(chunk))
   elseif message then
      return false, message
   end
   local ok, err = pcall(require, name)
   if ok then
      return true
   end
   return false, part("sysbench.failure").text_of(err), type(err) == "string" and find(err, "^module ") ~= nil
end

-- A script that declares no options has them as globals, too. A function of the script keeps its name, and so does
-- what has the name of a `newer` option: these stand between commas.
function engine.set_options(options, newer)
   make_room()
   sysbench.opt = options
   if sysbench.cmdline.options ~= nil then
      return
   end
   for name, value in pairs(options) do
      local own = field(_G, name)
      if own == nil or type(own) ~= "function" and not find(newer, "," .. name .. ",", 1, true) then
         rawset(_G, name, value)
      end
   end
end

-- Call a global function; its errors are logged under its name.
function engine.call(name, ...)
   local ok, err = pcall(field(_G, name), ...)
   if not ok then
      part("sysbench.failure").log(name, err)
   end
   return ok
end

-- A whole worker: set up, wait for the others, run events, tear down. Whether the run went well so far.
function engine.run_worker(thread_id)
   if field(_G, "thread_init") and not engine.call("thread_init", thread_id) then
      part("sysbench.failure").stop_run()
   end
   make_room()
   -- Declarations take more stack than events do.
   local ready, done = native("sb_worker_ready"), native("sb_worker_done")
   if not ready(thread_id) then
      return false
   end
   local ok, err = pcall(field(_G, "thread_run"), thread_id)
   if not ok then
      local failure = part("sysbench.failure")
      failure.stop_run()
      failure.log("thread_run", err)
      return false
   end
   done(thread_id)
   if field(_G, "thread_done") then
      engine.call("thread_done", thread_id)
   end
   return true
end

-- See to what connections have under way, and close those that nobody refers to; whether that went well.
function engine.close()
   local sql = shared_parts["sysbench.sql"]
   local problem = sql and sql.settle()
   if problem then
      part("sysbench.failure").say(problem)
   end
   collectgarbage()
   return not problem
end

-- The other functions are for the main state.
return setmetatable(engine, {
   __index = function(_, name) return part("sysbench.main", checked, field)[name] end,
})

-- What the engine calls in a state. Every function returns true and results, or false and the error as text.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: native, part and parts of sysbench.ffi.lua.
local native, part, parts = ...
local ffi = require("ffi")
local sb_log, sb_run_fail, sb_worker_ready, sb_worker_done, sb_store_script, sb_stored_script =
   native("sb_log"), native("sb_run_fail"), native("sb_worker_ready"), native("sb_worker_done"),
   native("sb_store_script"), native("sb_stored_script")
local FATAL = 0
-- What a script makes of the globals must not break the engine.
local _G, package, sysbench = _G, package, sysbench
local collectgarbage, error, loadfile, loadstring, pairs, pcall, rawset, require, setmetatable, tonumber, tostring,
   type = collectgarbage, error, loadfile, loadstring, pairs, pcall, rawset, require, setmetatable, tonumber, tostring,
   type
local open, dump, format, to_string = io.open, string.dump, string.format, ffi.string

local engine = {}
local kib_collected = 0

-- Collect garbage if there may be much of it: what follows then takes its room, and not more from the system. A script
-- that loads megabytes is left to LuaJIT's own pace.
local function make_room()
   local kib = collectgarbage("count")
   if kib > 1.2 * kib_collected and kib < 4096 then
      collectgarbage()
      kib_collected = collectgarbage("count")
   end
end

-- Errors are any Lua value; messages are text.
local function text_of(err)
   if type(err) == "string" or type(err) == "number" then
      return tostring(err)
   elseif type(err) == "table" and type(err.sql_errmsg) == "string" then
      return format("SQL error, errno = %d, state = '%s': %s", err.sql_errno or 0, err.sql_state or "", err.sql_errmsg)
   end
   return "(not a string)"
end

local function checked(ok, ...)
   if ok then
      return true, ...
   end
   return false, text_of((...))
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

local function log_failure(name, err)
   sb_log(FATAL, format("`%s' function failed: %s", name, text_of(err)))
end

-- The file's code from the first state that has read it, or nil.
local function shared_code(path)
   local code = sb_stored_script(path)
   return code ~= nil and loadstring(to_string(code.buffer, code.length)) or nil
end

local function share_code(path, chunk)
   local code = dump(chunk)
   sb_store_script(path, code, #code)
   return chunk
end

local load_module, searchpath = package.loaders[2], package.searchpath

-- The loader of modules in Lua: `require` finds, and says, the same as without it.
package.loaders[2] = function(name)
   local path = type(package.path) == "string" and searchpath(name, package.path)
   local chunk = path and shared_code(path)
   if chunk then
      return chunk
   end
   local ok, result = pcall(load_module, name)
   if not ok then
      error(result, 0)
   end
   return path and type(result) == "function" and share_code(path, result) or result
end

-- The script as a function; else what is wrong with it, or nil if there is no such file to read.
local function load_file(name)
   local chunk = shared_code(name)
   if chunk then
      return chunk
   end
   local file = open(name, "rb")
   if not file then
      return nil
   end
   local _, problem = file:read(0)
   file:close()
   if problem then
      return nil
   end
   local message
   chunk, message = loadfile(name)
   return chunk and share_code(name, chunk), message
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
   return ok, not ok and text_of(err) or nil, not ok and type(err) == "string" and err:sub(1, 7) == "module "
end

function engine.has_options()
   return sysbench.cmdline.options ~= nil
end

-- `options` returns them as a table. A script that declares none has them as globals, too; a function of the script
-- keeps its name.
function engine.set_options(options)
   make_room()
   sysbench.opt = options()
   options = sysbench.opt
   if engine.has_options() then
      return
   end
   for name, value in pairs(options) do
      if type(field(_G, name)) ~= "function" then
         rawset(_G, name, value)
      end
   end
end

-- A trace of that loop would only cost time and memory.
jit.off(engine.set_options)

-- Call a global function; its errors are logged under its name.
function engine.call(name, ...)
   local ok, err = pcall(field(_G, name), ...)
   if not ok then
      log_failure(name, err)
   end
   return ok
end

-- A whole worker: set up, wait for the others, run events, tear down. Whether the run went well so far.
function engine.run_worker(thread_id)
   if field(_G, "thread_init") and not engine.call("thread_init", thread_id) then
      sb_run_fail()
   end
   make_room()
   if not sb_worker_ready(thread_id) then
      return false
   end
   local ok, err = pcall(field(_G, "thread_run"), thread_id)
   if not ok then
      sb_run_fail()
      log_failure("thread_run", err)
      return false
   end
   sb_worker_done(thread_id)
   if field(_G, "thread_done") then
      engine.call("thread_done", thread_id)
   end
   return true
end

-- A C function without arguments that calls one of these functions, and one that tells, once, how it went.
function engine.body(name, argument)
   local ok = false
   local body = ffi.cast("void (*)(void)", function() ok = engine[name](argument) end)
   return tonumber(ffi.cast("uintptr_t", body)), function()
      body:free()
      return ok
   end
end

-- See to what connections have under way, and close those that nobody refers to; whether that went well.
function engine.close()
   local sql = parts["sysbench.sql"]
   local problem = sql and sql.settle()
   if problem then
      sb_log(FATAL, problem)
   end
   collectgarbage()
   return not problem
end

make_room()

-- The other functions are for the main state.
return setmetatable(engine, {
   __index = function(_, name) return part("sysbench.main", checked, log_failure, field)[name] end,
})

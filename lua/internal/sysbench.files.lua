-- Files of Lua are read by the first state that needs them; the others get their code from it.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the functions.
local sb_store_script = native("sb_store_script")
local error, loadfile, pcall, type = error, loadfile, pcall, type
local open, dump = open, dump

local function share(path, chunk)
   local code = dump(chunk)
   sb_store_script(path, code, #code)
   return chunk
end

local files = {}

-- What LuaJIT's own loader of modules says of one; its path if it has been found.
function files.load_module(load_module, name, path)
   local ok, result = pcall(load_module, name)
   if not ok then
      error(result, 0)
   end
   return path and type(result) == "function" and share(path, result) or result
end

-- The script as a function; else what is wrong with it, or nil if there is no such file to read.
function files.load(name)
   local file = open(name, "rb")
   if not file then
      return nil
   end
   local _, problem = file:read(0)
   file:close()
   if problem then
      return nil
   end
   local chunk, message = loadfile(name)
   return chunk and share(name, chunk), message
end

return files

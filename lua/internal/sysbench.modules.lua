-- What of LuaJIT's library knows only one set of globals, for one of several workers in a state.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: LuaJIT's own package, whose path for libraries in C counts.
local c_package = ...
local _G, package, concat, error, find, format, gmatch, match, rawget, select, setfenv, tostring, type =
   _G, package, concat, error, find, format, gmatch, match, rawget, select, setfenv, tostring, type
local load_file = part("sysbench.files").load

-- What package.loaded has of a module meanwhile.
local function loading() end

local function preloaded(name)
   local loader = type(package.preload) == "table" and package.preload[name]
   return loader or format("\n\tno field package.preload['%s']", name)
end

package.loaders = { preloaded, package.loaders[2], package.loaders[3], package.loaders[4] }

local function loader_of(name)
   local messages = {}
   c_package.cpath = package.cpath
   for i = 1, #package.loaders do
      local found = package.loaders[i](name)
      if type(found) == "function" then
         return found
      elseif type(found) == "string" then
         messages[#messages + 1] = found
      end
   end
   return nil, concat(messages)
end

function _G.require(name)
   if type(name) ~= "string" then
      error(format("bad argument #1 to 'require' (string expected, got %s)", type(name)), 2)
   end
   local loaded = package.loaded
   if loaded[name] == loading then
      error(format("loop or previous error loading module '%s'", name), 2)
   elseif loaded[name] then
      return loaded[name]
   end
   local loader, message = loader_of(name)
   if not loader then
      error(format("module '%s' not found:%s", name, message), 2)
   end
   loaded[name] = loading
   local result = loader(name)
   if result ~= nil then
      loaded[name] = result
   elseif loaded[name] == loading then
      loaded[name] = true
   end
   return loaded[name]
end

-- The table of that name under the globals, made if there is none.
local function table_of(name)
   local found = _G
   for word in gmatch(name, "[^.]+") do
      local field = rawget(found, word)
      if field == nil then
         field = {}
         found[word] = field
      elseif type(field) ~= "table" then
         error(format("name conflict for module '%s'", name), 3)
      end
      found = field
   end
   return found
end

function _G.module(name, ...)
   local loaded = package.loaded
   if type(loaded[name]) ~= "table" then
      loaded[name] = table_of(name)
   end
   local found = loaded[name]
   if found._NAME == nil then
      found._M, found._NAME, found._PACKAGE = found, name, match(name, "^(.*%.)[^.]*$") or ""
   end
   setfenv(2, found)
   for i = 1, select("#", ...) do
      select(i, ...)(found)
   end
end

-- Files are read once for all workers.

local loadfile = _G.loadfile

function _G.loadfile(path, ...)
   local chunk = type(path) == "string" and select("#", ...) == 0 and load_file(path)
   if chunk then
      return setfenv(chunk, _G)
   end
   return loadfile(path, ...)
end

function _G.dofile(path)
   local chunk, message = _G.loadfile(path)
   if not chunk then
      error(message, 0)
   end
   return chunk()
end

-- The default files of io are the state's; a worker that chooses others has them for itself.
local io = _G.io
local file_of = { input = io.stdin, output = io.stdout }

local function choose(kind, mode, file)
   if type(file) == "string" then
      local opened, message = io.open(file, mode)
      if not opened then
         error(message, 3)
      end
      file = opened
   end
   file_of[kind] = file or file_of[kind]
   return file_of[kind]
end

local lines, close = io.lines, io.close

function io.input(file) return choose("input", "r", file) end
function io.output(file) return choose("output", "w", file) end
function io.read(...) return file_of.input:read(...) end
function io.write(...) return file_of.output:write(...) end
function io.close(file) return close(file or file_of.output) end
function io.lines(path, ...)
   if path == nil then
      return file_of.input:lines(...)
   end
   return lines(path, ...)
end

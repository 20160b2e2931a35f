-- What of LuaJIT's library knows only one set of globals, for one of several workers in a state.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the globals as LuaJIT has made them. Its own functions do the work, so that they do and say
-- what they always do: they find what is the worker's, as no other one runs before they have looked. A tail call
-- leaves nothing of what is put before them.
local original = ...
local _G, error, getfenv, gmatch, running, select, setfenv, type =
   _G, error, getfenv, gmatch, running, select, setfenv, type

local package, loaded = _G.package, _G.package.loaded
local registry, set_environment = original.debug.getregistry(), original.debug.setfenv
local require, module, loaders = original.require, original.module, original.package.loaders

package.loaders = { loaders[1], loaders[2], loaders[3], loaders[4] }
local of_package = { require, loaders[1], loaders[2], loaders[3], loaders[4] }

local function with_own_modules(call, ...)
   registry._LOADED = loaded
   for i = 1, #of_package do
      set_environment(of_package[i], package)
   end
   return call(...)
end

function _G.require(...) return with_own_modules(require, ...) end
function _G.module(...) return with_own_modules(module, ...) end

-- Code of the same text is compiled once for all workers.

local loadfile, dofile, load_again = original.loadfile, original.dofile, part("sysbench.files").load_again

local function load_file(...)
   if type((...)) == "string" and select("#", ...) == 1 then
      local chunk, message = load_again((...))
      return chunk and setfenv(chunk, getfenv(0)), message
   end
   return nil
end

function _G.loadfile(...)
   local chunk, message = load_file(...)
   if chunk or message then
      return chunk, message
   end
   return loadfile(...)
end

function _G.dofile(...)
   local chunk, message = load_file((...))
   if chunk then
      return chunk()
   elseif message then
      error(message, 0)
   end
   return dofile(...)
end

-- One hook is called in the state, and calls the running worker's. Its mask and count are what was asked for last.

local hooks, next_hook = part("sysbench.turns").hooks, original.next
local sethook = original.debug.sethook

local function call_own(...)
   local own = hooks[running()._G]
   if own then
      return own.call(...)
   end
end

function _G.debug.sethook(...)
   local call, mask, count = ...
   if call ~= nil and type(call) ~= "function" then
      return sethook(...)
   end
   hooks[_G] = call and { call = call, mask = mask, count = count }
   if call then
      return sethook(call_own, mask, count)
   elseif not next_hook(hooks) then
      return sethook()
   end
end

function _G.debug.gethook()
   local own = hooks[_G]
   if own then
      return own.call, own.mask, own.count or 0
   end
   return nil, "", 0
end

-- What a worker has for itself takes the place of another's.

local turns = part("sysbench.turns")

local function with_own(library, names)
   local take, own = turns[library], {}
   for name in gmatch(names, "%S+") do
      local call = original[library][name]
      _G[library][name] = function(...)
         take(own)
         return call(...)
      end
   end
end

with_own("io", "close flush input lines output read write")
with_own("math", "random randomseed")

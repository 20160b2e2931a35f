-- An ffi.cdef that lets scripts declare the core once more.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: native and part of sysbench.ffi.lua, LuaJIT's own ffi.cdef, the types of abi.h.
local _, _, cdef, types = ...
local error, pcall, tostring = error, pcall, tostring

-- Whether a constant of an enum of abi.h is found by the pattern.
local function is_ours(pattern)
   for constants in types:gmatch("enum%s*(%b{})") do
      if constants:find(pattern) then
         return true
      end
   end
   return false
end

-- LuaJIT takes functions and types twice, but no constant of an enum: one that is declared already gets another
-- name in the script's text, so that the rest is declared as it says.
local renamed = 0

return function(text, ...)
   local ok, message = pcall(cdef, text, ...)
   while not ok do
      local name = tostring(message):match("^attempt to redefine '([%w_]+)'")
      local pattern = name and "%f[%w_]" .. name .. "%f[^%w_]"
      if not pattern or not is_ours(pattern) then
         error(message, 2)
      end
      renamed = renamed + 1
      text = text:gsub(pattern, "redeclared_" .. renamed .. "_" .. name)
      ok, message = pcall(cdef, text, ...)
   end
end

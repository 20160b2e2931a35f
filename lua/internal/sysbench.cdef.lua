-- What scripts get as ffi: LuaJIT's, which lets them declare the core once more.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Arguments of the chunk: the table to fill, and the metatable of ffi.C; declare and stored of sysbench.ffi.lua.
local script_ffi, library, declare, stored = ...
local cdef, metatype, error, find, gsub, part, pcall, tostring, type =
   ffi.cdef, ffi.metatype, error, find, gsub, part, pcall, tostring, type
local index = library.__index

-- A script that asks for anything in ffi.C finds everything there.
local function declare_all()
   library.__index = index
   declare("plain")
   part("sysbench.sql")
   part("sysbench.histogram")
end

function library.__index(namespace, name)
   declare_all()
   return index(namespace, name)
end

-- Whether a constant of an enum of abi.h is found by the pattern.
local function is_ours(pattern)
   local found = false
   gsub(stored("types"), "enum%s*(%b{})", function(constants) found = found or find(constants, pattern) ~= nil end)
   return found
end

declare("types")
setmetatable(script_ffi, nil)
for name, value in pairs(ffi) do
   script_ffi[name] = value
end

-- LuaJIT takes functions and types twice, but no constant of an enum: one that is declared already gets another
-- name in the script's text, so that the rest is declared as it says.
local renamed = 0

function script_ffi.cdef(text, ...)
   declare_all()
   local ok, message = pcall(cdef, text, ...)
   while not ok do
      local _, _, name = find(tostring(message), "^attempt to redefine '([%w_]+)'")
      local pattern = name and "%f[%w_]" .. name .. "%f[^%w_]"
      if not pattern or not is_ours(pattern) then
         error(message, 2)
      end
      renamed = renamed + 1
      text = gsub(text, pattern, "redeclared_" .. renamed .. "_" .. name)
      ok, message = pcall(cdef, text, ...)
   end
end

-- The types of the core are not to be had, as ever.
function script_ffi.metatype(...)
   declare_all()
   return metatype(...)
end

-- Objects of the core that a script makes itself have their methods, too.
for _, name in pairs({ "new", "typeof", "cast" }) do
   local real = ffi[name]
   script_ffi[name] = function(...)
      local ct = ...
      if library.__index ~= index and type(ct) == "string"
            and (find(ct, "sql_", 1, true) or find(ct, "sb_histogram", 1, true)) then
         declare_all()
      end
      return real(...)
   end
end

return script_ffi

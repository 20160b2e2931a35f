-- What scripts get as ffi: LuaJIT's, which lets them declare the core once more.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the table to fill.
local script_ffi = ...
local _G, cdef, metatype, typeof, error, find, gsub, pcall, stored, tostring, type =
   _G, ffi.cdef, ffi.metatype, ffi.typeof, error, find, gsub, pcall, stored, tostring, type
local declare_all, script_texts, script_metatypes = declare_all, script_texts, script_metatypes

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

-- Types are the state's. If several workers share it, the first one's script declares them for all.
local function is_from_another(declarations, key)
   return declarations[key] ~= nil and declarations[key] ~= _G
end

-- LuaJIT takes functions and types twice, but no constant of an enum: one that is declared already gets another
-- name in the script's text, so that the rest is declared as it says.
local renamed = 0

function script_ffi.cdef(text, ...)
   declare_all()
   if is_from_another(script_texts, text) then
      return
   end
   local typed = text
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
   script_texts[typed] = _G
end

-- The types of the core are not to be had, as ever.
function script_ffi.metatype(ct, metatable)
   declare_all()
   local key = tostring(typeof(ct))
   if is_from_another(script_metatypes, key) then
      return typeof(ct)
   end
   -- As if the script had called LuaJIT's own: an error is in the name of nobody.
   local ok, result = pcall(metatype, ct, metatable)
   if not ok then
      error(result, 0)
   end
   script_metatypes[key] = _G
   return result
end

-- Objects of the core that a script makes itself have their methods, too.
for _, name in pairs({ "new", "typeof", "cast" }) do
   local real = ffi[name]
   script_ffi[name] = function(...)
      local ct = ...
      if type(ct) == "string" and (find(ct, "sql_", 1, true) or find(ct, "sb_histogram", 1, true)) then
         declare_all()
      end
      return real(...)
   end
end

return script_ffi

-- What scripts get as ffi: LuaJIT's, which lets them declare the core once more.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the table to fill.
local script_ffi = ...
local _G, cdef, metatype, typeof, error, find, format, gsub, match, pairs, pcall, running, stored, tostring, type =
   _G, ffi.cdef, ffi.metatype, ffi.typeof, error, find, format, gsub, match, pairs, pcall, running, stored, tostring, type
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

-- LuaJIT takes functions and types twice, but no constant of an enum: one that is declared already gets another
-- name in the script's text, so that the rest is declared as it says.
local renamed = 0

function script_ffi.cdef(text, ...)
   declare_all()
   -- Types are the state's. If several workers share it, the first one's script declares them for all.
   if script_texts[text] ~= nil and script_texts[text] ~= _G then
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

-- A metatable for a type that several workers share: what is done is what the running one's own metatable says.
local function for_all(metatables, metatable, ct)
   local function own(event)
      return (metatables[running()._G] or metatable)[event]
   end
   local result = {}
   for event, value in pairs(metatable) do
      if type(value) == "function" then
         result[event] = function(...) return own(event)(...) end
      elseif event == "__index" then
         result.__index = function(_, key)
            local member = own("__index")[key]
            if member == nil then
               error(format("'%s' has no member named '%s'", match(tostring(typeof(ct)), "<(.*)>"), tostring(key)), 2)
            end
            return member
         end
      elseif event == "__newindex" then
         result.__newindex = function(_, key, new) own("__newindex")[key] = new end
      else
         result[event] = value
      end
   end
   return result
end

-- The types of the core are not to be had, as ever.
function script_ffi.metatype(ct, metatable)
   declare_all()
   local is_type, known = pcall(typeof, ct)
   local key = code_is_shared and is_type and type(metatable) == "table" and tostring(known)
   if not key then
      -- A tail call: what is wrong is told of the script's line.
      return metatype(ct, metatable)
   end
   local metatables = script_metatypes[key] or {}
   if script_metatypes[key] and not metatables[_G] then
      metatables[_G] = metatable
      return typeof(ct)
   end
   local ok, result = pcall(metatype, ct, for_all(metatables, metatable, ct))
   if not ok then
      error(result, 2)
   end
   metatables[_G] = metatable
   script_metatypes[key] = metatables
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

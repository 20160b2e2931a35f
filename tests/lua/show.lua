-- How test scripts print: values as text, errors of any kind included, so that two programs can be compared.
local M = {}

local function text(value)
   if type(value) ~= "table" or getmetatable(value) then
      return tostring(value)
   end
   local parts = {}
   for key, item in pairs(value) do
      parts[#parts + 1] = tostring(key) .. "=" .. text(item)
   end
   table.sort(parts)
   return "{" .. table.concat(parts, ", ") .. "}"
end

-- One write, as print's two may have another thread's between them.
local function line(content)
   io.write(content .. "\n")
end

-- Print a label and values.
function M.show(label, ...)
   local parts = { label .. ":" }
   for i = 1, select("#", ...) do
      parts[#parts + 1] = text((select(i, ...)))
   end
   line(table.concat(parts, " "))
end

-- Print what a call through pcall gives: results, or the error without the position of a line.
function M.try(label, f, ...)
   M.show(label, pcall(f, ...))
end

-- The same for a function that makes the call itself, so that an error has the position of its line.
function M.at(label, f)
   M.show(label, pcall(function() f() end))
end

-- The names in a table with their types, sorted.
function M.names(label, t)
   local parts = {}
   for name, value in pairs(t) do
      parts[#parts + 1] = tostring(name) .. "=" .. type(value)
   end
   table.sort(parts)
   line(label .. ": " .. table.concat(parts, " "))
end

return M

-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Library of the workloads: what the numbers of their options may be.

local options = {}

-- Validator of options that count something. What is no number at all, the parser refuses.
function options.whole_number(_, text)
  local n = tonumber(ffi.string(text))
  return n == nil or n >= 0 and n % 1 == 0, "use a whole number, 0 or more"
end

-- Refuse a value with which no event can work; `most` may be nil.
function options.check_range(name, least, most)
  local value = sysbench.opt[name]
  -- nil if the script has an option table of its own
  if value ~= nil and (value < least or most ~= nil and value > most) then
    local right = most == nil and "at least " .. least or least .. " to " .. most
    error(string.format("Invalid value for --%s: '%s' (use %s)", name:gsub("_", "-"), value, right), 0)
  end
end

-- check_options() of workloads with execute_delete_inserts: rows get numbers that --table-size limits.
function options.check_delete_inserts()
  options.check_range("tables", 1)
  if sysbench.opt.delete_inserts > 0 then
    options.check_range("table_size", 1)
  end
end

return options

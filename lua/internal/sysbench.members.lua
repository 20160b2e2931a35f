-- What is said to a script that asks an object for a method or a field that it does not have.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the functions that say it.
local error, format, pairs, sort, concat, sub, tostring = error, format, pairs, sort, concat, sub, tostring

-- What objects are called, and the fields that scripts may know; methods are added.
local objects = {
   sql_driver = { "a driver" },
   sql_connection = { "a connection", "error", "sql_errno", "sql_errmsg", "sql_state" },
   sql_statement = { "a statement", "connection" },
   sql_result = { "a result", "counter", "nfields", "nrows", "statement" },
   sb_histogram = { "a histogram" },
}

-- How many letters must be put in, taken out or replaced to make one text of the other.
local function distance(a, b)
   local row = {}
   for j = 0, #b do
      row[j] = j
   end
   for i = 1, #a do
      local diagonal = row[0]
      row[0] = i
      for j = 1, #b do
         local changed = diagonal + (sub(a, i, i) == sub(b, j, j) and 0 or 1)
         diagonal = row[j]
         row[j] = changed < diagonal + 1 and changed or diagonal + 1
         row[j] = row[j - 1] + 1 < row[j] and row[j - 1] + 1 or row[j]
      end
   end
   return row[#b]
end

-- The one of the names that is most like the typed one: a third of it may be wrong, or it is where the name begins.
local function closest(typed, names)
   local best, least = nil, #typed / 3 + 0.001
   for i = 1, #names do
      local away = sub(names[i], 1, #typed) == typed and 0.5 or distance(typed, names[i])
      if away < least then
         best, least = names[i], away
      end
   end
   return best
end

-- The line that is named is the script's: one level above the metamethod that calls these.
local members = {}

function members.refuse(type_name, key)
   error(format("%s cannot be given a member '%s'", objects[type_name][1], tostring(key)), 3)
end

function members.missing(type_name, methods, key)
   local names, known = {}, objects[type_name]
   for i = 2, #known do
      names[#names + 1] = known[i]
   end
   for name in pairs(methods) do
      names[#names + 1] = name
   end
   sort(names)
   local typed = tostring(key)
   local meant = closest(typed, names)
   error(format("%s has no member named '%s' (%s)", known[1], typed,
                meant and "did you mean '" .. meant .. "'?" or "it has " .. concat(names, ", ")), 3)
end

return members

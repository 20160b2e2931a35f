-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The ids and texts that the statements of the oltp test are about.

local C = require("ffi").C
local rand = sysbench.rand
local uniform, uniform_double = rand.uniform, rand.uniform_double
local floor, format = math.floor, string.format
-- Ids without repetition are the multiples of this prime number, modulo the size of the table.
local STEP = 2147483647ULL
local GREATEST = 2147483647

local function gaussian(iterations, width)
  local sum = 0
  for _ = 1, iterations do
    sum = sum + uniform_double() * width
  end
  return sum / iterations
end

-- A function that draws a number from 1 to `size`: all alike; around the middle; or, in `res` of 100 draws, out of
-- the `pct` percent in the middle, else around it.
local function distribution(settings)
  local size, kind, iterations = settings.table_size, settings.dist_type, settings.dist_iter
  if kind == "uniform" then
    return function() return uniform(1, size) end
  elseif kind == "gaussian" then
    return function() return 1 + floor(gaussian(iterations, size)) end
  end
  local special = settings.dist_res / 100
  local few = (size - 1) * settings.dist_pct / 100
  local first = 1 + (size - 1 - few) / 2
  return function()
    if uniform_double() < special then
      return floor(first + uniform_double() * (few + 1))
    end
    return 1 + floor(gaussian(iterations, size))
  end
end

local function numbers(count)
  local template = string.rep("%d", count, "-")
  local list = {}
  return function()
    for i = 1, count do
      list[i] = uniform(0, GREATEST)
    end
    return format(template, unpack(list))
  end
end

-- Ids of which none is drawn twice, by whichever thread, before all have been drawn. The second result of a draw is
-- whether that has happened.
local function unique_ids(settings)
  local size = settings.table_size
  return function()
    local drawn = C.sb_sequence_next()
    return tonumber((drawn + 1) % size * STEP % size) + 1, drawn >= size
  end
end

return function(settings)
  local id, size, range = distribution(settings), settings.table_size, settings.range_size
  return {
    id = id,
    -- the first id of a range that ends inside of the table, if the table is as large as a range
    range_start = function()
      return math.max(math.min(id(), size - range), 1)
    end,
    unique_id = unique_ids(settings),
    c = numbers(10),
    pad = numbers(5),
  }
end

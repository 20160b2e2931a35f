#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- select_random_ranges.lua of sysbench 0.5: a count of the rows whose k is in one of several random ranges.

dofile(test:match("^.*/") .. "common.lua")

number_options.number_of_ranges, number_options.delta = 10, 5
at_least_one.number_of_ranges = true

local statement
local values = {}

function thread_init()
  set_vars()
  statement = db_prepare("SELECT count(k) FROM sbtest1 WHERE " .. string.rep("k BETWEEN ? AND ?", number_of_ranges, " OR "))
  for i = 1, 2 * number_of_ranges do
    values[i] = 1
  end
  db_bind_param(statement, values)
end

function event()
  for i = 1, #values, 2 do
    values[i] = random_id()
    values[i + 1] = values[i] + delta
  end
  db_free_results(db_execute(statement))
end

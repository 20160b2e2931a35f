#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- select_random_points.lua of sysbench 0.5: a select of the rows whose k is in a list of random values.

dofile(test:match("^.*/") .. "common.lua")

number_options.random_points, at_least_one.random_points = 10, true

local statement
local values = {}

function thread_init()
  set_vars()
  statement = db_prepare(string.format("SELECT id, k, c, pad FROM sbtest1 WHERE k IN (%s)",
                                       string.rep("?", random_points, ", ")))
  for i = 1, random_points do
    values[i] = 1
  end
  db_bind_param(statement, values)
end

function event()
  for i = 1, #values do
    values[i] = random_id()
  end
  db_free_results(db_execute(statement))
end

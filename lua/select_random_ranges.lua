#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT that counts the rows whose k is in one of several random ranges. The ranges of a
-- thread start in its own segment of the table.

require("oltp_common")
local dialects = require("oltp_dialects")

local options = sysbench.cmdline.options
options.number_of_ranges = {"Number of random BETWEEN ranges per SELECT", 10, nil, options.tables[4]}
options.delta = {"Size of BETWEEN ranges", 5, nil, options.tables[4]}

local rand = sysbench.rand
local drop_tables = cleanup

function cleanup()
  if sysbench.opt.tables ~= 1 then
    error("this benchmark does not support --tables > 1")
  end
  drop_tables()
end

-- --tables is no matter: events use the first one.
function check_options()
  check_range("number_of_ranges", 1, dialects.most_parameters / 2)
end

-- first and last value of this thread's segment
local first, last

function prepare_statements()
  local opt = sysbench.opt
  local segment_len = opt.table_size / opt.threads
  first = segment_len * sysbench.tid
  last = first + segment_len

  local statement = con:prepare(string.format([[
        SELECT count(k)
          FROM sbtest1
          WHERE %s]], string.rep("k BETWEEN ? AND ?", opt.number_of_ranges, " OR ")))
  local params = {}
  for i = 1, 2 * opt.number_of_ranges do
    params[i] = statement:bind_create(sysbench.sql.type.INT)
  end
  dialects.bind(con, statement, params)
  stmt[1], param[1] = {random_ranges = statement}, {random_ranges = params}
end

function event()
  local params = param[1].random_ranges
  local delta = sysbench.opt.delta
  for i = 1, #params, 2 do
    local value = rand.default(first, last)
    params[i]:set(value)
    params[i + 1]:set(value + delta)
  end
  stmt[1].random_ranges:execute()
  check_reconnect()
end

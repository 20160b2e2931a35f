#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT of the rows whose k is in a list of random values. The values of a thread come from
-- its own segment of the table.

require("oltp_common")
local dialects = require("oltp_dialects")

local options = sysbench.cmdline.options
options.random_points = {
  "Number of random points in the IN() clause in generated SELECTs", 10, nil, options.tables[4]}

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
  check_range("random_points", 1, dialects.most_parameters)
end

-- first and last value of this thread's segment
local first, last

function prepare_statements()
  local opt = sysbench.opt
  local segment_len = opt.table_size / opt.threads
  first = segment_len * sysbench.tid
  last = first + segment_len

  local statement = con:prepare(string.format([[
        SELECT id, k, c, pad
          FROM sbtest1
          WHERE k IN (%s)
        ]], string.rep("?", opt.random_points, ", ")))
  local params = {}
  for i = 1, opt.random_points do
    params[i] = statement:bind_create(sysbench.sql.type.INT)
  end
  dialects.bind(con, statement, params)
  stmt[1], param[1] = {random_points = statement}, {random_points = params}
end

function event()
  local params = param[1].random_points
  for i = 1, #params do
    params[i]:set(rand.default(first, last))
  end
  stmt[1].random_points:execute()
  check_reconnect()
end

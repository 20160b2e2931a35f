#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- bulk_insert.lua of sysbench 0.5: rows for multi-row INSERTs, one table a thread, numbered from 0.

dofile(test:match("^.*/") .. "common.lua")

local format = string.format
local rows = 0

function prepare()
  set_vars()
  for i = 0, sysbench.opt.threads - 1 do
    print(format("Creating table 'sbtest%d'...", i))
    db_query(format([[
CREATE TABLE IF NOT EXISTS sbtest%d (
  id %s NOT NULL,
  k %s DEFAULT '0' NOT NULL,
  PRIMARY KEY (id)
) %s]], i, integer_type(), integer_type(), table_options()))
  end
end

function cleanup()
  set_vars()
  for i = 0, sysbench.opt.threads - 1 do
    print(format("Dropping table 'sbtest%d'...", i))
    db_query("DROP TABLE IF EXISTS sbtest" .. i)
  end
end

function thread_init()
  set_vars()
  db_bulk_insert_init(format("INSERT INTO sbtest%d VALUES", thread_id))
end

function event()
  rows = rows + 1
  db_bulk_insert_next(format("(%d,%d)", rows, rows))
end

function thread_done()
  db_bulk_insert_done()
end

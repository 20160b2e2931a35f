#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Multi-row INSERTs, one table a thread. An event adds one row to the statement that is being
-- collected; the engine sends it whenever it is full, and the end of the thread sends the rest.

local dialects = require("oltp_dialects")
local format = string.format

function prepare()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  for i = 1, sysbench.opt.threads do
    print(format("Creating table 'sbtest%d'...", i))
    dialects.create_if_missing(con, drv:name(), i, [[(
          id INTEGER NOT NULL,
          k INTEGER DEFAULT '0' NOT NULL,
          PRIMARY KEY (id))]])
  end
end

function cleanup()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  for i = 1, sysbench.opt.threads do
    print(format("Dropping table 'sbtest%d'...", i))
    dialects.drop_table(con, drv:name(), i)
  end
end

-- connection and number of rows so far of this thread
local con
local rows = 0

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  if rows == 0 then
    con:bulk_insert_init(format("INSERT INTO sbtest%d VALUES", sysbench.tid + 1))
  end
  rows = rows + 1
  con:bulk_insert_next(format("(%d,%d)", rows, rows))
end

function thread_done()
  con:bulk_insert_done()
  con:disconnect()
end
